import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { markOf } from '#attachments/marks.ts';
import budgetUsd from '#attachments/sources/budget-usd.ts';
import compactionReminder from '#attachments/sources/compaction-reminder.ts';
import outputTokenUsage from '#attachments/sources/output-token-usage.ts';
import tokenUsage from '#attachments/sources/token-usage.ts';
import { NO_USAGE } from '#domain/content.ts';
import type { Entry, EntryBody, EntryId } from '#domain/entry.ts';
import { conversationOf } from '#domain/folds.ts';
import type { Session } from '#domain/session.ts';
import type { UsageFacts } from '#domain/world.ts';
import { assistant, memorySession, prompt } from '../support/logs.ts';
import { ask, textOf } from './world.ts';

const facts = (more: Partial<UsageFacts>): UsageFacts => ({ used: 0, limit: 180_000, window: 200_000, autoCompact: true, output: 0, usd: 0, budgetUsd: undefined, ...more });
const said = async (source: Parameters<typeof ask>[0], session: Session, more: Partial<UsageFacts>): Promise<string | undefined> => textOf(await ask(source, session, { usage: () => Promise.resolve(facts(more)) }));
const answered = (input: number): EntryBody => assistant([{ type: 'text', text: 'x' }], 'end_turn', { ...NO_USAGE, input });
const compaction: EntryBody = { type: 'compaction', summary: 's', trigger: 'auto', usage: NO_USAGE, model: 'm', tokensBefore: 1 };
const again = (session: Session): Session & { readonly log: Entry[] } => {
  const resumed = memorySession();
  resumed.log.push(...JSON.parse(JSON.stringify(session.log)) as Entry[]);
  return resumed;
};

describe('marks', () => {
  it('are whole steps, reached and not rounded to', () => {
    expect([0, 9_999, 10_000, 10_001, 199_999, 200_000, 900_000].map((value) => markOf(value, 200_000, 0.05).steps)).toEqual([0, 0, 1, 1, 19, 20, 20]);
    expect([0.3, 0.6, 0.7, 0.8].map((value) => markOf(value, 1, 0.1).steps)).toEqual([3, 6, 7, 8]);
    expect(markOf(5, 0, 0.1)).toEqual({ steps: 0, of: 0 });
    expect(markOf(-5, 10, 0.1).steps).toBe(0);
  });
});

describe('token_usage', () => {
  it('speaks at each 5 % of the window, and not in between, nor when it shrinks a little', async () => {
    const session = memorySession();
    const words: (string | undefined)[] = [];
    for (const used of [9_000, 10_000, 12_000, 19_999, 20_100, 19_900, 20_200, 64_000]) words.push(await said(tokenUsage, session, { used }));
    expect(words).toEqual([undefined, 'The conversation takes about 10k of the 200k tokens of the context window (5 %).', undefined, undefined, 'The conversation takes about 20k of the 200k tokens of the context window (10 %).', undefined, undefined, 'The conversation takes about 64k of the 200k tokens of the context window (32 %).']);
  });
  it('is off until it is wanted', () => {
    expect([tokenUsage.byDefault, outputTokenUsage.byDefault, budgetUsd.byDefault, compactionReminder.byDefault]).toEqual(['off', 'off', 'on', 'on']);
  });
  it('speaks of another window', async () => {
    const session = memorySession();
    await said(tokenUsage, session, { used: 100_000 });
    expect(await said(tokenUsage, session, { used: 100_000, window: 1_000_000 })).toContain('of the 1M tokens');
  });
});

describe('output_token_usage', () => {
  it('speaks at each 5 % of the window, also beyond the first windowful', async () => {
    const session = memorySession();
    const words: (string | undefined)[] = [];
    for (const output of [5000, 10_000, 15_000, 199_000, 205_000, 209_999, 210_000]) words.push(await said(outputTokenUsage, session, { output }));
    expect(words.map((text) => text?.match(/about (\S+)/)?.[1])).toEqual([undefined, '10k', undefined, '199k', '205k', undefined, '210k']);
  });
});

describe('budget_usd', () => {
  it('speaks at first, at each 10 %, of another budget, and once when there is none any more', async () => {
    const session = memorySession();
    const words: (string | undefined)[] = [];
    for (const [usd, budget] of [[0, undefined], [0, 5], [0.4, 5], [0.6, 5], [3.9, 5], [4.05, 5], [4.05, 9], [4.1, 9], [4.1, undefined], [4.2, undefined], [4.2, 9]] as const) words.push(await said(budgetUsd, session, { usd, budgetUsd: budget }));
    expect(words).toEqual([
      undefined, 'Of this session\'s budget of $5.00, $0 (0 %) is spent. At $5.00 it pauses until the user raises it.', undefined,
      expect.stringContaining('$0.60 (12 %)'), expect.stringContaining('(78 %)'), expect.stringContaining('(81 %)'),
      expect.stringContaining('budget of $9.00, $4.05 (45 %)'), undefined, 'This session has no budget any more.', undefined, expect.stringContaining('budget of $9.00'),
    ]);
  });
  it('says once that the price is not known', async () => {
    const session = memorySession();
    await said(budgetUsd, session, { usd: 1, budgetUsd: 5 });
    expect(await said(budgetUsd, session, { usd: undefined, budgetUsd: 5 })).toContain('is not known');
    expect(await said(budgetUsd, session, { usd: undefined, budgetUsd: 5 })).toBeUndefined();
  });
});

