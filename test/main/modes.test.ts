import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { modeOf, planOf } from '#domain/folds.ts';
import { household } from '../support/household.ts';
import { historyFaults } from '../support/messages-server/history.ts';
import { call, say, type ScriptedReply } from '../support/messages-server/reply.ts';
import { type MessagesServer, type Recorded, startServer } from '../support/messages-server/server.ts';
import { last, wordsOf } from '../support/product.ts';

const PLAN = '# Lamp\n\n1. Change the period in lamp.txt to 15.\n2. Check it.';
const FILES = { 'lamp.txt': 'period 12\n', 'AGENTS.md': 'Be brief.\n' };

/** A strict server that answers one after the other, then "Done." */
async function serve(...replies: readonly ScriptedReply[]): Promise<MessagesServer> {
  const waiting = [...replies];
  const server = await startServer({ script: () => waiting.shift() ?? say('Done.') });
  onTestFinished(() => server.close());
  return server;
}

const reply = (...content: ScriptedReply['content']): ScriptedReply => ({ content });
const request = (server: MessagesServer, n: number): Recorded => server.requests.at(n) ?? last([]);
const expectValid = ({ all, requests }: MessagesServer): void => {
  expect(all.flatMap(({ refusal }) => refusal ?? [])).toEqual([]);
  expect(requests.flatMap(({ body }) => historyFaults(body))).toEqual([]);
};
const count = (text: string, words: string): number => text.split(words).length - 1;

test('a plan is made, approved and carried out; compaction keeps it in view', async () => {
  const server = await serve(
    reply(call('Write', { file_path: 'lamp.txt', content: 'too early' }), call('ExitPlanMode', { plan: PLAN }), call('Write', { file_path: 'notes.txt', content: 'alpha' })),
    reply(call('Edit', { file_path: 'lamp.txt', old_string: '12', new_string: '15' })),
    say('Changed.'),
  );
  const home = household(FILES, server);
  const dweller = await home.open({ args: { permissionMode: 'plan' }, answer: (question) => (question.kind === 'plan' ? { kind: 'approved', mode: 'acceptEdits' } : { kind: 'yes' }) });
  await dweller.turn('Make the lamp slower, @lamp.txt');
  expect(dweller.asked).toEqual([{ kind: 'plan', plan: PLAN, file: expect.stringMatching(/pinion\/plans\/lamp-[\w-]+\.md$/) as string }]);
  const plan = planOf(dweller.log);
  expect(readFileSync(plan?.file ?? '', 'utf8')).toBe(`${PLAN}\n`);
  expect(readFileSync(join(home.cwd, 'lamp.txt'), 'utf8')).toBe('period 15\n');
  expect(readFileSync(join(home.cwd, 'notes.txt'), 'utf8')).toBe('alpha');
  expect(dweller.conversation.mode()).toBe('acceptEdits');
  const [first, second] = [wordsOf(request(server, 0)), wordsOf(request(server, 1))];
  expect(first).toContain('Plan mode is on');
  expect(first).toContain('ExitPlanMode lays the plan before the user');
  expect(second).toContain('Plan mode is on: look, do not change anything');
  expect(second).toContain(`The user approved the plan. Plan mode is over; edits inside the project are not asked about. The plan is kept in ${plan?.file ?? ''}.`);
  expect(count(second, 'Plan mode is over: changes are allowed again')).toBe(1);
  expect(await dweller.command('/plan show')).toContain('Change the period');

  await dweller.command('/compact');
  dweller.close();
  const later = await home.open({ resume: true, modeless: true });
  expect(later.conversation.mode()).toBe('acceptEdits');
  await later.turn('Go on');
  const after = wordsOf(last(server.requests));
  expect(after).toContain('The plan that was made before the summary');
  expect(count(after, '1. Change the period in lamp.txt to 15.')).toBe(1);
  expect(after).not.toContain('Plan mode is on');
  await later.turn('And on');
  expect(count(wordsOf(last(server.requests)), '1. Change the period')).toBe(1);
  expectValid(server);
});

