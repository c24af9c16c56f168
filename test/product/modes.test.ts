import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { call, say } from '../support/messages-server/reply.ts';
import { expectValid, last, only, product, resultIn, serve, wordsOf } from '../support/product.ts';

const PLAN = '# Lamp\n\n1. Change the period in lamp.txt to 15.\n2. Check it.';
const FILES = { 'lamp.txt': 'period 12\n' };
const QUESTION = { questions: [{ question: 'Which lamp?', header: 'Lamp', options: [{ label: 'Hall', description: 'the large one' }, { label: 'Attic', description: 'the small one' }] }] };

it('print mode: a plan is kept and refused, and nothing is changed', async () => {
  const server = await serve([{ content: [call('ExitPlanMode', { plan: PLAN })] }, say(PLAN)]);
  const { run, home, cwd } = product(FILES, server);
  const { code, stdout } = await run(['-p', 'Make the lamp slower', '--permission-mode', 'plan', '--output-format', 'json']);
  expect(code).toBe(0);
  const result = resultIn(stdout);
  expect(only(result.permission_denials)).toMatchObject({ tool_name: 'ExitPlanMode', tool_input: { plan: PLAN } });
  expect(result.result).toBe(PLAN);
  expect(readFileSync(join(home, 'plans', only(readdirSync(join(home, 'plans')))), 'utf8')).toBe(`${PLAN}\n`);
  expect(readFileSync(join(cwd, 'lamp.txt'), 'utf8')).toBe('period 12\n');
  expect((await run(['-c', '-p', '/plan show'])).stdout).toContain('Change the period in lamp.txt to 15.');
  expectValid(server);
});

it('print mode: a question has nobody to answer it, auto mode does what it may, and a style is set for the session', async () => {
  const server = await serve([{ content: [call('AskUserQuestion', QUESTION)] }, say('I chose.'), { content: [call('Write', { file_path: 'a.txt', content: 'a' }), call('Bash', { command: 'git push' })] }, say('Done.'), say('Short.')]);
  const { run, cwd } = product({ ...FILES, 'b.md': '' }, server);
  expect((await run(['-p', 'Go'])).stdout).toBe('I chose.\n');
  expect(wordsOf(last(server.requests))).toContain('Nobody is there to answer.');
  const auto = resultIn((await run(['-c', '-p', 'Go on', '--permission-mode', 'auto', '--output-format', 'json'])).stdout);
  expect(auto.permission_denials.map(({ tool_input }) => tool_input)).toEqual([{ command: 'git push' }]);
  expect(existsSync(join(cwd, 'a.txt'))).toBe(true);
  expect((await run(['-c', '-p', '/output-style concise'])).stdout).toContain('Output style: concise');
  expect((await run(['-c', '-p', 'And now?'])).stdout).toBe('Short.\n');
  expect(wordsOf(last(server.requests))).toContain('Output style "concise"');
  expectValid(server);
});

it.each([[80, 24], [40, 20]])('on a screen of %i by %i a plan is read, answered and carried out', async (columns, rows) => {
  const server = await serve([
    { content: [call('ExitPlanMode', { plan: PLAN })] }, { content: [call('ExitPlanMode', { plan: `${PLAN}\n3. Tell.` })] }, { content: [call('Edit', { file_path: 'lamp.txt', old_string: '12', new_string: '15' })] }, say('It is slower.'),
    { content: [call('AskUserQuestion', QUESTION)] }, say('The attic then.'),
  ]);
  const { open, cwd } = product(FILES, server);
  const terminal = open({ columns, rows });
  await terminal.waitFor('Ask, or /');
  for (let n = 0; n < 2; n += 1) terminal.type('\x1b[Z');
  await terminal.waitFor(/plan/);
  terminal.enter('Make the lamp slower');
  await terminal.waitFor('4 no, keep planning');
  terminal.type('4');
  await terminal.waitFor('Enter sends it');
  terminal.type('also tell me\r');
  await terminal.waitFor(/3\. Tell\.[^]*4 no, keep planning/);
  terminal.type('1');
  await terminal.waitFor('It is slower.');
  expect(readFileSync(join(cwd, 'lamp.txt'), 'utf8')).toBe('period 15\n');
  expect(wordsOf(last(server.requests))).toContain('says: also tell me');
  expect(wordsOf(last(server.requests))).toContain('Plan mode is over');
  terminal.enter('/plan show');
  await terminal.waitFor('Plan (approved)');
  terminal.enter('Which one?');
  await terminal.waitFor('2 Attic');
  terminal.type('2');
  await terminal.waitFor('The attic then.');
  expect(wordsOf(last(server.requests))).toContain('Which lamp? → Attic');
  terminal.enter('/exit');
  await terminal.expectLeft();
  expectValid(server);
});
