import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Source } from '#attachments/define.ts';
import autoMode from '#attachments/sources/auto-mode.ts';
import companionIntro from '#attachments/sources/companion-intro.ts';
import outputStyle from '#attachments/sources/output-style.ts';
import planFile from '#attachments/sources/plan-file.ts';
import planMode from '#attachments/sources/plan-mode.ts';
import ultrathinkEffort, { asksForThought } from '#attachments/sources/ultrathink-effort.ts';
import verifyPlanReminder from '#attachments/sources/verify-plan-reminder.ts';
import { TODO_LIST_ID } from '#domain/attachment.ts';
import { type BlobHash, NO_USAGE } from '#domain/content.ts';
import type { EntryBody, EntryId, EntryOf, PermissionMode } from '#domain/entry.ts';
import { conversationOf } from '#domain/folds.ts';
import type { Session } from '#domain/session.ts';
import type { CallId } from '#domain/tool.ts';
import type { OutputStyle, World } from '#domain/world.ts';
import { answer, memorySession, prompt } from '../support/logs.ts';
import { ask, textOf } from './world.ts';

const ALL_TOOLS: Partial<World> = { tools: { has: () => true, deferred: () => [] } };
const compaction: EntryBody = { type: 'compaction', summary: 's', trigger: 'manual', usage: NO_USAGE, model: 'm', tokensBefore: 1 };
const plan = (state: EntryOf<'plan'>['state'], text = 'Change the lamp.', file = '/p/lamp.md'): EntryBody => ({ type: 'plan', file, text, state });
const wrote = (path = '/w/a'): EntryBody => ({ type: 'toolResult', callId: 'c' as CallId, tool: 'Write', result: { kind: 'ok', content: [], card: { title: '', body: [] }, files: [{ path, hash: 'h' as BlobHash, how: 'write', kept: true }] } });
const todos = (state: 'open' | 'done'): EntryBody => ({ type: 'attach', by: 'model', attachment: { kind: 'todo', id: TODO_LIST_ID, items: [{ id: 1, text: 'x', state, by: 'model' }] } });

function step(session: Session, times = 1): void {
  for (let n = 0; n < times; n += 1) session.append(answer('x'));
}

/** Which form is said at each of so many steps. */
async function forms(source: Source, steps: number, world: Partial<World>): Promise<string> {
  const session = memorySession([prompt('go')]);
  let said = '';
  for (let n = 0; n < steps; n += 1) {
    said += { full: 'F', brief: 'b', delta: 'd', gone: 'g', none: '.' }[(await ask(source, session, world))?.form ?? 'none'];
    step(session);
  }
  return said;
}

describe('how often', () => {
  test.each([['plan_mode', planMode, { mode: 'plan' }], ['auto_mode', autoMode, { mode: 'auto' }]] as const)('%s speaks every 5 steps, every 5th time whole', async (_name, source, world) => {
    expect(await forms(source, 52, world)).toBe('F....b....b....b....b....F....b....b....b....b....F.');
  });
  test('the output style is repeated by name every 10 steps', async () => {
    expect(await forms(outputStyle, 52, { style: () => Promise.resolve({ name: 'terse', body: 'Be terse.' }) })).toBe('F.........b.........b.........b.........b.........F.');
  });
  test('a persona is introduced once', async () => {
    expect(await forms(companionIntro, 30, { style: () => Promise.resolve({ name: 's', body: '', companion: { name: 'Finn', text: 'A heron.' } }) })).toBe(`F${'.'.repeat(29)}`);
  });
});

