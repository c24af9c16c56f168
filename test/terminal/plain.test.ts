import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { call, say } from '../support/messages-server/reply.ts';
import { last, PINION, product, serve, wordsOf } from '../support/product.ts';
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
  terminal.type('/plan\r');
  await terminal.waitFor(/Plan mode is on.*\n>/);
  terminal.type('/clear\r');
  await terminal.waitFor(/New session.*\n>/);
  terminal.type('/compact\r');
  await terminal.waitFor(/\n! \/compact: There is nothing to compact yet\.\n>/);
  terminal.type('/exit\r');
  expect((await terminal.ended).code).toBe(0);
  expect(terminal.raw()).not.toMatch(/\u001b\[[0-9;]*[A-HJKf]/);
});

it('there, plans and questions of the model are answered by lines as well', async () => {
  const server = await serve([
    { content: [call('AskUserQuestion', { questions: [
      { header: 'Library', question: 'Which one?', multiSelect: false, options: [{ label: 'ink', description: 'as before' }, { label: 'own', description: '' }] },
      { header: 'Parts', question: 'Which parts?', multiSelect: true, options: [{ label: 'a', description: '' }, { label: 'b', description: '' }, { label: 'c', description: '' }] },
    ] })] },
    say('Thank you.'),
    { content: [call('ExitPlanMode', { plan: '# Light the lamp\n\n1. climb' })] },
    { content: [call('ExitPlanMode', { plan: '# Light the lamp\n\n1. climb slowly' })] },
    say('I begin.'),
  ]);
  const { cwd, env } = product({}, server);
  const terminal = openVirtualTerminal({ command: process.execPath, args: [PINION], cwd, env: { ...env, TERM: 'dumb' }, columns: 200, rows: 40 });
  onTestFinished(() => terminal.close());
  await terminal.waitFor(/^>/m);
  terminal.type('ask me\r');
  await terminal.waitFor('Library (1 of 2): Which one?');
  terminal.type('2\r');
  await terminal.waitFor('Parts (2 of 2): Which parts?');
  terminal.type('3, 1\r');
  await terminal.waitFor(/Thank you\.\n>/);
  expect(wordsOf(last(server.requests))).toMatch(/own[\s\S]*a[\s\S]*c/);
  terminal.type('/plan\r');
  await terminal.waitFor(/Plan mode is on.*\n>/);
  terminal.type('plan it\r');
  await terminal.waitFor('or what to change:');
  terminal.type('slower\r');
  await terminal.waitFor(/climb slowly[\s\S]*or what to change:/);
  expect(wordsOf(last(server.requests))).toContain('slower');
  terminal.type('a\r');
  await terminal.waitFor(/I begin\.\n>/);
  terminal.type('/exit\r');
  expect((await terminal.ended).code).toBe(0);
  expect(terminal.raw()).not.toMatch(/\u001b\[[0-9;]*[A-HJKf]/);
});
