import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { PermissionMode } from '#domain/entry.ts';
import { modeOf, planOf } from '#domain/folds.ts';
import type { Answer, Question, ToolOutcome } from '#domain/ports.ts';
import type { Json } from '#lib/brand.ts';
import type { CallId } from '#domain/tool.ts';
import { askUserQuestion } from '#tools/kinds/ask-user-question.ts';
import { exitPlanMode } from '#tools/kinds/exit-plan-mode.ts';
import { createToolbox, definitionOf } from '#tools/toolbox.ts';
import { finish, openHouse, textOf } from './support.ts';

interface Person {
  readonly mode?: PermissionMode;
  answer(question: Question, signal: AbortSignal): Promise<Answer | undefined> | Answer | undefined;
}

/** A toolbox whose questions go to a person of the test's making. */
function seat({ mode = 'plan', answer }: Person) {
  const { context, session } = openHouse();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'plans-')));
  onTestFinished(() => { rmSync(folder, { recursive: true, force: true, maxRetries: 5 }); });
  const file = join(folder, 'plan.md');
  const asked: Question[] = [];
  const toolbox = createToolbox({
    tools: [exitPlanMode, askUserQuestion],
    context: {
      ...context,
      mode: () => mode,
      keepPlan: (text) => { writeFileSync(file, `${text}\n`); return Promise.resolve(file); },
      ask: (question, _session, signal) => { asked.push(question); return Promise.resolve(answer(question, signal)); },
    },
  });
  const call = async (tool: string, input: Json, signal = new AbortController().signal): Promise<ToolOutcome> => {
    const outcome = await finish(toolbox.run({ id: 'c' as CallId, tool, input }, session, signal));
    session.append({ type: 'toolResult', callId: 'c' as CallId, tool, result: outcome.result });
    for (const entry of outcome.entries ?? []) session.append(entry);
    return outcome;
  };
  return { session, asked, file, call };
}

const PLAN = '# Lamp\n\n1. Change it.\n2. Run the tests.';
const QUESTIONS = [
  { question: 'Which colour?', header: 'Colour', options: [{ label: 'Red', description: 'warm' }, { label: 'Blue', description: 'cold' }] },
  { question: 'Which rooms?', header: 'Rooms', options: [{ label: 'Hall' }, { label: 'Attic' }], multiSelect: true },
];