describe('plan_mode', () => {
  test('names the tools that are there', async () => {
    expect(textOf(await ask(planMode, memorySession(), { mode: 'plan', ...ALL_TOOLS }))).toMatch(/AskUserQuestion.*\nExitPlanMode lays the plan/s);
    const without = textOf(await ask(planMode, memorySession(), { mode: 'plan' }));
    expect(without).toContain('The user leaves plan mode with Shift-Tab or /plan');
    expect(without).not.toMatch(/ExitPlanMode|AskUserQuestion/);
  });
  test('a sub-agent gives its findings back and has nobody to ask', async () => {
    const said = textOf(await ask(planMode, memorySession([plan('approved')]), { mode: 'plan', thread: 'sub', ...ALL_TOOLS }));
    expect(said).toContain('give it back as your answer');
    expect(said).not.toMatch(/ExitPlanMode|AskUserQuestion|lamp/);
    const session = memorySession();
    await ask(planMode, session, { mode: 'plan', thread: 'sub' });
    expect(textOf(await ask(planMode, session, { mode: 'default', thread: 'sub' }))).toBe('Plan mode is over: changes are allowed again, as far as the permissions go.');
  });
  test('says once that it is over, with the plan; coming back it is whole and tells of the old plan', async () => {
    const session = memorySession([prompt('go')]);
    await ask(planMode, session, { mode: 'plan', ...ALL_TOOLS });
    session.append(plan('approved'));
    expect(textOf(await ask(planMode, session))).toBe('Plan mode is over: changes are allowed again, as far as the permissions go. The plan: /p/lamp.md (the user approved it).');
    expect(await ask(planMode, session)).toBeUndefined();
    step(session, 9);
    expect(await ask(planMode, session)).toBeUndefined();
    const again = await ask(planMode, session, { mode: 'plan', ...ALL_TOOLS });
    expect(again?.form).toBe('full');
    expect(textOf(again)).toContain('There is a plan already: /p/lamp.md (the user approved it). Look whether it still fits this task');
  });
  test('a plan that is made meanwhile does not change the rhythm', async () => {
    const session = memorySession([prompt('go')]);
    await ask(planMode, session, { mode: 'plan', ...ALL_TOOLS });
    session.append(plan('rejected'));
    expect(await ask(planMode, session, { mode: 'plan', ...ALL_TOOLS })).toBeUndefined();
    step(session, 5);
    expect((await ask(planMode, session, { mode: 'plan', ...ALL_TOOLS }))?.form).toBe('brief');
  });
});

describe('plan_file', () => {
  const files = (text: string): Partial<World> => ({ files: { load: (path) => Promise.resolve({ parts: [{ type: 'text', text: `${path}: ${text}` }], files: [{ path, hash: 'h' as BlobHash, how: 'read', kept: true }], notes: [] }) } });
  test.each(['approved', 'rejected', 'proposed'] as const)('gives a plan that is %s again after a compaction, as its file stands, once', async (state) => {
    const session = memorySession([prompt('go'), plan(state)]);
    expect(await ask(planFile, session, files('new text'))).toBeUndefined();
    session.append(compaction);
    const said = await ask(planFile, session, files('new text'));
    expect(textOf(said)).toContain('/p/lamp.md: new text');
    expect(said?.files).toEqual([{ path: '/p/lamp.md', hash: 'h', how: 'read', kept: true }]);
    step(session, 20);
    expect(await ask(planFile, session, files('newer text'))).toBeUndefined();
    session.append(compaction);
    expect(textOf(await ask(planFile, session, files('newer text')))).toContain('newer text');
  });
  test('gives what was laid before the user where the file is gone, cut where it is long', async () => {
    expect(textOf(await ask(planFile, memorySession([plan('approved'), compaction])))).toMatch(/the user approved it\)\.\nChange the lamp\.$/);
    const long = textOf(await ask(planFile, memorySession([plan('approved', '한'.repeat(20_000)), compaction]))) ?? '';
    expect(Buffer.byteLength(long)).toBeLessThan(25_000);
    expect(long).toContain('[the plan is longer]');
  });
  test('says nothing of a plan that was made since, or that a rewind took back', async () => {
    expect(await ask(planFile, memorySession([compaction, plan('approved')]))).toBeUndefined();
    const session = memorySession([compaction, prompt('go')]);
    const to = session.log.at(-1)?.id ?? ('' as EntryId);
    session.append(plan('approved'));
    session.append({ type: 'rewind', to });
    expect(await ask(planFile, session)).toBeUndefined();
  });
});

