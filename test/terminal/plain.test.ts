import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { PINION, product } from '../support/product.ts';
import { openVirtualTerminal } from '../support/virtual-terminal.ts';

it('a terminal that can only print lines gets lines: questions, answers, commands, no cursor moved', async () => {
  const { cwd, env } = product({ 'package.json': '{"name":"plain-one"}' });
  const terminal = openVirtualTerminal({ command: process.execPath, args: [PINION], cwd, env: { ...env, TERM: 'dumb' } });
  onTestFinished(() => terminal.close());
  await terminal.waitFor('Go on with the demo model');
  terminal.type('1\r');
  await terminal.waitFor(/^>/m);
  terminal.type('Read package.json and tell me its name\r');
  await terminal.waitFor((screen) => screen.some((line) => line.includes('plain-one')) && screen.findLast((line) => line.trim() !== '')?.trim() === '>');
  terminal.type('Write new.txt with "hello"\r');
  await terminal.waitFor('y (yes)');
  terminal.type('y\r');
  await terminal.waitFor('Created new.txt');
  expect(readFileSync(join(cwd, 'new.txt'), 'utf8')).toBe('hello\n');
  terminal.type('Write other.txt with "hello"\r');
  await terminal.waitFor((screen) => screen.filter((line) => line.startsWith('y (yes)')).length === 2);
  terminal.type('n\r');
  terminal.type('/todo add something\r');
  await terminal.waitFor(/1 +something/);
  terminal.type('/exit\r');
  expect((await terminal.ended).code).toBe(0);
  expect(terminal.raw()).not.toMatch(/\u001b\[[0-9;]*[A-HJKf]/);
});
