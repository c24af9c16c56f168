import { QUEUE_SOURCE, undeliveredOf } from '#domain/folds.ts';
import type { EntryOf } from '#domain/entry.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';

/**
 * What the user typed while the model worked, delivered as the user's own words. Nothing is taken out of the queue: the last
 * delivered id is the snapshot, and what comes after it waits.
 */
export default defineSource<readonly EntryOf<'queued'>[]>({
  id: QUEUE_SOURCE, on: ['prompt', 'step'], threads: 'all', cadence: 'always',
  observe: ({ log }) => {
    const waiting = undeliveredOf(log);
    return waiting.length === 0 ? absent : waiting;
  },
  keep: (now) => now.at(-1)?.id ?? null,
  revive: () => undefined,
  full: () => [],
  userTexts: (now) => now.map(({ text }) => text),
});
