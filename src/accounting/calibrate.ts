import type { Usage } from '#domain/content.ts';
import type { Entry, EntryId } from '#domain/entry.ts';
import type { ModelRequest } from '#domain/request.ts';
import { baseId, scaleOf } from './models.ts';
import { promptTokens } from './prices.ts';

/** A reply of which the API said how long its prompt was, seen from the next request. */
export interface Measured {
  readonly usage: Usage;
  /** Blocks of the request that it answered, and the blocks up to its own end. */
  readonly from: number;
  readonly to: number;
}

/** What past replies say about our counts. */
export interface Calibration {
  /** Tokens of the model for one token that we count. */
  readonly factor: number;
  /** The same as it stood before the last measured reply. */
  readonly factorBefore: number;
}

const WEIGHT = 0.3;
const LEAST = 0.7;
const MOST = 1.6;

/** After one of these, what stood before an answer is no longer what it was when it was measured. */
const CHANGES: ReadonlySet<Entry['type']> = new Set(['head', 'exclude', 'restore', 'strip']);

/** The replies that still stand behind exactly what they were measured with, oldest first. */
export function measuredIn(request: ModelRequest, log: readonly Entry[]): Measured[] {
  const since = log.findLastIndex(({ type }) => CHANGES.has(type));
  const spans = new Map<EntryId, { from: number; to: number }>();
  request.origins.flat().forEach(({ what, entries }, at) => {
    const id = entries[0];
    if (what !== 'assistant' || id === undefined) return;
    const span = spans.get(id);
    if (span === undefined) spans.set(id, { from: at, to: at + 1 });
    else span.to = at + 1;
  });
  return log.slice(since + 1).flatMap((entry): Measured[] => {
    if (entry.type !== 'assistant' || promptTokens(entry.usage) === 0) return [];
    const span = spans.get(entry.id);
    return span !== undefined && sameModel(entry.model, request.model) ? [{ usage: entry.usage, ...span }] : [];
  });
}

/** A server of its own may answer under another name than it was asked for; a known model is only itself. */
function sameModel(answered: string, asked: string): boolean {
  const [a, b] = [baseId(answered), baseId(asked)];
  return a === b;
}

/**
 * How our counts relate to the model's: a moving average over the measured replies, within bounds, on top of what is known
 * of its tokenizer. `countedTo(n)` is our count of system, tools and the first `n` blocks.
 */
export function calibrate(measured: readonly Measured[], model: string, countedTo: (blocks: number) => number): Calibration {
  const scale = scaleOf(model);
  let ratio: number | undefined;
  let before = 1;
  for (const { usage, from } of measured) {
    const counted = countedTo(from) * scale;
    if (counted <= 0) continue;
    before = ratio ?? 1;
    const seen = Math.min(MOST, Math.max(LEAST, promptTokens(usage) / counted));
    ratio = ratio === undefined ? seen : ratio + WEIGHT * (seen - ratio);
  }
  return { factor: scale * (ratio ?? 1), factorBefore: scale * before };
}
