import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { call, say } from '../support/messages-server/reply.ts';
import { product, resultIn, serve, wordsOf, last } from '../support/product.ts';

const JSON_OUT = ['--output-format', 'json'];
const WANTS = JSON.stringify({ permissions: { allow: ['Bash(touch made.txt)'], deny: ['Read(secret.txt)'] }, env: { GREETING: 'hello from the repository' } });
const FILES = { '.pinion/settings.json': WANTS, 'secret.txt': 'the password is swordfish\n', 'open.txt': 'nothing special\n' };

describe('the settings of a folder that is not trusted', () => {
  it('allow and set nothing, which is said in one line', async () => {
    const { run, cwd } = product(FILES);
    const { code, stdout, stderr } = await run(['-p', 'Run `touch made.txt`', ...JSON_OUT]);
    expect(code).toBe(0);
    expect(resultIn(stdout).permission_denials).toHaveLength(1);
    expect(stderr).toMatch(/^pinion: [^\n]*not trusted[^\n]*--trust[^\n]*\n$/);
    expect(existsSync(join(cwd, 'made.txt'))).toBe(false);
  });

  it('take effect with --trust, for that run only', async () => {
    const { run, cwd } = product(FILES);
    const { stdout, stderr } = await run(['-p', 'Run `touch made.txt`', '--trust', ...JSON_OUT]);
    expect(stderr).toBe('');
    expect(resultIn(stdout).permission_denials).toEqual([]);
    expect(existsSync(join(cwd, 'made.txt'))).toBe(true);
    expect((await run(['-p', 'Count to 1'])).stderr).toContain('not trusted');
  });

  it('set the environment of commands only when they are trusted', async () => {
    const server = await serve((request) => (wordsOf(request).includes('ran:') ? say('Done.') : { content: [call('Bash', { command: 'echo "ran: $GREETING"' })] }));
    const { run } = product(FILES, server);
    await run(['-p', 'Go', '--permission-mode', 'bypassPermissions']);
    expect(wordsOf(last(server.requests))).not.toContain('hello from the repository');
    await run(['-p', 'Go', '--permission-mode', 'bypassPermissions', '--trust']);
    expect(wordsOf(last(server.requests))).toContain('ran: hello from the repository');
  });

  it('forbid what they forbid: to tools, mentions and pins, in every mode', async () => {
    const server = await serve([
      { content: [call('Read', { file_path: 'secret.txt' }), call('Grep', { pattern: 'password', output_mode: 'content' }), call('Bash', { command: 'cat secret.txt' }), call('Read', { file_path: 'open.txt' })] },
      say('Done.'),
    ]);
    const { run } = product(FILES, server);
    const { stdout } = await run(['-p', 'What is in @secret.txt?', '--permission-mode', 'bypassPermissions', ...JSON_OUT]);
    expect(resultIn(stdout).permission_denials.map(({ tool_name: name }) => name)).toContain('Read');
    const sent = wordsOf(last(server.requests));
    expect(sent).toContain('nothing special');
    expect(sent).not.toContain('swordfish');
    expect(await run(['-p', 'x', '--pin', 'secret.txt'])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('secret.txt') as string });
  });

  it('take effect where the user has trusted the folder', async () => {
    const { run, home, cwd } = product(FILES);
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, 'trust.json'), JSON.stringify({ folders: { [cwd]: { at: '2026-01-01T00:00:00Z' } } }));
    const { stdout, stderr } = await run(['-p', 'Run `touch made.txt`', ...JSON_OUT]);
    expect([stderr, resultIn(stdout).permission_denials]).toEqual(['', []]);
  });
});

it('a folder without wishes is not spoken of', async () => {
  const { run } = product({ '.pinion/settings.json': JSON.stringify({ permissions: { deny: ['Read(x)'] } }), 'AGENTS.md': 'Be brief.\n' });
  expect((await run(['-p', 'Count to 1'])).stderr).toBe('');
});
