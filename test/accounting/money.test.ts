import { describe, expect, it } from 'vitest';
import { NO_USAGE, type Usage } from '#domain/content.ts';
import { baseId, factsOf, knownModels } from '#accounting/models.ts';
import { cacheShareOf, costOf } from '#accounting/cost.ts';
import { dollarsOf, priceOf } from '#accounting/prices.ts';
import { assistant, entry, prompt } from '../support/logs.ts';

const NOW = '2026-11-29T12:00:00.000Z';

describe('models', () => {
  it('are known by id, dated id and cloud name', () => {
    expect(factsOf('claude-opus-5-5')).toEqual({
      id: 'claude-opus-5-5', label: 'Opus 5.5', window: 1_000_000, maxOutput: 128_000, images: true, pdf: true,
      efforts: ['low', 'medium', 'high', 'xhigh', 'max'], defaultEffort: 'medium', thinking: 'adaptive', minimumCacheable: 512, known: true,
    });
    expect(baseId('claude-haiku-4-5-20251001')).toBe('claude-haiku-4-5');
    expect(baseId('eu.anthropic.claude-opus-5-5-v1:0')).toBe('claude-opus-5-5');
    expect(baseId('claude-opus-5@20260724')).toBe('claude-opus-5');
    expect(factsOf('claude-haiku-4-5')).toMatchObject({ window: 200_000, maxOutput: 64_000, thinking: 'budget', efforts: [] });
    expect(factsOf('claude-haiku-4-5')).not.toHaveProperty('defaultEffort');
  });
  it('that nobody knows are taken with care', () => {
    for (const id of ['qwen3-coder', 'claude-opus-9', 'constructor', '']) {
      expect(factsOf(id)).toMatchObject({ id, known: false, images: false, pdf: false, thinking: 'none', efforts: [], maxOutput: 8192 });
    }
    expect(factsOf('qwen3', { window: 32_000 })).toMatchObject({ window: 32_000, id: 'qwen3' });
  });
  it('all have a price and the demo costs nothing', () => {
    for (const { id } of knownModels()) expect(priceOf(id, 1000, NOW)).toBeDefined();
    expect(dollarsOf('pinion-demo', { ...NO_USAGE, input: 9999, output: 999 }, NOW)).toBe(0);
  });
});

describe('prices', () => {
  const million: Usage = { input: 1e6, output: 1e6, cacheRead: 1e6, cacheWrite: 2e6, cacheWrite1h: 1e6 };
  it.each([
    ['claude-fable-5-2', 8 + 40 + 0.2 + 10 + 16],
    ['claude-opus-5-5', 4 + 20 + 0.2 + 5 + 8],
    ['claude-sonnet-5-5', 2 + 10 + 0.1 + 2.5 + 4],
    ['claude-haiku-5-5', 0.5 + 2.5 + 0.05 + 0.625 + 1],
    ['claude-fable-5-1', 10 + 50 + 0.25 + 12.5 + 20],
    ['claude-opus-5', 5 + 25 + 0.5 + 6.25 + 10],
    ['claude-sonnet-5', 2 + 10 + 0.2 + 2.5 + 4],
    ['claude-fable-5', 10 + 50 + 1 + 12.5 + 20],
    ['claude-sonnet-4-6', 3 + 15 + 0.3 + 3.75 + 6],
    ['claude-haiku-4-5-20251001', 1 + 5 + 0.1 + 1.25 + 2],
  ])('%s', (model, dollars) => {
    expect(dollarsOf(model, million, NOW)).toBeCloseTo(dollars, 9);
  });
  it('a search of the web costs a cent, whatever model asks', () => {
    expect(dollarsOf('claude-haiku-5-5', { ...NO_USAGE, input: 1000, searches: 3 }, NOW)).toBeCloseTo(0.0001 + 0.03, 9);
    expect(dollarsOf('claude-opus-5-5', { ...NO_USAGE, input: 1000, searches: 0 }, NOW)).toBeCloseTo(0.004, 9);
  });
  it('a tier is chosen by the whole prompt and holds for all of it', () => {
    const small = { ...NO_USAGE, input: 60_000, cacheRead: 40_000, output: 1000 };
    expect(dollarsOf('claude-haiku-5-5', small, NOW)).toBeCloseTo((60_000 * 0.1 + 40_000 * 0.01 + 1000 * 0.5) / 1e6, 9);
    expect(dollarsOf('claude-haiku-5-5', { ...small, cacheRead: 40_001 }, NOW)).toBeCloseTo((60_000 * 0.5 + 40_001 * 0.05 + 1000 * 2.5) / 1e6, 9);
  });
  it('are those of the day', () => {
    const read = { ...NO_USAGE, cacheRead: 1e6 };
    expect(dollarsOf('claude-sonnet-5-5', read, '2026-10-06T23:59:59.000Z')).toBeCloseTo(0.2, 9);
    expect(dollarsOf('claude-sonnet-5-5', read, '2026-10-07T00:00:00.000Z')).toBeCloseTo(0.1, 9);
  });
});

describe('the cost of a session', () => {
  const usage: Usage = { input: 1000, output: 500, cacheRead: 2000, cacheWrite: 100, cacheWrite1h: 0 };
  const said = (model: string) => entry({ ...assistant([{ type: 'text', text: 'x' }], 'end_turn', usage), model } as ReturnType<typeof assistant>);
  it('adds up replies and summaries by model, also what was taken back', () => {
    const log = [entry(prompt('a')), said('claude-opus-5-5'), said('claude-opus-5-5'), entry({ type: 'compaction', summary: 's', trigger: 'auto', usage, model: 'claude-haiku-5-5', tokensBefore: 1 })];
    log.push(entry({ type: 'rewind', to: log[0]?.id ?? ('' as never) }));
    const view = costOf(log);
    expect(view).toMatchObject({ input: 3000, output: 1500, cacheRead: 6000, cacheWrite: 300 });
    expect(view.perModel.map(({ model, requests }) => [model, requests])).toEqual([['claude-opus-5-5', 2], ['claude-haiku-5-5', 1]]);
    expect(view.usd).toBeCloseTo(view.perModel.reduce((sum, { usd }) => sum + (usd ?? 0), 0), 12);
    expect(costOf(JSON.parse(JSON.stringify(log)) as typeof log)).toEqual(view);
  });
  it('is unknown once a model without a price was used', () => {
    const view = costOf([said('claude-opus-5-5'), said('llama')]);
    expect(view.usd).toBeUndefined();
    expect(view.perModel[0]?.usd).toBeGreaterThan(0);
    expect(costOf([])).toMatchObject({ usd: 0, perModel: [] });
  });
  it('knows the share of the last prompt that came from the cache', () => {
    expect(cacheShareOf([entry(prompt('a'))])).toBeUndefined();
    expect(cacheShareOf([said('m'), entry(assistant([]))])).toBeCloseTo(2000 / 3100, 9);
  });
});