describe('ExitPlanMode', () => {
  test.each(['default', 'acceptEdits', 'auto'] as const)('approved: plan mode ends in %s, the plan is kept', async (mode) => {
    const { call, asked, session, file } = seat({ answer: () => ({ kind: 'approved', mode }) });
    const outcome = await call('ExitPlanMode', { plan: PLAN });
    expect(asked).toEqual([{ kind: 'plan', plan: PLAN, file }]);
    expect(outcome.result).toMatchObject({ kind: 'ok', files: [{ path: file, how: 'write', kept: true }] });
    expect(textOf(outcome)).toContain(`The user approved the plan. Plan mode is over;`);
    expect(textOf(outcome)).toContain(file);
    expect(modeOf(session.log)).toBe(mode);
    expect(planOf(session.log)).toMatchObject({ state: 'approved', file, text: PLAN });
    expect(readFileSync(file, 'utf8')).toBe(`${PLAN}\n`);
  });
  test('a plain yes goes on in the default mode', async () => {
    const { call, session } = seat({ answer: () => ({ kind: 'yes' }) });
    await call('ExitPlanMode', { plan: PLAN });
    expect(modeOf(session.log)).toBe('default');
  });
  test('what the user changed in the file while the question stood is the plan', async () => {
    const house = seat({ answer: (question) => {
      if (question.kind === 'plan') writeFileSync(question.file, '# Lamp\n\nOnly the bulb.\n');
      return { kind: 'approved', mode: 'default' };
    } });
    const outcome = await house.call('ExitPlanMode', { plan: PLAN });
    expect(textOf(outcome)).toMatch(/The user changed the plan\. It now reads:\n# Lamp\n\nOnly the bulb\.$/);
    expect(planOf(house.session.log)?.text).toBe('# Lamp\n\nOnly the bulb.');
  });
  test('no, with words: plan mode stays on and the model hears them', async () => {
    const { call, session } = seat({ answer: () => ({ kind: 'no', instead: ' Use ninja. ' }) });
    const outcome = await call('ExitPlanMode', { plan: PLAN });
    expect(outcome).toMatchObject({ result: { kind: 'refused' } });
    expect(outcome.endTurn).toBeUndefined();
    expect(textOf(outcome)).toContain('says: Use ninja.\nPlan mode stays on.');
    expect(modeOf(session.log)).toBeUndefined();
    expect(planOf(session.log)?.state).toBe('rejected');
  });
  test('no, without a word, ends the turn', async () => {
    expect(await seat({ answer: () => ({ kind: 'no' }) }).call('ExitPlanMode', { plan: PLAN })).toMatchObject({ endTurn: 'You did not approve the plan. Say what to change; plan mode is still on.', result: { kind: 'refused' } });
  });
  test('nobody there: refused, plan mode stays on, the plan is kept', async () => {
    const { call, session } = seat({ answer: () => undefined });
    const outcome = await call('ExitPlanMode', { plan: PLAN });
    expect(outcome.result.kind).toBe('refused');
    expect(textOf(outcome)).toContain('Nobody is there to approve the plan');
    expect(planOf(session.log)?.state).toBe('proposed');
    expect(modeOf(session.log)).toBeUndefined();
  });
  test('an interrupt leaves plan mode on and the plan unanswered', async () => {
    const stop = new AbortController();
    const { call, session } = seat({ answer: () => { stop.abort(); return undefined; } });
    const outcome = await call('ExitPlanMode', { plan: PLAN }, stop.signal);
    expect(outcome.result.kind).toBe('interrupted');
    expect(planOf(session.log)?.state).toBe('proposed');
    expect(modeOf(session.log)).toBeUndefined();
  });
  test('outside of plan mode nobody is asked', async () => {
    const { call, asked } = seat({ mode: 'default', answer: () => ({ kind: 'yes' }) });
    expect((await call('ExitPlanMode', { plan: PLAN })).result.kind).toBe('failed');
    expect(asked).toEqual([]);
  });
  test.each([{}, { plan: '  ' }, { plan: 'x'.repeat(60_000) }, { plan: 3 }])('bad input %#', async (input) => {
    const { call, asked } = seat({ answer: () => ({ kind: 'yes' }) });
    expect((await call('ExitPlanMode', input as Json)).result.kind).toBe('failed');
    expect(asked).toEqual([]);
  });
});

describe('AskUserQuestion', () => {
  test('gives the answers as the user\'s words', async () => {
    const { call, asked } = seat({ answer: () => ({ kind: 'chosen', answers: [['Blue'], ['Hall', 'the cellar']] }) });
    const outcome = await call('AskUserQuestion', { questions: QUESTIONS });
    expect(textOf(outcome)).toBe('The user answered:\n- Which colour? → Blue\n- Which rooms? → Hall, the cellar (in the user\'s own words)');
    expect(outcome.result).toMatchObject({ kind: 'ok', card: { body: [{ type: 'list', items: ['Colour: Blue', 'Rooms: Hall, the cellar'] }] } });
    expect(asked).toEqual([{ kind: 'choices', questions: [
      { header: 'Colour', question: 'Which colour?', options: [{ label: 'Red', description: 'warm' }, { label: 'Blue', description: 'cold' }], several: false },
      { header: 'Rooms', question: 'Which rooms?', options: [{ label: 'Hall', description: '' }, { label: 'Attic', description: '' }], several: true },
    ] }]);
  });
  test('fewer answers than questions are no answer', async () => {
    expect(textOf(await seat({ answer: () => ({ kind: 'chosen', answers: [['Red']] }) }).call('AskUserQuestion', { questions: QUESTIONS }))).toContain('Which rooms? → (no answer)');
  });
  test('in auto mode nobody is asked', async () => {
    const { call, asked } = seat({ mode: 'auto', answer: () => ({ kind: 'yes' }) });
    const outcome = await call('AskUserQuestion', { questions: QUESTIONS });
    expect(outcome.result.kind).toBe('ok');
    expect(textOf(outcome)).toContain('the user is not asked. Decide');
    expect(asked).toEqual([]);
  });
  test('nobody there: it failed, and says what to do', async () => {
    const outcome = await seat({ answer: () => undefined }).call('AskUserQuestion', { questions: QUESTIONS });
    expect(outcome.result.kind).toBe('failed');
    expect(textOf(outcome)).toContain('Nobody is there to answer');
  });
  test('a refusal with words is an answer, one without ends the turn', async () => {
    expect(textOf(await seat({ answer: () => ({ kind: 'no', instead: 'neither' }) }).call('AskUserQuestion', { questions: QUESTIONS }))).toBe('The user chose none of the answers and says: neither');
    expect(await seat({ answer: () => ({ kind: 'no' }) }).call('AskUserQuestion', { questions: QUESTIONS })).toMatchObject({ endTurn: 'You did not answer. Say how to go on.', result: { kind: 'refused' } });
  });
  test('an interrupt is one', async () => {
    const stop = new AbortController();
    expect((await seat({ answer: () => { stop.abort(); return undefined; } }).call('AskUserQuestion', { questions: QUESTIONS }, stop.signal)).result.kind).toBe('interrupted');
  });
  const [one] = QUESTIONS;
  test.each<[string, Json]>([
    ['none', { questions: [] }], ['five', { questions: Array.from({ length: 5 }, (_, n) => ({ ...one, question: `q${n}` })) }], ['one option', { questions: [{ ...one, options: [{ label: 'a' }] }] }],
    ['five options', { questions: [{ ...one, options: ['a', 'b', 'c', 'd', 'e'].map((label) => ({ label })) }] }], ['the same twice', { questions: [one, one] as Json }], ['equal labels', { questions: [{ ...one, options: [{ label: 'a' }, { label: 'a' }] }] }], ['a long header', { questions: [{ ...one, header: 'x'.repeat(30) }] }],
  ])('bad input: %s', async (_what, input) => {
    const { call, asked } = seat({ answer: () => ({ kind: 'yes' }) });
    expect((await call('AskUserQuestion', input)).result.kind).toBe('failed');
    expect(asked).toEqual([]);
  });
});

test('both are for the main conversation, and their definitions are small', () => {
  for (const tool of [exitPlanMode, askUserQuestion]) {
    expect(tool.threads).toBe('main');
    expect(JSON.stringify(definitionOf(tool)).length).toBeLessThanOrEqual(730);
  }
});
