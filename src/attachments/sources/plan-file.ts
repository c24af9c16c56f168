import { sha256 } from '#lib/hash.ts';
import { cutToBytes } from '#lib/text.ts';
import type { Part } from '#domain/content.ts';
import type { Entry, EntryOf } from '#domain/entry.ts';
import { compactionOf, conversationOf, planOf } from '#domain/folds.ts';
import type { FileTouch } from '#domain/tool.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';
import { planLabel } from '../plans.ts';

interface Shown {
  readonly plan: EntryOf<'plan'>;
  readonly parts: readonly Part[];
  readonly files: readonly FileTouch[];
  readonly notes: readonly string[];
}

/** Bytes of a plan that are shown. */
const MOST_BYTES = 24 * 1024;

/** The plan as its file stands, once a summary has replaced the conversation in which it was made. */
export default defineSource<Shown>({
  id: 'plan_file', on: ['prompt', 'step'], threads: 'main', cadence: 'once', limits: { tokens: 9000 }, capped: 'parts',
  async observe({ log, files }, signal) {
    const plan = planOf(log);
    if (plan === undefined || !wasReplaced(plan, log)) return absent;
    const loaded = await files.load(plan.file, MOST_BYTES, signal);
    if (loaded.parts.length > 0) return { plan, ...loaded };
    const text = cutToBytes(plan.text, MOST_BYTES);
    return { plan, parts: [{ type: 'text', text: text === plan.text ? text : `${text}\n[the plan is longer]` }], files: [], notes: [] };
  },
  keep: ({ plan, parts }) => ({ plan: plan.id, hash: sha256(JSON.stringify(parts)) }),
  revive: () => undefined,
  full: ({ plan, parts }) => [{ type: 'text', text: `The plan that was made before the summary: ${planLabel(plan)}.` }, ...parts],
  files: ({ files }) => files,
  notes: ({ notes }) => notes,
});

/** Whether the plan itself no longer stands in the conversation. */
function wasReplaced(plan: EntryOf<'plan'>, log: readonly Entry[]): boolean {
  return compactionOf(log) !== undefined && !conversationOf(log).some(({ id }) => id === plan.id) && !isRewound(plan, log);
}

/** A plan that a rewind took back is none of this conversation's, unless a summary had taken it in before. */
function isRewound(plan: EntryOf<'plan'>, log: readonly Entry[]): boolean {
  const compacted = log.findLastIndex(({ type }) => type === 'compaction');
  return log.indexOf(plan) > compacted;
}