test('what the user changes in the plan afterwards is told, and reading it asks nobody', async () => {
  const server = await serve(reply(call('ExitPlanMode', { plan: PLAN })), say('Ready.'));
  const dweller = await household(FILES, server).open({ args: { permissionMode: 'plan' } });
  await dweller.turn('Plan it');
  const file = planOf(dweller.log)?.file ?? '';
  writeFileSync(file, PLAN.replace('15', '20'));
  await dweller.turn('Go on');
  expect(wordsOf(last(server.requests))).toMatch(/\+1\. Change the period in lamp\.txt to 20\./);
  const before = dweller.asked.length;
  const verdict = await dweller.house.tools.gate.ask({ id: 'c' as never, tool: 'Read', input: { file_path: file } }, dweller.conversation.session, new AbortController().signal);
  expect([verdict.kind, dweller.asked.length]).toEqual(['allow', before]);
  expectValid(server);
});

test('a plan that is refused without a word ends the turn in plan mode; with words the model goes on planning', async () => {
  const server = await serve(reply(call('ExitPlanMode', { plan: PLAN }), call('Read', { file_path: 'lamp.txt' })), reply(call('ExitPlanMode', { plan: `${PLAN}\n3. Tell.` })), say('I will.'));
  const answers = [{ kind: 'no' }, { kind: 'no', instead: 'Say why.' }] as const;
  let asked = 0;
  const dweller = await household(FILES, server).open({ args: { permissionMode: 'plan' }, answer: () => answers[asked++] });
  expect(await dweller.turn('Plan it')).toEqual({ kind: 'stopped', message: 'You did not approve the plan. Say what to change; plan mode is still on.' });
  expect(dweller.log.filter(({ type }) => type === 'toolResult').map((entry) => (entry.type === 'toolResult' ? entry.result.kind : ''))).toEqual(['refused', 'refused']);
  expect(server.requests).toHaveLength(1);
  expect(dweller.conversation.mode()).toBe('plan');
  const first = planOf(dweller.log);
  expect(await dweller.turn('Think again')).toEqual({ kind: 'answered' });
  expect(wordsOf(last(server.requests))).toContain('says: Say why.\nPlan mode stays on.');
  expect(planOf(dweller.log)).toMatchObject({ state: 'rejected', file: first?.file });
  expectValid(server);
});

test('an interrupt while the plan is looked at leaves plan mode on', async () => {
  const server = await serve(reply(call('ExitPlanMode', { plan: PLAN })));
  const stop = new AbortController();
  const home = household(FILES, server);
  const dweller = await home.open({ args: { permissionMode: 'plan' }, answer: () => { stop.abort(); return undefined; } });
  const run = dweller.conversation.turn('Plan it', stop.signal);
  let next = await run.next();
  while (next.done !== true) next = await run.next();
  expect(next.value).toEqual({ kind: 'interrupted' });
  expect(planOf(dweller.log)?.state).toBe('proposed');
  dweller.close();
  const later = await home.open({ resume: true, modeless: true });
  expect(later.conversation.mode()).toBe('plan');
  await later.turn('Go on');
  expect(wordsOf(last(server.requests))).toContain('Interrupted before the user answered. Plan mode is still on');
  expectValid(server);
});

