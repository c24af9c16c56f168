import { defineFold } from '#lib/fold.ts';
import { type StoredAttachment, TODO_LIST_ID, type TodoItem } from './attachment.ts';
import type { Json } from '#lib/brand.ts';
import type { ToolDefinition } from './content.ts';
import type { Entry, EntryId, EntryOf, HeadBody, OptionName, PermissionMode } from './entry.ts';
import type { TaskRecord } from './tasks.ts';
import { type FileTouch, MISSING_HASH, UNREADABLE_HASH } from './tool.ts';

/** Attachments in effect, oldest first; an id that was attached again kept its place. */
export const attachmentsOf = defineFold<Entry, readonly StoredAttachment[]>([], (now, entry) => {
  if (entry.type === 'detach') return now.filter(({ id }) => id !== entry.attachmentId);
  if (entry.type !== 'attach') return now;
  const { attachment } = entry;
  return now.some(({ id }) => id === attachment.id) ? now.map((at) => (at.id === attachment.id ? attachment : at)) : [...now, attachment];
});

export const modeOf = defineFold<Entry, PermissionMode | undefined>(undefined, (now, entry) => (entry.type === 'mode' ? entry.mode : now));

export const headOf = defineFold<Entry, HeadBody | undefined>(undefined, (now, entry) => (entry.type === 'head' ? entry : now));

/** What the user set for this session only. */
export const optionsOf = defineFold<Entry, Readonly<Partial<Record<OptionName, Json>>>>({}, (now, entry) => (entry.type === 'option' ? { ...now, [entry.name]: entry.value } : now));

/** The newest state of each task, in the order in which they were started. */
export const tasksOf = defineFold<Entry, readonly TaskRecord[]>([], (now, entry) => {
  if (entry.type !== 'task') return now;
  const { task } = entry;
  return now.some(({ id }) => id === task.id) ? now.map((one) => (one.id === task.id ? task : one)) : [...now, task];
});

/** The newest plan, as the user last answered to it. */
export const planOf = defineFold<Entry, EntryOf<'plan'> | undefined>(undefined, (now, entry) => (entry.type === 'plan' ? entry : now));

/**
 * Tools that were loaded on demand, in the order in which they came. They stay whatever becomes of the results that loaded
 * them: a request's list of tools only grows.
 */
export const loadedToolsOf = defineFold<Entry, readonly ToolDefinition[]>([], (now, entry) => {
  const loads = entry.type === 'toolResult' ? entry.result.loads ?? [] : [];
  const fresh = loads.filter(({ name }) => !now.some((tool) => tool.name === name));
  return fresh.length === 0 ? now : [...now, ...fresh];
});

/** The directory that `cd` last led to, undefined before the first. */
export const cwdOf = defineFold<Entry, string | undefined>(undefined, (now, entry) => (entry.type === 'cwd' ? entry.path : now));

/** The todo list as it stands. */
export function todosOf(log: readonly Entry[]): readonly TodoItem[] {
  const list = attachmentsOf(log).find(({ id }) => id === TODO_LIST_ID);
  return list?.kind === 'todo' ? list.items : [];
}

/** The source whose snapshot is the id of the last queued entry that was delivered. */
export const QUEUE_SOURCE = 'queued_commands';

/** Queued words that no reminder has delivered yet, oldest first. Compaction and rewind change nothing here: each is delivered once. */
export const undeliveredOf = defineFold<Entry, readonly EntryOf<'queued'>[]>([], (now, entry) => {
  if (entry.type === 'queued') return [...now, entry];
  if (entry.type === 'unqueued') return now.filter(({ id }) => id !== entry.target);
  if (entry.type !== 'reminder' || entry.source !== QUEUE_SOURCE) return now;
  const at = now.findIndex(({ id }) => id === entry.snapshot);
  return at === -1 ? now : now.slice(at + 1);
});

/**
 * Entries that the conversation consists of: what a rewind took back is left out, and nothing before the last compaction is
 * in, not even the compaction itself (it is `compactionOf`). Entries that are no part of a conversation (attach, mode …) stay.
 */
export const conversationOf = defineFold<Entry, readonly Entry[]>([], (now, entry) => {
  if (entry.type === 'compaction') return [];
  if (entry.type !== 'rewind') return [...now, entry];
  const at = now.findIndex(({ id }) => id === entry.to);
  return at === -1 ? now : now.slice(0, at + 1);
});

/** Ids of entries that are left out whole. */
export function excludedOf(conversation: readonly Entry[]): ReadonlySet<EntryId> {
  const excluded = new Set<EntryId>();
  for (const entry of conversation) {
    if (entry.type === 'exclude' && entry.what === 'entry') excluded.add(entry.target);
    if (entry.type === 'restore') excluded.delete(entry.target);
  }
  return excluded;
}

/**
 * What the model still has of a log: without what a summary replaced, a rewind took back or an exclusion left out. Of a result
 * that was left out what it wrote remains, which the call itself says, but not that the model knows every byte.
 */
export function inViewOf(log: readonly Entry[]): readonly Entry[] {
  const conversation = conversationOf(log);
  const excluded = excludedOf(conversation);
  return excluded.size === 0 ? conversation : conversation.flatMap((entry) => (excluded.has(entry.id) ? remainder(entry) : [entry]));
}

function remainder(entry: Entry): readonly Entry[] {
  if (entry.type !== 'toolResult') return [];
  const files = (entry.result.files ?? []).flatMap((touch): readonly FileTouch[] => (touch.how === 'write' ? [{ ...touch, how: 'heard' }] : []));
  return files.length === 0 ? [] : [{ ...entry, result: { ...entry.result, files } }];
}

export const compactionOf = defineFold<Entry, EntryOf<'compaction'> | undefined>(undefined, (now, entry) => (entry.type === 'compaction' ? entry : now));

/**
 * What the model was last told of each file, by real path: the measure for changed-file notices. Starts anew at a compaction. A
 * look at a part of a file that was known before does not tell what changed in the rest, and leaves the measure as it was.
 */
export const knownFilesOf = defineFold<Entry, ReadonlyMap<string, FileTouch>>(new Map(), (now, entry) => {
  if (entry.type === 'compaction') return new Map();
  const touched = entry.type === 'toolResult' ? entry.result.files : entry.type === 'reminder' ? entry.files : undefined;
  if (touched === undefined || touched.length === 0) return now;
  const next = new Map(now);
  for (const touch of touched) {
    const before = next.get(touch.path);
    if (touch.how !== 'partial' || before === undefined || NO_BYTES.has(before.hash)) next.set(touch.path, touch);
  }
  return next;
});

const NO_BYTES: ReadonlySet<string> = new Set([MISSING_HASH, UNREADABLE_HASH]);

/** Steps (model replies) since the last entry that fits, or since the beginning. */
export function stepsSince(log: readonly Entry[], fits: (entry: Entry) => boolean): number {
  let steps = 0;
  for (let i = log.length - 1; i >= 0; i -= 1) {
    const entry = log[i];
    if (entry === undefined || fits(entry)) break;
    if (entry.type === 'assistant') steps += 1;
  }
  return steps;
}

/** The entry of an id, looked for from the end. */
export function entryOf(log: readonly Entry[], id: EntryId): Entry | undefined {
  return log.findLast((entry) => entry.id === id);
}
