import type { Entry, EntryId } from '#domain/entry.ts';

/** What later entries of a log did to how earlier ones are sent. */
export interface Amendments {
  /** Entries that are left out; a stub stands for them. */
  readonly entries: ReadonlySet<EntryId>;
  /** Entries that are sent without their pictures and PDFs. */
  readonly media: ReadonlySet<EntryId>;
  /** Whether an answer is sent without its thinking, because what stood before it is not what it was. */
  stripped(id: EntryId): boolean;
}

/**
 * Reads `exclude`, `restore` and `strip`. `conversation` is what is sent of `log`; `kept` is the older prompt that a
 * compaction carried over. A rewind takes back the exclusions that came after its goal, and so restores the very prefix
 * that the kept thinking was made for; a strip holds for good.
 */
export function amendmentsOf(log: readonly Entry[], conversation: readonly Entry[], kept: EntryId | undefined): Amendments {
  const at = new Map(log.map((entry, index) => [entry.id, index]));
  const sent = new Set(conversation.map(({ id }) => id));
  const ofKept = kept === undefined ? [] : log.filter((entry) => !sent.has(entry.id) && isChange(entry) && entry.target === kept);
  if (kept !== undefined) sent.add(kept);
  const changes = [...ofKept, ...conversation].filter(isChange).filter(({ target }) => sent.has(target));
  const entries = new Set<EntryId>();
  const media = new Set<EntryId>();
  for (const change of changes) {
    if (change.type === 'exclude') (change.what === 'entry' ? entries : media).add(change.target);
    else for (const set of [entries, media]) set.delete(change.target);
  }
  const lastStrip = log.findLastIndex(({ type }) => type === 'strip');
  const spans = changes.map(({ id, target }) => ({ from: at.get(target) ?? 0, to: at.get(id) ?? 0 }));
  return {
    entries,
    media,
    stripped(id) {
      const index = at.get(id) ?? 0;
      return index < lastStrip || spans.some(({ from, to }) => from < index && index < to);
    },
  };
}

type Change = Extract<Entry, { readonly type: 'exclude' | 'restore' }>;

function isChange(entry: Entry): entry is Change {
  return entry.type === 'exclude' || entry.type === 'restore';
}
