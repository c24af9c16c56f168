import { describe, expect, it } from 'vitest';
import type { Event } from '#domain/entry.ts';
import { width } from '#lib/terminal.ts';
import { activityLine } from '#ui/activity-line.ts';
import type { ScreenEvent, Status } from '#ui/contract.ts';
import { createHistory } from '#ui/history.ts';
import { drawLive } from '#ui/live.ts';
import { blank, reduce, type Screen } from '#ui/screen.ts';
import { createFrames, createStore } from '#ui/store.ts';
import { callId, card, createLog } from './entries.ts';
import { keyTable } from '#ui/keys.ts';
import { plainPen } from './pens.ts';

const STATUS: Status = {
  model: 'pinion-demo', demo: true, mode: 'default', branch: 'main', directory: '/x', used: 1200, limit: 100_000, estimated: true, pins: 1, pinTokens: 10,
  cacheShare: 0.5, usd: 0, budgetUsd: undefined, tasks: 0, unsaved: undefined,
};

function run(events: readonly ScreenEvent[], from: Screen = blank): Screen {
  return events.reduce((screen, event) => reduce(screen, event, 1000), from);
}

function busyScreen(): Screen {
  const log = createLog();
  const start = (id: string): Event => ({ type: 'toolStarted', call: { id: callId(id), tool: 'Bash', input: {} }, card: card(`Bash ${id} ${'long '.repeat(30)}`) });
  return run([
    { type: 'busy', since: 0 }, { type: 'status', status: STATUS },
    { type: 'entry', entry: log({ type: 'attach', by: 'model', attachment: { kind: 'todo', id: 'todo:list', items: Array.from({ length: 20 }, (_, i) => ({ id: i + 1, text: `todo ${i} 日本語`, state: i < 4 ? 'done' as const : 'open' as const, by: 'model' as const })) } }) },
    ...Array.from({ length: 6 }, (_, i): ScreenEvent => ({ type: 'entry', entry: log({ type: 'queued', text: `queued ${i}\nsecond line` }) })),
    ...['a', 'b', 'c', 'd', 'e', 'f'].map(start),
    { type: 'toolProgress', callId: callId('a'), text: Array.from({ length: 50 }, (_, i) => `out ${i}`).join('\n') },
    ...Array.from({ length: 400 }, (_, i): ScreenEvent => ({ type: 'textDelta', text: `| row ${i} | ${'x'.repeat(i % 60)} |\n${i === 0 ? '|---|---|\n' : ''}` })),
  ]);
}

const question: Extract<ScreenEvent, { type: 'ask' }> = { type: 'ask', id: 1, question: { kind: 'permission', call: { id: callId('a'), tool: 'Bash', input: {} }, card: card('Bash x', Array.from({ length: 60 }, (_, i) => `l${i}`).join('\n')), reason: 'r', rules: ['Bash(x)'], keep: 'session' } };

