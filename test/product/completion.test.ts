import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PINION, product } from '../support/product.ts';
import { openVirtualTerminal } from '../support/virtual-terminal.ts';

describe('completion in bash', () => {
  it('works in a shell where a person presses Tab', async () => {
    const { cwd, env, run } = product({ 'notes.md': 'x' });
    await run(['-p', 'hello']);
    const rc = join(cwd, 'rc');
    writeFileSync(rc, `PS1='$ '; pinion() { '${process.execPath}' '${PINION}' "$@"; }; eval "$(pinion completion bash)"; echo ready\n`);
    const terminal = openVirtualTerminal({ command: '/bin/bash', args: ['--rcfile', rc, '-i'], cwd, columns: 100, rows: 24, env });
    onTestFinished(() => terminal.close());
    await terminal.waitFor('ready');
    terminal.type('pinion --permission-mo\t');
    await terminal.waitFor('$ pinion --permission-mode ');
    terminal.type('pl\t');
    await terminal.waitFor('--permission-mode plan ');
    terminal.type('--pin no\t');
    await terminal.waitFor('--pin notes.md ');
    terminal.type('--model claude-haiku-5\t');
    await terminal.waitFor('--model claude-haiku-5-5 ');
    terminal.type('--resume \t');
    await terminal.waitFor((screen) => /--resume [0-9a-f]{8}-[0-9a-f-]{27}/.test(screen.join('')));
    terminal.type('\x15exit\r');
    await terminal.ended;
  });

  it('says what it has, and what not', async () => {
    const { run } = product();
    const help = await run(['completion', '--help']);
    expect(help.code).toBe(0);
    expect(help.stdout).toContain('eval "$(pinion completion bash)"');
    expect(await run(['completion', 'tcsh'])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/^pinion: "tcsh": completion scripts are there for bash, zsh, fish\..*\n$/) as string });
    expect((await run(['completion', '--words', 'models'])).stdout).toMatch(/^opus\t/);
    expect(await run(['completion', '--words', 'servers'])).toMatchObject({ code: 0, stdout: '' });
  });
});
