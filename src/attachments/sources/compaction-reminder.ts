import { tokens } from '#lib/numbers.ts';
import type { Entry } from '#domain/entry.ts';
import { conversationOf } from '#domain/folds.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';

/** From this share of the limit on. */
const NEAR = 0.8;

interface Near {
  readonly used: number;
  readonly limit: number;
}

/** Once when the conversation comes near the size at which it is compacted; again only after a compaction that made it smaller. */
export default defineSource<Near>({
  id: 'compaction_reminder', on: ['prompt', 'step'], threads: 'all', cadence: 'once',
  async observe({ usage, log }) {
    const { used, limit, autoCompact } = await usage();
    return autoCompact && used >= limit * NEAR && wasBelow(log, limit) ? { used, limit } : absent;
  },
  keep: () => null,
  revive: () => undefined,
  full: ({ used, limit }) => `This conversation takes about ${tokens(used)} tokens. At about ${tokens(limit)} everything up to then is replaced by a summary, and the work goes on. Pins, todos and instructions stay as they are; what is needed of files can be read again.`,
});

/** A conversation that a compaction left as large as this never crossed the line. */
function wasBelow(log: readonly Entry[], limit: number): boolean {
  if (!log.some(({ type }) => type === 'compaction')) return true;
  const first = conversationOf(log).find((entry) => entry.type === 'assistant' && promptOf(entry) > 0);
  return first !== undefined && promptOf(first) < limit * NEAR;
}

function promptOf(entry: Entry): number {
  return entry.type === 'assistant' ? entry.usage.input + entry.usage.cacheRead + entry.usage.cacheWrite : 0;
}