describe('the live region', () => {
  const screens: readonly (readonly [string, Screen])[] = [['a busy turn', busyScreen()], ['a question in it', run([question], busyScreen())], ['a picker', run([{ type: 'pick', id: 1, picker: { title: 't', items: [{ id: 'a', label: 'b' }] } }, { type: 'status', status: STATUS }])],
    ['a status line of the person\'s own', run([{ type: 'status', status: STATUS }, { type: 'statusLines', lines: Array.from({ length: 8 }, (_, i) => `\x1b[3${i}m${'wide 漢字 '.repeat(20)}\x1b[0m`) }, question], busyScreen())]];
  for (const [name, screen] of screens) {
    it(`never passes its rows: ${name}`, () => {
      for (const columns of [20, 40, 79, 200]) {
        for (const rows of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 24, 45]) {
          const { above, dialog, status } = drawLive(screen, rows, plainPen(columns), 5000);
          const lines = [...above, ...dialog, ...status];
          expect(lines.length).toBeLessThanOrEqual(rows);
          for (const line of lines) expect(width(line), line).toBeLessThanOrEqual(columns);
        }
      }
    });
  }

  it('shows the end of a long answer and how much stands above it', () => {
    const { above } = drawLive(busyScreen(), 30, plainPen(79), 5000);
    expect(above[0]).toMatch(/^… \d+ lines above$/);
    expect(above.join('\n')).toContain('row 399');
  });

  it('looks as it should', async () => {
    const short = run([{ type: 'textDelta', text: '\n' }], run([
      { type: 'busy', since: 0 }, { type: 'status', status: STATUS }, { type: 'textDelta', text: 'Some words\nthat come' },
    ]));
    const frame = (screen: Screen): string => {
      const { above, dialog, status } = drawLive(screen, 22, plainPen(60), 65_000);
      return [...above, ...dialog, '[composer]', status].join('\n');
    };
    await expect(`${frame(short)}\n\n=====\n\n${frame(busyScreen())}\n\n=====\n\n${frame(run([question], busyScreen()))}\n`).toMatchFileSnapshot('../../golden/frames/live-60.txt');
  });

  it('shows thoughts as they come, and the todo panel unless it is hidden', () => {
    const thinking = run([{ type: 'busy', since: 0 }, { type: 'thinkingDelta', text: 'First this. Then that.' }]);
    expect(drawLive(thinking, 10, plainPen(60), 0).above.join('\n')).toContain('✻ First this. Then that.');
    const todos = drawLive(busyScreen(), 30, plainPen(60), 0).above.join('\n');
    expect(todos).toContain('todos 4/20');
    expect(drawLive(reduce(busyScreen(), { type: 'toggle', what: 'todos' }, 0), 30, plainPen(60), 0).above.join('\n')).not.toContain('todos 4/20');
  });
});

it('shows the last lines of output from their beginnings', () => {
  const start: ScreenEvent = { type: 'toolStarted', call: { id: callId('a'), tool: 'Bash', input: {} }, card: card('Bash make') };
  const { above } = drawLive(run([start, { type: 'toolProgress', callId: callId('a'), text: ['a', 'b', 'c', 'd'].map((name) => `${name} ${'x'.repeat(50)}`).join('\n') }]), 20, plainPen(30), 0);
  expect(above.slice(2)).toEqual([`  ⎿ b ${'x'.repeat(23)}…`, `    c ${'x'.repeat(23)}…`, `    d ${'x'.repeat(23)}…`]);
});

describe('sub-agents at work', () => {
  const agent = (id: string, title: string): ScreenEvent => ({ type: 'toolStarted', call: { id: callId(id), tool: 'Task', input: {} }, card: card(title, 'the whole prompt\nof many lines') });
  const three = run([{ type: 'busy', since: 0 }, { type: 'status', status: STATUS }, agent('a', 'Task explore: find where the lamp is lit'), agent('b', 'Task plan: move the keeper'), agent('c', 'Task general: rename everything in the tower to something shorter')]);
  const working = run([
    { type: 'toolProgress', callId: callId('a'), text: '3 steps · 12k tokens · Read src/lamp.ts' }, { type: 'toolProgress', callId: callId('b'), text: 'first\n1 step · 2k tokens · Grep keeper\u001B[31m' },
  ], three);
  const frame = (screen: Screen, rows: number, columns: number): string => { const { above, status } = drawLive(screen, rows, plainPen(columns), 65_000); return [...above, '[composer]', status].join('\n'); };

  it('each have their lines from the beginning, and stay readable where there is little room', async () => {
    await expect(`${[frame(three, 20, 79), frame(working, 20, 79), frame(working, 20, 39), frame(working, 9, 39), frame(run([question], working), 20, 39)].join('\n\n=====\n\n')}\n`).toMatchFileSnapshot('../../golden/frames/agents.txt');
  });

  it('do not jump: what they do changes lines, not their number or place', () => {
    const places = (screen: Screen): readonly number[] => drawLive(screen, 20, plainPen(39), 0).above.flatMap((line, index) => (line.startsWith('○') ? [index] : []));
    expect(places(three)).toHaveLength(3);
    expect(places(working)).toEqual(places(three));
    const one = run([agent('a', 'Task explore: x')]);
    expect(places(run([{ type: 'toolProgress', callId: callId('a'), text: 'a\nb\nc' }], one))).toEqual(places(one));
  });

  it('never pass their room, however many', () => {
    const many = run(Array.from({ length: 12 }, (_, i) => agent(`m${i}`, `Task explore: ${'日本'.repeat(i)}`)), working);
    for (const columns of [20, 40, 80]) {
      for (let rows = 0; rows < 40; rows += 1) {
        const { above } = drawLive(many, rows, plainPen(columns), 0);
        expect(above.length).toBeLessThanOrEqual(rows);
        for (const line of above) expect(width(line)).toBeLessThanOrEqual(columns);
      }
    }
    expect(drawLive(many, 20, plainPen(60), 0).above.join('\n')).toContain('… and 7 more');
  });
});

