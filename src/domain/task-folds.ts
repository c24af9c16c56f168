import { defineFold } from '#lib/fold.ts';
import type { Entry, EntryId, EntryOf } from './entry.ts';

/** The entry with which each task began, by the task's id. */
export const taskStartsOf = defineFold<Entry, ReadonlyMap<string, EntryOf<'task'>>>(new Map(), (now, entry) => (
  entry.type !== 'task' || now.has(entry.task.id) ? now : new Map([...now, [entry.task.id, entry]])
));

/**
 * What the model was given of tasks, oldest first. A rewind takes back what was given after its place; compaction takes nothing
 * back: output is given once, a summary holds what came of it.
 */
export const taskReadsOf = defineFold<Entry, readonly EntryOf<'taskRead'>[]>([], (now, entry) => {
  if (entry.type === 'taskRead') return [...now, entry];
  return entry.type === 'rewind' && now.length > 0 ? now.filter(({ id }) => !isAfter(id, entry.to)) : now;
});

/** Up to which byte the model was given a task's output; undefined when it was never told of the task. */
export function readUpTo(log: readonly Entry[], task: string): number | undefined {
  const reads = taskReadsOf(log).filter((read) => read.task === task);
  return reads.length === 0 ? undefined : Math.max(...reads.map(({ upTo }) => upTo));
}

/** Whether an entry came after another one: ids grow with the log's order. */
export function isAfter(a: EntryId, b: EntryId): boolean {
  return a.length === b.length ? a > b : a.length > b.length;
}
