import { dollars } from '#lib/numbers.ts';
import type { Entry } from '#domain/entry.ts';
import { optionsOf } from '#domain/folds.ts';
import type { Fit } from '#domain/ports.ts';
import type { ModelRequest } from '#domain/request.ts';
import { measuredIn } from './calibrate.ts';
import { costOf } from './cost.ts';
import { dollarsOf, promptTokens } from './prices.ts';

/** From this share on the user is warned. */
export const NEAR_BUDGET = 0.8;
/** What an answer is taken to have (tokens), where the last ones say nothing else. */
const ANSWER = 1000;
const SHORTEST_ANSWER = 300;
const LONGEST_ANSWER = 8000;
const ANSWERS = 5;
/** A cache that was written so long ago is taken to be gone. */
const CACHE_MS = 5 * 60_000;
const HOUR_MS = 60 * 60_000;

/** The dollars that a session may cost: what was set in it (a number, or `off`), else what stands in the settings. */
export function budgetIn(log: readonly Entry[], standing: number | undefined): number | undefined {
  const set = optionsOf(log).budgetUsd;
  if (set === 'off') return undefined;
  return typeof set === 'number' && set > 0 ? set : standing;
}

/** Of a session in which models without a known price were used: what the others came to. */
export function spentIn(log: readonly Entry[]): { readonly usd: number; readonly whole: boolean } {
  const { usd, perModel } = costOf(log);
  return { usd: usd ?? perModel.reduce((sum, row) => sum + (row.usd ?? 0), 0), whole: usd !== undefined };
}

/**
 * What a request is likely to cost, in dollars: its estimated tokens, of which the prompt of the last reply is read from the
 * cache if that was used and still lives, and an answer like the last ones. Undefined where no price is known.
 */
export function forecast(request: ModelRequest, log: readonly Entry[], tokens: number, now: Date): number | undefined {
  const last = measuredIn(request, log).at(-1);
  const reply = log.findLast((entry) => entry.type === 'assistant' && promptTokens(entry.usage) > 0);
  const caches = reply === undefined || (reply.type === 'assistant' && reply.usage.cacheRead + reply.usage.cacheWrite > 0);
  const life = reply?.type === 'assistant' && reply.usage.cacheWrite1h > 0 ? HOUR_MS : CACHE_MS;
  const warm = last !== undefined && reply !== undefined && now.getTime() - Date.parse(reply.at) < life;
  const cacheRead = caches && warm ? Math.min(tokens, promptTokens(last.usage)) : 0;
  const fresh = Math.max(0, tokens - cacheRead);
  return dollarsOf(request.model, {
    input: caches ? 0 : fresh, cacheRead, cacheWrite: caches ? fresh : 0, cacheWrite1h: caches ? fresh * hourShare(reply) : 0, output: likelyAnswer(log),
  }, now.toISOString());
}

/** What is written for an hour is dearer: as much of it as the last time. */
function hourShare(reply: Entry | undefined): number {
  return reply?.type === 'assistant' && reply.usage.cacheWrite > 0 ? reply.usage.cacheWrite1h / reply.usage.cacheWrite : 0;
}

function likelyAnswer(log: readonly Entry[]): number {
  const lengths: number[] = [];
  for (let at = log.length - 1; at >= 0 && lengths.length < ANSWERS; at -= 1) {
    const entry = log[at];
    if (entry?.type === 'assistant' && entry.usage.output > 0) lengths.push(entry.usage.output);
  }
  if (lengths.length === 0) return ANSWER;
  return Math.min(LONGEST_ANSWER, Math.max(SHORTEST_ANSWER, Math.round(lengths.reduce((sum, length) => sum + length, 0) / lengths.length)));
}

export interface Purse {
  readonly budgetUsd: number;
  /** Of the session that pays: what was spent, and what its requests under way are likely to cost. */
  readonly spentUsd: number;
  readonly whole: boolean;
  readonly underWayUsd: number;
}

/** What a budget has to say to a request that is likely to cost `next` dollars. `model` is the one that is asked. */
export function judge({ budgetUsd, spentUsd, whole, underWayUsd }: Purse, next: number | undefined, model: string): Pick<Fit, 'unaffordable' | 'notices'> {
  const notices: string[] = [];
  if (next === undefined) notices.push(`No price is known for ${model}: the budget of ${dollars(budgetUsd)} cannot be watched while it answers.`);
  else if (!whole) notices.push(`A model without a known price was used: the budget of ${dollars(budgetUsd)} counts what the others cost.`);
  // What costs nothing crosses nothing.
  if (next === undefined || next === 0) return { notices };
  const coming = spentUsd + underWayUsd + next;
  if (coming > budgetUsd) {
    const beside = underWayUsd > 0 ? ` (${dollars(underWayUsd)} more are under way)` : '';
    return { notices, unaffordable: `Budget: ${dollars(spentUsd)} of ${dollars(budgetUsd)} is spent${beside}, and the next request would cost about ${dollars(next)}. Nothing was sent. Raise the budget (/budget ${raised(coming)}, or --max-budget-usd) and say "go on".` };
  }
  if (coming >= budgetUsd * NEAR_BUDGET) notices.push(`This session comes to ${Math.round(NEAR_BUDGET * 100)} % of its budget of ${dollars(budgetUsd)}. At ${dollars(budgetUsd)} it pauses; /budget raises it.`);
  return { notices };
}

/** A round sum well above what is needed. */
function raised(needed: number): string {
  const wanted = needed * 1.5;
  const step = 10 ** Math.floor(Math.log10(wanted));
  return String(Number((Math.ceil(wanted / step) * step).toPrecision(3)));
}
