import type { Usage } from '#domain/content.ts';
import { DEMO_MODEL } from '#domain/model.ts';
import { baseId } from './models.ts';

/** US dollars for a million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** Written to the cache for five minutes, and for an hour. */
  readonly write5m: number;
  readonly write1h: number;
  readonly read: number;
}

interface Dated {
  /** First day (UTC) of this price. */
  readonly from: string;
  /** The dearest tier that the prompt reaches holds for every token of the request. `above` counts all tokens of the prompt. */
  readonly tiers: readonly (Price & { readonly above: number })[];
}

const MILLION = 1_000_000;
/** Of one search of the web by a server, for every model. */
const SEARCH_USD = 0.01;
const ALWAYS = '2025-01-01';

/** Cache writes cost 1.25 and 2 times the input; reads cost `read` as a factor of it. */
function price(input: number, output: number, read: number, above = 0): Price & { readonly above: number } {
  return { input, output, write5m: input * 1.25, write1h: input * 2, read: input * read, above };
}

function flat(input: number, output: number, read: number, from = ALWAYS): Dated {
  return { from, tiers: [price(input, output, read)] };
}

const CLASSIC_READ = 0.1;
const fable51 = [flat(10, 50, 0.025)];
const fable52 = [flat(8, 40, 0.025)];
const fable5 = [flat(10, 50, CLASSIC_READ)];
const opus = [flat(5, 25, CLASSIC_READ)];

/** As of 2026-11-29. Each list runs from the oldest price to the newest. */
const PRICES: Readonly<Record<string, readonly Dated[]>> = {
  'claude-fable-5-2': fable52,
  'claude-mythos-5-2': fable52,
  'claude-opus-5-5': [flat(4, 20, 0.05)],
  'claude-sonnet-5-5': [flat(2, 10, CLASSIC_READ), flat(2, 10, 0.05, '2026-10-07')],
  'claude-haiku-5-5': [{ from: ALWAYS, tiers: [price(0.1, 0.5, CLASSIC_READ), price(0.5, 2.5, CLASSIC_READ, 100_000)] }],
  'claude-fable-5-1': fable51,
  'claude-mythos-5-1': fable51,
  'claude-opus-5': opus,
  'claude-sonnet-5': [flat(2, 10, CLASSIC_READ)],
  'claude-fable-5': fable5,
  'claude-mythos-5': fable5,
  'claude-opus-4-8': opus,
  'claude-opus-4-7': opus,
  'claude-opus-4-6': opus,
  'claude-sonnet-4-6': [flat(3, 15, CLASSIC_READ)],
  'claude-haiku-4-5': [flat(1, 5, CLASSIC_READ)],
  [DEMO_MODEL]: [flat(0, 0, 0)],
};

/** The price of a model for a prompt of so many tokens at a time (ISO); undefined where no price is known. */
export function priceOf(model: string, promptTokens: number, at: string): Price | undefined {
  const dated = PRICES[baseId(model) ?? ''];
  const now = dated?.findLast(({ from }) => from <= at) ?? dated?.[0];
  return now?.tiers.findLast(({ above }) => above === 0 || promptTokens > above);
}

/** All tokens of the prompt, cached or not. */
export function promptTokens({ input, cacheRead, cacheWrite }: Usage): number {
  return input + cacheRead + cacheWrite;
}

/**
 * US dollars of one reply; undefined where no price is known. A reply that used nothing costs nothing. Of several `requests`
 * taken together the tier is that of their mean.
 */
export function dollarsOf(model: string, usage: Usage, at: string, requests = 1): number | undefined {
  const prompt = promptTokens(usage);
  if (prompt + usage.output === 0) return 0;
  const now = priceOf(model, prompt / Math.max(1, requests), at);
  if (now === undefined) return undefined;
  const shortWrites = Math.max(0, usage.cacheWrite - usage.cacheWrite1h);
  const cost = usage.input * now.input + usage.output * now.output + shortWrites * now.write5m + usage.cacheWrite1h * now.write1h + usage.cacheRead * now.read;
  return cost / MILLION + (usage.searches ?? 0) * SEARCH_USD;
}
