import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '#domain/content.ts';
import type { Entry, EntryBody, Event } from '#domain/entry.ts';
import { drawBlock } from '#ui/block-lines.ts';
import type { ScreenEvent } from '#ui/contract.ts';
import { blank, reduce, REPLAYED_BLOCKS, type Screen, type ViewEvent } from '#ui/screen.ts';
import { assistant, callId, card, createLog, reminder, text, toolResult } from './entries.ts';
import { plainPen } from './pens.ts';

function run(events: readonly (ScreenEvent | ViewEvent)[], from: Screen = blank): Screen {
  return events.reduce((screen, event) => reduce(screen, event, 1000), from);
}

const entries = (log: (body: EntryBody) => Entry, ...bodies: readonly EntryBody[]): Event[] => bodies.map((body) => ({ type: 'entry', entry: log(body) }));

const deltas = (words: string, size = 7): Event[] => (words.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []).map((part) => ({ type: 'textDelta', text: part }));

const shown = (screen: Screen): string => screen.done.flatMap((block) => drawBlock(block, plainPen(60))).map((line) => line.trimEnd()).join('\n');

describe('the screen as a fold', () => {
  it('finishes all but the last two blocks while an answer streams, and shows none of them twice', () => {
    const words = 'one\n\ntwo\n\nthree\n\nfour';
    const streaming = run(deltas(words));
    expect(shown(streaming)).toBe('\n● one\n\n  two');
    expect(streaming.answer?.rest).toBe('three\n\nfour');
    const settled = run(entries(createLog(), assistant([text(words)])), streaming);
    expect(shown(settled)).toBe('\n● one\n\n  two\n\n  three\n\n  four');
    expect(settled.answer).toBeUndefined();
  });

  it('is the same after a replay as it was live', () => {
    const paragraph = fc.constantFrom('words here', '- a\n- b', '```js\nx\n```', '| a |\n|---|\n| 1 |', '# head');
    const reply = fc.array(paragraph, { maxLength: 6 }).map((parts) => parts.join('\n\n'));
    const step = fc.oneof(
      fc.record({ kind: fc.constant('answer' as const), words: reply, size: fc.integer({ min: 1, max: 30 }) }),
      fc.record({ kind: fc.constantFrom('prompt' as const, 'tool' as const, 'queued' as const, 'reminders' as const, 'notice' as const, 'todos' as const, 'task' as const, 'plan' as const, 'skill' as const) }),
    );
    fc.assert(fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const log = createLog();
      const kept: Entry[] = [];
      let live = reduce(blank, { type: 'replay', entries: [] }, 0);
      const tell = (event: ScreenEvent): void => {
        if (event.type === 'entry') kept.push(event.entry);
        live = reduce(live, event, 1000);
      };
      for (const at of steps) {
        tell({ type: 'busy', since: 0 });
        if (at.kind === 'answer') [...deltas(at.words, at.size), ...entries(log, assistant([text(at.words)]))].forEach(tell);
        if (at.kind === 'prompt') entries(log, { type: 'prompt', text: 'hello' }).forEach(tell);
        if (at.kind === 'tool') [{ type: 'toolStarted' as const, call: { id: callId('c'), tool: 'T', input: {} }, card: card('Run') }, { type: 'toolProgress' as const, callId: callId('c'), text: 'out' }, ...entries(log, toolResult('c', 'Ran'))].forEach(tell);
        if (at.kind === 'task') entries(log, { type: 'task', task: { id: `t${kept.length % 3}`, kind: 'shell', title: 'x', state: kept.length % 2 === 0 ? 'running' : 'done', file: '/x' } }).forEach(tell);
        if (at.kind === 'plan') entries(log, { type: 'plan', file: '/p', text: '# p', state: 'approved' }).forEach(tell);
        if (at.kind === 'skill') entries(log, { type: 'prompt', text: 'long', shown: '/s' }).forEach(tell);
        if (at.kind === 'queued') entries(log, { type: 'queued', text: 'later' }).forEach(tell);
        if (at.kind === 'reminders') entries(log, { type: 'prompt', text: 'hi' }, reminder('pins', 'p'), reminder('todos', 't')).forEach(tell);
        if (at.kind === 'notice') entries(log, { type: 'notice', level: 'info', text: 'n' }).forEach(tell);
        if (at.kind === 'todos') entries(log, { type: 'attach', by: 'user', attachment: { kind: 'todo', id: 'todo:list', items: [{ id: 1, text: 'x', state: 'open', by: 'user' }] } }).forEach(tell);
        tell({ type: 'idle' });
      }
      const replayed = reduce(blank, { type: 'replay', entries: kept }, 5);
      const look = ({ done, queued, todos, running, answer }: Screen) => ({ done: done.map((block) => ({ ...block, key: '' })), queued, todos, running, answer });
      expect(look(replayed)).toEqual(look(live));
    }), { numRuns: 80 });
  });

  it('throws a discarded answer away, and says so where some of it stands already', () => {
    expect(run([...deltas('one\n\ntwo'), { type: 'discarded' }])).toMatchObject({ answer: undefined, done: [] });
    const again = run([...deltas('one\n\ntwo\n\nthree\n\n'), { type: 'discarded' }, ...deltas('new'), ...entries(createLog(), assistant([text('new')]))]);
    expect(shown(again)).toBe('\n● one\n  ⎿ starts again; the unfinished answer above is void\n\n● new');
  });

  it('shows words that never became an entry, and says that they are lost', () => {
    const screen = run([{ type: 'busy', since: 0 }, ...deltas('half an answ'), { type: 'idle' }]);
    expect(shown(screen)).toBe('\n● half an answ\n  ⎿ this answer broke off; it is not kept');
    expect(screen).toMatchObject({ answer: undefined, busySince: undefined });
  });

  it('marks an interrupted answer', () => {
    expect(shown(run(entries(createLog(), assistant([text('half')], 'interrupted'))))).toBe('\n● half\n  ⎿ interrupted');
  });

  it('tells the reminders of one moment in one line, by type', () => {
    const log = createLog();
    const screen = run(entries(log, { type: 'prompt', text: '<system-reminder>my own words</system-reminder>' }, reminder('pins', 'pin text'), reminder('changed_files', 'a.ts'), reminder('date_change', 'today', { moment: 'step' }), assistant([text('ok')])));
    expect(shown(screen)).toBe([
      '', '› <system-reminder>my own words</system-reminder>', '  + 2 reminders: pins, changed_files', '  + 1 reminder: date_change', '', '● ok',
    ].join('\n'));
  });

  it('opens what is folded with the toggle, and leaves later things open', () => {
    const log = createLog();
    const long = Array.from({ length: 30 }, (_, i) => `line ${i}`).join('\n');
    const before = run([...entries(log, { type: 'prompt', text: 'go' }, reminder('pins', 'pin text'), toolResult('c', 'Read a.ts', long))]);
    expect(shown(before)).toContain('… +21 lines (Ctrl-O expands)');
    const after = run([{ type: 'toggle', what: 'expanded' }], before);
    const added = after.done.slice(before.done.length);
    expect(added.map(({ type }) => type)).toEqual(['mark', 'reminders', 'tool']);
    expect(shown({ ...after, done: added })).toContain('⎿ output is whole from here on; what was short:');
    expect(shown({ ...after, done: added })).toContain('pin text');
    expect(shown({ ...after, done: added })).toContain('line 29');
    expect(run(entries(log, toolResult('d', 'Read b.ts', long)), after).done.at(-1)?.full).toBe(true);
    const short = run([{ type: 'toggle', what: 'expanded' }], after);
    expect(shown({ ...short, done: short.done.slice(after.done.length) })).toBe('  ⎿ output is short from here on');
    expect(run(entries(log, toolResult('e', 'Read c.ts', long)), short).done.at(-1)?.full).toBe(false);
    expect(new Set(after.done.map(({ key }) => key)).size).toBe(after.done.length);
  });

  it('keeps queued words in sight until they are delivered or taken back', () => {
    const log = createLog();
    const first = log({ type: 'queued', text: 'first' });
    const second = log({ type: 'queued', text: 'second' });
    const third = log({ type: 'queued', text: 'third' });
    const waiting = run([first, second, third].map((entry) => ({ type: 'entry', entry }) as const));
    expect(waiting.queued.map((entry) => entry.text)).toEqual(['first', 'second', 'third']);
    const later = run(entries(log, reminder('queued_commands', '', { userTexts: ['first', 'second'], snapshot: second.id, moment: 'step' }), { type: 'unqueued', target: third.id }), waiting);
    expect(later.queued).toEqual([]);
    expect(shown(later)).toBe('\n› first\n\n› second');
  });

  it('shows tools at work with the end of their output, then their cards in the order of the log', () => {
    const start = (id: string): Event => ({ type: 'toolStarted', call: { id: callId(id), tool: 'Bash', input: {} }, card: card(`Bash ${id}`) });
    const screen = run([start('a'), start('b'), { type: 'toolProgress', callId: callId('a'), text: 'x'.repeat(9000) }, { type: 'toolProgress', callId: callId('gone'), text: 'y' }]);
    expect(screen.running.map(({ call }) => call.id)).toEqual(['a', 'b']);
    expect(screen.running[0]?.tail).toHaveLength(4000);
    const done = run(entries(createLog(), toolResult('b', 'B'), toolResult('a', 'A', '', 'failed')), screen);
    expect(done.running).toEqual([]);
    expect(shown(done)).toBe('\n● B\n\n● A');
  });

  it('shows what a tool says last in place of what it said before, and a command of the user as one', () => {
    const screen = run([
      { type: 'toolStarted', call: { id: callId('s'), tool: 'Bash', input: {} }, card: card('! make') },
      { type: 'toolProgress', callId: callId('s'), text: 'one' }, { type: 'toolProgress', callId: callId('s'), text: 'one\ntwo' },
    ]);
    expect(screen.running[0]?.tail).toBe('one\ntwo');
    expect(run(entries(createLog(), { type: 'shell', command: 'make', output: 'one\ntwo', exitCode: 0 }), screen).running).toEqual([]);
  });

  it('shows a command as it was entered, and what comes of it right below', () => {
    const said = run([{ type: 'line', line: '/model x' }, { type: 'card', card: card('Model: x') }, { type: 'line', line: '/cler' }, { type: 'fault', where: '/cler', message: 'no' }]);
    expect(shown(said)).toBe('\n› /model x\n● Model: x\n\n› /cler\n▲ /cler: no');
    expect(shown(run([{ type: 'line', line: '/cler' }, { type: 'fault', where: '/cler', message: 'no' }], said))).toContain('no\n\n› /cler\n▲ /cler: no');
    expect(shown(run([{ type: 'line', line: '/clear' }, ...entries(createLog(), { type: 'prompt', text: 'p' })]))).toBe('\n› /clear\n\n› p');
  });

  it('shows the line that was typed; opened, what was sent for it', () => {
    const screen = run(entries(createLog(), { type: 'prompt', text: 'The whole\ntext of a skill\u001B[2J', shown: '/review src' }, { type: 'prompt', text: 'same', shown: 'same' }));
    expect(shown(screen)).toBe('\n› /review src\n\n› same');
    const one = run(entries(createLog(), { type: 'prompt', text: 'The whole\ntext of a skill\u001B[2J', shown: '/review src' }));
    expect(shown(reduce(one, { type: 'toggle', what: 'expanded' }, 0))).toContain('\n› /review src\n    The whole\n    text of a skill␛[2J');
  });

  it('tells of background tasks once, when they have ended: their cards tell that they began', () => {
    const log = createLog();
    const task = (state: 'running' | 'done' | 'failed' | 'stopped' | 'lost', id = 'shell-1', more = {}): EntryBody => ({ type: 'task', task: { id, kind: 'shell', title: 'npm run dev', state, file: '/x', ...more } });
    const screen = run(entries(log, task('running'), task('running'), task('done', 'shell-1', { exitCode: 0 }), task('done', 'shell-1', { exitCode: 0 }), task('failed', 'shell-2', { exitCode: 3 }), task('stopped', 'agent-1', { title: 'a\nb' }), task('lost', 'shell-3'), task('done', 'shell-4', { title: 'x'.repeat(80) })));
    expect(shown(screen)).toBe([
      '  ⎿ shell-1 is done: npm run dev', '  ⎿ shell-2 failed (exit code 3): npm run dev', '  ⎿ agent-1 was stopped: a␊b',
      '  ⎿ shell-3 was lost when the program ended: npm run dev', '  ⎿ shell-4 is done:', `    ${'x'.repeat(49)}…`,
    ].join('\n'));
  });

  it('keeps what became of a plan as a title, and all of it for who opens it', () => {
    const plan = (state: 'proposed' | 'approved' | 'rejected'): EntryBody => ({ type: 'plan', file: '/p/x.md', text: '\n## Move the **lamp**\n\n- up\n', state });
    expect(shown(run(entries(createLog(), plan('proposed'))))).toBe('');
    const screen = run(entries(createLog(), plan('proposed'), plan('rejected'), plan('approved')));
    expect(shown(screen)).toBe('\n≡ Plan rejected: Move the **lamp**\n  /p/x.md · Ctrl-O shows it\n\n≡ Plan approved: Move the **lamp**\n  /p/x.md · Ctrl-O shows it');
    expect(shown(reduce(screen, { type: 'toggle', what: 'expanded' }, 0))).toContain('\n≡ Plan approved: Move the **lamp**  /p/x.md\n  ## Move the lamp\n\n  • up');
  });

  it('shows nothing of money spent beside the conversation, of options and of what was read', () => {
    expect(run(entries(createLog(), { type: 'spent', what: 'explore', model: 'm', usage: NO_USAGE, requests: 1 }, { type: 'option', name: 'budgetUsd', value: 5 }, { type: 'taskRead', task: 'shell-1', upTo: 4 })).done).toEqual([]);
  });

  it('keeps commands that wait in sight, across a new session too', () => {
    const held = run([{ type: 'held', lines: [{ id: 'a', text: '!make' }, { id: 'b', text: '/clear' }] }, { type: 'replay', entries: [] }]);
    expect(held.held.map(({ text }) => text)).toEqual(['!make', '/clear']);
    expect(run([{ type: 'held', lines: [] }], held).held).toEqual([]);
  });

  it('counts a wait down until something comes in', () => {
    const waiting = run([{ type: 'waiting', attempt: 2, reason: 'overloaded', ms: 8000 }]);
    expect(waiting.waiting).toEqual({ attempt: 2, reason: 'overloaded', until: 9000 });
    expect(run(deltas('x'), waiting).waiting).toBeUndefined();
  });

  it('shows thoughts once, before the words of their reply', () => {
    const log = createLog();
    const entry = assistant([{ type: 'thinking', thinking: 'hm', signature: 's' }, text('words')]);
    expect(shown(run([{ type: 'thinkingDelta', text: 'hm' }, ...entries(log, entry)]))).toBe('\n✻ hm\n\n● words');
    const long = 'one\n\ntwo\n\nthree\n\nfour';
    const streamed = run([{ type: 'thinkingDelta', text: 'hm ' }, { type: 'thinkingDelta', text: 'so' }, ...deltas(long)]);
    expect(shown(streamed)).toBe('\n✻ hm so\n\n● one\n\n  two');
    const whole = run(entries(log, assistant([{ type: 'thinking', thinking: 'hm so', signature: 's' }, text(long), { type: 'thinking', thinking: 'later', signature: 's' }])), streamed);
    expect(shown(whole)).toBe('\n✻ hm so\n\n● one\n\n  two\n\n  three\n\n  four\n\n✻ later');
    expect(run([{ type: 'thinkingDelta', text: '', tokens: 5 }, { type: 'thinkingDelta', text: '', tokens: 9 }]).thinking).toEqual({ text: '', tokens: 9 });
  });

  it('says a model change, not the first model', () => {
    const head = (model: string): EntryBody => ({ type: 'head', system: [], tools: [], model });
    expect(shown(run(entries(createLog(), head('a'), head('a'), head('b'))))).toBe('  ⎿ model: b');
  });

  it('says a fault once', () => {
    const fault: Event = { type: 'fault', where: 'pins', message: 'too slow' };
    expect(shown(run([fault, fault]))).toBe('\n▲ pins: too slow');
  });

  it('keeps questions in the order they came, and drops the settled one', () => {
    const ask = (id: number): ScreenEvent => ({ type: 'ask', id, question: { kind: 'goOn', text: `q${id}` } });
    const screen = run([ask(1), ask(2), { type: 'pick', id: 3, picker: { title: 'p', items: [] } }, { type: 'secret', id: 4, title: 't', hint: 'h' }]);
    expect(screen.dialogs.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
    expect(run([{ type: 'settled', id: 1 }, { type: 'settled', id: 9 }], screen).dialogs.map(({ id }) => id)).toEqual([2, 3, 4]);
  });

  it('starts anew with a replay; a very long session shows its end', () => {
    const log = createLog();
    const many = Array.from({ length: REPLAYED_BLOCKS + 5 }, (_, i) => log({ type: 'prompt', text: `p${i}` }));
    const old = run(entries(createLog(), { type: 'prompt', text: 'old' }));
    const screen = run([{ type: 'replay', entries: many }], old);
    expect(screen.generation).toBe(1);
    expect(screen.done).toHaveLength(REPLAYED_BLOCKS + 1);
    expect(shown({ ...screen, done: screen.done.slice(0, 2) })).toBe('  ⎿ 5 earlier blocks are not shown\n\n› p5');
  });

  it('says what a compaction kept', () => {
    expect(shown(run([{ type: 'compacted', kept: 3, of: 3, tokensBefore: 84_000, tokensAfter: 6000 }]))).toBe('  ⎿ 3/3 pins kept, 84k → ~6k tokens');
    expect(shown(run([{ type: 'compacted', kept: 2, of: 3, tokensBefore: 84_000, tokensAfter: 6000 }]))).toBe('\n✗ 2/3 pins kept, 84k → ~6k tokens');
    expect(shown(run([{ type: 'compacted', kept: 0, of: 0, tokensBefore: 84_000, tokensAfter: 6000 }]))).toBe('  ⎿ 84k → ~6k tokens');
  });
});