describe('verify_plan_reminder', () => {
  test('when every todo is done after writes', async () => {
    const session = memorySession([plan('approved'), todos('open'), wrote()]);
    step(session, 2);
    expect(await ask(verifyPlanReminder, session)).toBeUndefined();
    session.append(todos('done'));
    expect(textOf(await ask(verifyPlanReminder, session))).toContain('(every todo is done): /p/lamp.md');
  });
  test('when nothing was written for a while', async () => {
    const session = memorySession([plan('approved'), wrote()]);
    step(session, 5);
    expect(await ask(verifyPlanReminder, session)).toBeUndefined();
    step(session);
    expect(textOf(await ask(verifyPlanReminder, session))).toContain('no file was changed in 6 replies');
  });
  test.each<[string, readonly EntryBody[]]>([
    ['before anything was written', [plan('approved'), todos('done')]],
    ['for a list from before', [todos('done'), plan('approved'), wrote()]],
    ['for a plan that was not approved', [plan('rejected'), wrote(), todos('done')]],
    ['for writes from before', [wrote(), plan('approved'), todos('done')]],
  ])('not %s', async (_when, log) => { expect(await ask(verifyPlanReminder, memorySession(log))).toBeUndefined(); });
  test('once for a plan, over compactions; again for the next plan, and after a rewind over it', async () => {
    const session = memorySession([plan('approved'), wrote(), todos('done')]);
    const before = session.log.at(-1)?.id ?? ('' as EntryId);
    expect(await ask(verifyPlanReminder, session)).toBeDefined();
    step(session, 30);
    expect(await ask(verifyPlanReminder, session)).toBeUndefined();
    session.append({ type: 'rewind', to: before });
    expect(await ask(verifyPlanReminder, session)).toBeDefined();
    session.append(compaction);
    step(session, 30);
    expect(await ask(verifyPlanReminder, session)).toBeUndefined();
    for (const body of [plan('approved', 'other', '/p/other.md'), wrote(), todos('done')]) session.append(body);
    expect(textOf(await ask(verifyPlanReminder, session))).toContain('/p/other.md');
    expect(await ask(verifyPlanReminder, session)).toBeUndefined();
  });
});

describe('ultrathink_effort', () => {
  test.each([
    ['ultrathink', true], ['Please ULTRATHINK.', true], ['(ultrathink)', true], ['do it, ultrathink!', true], ['a\n\n```\ncode\n```\nultrathink', true], ['`x` and ultrathink and `y`', true], ['ultrathink: why', true],
    ['`ultrathink`', false], ['``a ` ultrathink``', false], ['```\nultrathink\n```', false], ['~~~js\nultrathink\n~~~', false], ['```\nultrathink', false], ['ultrathinking', false], ['src/ultrathink.ts', false], ['ultrathink.ts', false], ['@ultrathink', false], ['ultrathink/x', false], ['no-ultrathink', false], ['think hard', false],
  ])('%j: %s', (text, asked) => { expect(asksForThought(text)).toBe(asked); });
  test('speaks once for a message, and again for the next; after a compaction for what is still open', async () => {
    const session = memorySession([prompt('ultrathink about it')]);
    expect(textOf(await ask(ultrathinkEffort, session))).toContain('more thought on this message');
    step(session);
    expect(await ask(ultrathinkEffort, session, { moment: 'step', prompt: undefined })).toBeUndefined();
    expect(await ask(ultrathinkEffort, session)).toBeUndefined();
    session.append(compaction);
    expect(await ask(ultrathinkEffort, session)).toBeDefined();
    session.append(prompt('and now without'));
    expect(await ask(ultrathinkEffort, session)).toBeUndefined();
    session.append(prompt('ultrathink again'));
    expect(await ask(ultrathinkEffort, session)).toBeDefined();
  });
  test('hears queued words, and not what the commands of a skill put out', async () => {
    const session = memorySession([prompt('go')]);
    session.append({ type: 'queued', text: 'and ultrathink' });
    expect(await ask(ultrathinkEffort, session, { moment: 'step', prompt: undefined })).toBeDefined();
    expect(await ask(ultrathinkEffort, session, { moment: 'step', prompt: undefined })).toBeUndefined();
    expect(await ask(ultrathinkEffort, memorySession([{ type: 'prompt', text: 'do: ultrathink', shown: '/x', skill: { name: 'x', mentions: 'do:' } }]))).toBeUndefined();
  });
});

