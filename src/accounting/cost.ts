import { defineFold } from '#lib/fold.ts';
import type { CostView } from '#domain/command.ts';
import type { Usage } from '#domain/content.ts';
import type { Entry } from '#domain/entry.ts';
import { dollarsOf, promptTokens } from './prices.ts';

type PerModel = CostView['perModel'][number];
type Beside = NonNullable<CostView['beside']>;

const NOTHING: CostView = { usd: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, perModel: [], beside: [] };

/**
 * Money and tokens of a session: every reply and every summary that a model made, also those that a rewind took back, and what
 * was spent beside the conversation.
 */
export const costOf: (log: readonly Entry[]) => CostView = defineFold<Entry, CostView>(NOTHING, (now, entry) => {
  if (entry.type !== 'assistant' && entry.type !== 'compaction' && entry.type !== 'spent') return now;
  const { usage, model } = entry;
  const requests = entry.type === 'spent' ? entry.requests : 1;
  if (usage.input + usage.output + usage.cacheRead + usage.cacheWrite === 0) return now;
  const usd = dollarsOf(model, usage, entry.at, requests);
  const before = now.perModel.find((one) => one.model === model);
  const after = added(before ?? { model, requests: 0, usd: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, usage, usd, requests);
  return {
    ...sum(now, usage, usd),
    perModel: before === undefined ? [...now.perModel, after] : now.perModel.map((one) => (one === before ? after : one)),
    beside: entry.type === 'spent' ? besides(now.beside ?? [], entry.what, usage, usd, requests) : now.beside ?? [],
  };
});

function added(before: PerModel, usage: Usage, usd: number | undefined, requests: number): PerModel {
  return { model: before.model, requests: before.requests + requests, ...sum(before, usage, usd) };
}

function besides(now: Beside, what: string, usage: Usage, usd: number | undefined, requests: number): Beside {
  const before = now.find((one) => one.what === what);
  const tokens = promptTokens(usage) + usage.output;
  if (before === undefined) return [...now, { what, requests, tokens, usd }];
  const after = { what, requests: before.requests + requests, tokens: before.tokens + tokens, usd: before.usd === undefined || usd === undefined ? undefined : before.usd + usd };
  return now.map((one) => (one === before ? after : one));
}

function sum(before: Omit<PerModel, 'model' | 'requests'>, usage: Usage, usd: number | undefined): Omit<PerModel, 'model' | 'requests'> {
  return {
    usd: before.usd === undefined || usd === undefined ? undefined : before.usd + usd,
    input: before.input + usage.input,
    output: before.output + usage.output,
    cacheRead: before.cacheRead + usage.cacheRead,
    cacheWrite: before.cacheWrite + usage.cacheWrite,
  };
}

/** Share (0…1) of the last prompt that was read from the cache; undefined before the first measured reply. */
export const cacheShareOf: (log: readonly Entry[]) => number | undefined = defineFold<Entry, number | undefined>(undefined, (now, entry) => {
  if (entry.type !== 'assistant') return now;
  const prompt = promptTokens(entry.usage);
  return prompt === 0 ? now : entry.usage.cacheRead / prompt;
});
