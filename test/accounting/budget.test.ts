import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { budgetIn, forecast, judge, spentIn } from '#accounting/budget.ts';
import { costOf } from '#accounting/cost.ts';
import { dollarsOf } from '#accounting/prices.ts';
import { NO_USAGE, type Usage } from '#domain/content.ts';
import type { Entry, EntryBody } from '#domain/entry.ts';
import { project } from '#loop/project.ts';
import { assistant, entry, head, memoryBlobs, prompt } from '../support/logs.ts';

const usage = (more: Partial<Usage>): Usage => ({ ...NO_USAGE, ...more });
const said = (more: Partial<Usage>): EntryBody => assistant([{ type: 'text', text: 'x' }], 'end_turn', usage(more));
const spent = (what: string, more: Partial<Usage>, model = 'claude-haiku-5-5', requests = 1): EntryBody => ({ type: 'spent', what, model, usage: usage(more), requests });
const AT = '2026-11-30T00:00:00.000Z';
const soon = new Date('2026-11-30T00:01:00.000Z');
const next = (bodies: readonly EntryBody[], tokens: number, now = soon): number | undefined => {
  const log = bodies.map((body) => entry(body));
  return forecast(project(log, memoryBlobs()), log, tokens, now);
};

describe('what was spent beside the conversation', () => {
  it('counts by model, with its requests, and is told apart', () => {
    const log = [said({ input: 1000 }), spent('agent-1 (explore)', { input: 2000 }), spent('agent-1 (explore)', { input: 1000, output: 500 }), spent('Read example.org', { output: 9 }, 'claude-opus-5-5', 3)].map((body) => entry(body));
    const view = costOf(log);
    expect(view.perModel.map(({ model, requests, input }) => [model, requests, input])).toEqual([['claude-opus-5-5', 4, 1000], ['claude-haiku-5-5', 2, 3000]]);
    expect(view.beside).toMatchObject([{ what: 'agent-1 (explore)', requests: 2, tokens: 3500 }, { what: 'Read example.org', requests: 3, tokens: 9 }]);
    expect(view.usd).toBeCloseTo(view.perModel.reduce((sum, { usd }) => sum + (usd ?? 0), 0), 12);
  });
  it('has the price of its mean request, where many were added up', () => {
    expect(dollarsOf('claude-haiku-5-5', usage({ input: 150_000 }), AT, 2)).toBeCloseTo(0.1 * 0.15, 9);
    expect(dollarsOf('claude-haiku-5-5', usage({ input: 150_000 }), AT, 1)).toBeCloseTo(0.5 * 0.15, 9);
  });
  it('adds up whatever the order, live as after a resume', () => {
    const one = fc.record({ kind: fc.constantFrom('said', 'spent'), model: fc.constantFrom('claude-opus-5-5', 'claude-haiku-5-5', 'llama'), input: fc.nat(9999), output: fc.nat(999), requests: fc.integer({ min: 1, max: 5 }) });
    fc.assert(fc.property(fc.array(one, { maxLength: 12 }), (all) => {
      const log: Entry[] = [];
      for (const { kind, model, input, output, requests } of all) {
        log.push(entry(kind === 'said' ? { ...said({ input, output }) as Extract<EntryBody, { type: 'assistant' }>, model } : spent('x', { input, output }, model, requests)));
        costOf(log);
      }
      const whole = costOf(log);
      expect(costOf(JSON.parse(JSON.stringify(log)) as Entry[])).toEqual(whole);
      expect(whole.input).toBe(all.reduce((sum, { input, output }) => sum + (input + output === 0 ? 0 : input), 0));
      expect(whole.perModel.reduce((sum, { input }) => sum + input, 0)).toBe(whole.input);
    }));
  });
});

