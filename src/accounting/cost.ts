import { defineFold } from '#lib/fold.ts';
import type { CostView } from '#domain/command.ts';
import type { Usage } from '#domain/content.ts';
import type { Entry } from '#domain/entry.ts';
import { dollarsOf, promptTokens } from './prices.ts';

type PerModel = CostView['perModel'][number];

const NOTHING: CostView = { usd: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, perModel: [] };

/** Money and tokens of a session: every reply and every summary that a model made, also those that a rewind took back. */
export const costOf: (log: readonly Entry[]) => CostView = defineFold<Entry, CostView>(NOTHING, (now, entry) => {
  if (entry.type !== 'assistant' && entry.type !== 'compaction') return now;
  const { usage, model } = entry;
  if (usage.input + usage.output + usage.cacheRead + usage.cacheWrite === 0) return now;
  const usd = dollarsOf(model, usage, entry.at);
  const before = now.perModel.find((one) => one.model === model);
  const after = added(before ?? { model, requests: 0, usd: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, usage, usd);
  return {
    ...sum(now, usage, usd),
    perModel: before === undefined ? [...now.perModel, after] : now.perModel.map((one) => (one === before ? after : one)),
  };
});

function added(before: PerModel, usage: Usage, usd: number | undefined): PerModel {
  return { model: before.model, requests: before.requests + 1, ...sum(before, usage, usd) };
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
