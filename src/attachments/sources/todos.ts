import { isDeepStrictEqual } from 'node:util';
import type { Json } from '#lib/brand.ts';
import { TODO_LIST_ID, type TodoItem } from '#domain/attachment.ts';
import type { Entry } from '#domain/entry.ts';
import { compactionOf, conversationOf, todosOf } from '#domain/folds.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';
import { todoLine } from '../words.ts';

interface Todos {
  readonly items: readonly TodoItem[];
  /** The list as the model last wrote it itself: that much it knows from its own call. */
  readonly written: readonly TodoItem[] | undefined;
  /** A summary has just replaced the conversation: what was under way may be done or not. */
  readonly unconfirmed: boolean;
}

/** The todo list that the user and the model share: whole at first, then the user's changes to it. */
export default defineSource<Todos>({
  id: 'todos', on: ['prompt', 'step'], threads: 'main', cadence: 'onChange', limits: { tokens: 20_000 },
  observe: ({ log }) => {
    const items = todosOf(log);
    const conversation = conversationOf(log);
    const written = writtenIn(conversation);
    // A list that the model has emptied itself is no news to it.
    if (items.length === 0 && written?.length !== 0) return absent;
    const unconfirmed = compactionOf(log) !== undefined && !conversation.some(({ type }) => type === 'assistant');
    return { items, written, unconfirmed };
  },
  keep: ({ items }) => items.map(({ id, text, state, by }) => ({ id, text, state, by })),
  revive: (stored) => {
    if (!Array.isArray(stored)) return undefined;
    const items = stored.map(reviveItem);
    return items.every((item) => item !== undefined) ? { items, written: undefined, unconfirmed: false } : undefined;
  },
  full: ({ items, written, unconfirmed }) => {
    // Without words: the model knows its own list, and what the user changes in it later is told against that.
    if (isDeepStrictEqual(items, written)) return [];
    return ['Todo list, shared by the user and you:', ...items.map((item) => todoLine(item, unconfirmed))].join('\n');
  },
  delta: (before, now) => {
    const base = now.written ?? before.items;
    const lines = changes(base, now.items);
    return lines.length === 0 ? undefined : ['Todo list, changed by the user:', ...lines].join('\n');
  },
  gone: () => 'The todo list is empty now.',
});

/** The list of the model's last own write since the last reminder about it. */
function writtenIn(conversation: readonly Entry[]): readonly TodoItem[] | undefined {
  const last = conversation.findLast((entry) =>
    (entry.type === 'reminder' && entry.source === 'todos') || (entry.type === 'attach' && entry.by === 'model' && entry.attachment.id === TODO_LIST_ID));
  return last?.type === 'attach' && last.attachment.kind === 'todo' ? last.attachment.items : undefined;
}

function changes(before: readonly TodoItem[], now: readonly TodoItem[]): readonly string[] {
  const came = now.filter(({ id }) => !before.some((item) => item.id === id)).map((item) => `added: ${todoLine(item)}`);
  const changed = now.filter((item) => {
    const was = before.find(({ id }) => id === item.id);
    return was !== undefined && !isDeepStrictEqual(was, item);
  }).map((item) => `now: ${todoLine(item)}`);
  const went = before.filter(({ id }) => !now.some((item) => item.id === id)).map((item) => `removed: ${todoLine(item)}`);
  const order = (items: readonly TodoItem[], others: readonly TodoItem[]): readonly number[] => items.map(({ id }) => id).filter((id) => others.some((item) => item.id === id));
  const moved = isDeepStrictEqual(order(before, now), order(now, before)) ? [] : [`order: ${now.map(({ id }) => id).join(', ')}`];
  return [...came, ...changed, ...went, ...moved];
}

function reviveItem(stored: Json): TodoItem | undefined {
  if (stored === null || typeof stored !== 'object' || !('id' in stored)) return undefined;
  const { id, text, state, by } = stored;
  if (typeof id !== 'number' || typeof text !== 'string') return undefined;
  if ((state !== 'open' && state !== 'active' && state !== 'done') || (by !== 'user' && by !== 'model')) return undefined;
  return { id, text, state, by };
}