describe('a budget', () => {
  const option = (value: unknown): Entry => entry({ type: 'option', name: 'budgetUsd', value: value as never });
  it('is what was set in the session, else what the settings say', () => {
    expect(budgetIn([], undefined)).toBeUndefined();
    expect(budgetIn([], 5)).toBe(5);
    expect(budgetIn([option(3)], 5)).toBe(3);
    expect(budgetIn([option(3), option('off')], 5)).toBeUndefined();
    expect(budgetIn([option('off'), option(null)], 5)).toBe(5);
    for (const odd of [0, -1, 'x', true, {}]) expect(budgetIn([option(odd)], 5)).toBe(5);
  });
  it('counts what has a price where some has none', () => {
    expect(spentIn([entry(spent('x', { input: 1e6 })), entry(spent('y', { input: 5 }, 'llama'))])).toEqual({ usd: 0.5, whole: false });
  });
  const purse = { budgetUsd: 5, spentUsd: 1, whole: true, underWayUsd: 0 };
  it('lets a request pass that it holds, and pauses before one that crosses it', () => {
    expect(judge(purse, 1, 'm')).toEqual({ notices: [] });
    expect(judge({ ...purse, spentUsd: 4.6 }, 0.4, 'm').unaffordable).toBeUndefined();
    expect(judge({ ...purse, spentUsd: 4.6 }, 0.41, 'm').unaffordable).toBe('Budget: $4.60 of $5.00 is spent, and the next request would cost about $0.41. Nothing was sent. Raise the budget (/budget 8, or --max-budget-usd) and say "go on".');
    expect(judge({ ...purse, spentUsd: 3, underWayUsd: 1.8 }, 0.41, 'm').unaffordable).toContain('($1.80 more are under way)');
  });
  it('warns from 80 % on, in the same words each time', () => {
    const warned = judge({ ...purse, spentUsd: 3.9 }, 0.2, 'm');
    expect(warned).toEqual({ notices: ['This session comes to 80 % of its budget of $5.00. At $5.00 it pauses; /budget raises it.'] });
    expect(judge({ ...purse, spentUsd: 4.4 }, 0.2, 'm')).toEqual(warned);
  });
  it('says so where there is no price, and does not block', () => {
    expect(judge({ ...purse, spentUsd: 99 }, undefined, 'llama')).toEqual({ notices: ['No price is known for llama: the budget of $5.00 cannot be watched while it answers.'] });
    expect(judge({ ...purse, whole: false }, 0.1, 'm').notices).toEqual(['A model without a known price was used: the budget of $5.00 counts what the others cost.']);
  });
  it('does not hold up what costs nothing', () => {
    expect(judge({ ...purse, spentUsd: 99 }, 0, 'pinion-demo')).toEqual({ notices: [] });
  });
  it('suggests a sum with which the request passes', () => {
    fc.assert(fc.property(fc.double({ min: 0.0001, max: 9999, noNaN: true }), fc.double({ min: 0, max: 9999, noNaN: true }), fc.double({ min: 0.0001, max: 99, noNaN: true }), (budgetUsd, spentUsd, cost) => {
      const { unaffordable } = judge({ budgetUsd, spentUsd, whole: true, underWayUsd: 0 }, cost, 'm');
      if (unaffordable === undefined) return;
      const suggested = Number(/\/budget ([\d.]+)/.exec(unaffordable)?.[1]);
      expect(judge({ budgetUsd: suggested, spentUsd, whole: true, underWayUsd: 0 }, cost, 'm').unaffordable).toBeUndefined();
    }));
  });
});

describe('the forecast of a request', () => {
  const begun = [head(), prompt('a')];
  it('writes all of the first one to the cache', () => {
    expect(next(begun, 100_000)).toBeCloseTo((100_000 * 5 + 1000 * 20) / 1e6, 9);
  });
  it('reads from the cache what the last one held, while that lives', () => {
    const log = [...begun, said({ input: 10, cacheWrite: 90_000, output: 2000 }), prompt('b')];
    expect(next(log, 100_000)).toBeCloseTo((90_010 * 0.2 + 9990 * 5 + 2000 * 20) / 1e6, 9);
    expect(next(log, 100_000, new Date('2026-11-30T00:06:00.000Z'))).toBeCloseTo((100_000 * 5 + 2000 * 20) / 1e6, 9);
  });
  it('takes a cache that was written for an hour to live so long, and to be dearer to write', () => {
    const log = [...begun, said({ cacheWrite: 90_000, cacheWrite1h: 90_000, output: 2000 }), prompt('b')];
    expect(next(log, 100_000, new Date('2026-11-30T00:30:00.000Z'))).toBeCloseTo((90_000 * 0.2 + 10_000 * 8 + 2000 * 20) / 1e6, 9);
  });
  it('pays in full where the server caches nothing', () => {
    expect(next([...begun, said({ input: 90_000, output: 1000 }), prompt('b')], 100_000)).toBeCloseTo((100_000 * 4 + 1000 * 20) / 1e6, 9);
  });
  it('is not known for a model without a price', () => {
    expect(next([head('llama'), prompt('a')], 100)).toBeUndefined();
    expect(next([head('pinion-demo'), prompt('a')], 100)).toBe(0);
  });
  it('takes answers to be like the last ones, within reason', () => {
    const answerCost = (output: number): number => (next([...begun, said({ input: 0, cacheWrite: 1000, output }), prompt('b')], 1000) ?? 0) * 1e6 - 1000 * 0.2;
    expect(answerCost(1)).toBeCloseTo(300 * 20, 6);
    expect(answerCost(60_000)).toBeCloseTo(8000 * 20, 6);
  });
});