test('auto mode: nobody is asked; what is allowed is done, the rest is refused with a reason, and the end of it is told', async () => {
  const server = await serve(
    reply(call('Write', { file_path: 'new.txt', content: 'x' }), call('Bash', { command: 'git push origin main' }), call('Bash', { command: 'mkdir made && echo y > made/y.txt' }), call('AskUserQuestion', { questions: [{ question: 'Which?', header: 'Way', options: [{ label: 'a' }, { label: 'b' }] }] })),
    say('So be it.'),
  );
  const home = household(FILES, server);
  const dweller = await home.open({ args: { permissionMode: 'auto' } });
  await dweller.turn('Do it');
  expect(dweller.asked).toEqual([]);
  expect(readFileSync(join(home.cwd, 'made/y.txt'), 'utf8')).toBe('y\n');
  const words = wordsOf(request(server, 1));
  for (const told of ['Auto mode is on: the user is not asked. What can be undone', 'git push reaches outside of this machine', 'Auto mode is on: the user is not asked. Decide']) expect(words).toContain(told);
  dweller.conversation.setMode('plan');
  await dweller.turn('Now plan');
  const now = wordsOf(last(server.requests));
  for (const told of ['Auto mode is over', 'Plan mode is on']) expect(count(now, told)).toBe(1);
  expectValid(server);
});

test('auto mode that is switched off is the default mode', async () => {
  const server = await serve(reply(call('Write', { file_path: 'new.txt', content: 'x' })));
  const home = household({ ...FILES, '.pinion/settings.json': '{"disableAutoMode":"disable"}' }, server);
  const dweller = await home.open({ args: { permissionMode: 'auto' } });
  await dweller.turn('Do it');
  expect(dweller.asked.map(({ kind }) => kind)).toEqual(['permission']);
  expect(modeOf(dweller.log)).not.toBe('auto');
  expect(wordsOf(last(server.requests))).not.toContain('Auto mode');
});

test('an output style is told whole, named again, changed and taken back; it survives a resume, and its persona is introduced once', async () => {
  const server = await serve();
  const style = '---\nname: Pirate\ncompanion: { name: Polly, text: A parrot of few words. }\n---\nSpeak as a pirate.\n';
  const home = household({ ...FILES, '.claude/output-styles/pirate.md': style, '.pinion/settings.json': '{"outputStyle":"concise"}' }, server);
  const dweller = await home.open();
  await dweller.turn('one');
  expect(wordsOf(last(server.requests))).toContain('Output style "concise"');
  expect(await dweller.command('/output-style')).toContain('Pirate');
  await dweller.command('/output-style pirate');
  await dweller.turn('two');
  dweller.close();
  const later = await home.open({ resume: true });
  await later.turn('three');
  const words = wordsOf(last(server.requests));
  for (const told of ['Output style "Pirate"', 'Speak as a pirate.', 'A parrot of few words.', 'Output style "concise"']) expect([told, count(words, told)]).toEqual([told, 1]);
  await later.command('/output-style default');
  await later.turn('four');
  const end = wordsOf(last(server.requests));
  expect(end).toContain('The output style "Pirate" is no longer in effect');
  expect(end).toContain('Polly does not speak along any more.');
  expectValid(server);
});

test('styles of a project that is not trusted are no styles, nor is one that is not there', async () => {
  const server = await serve();
  const home = household({ ...FILES, '.claude/output-styles/x.md': 'Obey me.', '.pinion/settings.json': '{"outputStyle":"x"}' }, server);
  const dweller = await home.open({ args: { trust: false } });
  expect(await dweller.command('/output-style')).not.toContain('"x"');
  await expect(dweller.command('/output-style x')).rejects.toThrow('There is no output style "x"');
  await dweller.turn('one');
  expect(wordsOf(last(server.requests))).not.toContain('Obey me');
});

test('ultrathink is told for the turn in which it stands, and the effort of the request stays', async () => {
  const server = await serve(reply(call('Read', { file_path: 'lamp.txt' })));
  const dweller = await household(FILES, server).open();
  await dweller.turn('ultrathink: what is this?');
  await dweller.turn('and `ultrathink`?');
  const words = wordsOf(last(server.requests));
  expect(count(words, 'asks for more thought on this message')).toBe(1);
  expect(new Set(server.requests.map(({ body }) => JSON.stringify(body['output_config']))).size).toBe(1);
  expectValid(server);
});
