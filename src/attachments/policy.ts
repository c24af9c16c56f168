import { isDeepStrictEqual } from 'node:util';
import { never, type Json } from '#lib/brand.ts';
import type { Form } from '#domain/reminder.ts';
import type { StoredBefore } from '#domain/world.ts';

/**
 * How often a source speaks while there is something to speak of. Steps are model replies.
 * - `once`: whole, until it went and came back, or the conversation was compacted.
 * - `always`: whole, every time that it has something.
 * - `onChange`: whole at first, then what changed.
 * - `everySteps`: whole at first and when it changed; then every so many steps in brief, every `fullEvery`th time whole.
 * - `sinceWrite`: whole, when the thing was not written for so many steps and the last word is at least `between` steps ago.
 */
export type Cadence =
  | 'once' | 'always' | 'onChange'
  | { readonly everySteps: number; readonly fullEvery: number }
  | { readonly sinceWrite: number; readonly between: number };

/**
 * The whole frequency policy: which form is due now, or none. `now` is the snapshot as it would be stored; `sinceWrite` counts
 * the steps since the thing that a `sinceWrite` cadence is about was written. What went (`gone`) and came back is new.
 */
export function due(cadence: Cadence, before: StoredBefore, now: Json, sinceWrite = 0): Form | undefined {
  const said = before.kind !== 'never' && !(before.kind === 'sent' && before.gone);
  if (cadence === 'always') return 'full';
  if (cadence === 'once') return said ? undefined : 'full';
  if (typeof cadence === 'object' && 'sinceWrite' in cadence) {
    return sinceWrite >= cadence.sinceWrite && (!said || before.stepsAgo >= cadence.between) ? 'full' : undefined;
  }
  if (!said || before.kind === 'lost') return 'full';
  const changed = !isDeepStrictEqual(before.snapshot, now);
  if (cadence === 'onChange') return changed ? 'delta' : undefined;
  if ('everySteps' in cadence) {
    if (changed) return 'full';
    if (before.stepsAgo < cadence.everySteps) return undefined;
    return before.times % cadence.fullEvery === 0 ? 'full' : 'brief';
  }
  return never(cadence);
}
