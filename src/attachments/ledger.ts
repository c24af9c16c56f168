import { conversationOf, excludedOf } from '#domain/folds.ts';
import type { Entry } from '#domain/entry.ts';
import type { SourceId } from '#domain/reminder.ts';
import type { StoredBefore } from '#domain/world.ts';

type Sent = Extract<StoredBefore, { readonly kind: 'sent' }>;

/**
 * What each source has said as far as the model still has it: reminders before the last compaction, on a rewound branch or
 * left out by `exclude` do not count. Held nowhere else, so a resumed or forked session goes on where the living one was.
 */
export function ledgerOf(log: readonly Entry[]): ReadonlyMap<SourceId, Sent> {
  const conversation = conversationOf(log);
  const excluded = excludedOf(conversation);
  const said = new Map<SourceId, { readonly at: number; readonly sent: Sent }>();
  let steps = 0;
  for (const entry of conversation) {
    if (entry.type === 'assistant') steps += 1;
    if (entry.type !== 'reminder' || excluded.has(entry.id)) continue;
    const gone = entry.form === 'gone';
    const times = gone ? 0 : (said.get(entry.source)?.sent.times ?? 0) + 1;
    said.set(entry.source, { at: steps, sent: { kind: 'sent', snapshot: entry.snapshot, stepsAgo: 0, times, gone } });
  }
  return new Map([...said].map(([id, { at, sent }]) => [id, { ...sent, stepsAgo: steps - at }]));
}