describe('compaction_reminder', () => {
  it('speaks once at 80 % of the limit, however the estimate wavers', async () => {
    const session = memorySession();
    const words: (string | undefined)[] = [];
    for (const used of [143_000, 144_000, 143_000, 144_500, 179_000]) words.push(await said(compactionReminder, session, { used }));
    expect(words).toEqual([undefined, expect.stringMatching(/^This conversation takes about 144k tokens\. At about 180k /), undefined, undefined, undefined]);
  });
  it('is silent where nothing is compacted', async () => {
    expect(await said(compactionReminder, memorySession(), { used: 179_000, autoCompact: false })).toBeUndefined();
  });
  it('speaks again after a compaction and a new crossing only', async () => {
    const session = memorySession();
    await said(compactionReminder, session, { used: 150_000 });
    session.append(compaction);
    expect(await said(compactionReminder, session, { used: 150_000 })).toBeUndefined();
    session.append(answered(150_000));
    expect(await said(compactionReminder, session, { used: 155_000 })).toBeUndefined();
    session.append(compaction);
    session.append(answered(30_000));
    expect(await said(compactionReminder, session, { used: 31_000 })).toBeUndefined();
    expect(await said(compactionReminder, session, { used: 150_000 })).toBeDefined();
    expect(await said(compactionReminder, again(session), { used: 150_000 })).toBeUndefined();
  });
});

type Op = { readonly op: 'grow' | 'shrink'; readonly by: number } | { readonly op: 'compact'; readonly to: number } | { readonly op: 'rewind'; readonly share: number } | { readonly op: 'resume' };

const op: fc.Arbitrary<Op> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ op: fc.constant('grow' as const), by: fc.integer({ min: 500, max: 40_000 }) }) },
  fc.record({ op: fc.constant('shrink' as const), by: fc.integer({ min: 1, max: 800 }) }),
  fc.record({ op: fc.constant('compact' as const), to: fc.integer({ min: 2_000, max: 170_000 }) }),
  fc.record({ op: fc.constant('rewind' as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.constant({ op: 'resume' as const }),
);

interface At {
  session: Session & { readonly log: Entry[] };
  /** What the conversation weighed when an entry was the last one. */
  readonly weights: Map<EntryId, number>;
  used: number;
}

function take(at: At, next: Op): void {
  const note = (): void => {
    const last = at.session.log.at(-1);
    if (last !== undefined) at.weights.set(last.id, at.used);
  };
  if (next.op === 'resume') {
    at.session = again(at.session);
    return;
  }
  if (next.op === 'rewind') {
    const prompts = conversationOf(at.session.log).filter(({ type }) => type === 'prompt');
    const to = prompts[Math.floor(next.share * (prompts.length - 1))];
    if (to === undefined) return;
    at.session.append({ type: 'rewind', to: to.id });
    at.used = at.weights.get(to.id) ?? at.used;
    return;
  }
  if (next.op === 'compact') {
    at.used = next.to;
    at.session.append(compaction);
  } else at.used = next.op === 'grow' ? at.used + next.by : Math.max(0, at.used - next.by);
  at.session.append(prompt('p'));
  note();
  at.session.append(answered(at.used));
  note();
}

describe('through random histories', () => {
  it('a mark is told once in a conversation, and each further one is told', async () => {
    await fc.assert(fc.asyncProperty(fc.array(op, { maxLength: 30 }), async (ops) => {
      const at: At = { session: memorySession(), weights: new Map(), used: 0 };
      for (const next of ops) {
        take(at, next);
        for (const source of [tokenUsage, compactionReminder]) await said(source, at.session, { used: at.used });
        const view = conversationOf(at.session.log).filter((entry) => entry.type === 'reminder');
        const told = view.filter(({ source }) => source === tokenUsage.id).map(({ snapshot }) => (snapshot as { steps: number }).steps);
        expect(told).toEqual([...new Set(told)].toSorted((a, b) => a - b));
        expect(told.at(-1) ?? 0).toBeGreaterThanOrEqual(markOf(at.used, 200_000, 0.05).steps);
        expect(view.filter(({ source }) => source === compactionReminder.id).length).toBeLessThanOrEqual(1);
      }
    }), { numRuns: 150 });
  });
  it('the coming compaction is told exactly where the line was crossed since the last one', async () => {
    await fc.assert(fc.asyncProperty(fc.array(op.filter(({ op: name }) => name !== 'rewind'), { maxLength: 30 }), async (ops) => {
      const at: At = { session: memorySession(), weights: new Map(), used: 0 };
      let crossed = false;
      let below = true;
      let told = 0;
      for (const next of ops) {
        take(at, next);
        const near = at.used >= 144_000;
        if (next.op === 'compact') [crossed, below] = [false, !near];
        const due = near && below && !crossed;
        if (due) crossed = true;
        if (await said(compactionReminder, at.session, { used: at.used }) !== undefined) told += 1;
        expect(told > 0 && conversationOf(at.session.log).some((entry) => entry.type === 'reminder')).toBe(crossed);
      }
    }), { numRuns: 150 });
  });
});