it('tells that more questions wait behind the one that is asked', () => {
  const second = { ...question, id: 2 };
  expect(drawLive(run([question, second]), 20, plainPen(40), 0).dialog[0]).toMatch(/^── 1 more waits ─+$/);
  expect(drawLive(run([question, second, { ...second, id: 3 }]), 20, plainPen(40), 0).dialog[0]).toMatch(/^── 2 more wait ─+$/);
});

describe('what gives way', () => {
  it('turns no spinner while a question waits for the person, who sees what it is about in a low window too', () => {
    expect(drawLive(busyScreen(), 24, plainPen(60), 5000).above.join('\n')).toContain('Esc interrupts');
    const { above, dialog } = drawLive(run([question], busyScreen()), 11, plainPen(60), 5000);
    expect([...above, ...dialog].join('\n')).not.toContain('Esc interrupts');
    expect(dialog.join('\n')).toContain('lines 1–2 of 60');
  });

  it('sets the todo panel off from what stands above it', () => {
    const todos: ScreenEvent = { type: 'entry', entry: createLog()({ type: 'attach', by: 'user', attachment: { kind: 'todo', id: 'todo:list', items: [{ id: 1, text: 'x', state: 'open', by: 'user' }] } }) };
    expect(drawLive(run([todos]), 10, plainPen(60), 0).above).toEqual(['', 'todos 0/1 · Ctrl-T hides them', '  ☐ x (yours)']);
    expect(drawLive(run([{ type: 'busy', since: 0 }, todos]), 10, plainPen(60), 0).above[2]).toBe('todos 0/1 · Ctrl-T hides them');
  });

  it('shows commands that wait below queued words', () => {
    const queued: ScreenEvent = { type: 'entry', entry: createLog()({ type: 'queued', text: 'words' }) };
    expect(drawLive(run([queued, { type: 'held', lines: [{ id: 'h', text: '!make' }] }]), 10, plainPen(60), 0).above).toEqual(['  ⧗ words', '  ⧗ !make']);
  });

  it('names keys as they are bound', () => {
    const pen = { ...plainPen(60), keys: keyTable({ cancel: 'f3', toggleTodos: 'f4' }) };
    const screen = run([{ type: 'busy', since: 0 }, { type: 'entry', entry: createLog()({ type: 'attach', by: 'user', attachment: { kind: 'todo', id: 'todo:list', items: [{ id: 1, text: 'x', state: 'open', by: 'user' }] } }) }]);
    expect(drawLive(screen, 10, pen, 0).above.join('\n')).toMatch(/F3 interrupts\ntodos 0\/1 · F4 hides them/);
  });
});