describe('output_style and companion_intro', () => {
  const style = (now: OutputStyle | undefined): Partial<World> => ({ style: () => Promise.resolve(now) });
  test('a change is whole, its end is told once', async () => {
    const session = memorySession();
    expect(textOf(await ask(outputStyle, session, style({ name: 'a', body: 'Be a.' })))).toMatch(/^Output style "a"[^]*\n\nBe a\.$/);
    expect(await ask(outputStyle, session, style({ name: 'a', body: 'Be a.' }))).toBeUndefined();
    expect(await ask(outputStyle, session, style({ name: 'a', body: 'Be more a.' }))).toMatchObject({ form: 'full' });
    expect(textOf(await ask(outputStyle, session, style({ name: 'b', body: 'Be b.' })))).toContain('Output style "b"');
    expect(textOf(await ask(outputStyle, session, style(undefined)))).toBe('The output style "b" is no longer in effect: answers are written as usual.');
    expect(await ask(outputStyle, session, style({ name: 'default', body: '' }))).toBeUndefined();
    session.append(compaction);
    expect(await ask(outputStyle, session, style({ name: 'b', body: 'Be b.' }))).toMatchObject({ form: 'full' });
  });
  test('another persona is introduced, its end told', async () => {
    const session = memorySession();
    const with_ = (name: string): Partial<World> => style({ name: 's', body: 'x', companion: { name, text: `I am ${name}.` } });
    expect(textOf(await ask(companionIntro, session, with_('Finn')))).toMatch(/"Finn"[^]*I am Finn\.$/);
    expect(textOf(await ask(companionIntro, session, with_('Ada')))).toContain('"Ada"');
    expect(textOf(await ask(companionIntro, session, style({ name: 's', body: 'x' })))).toBe('Ada does not speak along any more.');
  });
});

// ── Whatever the user does with modes, the model believes what is true ────────────────────────────────────────────────

type Act = { readonly do: 'mode'; readonly mode: PermissionMode } | { readonly do: 'steps'; readonly times: number } | { readonly do: 'moment' | 'compact' | 'resume' | 'plan' } | { readonly do: 'rewind' | 'exclude'; readonly pick: number };
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom<PermissionMode>('default', 'acceptEdits', 'plan', 'auto', 'plan', 'auto').map((mode): Act => ({ do: 'mode', mode })) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 12 }).map((times): Act => ({ do: 'steps', times })) },
  { weight: 6, arbitrary: fc.constant<Act>({ do: 'moment' }) },
  { weight: 2, arbitrary: fc.constantFrom<Act>({ do: 'compact' }, { do: 'resume' }, { do: 'plan' }) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom('rewind' as const, 'exclude' as const), fc.nat(50)).map(([what, pick]): Act => ({ do: what, pick })) },
);

/** What the reminders that still stand say of a mode: its last word, and the steps since. */
function believed(session: Session, source: string): { readonly on: boolean; readonly steps: number } {
  const conversation = conversationOf(session.log);
  const excluded = new Set(conversation.flatMap((entry) => (entry.type === 'exclude' ? [entry.target] : [])));
  const at = conversation.findLastIndex((entry) => entry.type === 'reminder' && entry.source === source && !excluded.has(entry.id));
  const last = conversation[at];
  return { on: last?.type === 'reminder' && last.form !== 'gone', steps: conversation.slice(at + 1).filter(({ type }) => type === 'assistant').length };
}

test('over random histories the model is told of the mode that is on, of no other, and never forgets it', async () => {
  await fc.assert(fc.asyncProperty(fc.array(act, { maxLength: 40 }), async (acts) => {
    let session = memorySession([prompt('go')]);
    let mode: PermissionMode = 'default';
    const moment = async (): Promise<void> => {
      for (const source of [planMode, autoMode]) await ask(source, session, { mode, ...ALL_TOOLS });
      for (const [name, on] of [['plan_mode', mode === 'plan'], ['auto_mode', mode === 'auto']] as const) {
        const now = believed(session, name);
        expect([name, now.on]).toEqual([name, on]);
        if (on) expect(now.steps).toBeLessThan(5);
      }
    };
    for (const each of acts) {
      if (each.do === 'mode') {
        mode = each.mode;
        session.append({ type: 'mode', mode });
      } else if (each.do === 'steps') for (let n = 0; n < each.times; n += 1) { step(session); await moment(); }
      else if (each.do === 'compact') session.append(compaction);
      else if (each.do === 'plan') session.append(plan('approved'));
      else if (each.do === 'resume') {
        const log = session.log;
        session = memorySession();
        session.log.push(...(JSON.parse(JSON.stringify(log)) as typeof session.log));
      } else if (each.do === 'rewind' || each.do === 'exclude') {
        const target = session.log[each.pick % session.log.length]?.id ?? ('' as EntryId);
        session.append(each.do === 'rewind' ? { type: 'rewind', to: target } : { type: 'exclude', target, what: 'entry' });
      }
      await moment();
    }
  }), { numRuns: 150 });
});
