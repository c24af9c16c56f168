import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { product } from '../support/product.ts';

describe('what other shells have left', () => {
  it('is looked at, and taken over when that is wanted', async () => {
    const { run, env, home, open } = product();
    const write = (name: string, text: string): void => {
      const file = join(env['HOME'] ?? '', name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    };
    write('.codex/config.toml', 'model_reasoning_effort = "high"\n[mcp_servers.files]\ncommand = "files-mcp"\nenv = { API_KEY = "abc" }\n');
    write('.gemini/settings.json', '{ // mine\n"tools": {"exclude": ["run_shell_command(rm)"]}}');
    const looked = await run(['-p', '/import']);
    expect(looked.stdout).toMatch(/codex.*1 setting, 1 server[\s\S]*gemini.*1 rule/);
    expect(await run(['-p', '/import gemini --yes'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Taken over from Gemini CLI: 1 rule/) as string });
    expect(JSON.parse(readFileSync(join(home, 'settings.json'), 'utf8'))).toEqual({ permissions: { deny: ['Bash(rm*)'] } });
    expect(await run(['-p', '/import codex --project'])).toMatchObject({ code: 2, stderr: expect.stringContaining('is not trusted') as string });

    const terminal = open({ rows: 50 });
    await terminal.waitFor('Go on with the demo model');
    terminal.type('\r');
    await terminal.waitFor('> Ask, or /');
    terminal.enter('/import codex ');
    await terminal.waitFor('Take that over from Codex?');
    expect(terminal.lines().join('\n')).toContain('server files: API_KEY=${API_KEY} files-mcp');
    expect(existsSync(join(home, 'mcp.json'))).toBe(false);
    terminal.type('1');
    await terminal.waitFor('Taken over from Codex');
    expect(JSON.parse(readFileSync(join(home, 'mcp.json'), 'utf8'))).toEqual({ mcpServers: { files: { type: 'stdio', command: 'files-mcp', args: [], env: { API_KEY: '${API_KEY}' } } } });
    expect(JSON.parse(readFileSync(join(home, 'settings.json'), 'utf8'))).toEqual({ permissions: { deny: ['Bash(rm*)'] }, effortLevel: 'high' });
    expect(JSON.parse(readFileSync(join(home, 'settings.json.before-import'), 'utf8'))).toEqual({ permissions: { deny: ['Bash(rm*)'] } });
    terminal.enter('/exit');
    await terminal.expectLeft();
  });
});
