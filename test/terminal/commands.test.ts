import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { product } from '../support/product.ts';

const READY = '> Ask, or /';
const has = (pattern: RegExp) => (screen: readonly string[]): boolean => pattern.test(screen.join('\n'));

it('keeps a key that is entered, shows it nowhere, and forgets it again', async () => {
  const { open, home } = product();
  const terminal = open();
  await terminal.waitFor('There is no API key yet');
  terminal.type('\r');
  await terminal.waitFor(READY);
  terminal.type('/login\r');
  await terminal.waitFor('It begins with sk-ant-');
  terminal.type('sk-ant-secret\r');
  await terminal.waitFor(has(/› \/login\n● The key is kept/));
  const file = join(home, 'credentials.json');
  expect(readFileSync(file, 'utf8')).toContain('sk-ant-secret');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await terminal.waitFor(READY);
  terminal.type('/logout\r');
  await terminal.waitFor(has(/› \/logout\n● The key is forgotten/));
  expect(existsSync(file) && readFileSync(file, 'utf8').includes('sk-ant-secret')).toBe(false);
  terminal.type('/exit\r');
  await terminal.expectLeft();
  expect(terminal.raw()).not.toContain('sk-ant-secret');
});

it('leaves a trace of every command, and says why one was not done, however often', async () => {
  const { open } = product();
  const terminal = open({ rows: 40 });
  await terminal.waitFor('There is no API key yet');
  terminal.type('\r');
  await terminal.waitFor(READY);
  terminal.type('/plan\r');
  await terminal.waitFor(has(/› \/plan\n● Plan mode is on/));
  terminal.type('/plan off\r');
  await terminal.waitFor(has(/› \/plan off\n● Plan mode is off/));
  terminal.type('/compact all of it\r');
  await terminal.waitFor(has(/› \/compact all of it\n▲ \/compact: There is nothing to compact yet\./));
  terminal.type('/model claude-opus-5-5\r');
  await terminal.waitFor(has(/› \/model claude-opus-5-5\n▲ \/model: The model claude-opus-5-5 needs a key\./));
  for (let times = 1; times < 3; times += 1) {
    terminal.type('/cler\r');
    await terminal.waitFor((screen) => screen.join('\n').split('› /cler\n▲ /cler: There is no command /cler.').length === times + 1);
  }
  terminal.type('/clear\r');
  await terminal.waitFor(has(/› \/clear\n● New session/));
  terminal.type('/exit\r');
  await terminal.expectLeft();
});

it('shows what a command of the user puts out while it runs, and what waits behind it, which can be taken back', async () => {
  const { open } = product();
  const terminal = open({ rows: 30 });
  await terminal.waitFor('There is no API key yet');
  terminal.type('\r');
  await terminal.waitFor(READY);
  terminal.type('!echo first; sleep 30\r');
  await terminal.waitFor('⎿ first');
  terminal.type('!echo second\r');
  await terminal.waitFor('⧗ !echo second');
  terminal.type('/clear\r');
  await terminal.waitFor('⧗ /clear');
  terminal.type('some words\r');
  await terminal.waitFor('⧗ some words');
  terminal.type('\x1b[A');
  await terminal.waitFor('> some words');
  terminal.type('\x15\x1b[A');
  await terminal.waitFor('> /clear');
  expect(terminal.screen().filter((line) => line.includes('⧗'))).toEqual(['  ⧗ !echo second']);
  // The words in hand stay where they are; Ctrl-C stops the command, and what still waits follows.
  terminal.type('\x03');
  await terminal.waitFor(has(/! echo first; sleep 30\n {2}first\n {2}\(interrupted\)\n\n! echo second\n {2}second\n/));
  await terminal.waitFor('> /clear');
  terminal.type('\x15/exit\r');
  await terminal.expectLeft();
});
