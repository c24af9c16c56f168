import { defineFold } from '#lib/fold.ts';
import { TODO_LIST_ID, type TodoItem } from './attachment.ts';
import type { Entry, EntryBody } from './entry.ts';

/** The number of the next new item: numbers are never used again, so that user and model mean the same item by one. */
export const nextTodoId = defineFold<Entry, number>(1, (now, entry) => (
  entry.type === 'attach' && entry.attachment.kind === 'todo' ? entry.attachment.items.reduce((most, { id }) => Math.max(most, id + 1), now) : now
));

/** The entry that makes these items the list. */
export function todoEntry(items: readonly TodoItem[], by: 'user' | 'model'): EntryBody {
  return { type: 'attach', attachment: { kind: 'todo', id: TODO_LIST_ID, items }, by };
}