describe('the line of activity', () => {
  const line = (events: readonly ScreenEvent[], now = 66_000): string | undefined => activityLine(run([{ type: 'busy', since: 1000 }, ...events]), now, plainPen(80))?.slice(2);

  it('says what is going on, for how long and how much came', () => {
    expect(activityLine(blank, 0, plainPen(80))).toBeUndefined();
    expect(line([])).toBe('Working… 1m 05s · Esc interrupts');
    expect(line([{ type: 'thinkingDelta', text: '', tokens: 1200 }])).toBe('Thinking… 1m 05s · ~1.2k tokens · Esc interrupts');
    expect(line([{ type: 'textDelta', text: 'x'.repeat(400) }])).toBe('Answering… 1m 05s · ~100 tokens · Esc interrupts');
    expect(line([{ type: 'callDelta', tool: 'Write', chars: 4000 }])).toBe('Writing a Write call… 1m 05s · ~1k tokens · Esc interrupts');
    expect(line([{ type: 'doing', what: 'compacting' }])).toBe('Compacting… 1m 05s · Esc interrupts');
    expect(line([{ type: 'toolStarted', call: { id: callId('a'), tool: 'T', input: {} }, card: card('T') }])).toBe('Running… 1m 05s · Esc interrupts');
  });

  it('tells how to stop it, rather than how much has come, where there is not room for both', () => {
    const answering = run([{ type: 'busy', since: 0 }, { type: 'textDelta', text: 'x'.repeat(400) }]);
    expect(activityLine(answering, 1000, plainPen(40))?.slice(2)).toBe('Answering… 1s · Esc interrupts');
  });

  it('counts a wait down', () => {
    const wait: ScreenEvent = { type: 'waiting', attempt: 2, reason: 'overloaded', ms: 8000 };
    expect(line([wait], 1000)).toBe('overloaded; tries again in 8s (retry 2) · 0s · Esc interrupts');
    expect(line([wait], 6500)).toBe('overloaded; tries again in 3s (retry 2) · 5s · Esc interrupts');
    expect(line([wait], 20_000)).toContain('in 0s');
  });
});

describe('what was printed', () => {
  it('only grows, in portions, at the width of its time, across a new session too', () => {
    const history = createHistory();
    const log = createLog();
    const prompts = (n: number): ScreenEvent => ({ type: 'replay', entries: Array.from({ length: n }, (_, i) => log({ type: 'prompt', text: `prompt number ${i}` })) });
    const first = run([prompts(120)]);
    const sizes = [1, 2, 3].map(() => history.take(first, plainPen(40)).printed.length);
    expect(sizes).toEqual([50, 100, 120]);
    const { printed, more } = history.take(first, plainPen(10));
    expect(more).toBe(false);
    expect(history.take(first, plainPen(10)).printed).toBe(printed);
    const second = history.take(run([prompts(1)], first), plainPen(12));
    expect(second.printed).toHaveLength(121);
    expect(second.printed.slice(0, 120)).toEqual(printed);
    expect(second.printed.at(-1)?.text).toBe('\n› prompt \n  number 0');
    expect(new Set(second.printed.map(({ key }) => key)).size).toBe(121);
  });
});

describe('frames', () => {
  it('draw once for all that comes within their time, and leave no timer', async () => {
    let drawn = 0;
    const frames = createFrames(() => { drawn += 1; }, 5);
    for (let i = 0; i < 100; i += 1) frames.soon();
    expect(drawn).toBe(0);
    await new Promise((resolve) => { setTimeout(resolve, 30); });
    expect(drawn).toBe(1);
    frames.soon();
    for (let i = 0; i < 100; i += 1) frames.promptly();
    await new Promise((resolve) => { setTimeout(resolve, 30); });
    expect(drawn).toBe(2);
    frames.soon();
    frames.promptly();
    frames.stop();
    await new Promise((resolve) => { setTimeout(resolve, 20); });
    expect(drawn).toBe(2);
  });

  it('a store tells its listeners of a new state only', () => {
    const store = createStore(1);
    const seen: number[] = [];
    const leave = store.subscribe(() => seen.push(store.get()));
    store.set(1);
    store.set(2);
    leave();
    store.set(3);
    expect(seen).toEqual([2]);
  });
});
