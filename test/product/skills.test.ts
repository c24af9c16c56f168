import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { say } from '../support/messages-server/reply.ts';
import { expectValid, only, product, resultIn, serve, until, wordsOf } from '../support/product.ts';

const FILES = { '.claude/commands/fix.md': '---\ndescription: Fixes an issue\n---\nFix issue $0 !`touch canary; echo now`', '.claude/skills/broken/SKILL.md': '' };

it('print mode calls a command of a trusted folder, and says what is broken', async () => {
  const server = await serve([say('Fixed.')]);
  const { run, cwd, entries } = product(FILES, server);
  const { code, stdout, stderr } = await run(['--trust', '-p', '/fix 12', '--allowed-tools', 'Bash(touch:*) Bash(echo:*)']);
  expect([code, stdout]).toEqual([0, 'Fixed.\n']);
  expect(stderr).toBe('pinion: skills: .claude/skills/broken/SKILL.md: left out: it is empty\n');
  expect(wordsOf(only(server.requests))).toContain('Fix issue 12 now');
  expect(existsSync(join(cwd, 'canary'))).toBe(true);
  expect(entries().find((entry) => entry.type === 'prompt')).toMatchObject({ shown: '/fix 12', text: 'Fix issue 12 now' });
  expectValid(server);
});

it('print mode has none of a folder that is not trusted, whose files are neither listed nor run', async () => {
  const server = await serve([]);
  const { run, cwd } = product(FILES, server);
  const { code, stderr } = await run(['-p', '/fix 12', '--allowed-tools', 'Bash(touch:*)']);
  expect(code).toBe(2);
  expect(stderr).toContain('There is no command /fix');
  expect(stderr).toContain('not used, the folder is not trusted');
  expect(existsSync(join(cwd, 'canary'))).toBe(false);
  expect(server.all).toHaveLength(0);
});

it('a command that nobody can be asked about is a line in the text', async () => {
  const server = await serve([say('Well.')]);
  const { run, cwd } = product(FILES, server);
  const { code, stdout, stderr } = await run(['--trust', '-p', '/fix 12', '--output-format', 'json']);
  expect(code).toBe(0);
  expect(resultIn(stdout)).toMatchObject({ result: 'Well.', num_turns: 1 });
  expect(stderr).toContain('/fix: not run: touch canary; echo now: It must be asked about');
  expect(wordsOf(only(server.requests))).toContain('Fix issue 12 [not run: touch canary; echo now: It must be asked about');
  expect(existsSync(join(cwd, 'canary'))).toBe(false);
});

it('the screen completes a skill, runs it, and Esc ends one whose command does not', async () => {
  const server = await serve([say('Hello Ann.'), say('Long.', { delayMs: 1500 }), say('Hello Bob.')]);
  const made = product({}, server);
  const file = (name: string): string => join(made.home, 'skills', name, 'SKILL.md');
  for (const [name, text] of [['greet', '---\ndescription: Greets someone\nargument-hint: <who>\n---\nGreet $0.'], ['slow', '---\ndescription: Waits\nallowed-tools: Bash(sleep:*)\n---\n!`sleep 60`']] as const) {
    mkdirSync(dirname(file(name)), { recursive: true });
    writeFileSync(file(name), text);
  }
  const terminal = made.open({ columns: 80, rows: 24 });
  const shows = (words: string): Promise<void> => until(() => terminal.lines().some((line) => line.includes(words)));
  await shows('/ for commands');
  terminal.type('/gree');
  await shows('Greets someone (your skill)');
  terminal.type('t Ann');
  await shows('> /greet Ann');
  terminal.type('\r');
  await shows('Hello Ann.');
  expect(terminal.lines().some((line) => line.includes('/greet Ann'))).toBe(true);
  terminal.enter('/slow');
  await shows('Reading /slow');
  terminal.type('\x1b');
  await shows('interrupted; nothing was sent');
  expect(server.requests).toHaveLength(1);
  terminal.enter('go on');
  await until(() => server.requests.length === 2);
  terminal.enter('/greet Bob');
  await shows('Hello Bob.');
  const at = (words: string): number => terminal.lines().findIndex((line) => line.includes(words));
  expect(at('Long.')).toBeLessThan(at('Hello Bob.'));
  terminal.enter('/exit');
  await terminal.expectLeft();
});
