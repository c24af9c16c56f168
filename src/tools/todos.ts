import { TODO_LIST_ID, type TodoItem, type TodoState } from '#domain/attachment.ts';
import type { Entry } from '#domain/entry.ts';
import { todosOf } from '#domain/folds.ts';

/** An item as the model sends it. */
export interface AskedTodo {
  readonly id?: number | undefined;
  readonly content: string;
  readonly status: 'pending' | 'in_progress' | 'completed' | 'cancelled';
}

export type Merged =
  | { readonly ok: true; readonly items: readonly TodoItem[]; readonly notes: readonly string[] }
  | { readonly ok: false; readonly message: string };

/** A replacement that silently loses this many open items is a list remembered wrongly, not a decision. */
const LOST_ITEMS = 3;

/**
 * The list after the model replaced it. Items are the same by id, else by their words. The user's items stay and keep their
 * words, whatever the model sends; only their state is the model's to set.
 */
export function mergeTodos(log: readonly Entry[], asked: readonly AskedTodo[]): Merged {
  const now = todosOf(log);
  const matched = matchUp(now, asked);
  const kept = new Set([...matched.values()].map(({ id }) => id));
  const missing = now.filter(({ id }) => !kept.has(id));
  const lost = missing.filter(({ by, state }) => by === 'model' && state !== 'done');
  if (lost.length >= LOST_ITEMS) {
    return { ok: false, message: `This would drop ${lost.length} open items: ${lost.map(nameOf).join(', ')}. Nothing was changed. Send them along; mark those that are no longer wanted as cancelled.` };
  }
  const notes: string[] = [];
  let next = highestId(log);
  const items = asked.flatMap((todo): TodoItem[] => {
    const before = matched.get(todo);
    if (before === undefined) {
      if (todo.status === 'cancelled') return [];
      next += 1;
      return [{ id: next, text: wordsOf(todo), state: stateOf(todo), by: 'model' }];
    }
    return revised(before, todo, notes);
  });
  return { ok: true, items: withUserItems(items, now, missing, notes), notes };
}

function revised(before: TodoItem, todo: AskedTodo, notes: string[]): TodoItem[] {
  if (before.by === 'model') return todo.status === 'cancelled' ? [] : [{ ...before, text: wordsOf(todo), state: stateOf(todo) }];
  if (todo.status === 'cancelled') {
    notes.push(`kept ${nameOf(before)}: it is the user's, who alone can remove it`);
    return [before];
  }
  if (sameWords(wordsOf(todo)) !== sameWords(before.text)) notes.push(`kept the words of ${nameOf(before)}: it is the user's`);
  return [{ ...before, state: stateOf(todo) }];
}

/** Items of the user that were left out go back behind the item that they stood behind. */
function withUserItems(items: readonly TodoItem[], now: readonly TodoItem[], missing: readonly TodoItem[], notes: string[]): readonly TodoItem[] {
  const result = [...items];
  for (const item of missing.filter(({ by }) => by === 'user')) {
    const before = now.slice(0, now.indexOf(item)).findLast(({ id }) => result.some((one) => one.id === id));
    result.splice(before === undefined ? 0 : result.findIndex(({ id }) => id === before.id) + 1, 0, item);
    notes.push(`kept ${nameOf(item)}: it is the user's and was missing`);
  }
  return result;
}

function matchUp(now: readonly TodoItem[], asked: readonly AskedTodo[]): Map<AskedTodo, TodoItem> {
  const free = new Map(now.map((item) => [item.id, item]));
  const matched = new Map<AskedTodo, TodoItem>();
  const take = (todo: AskedTodo, item: TodoItem | undefined): void => {
    if (item === undefined || matched.has(todo) || !free.delete(item.id)) return;
    matched.set(todo, item);
  };
  for (const todo of asked) take(todo, [...free.values()].find((item) => item.id === todo.id && sameWords(item.text) === sameWords(todo.content)));
  for (const todo of asked) take(todo, [...free.values()].find((item) => sameWords(item.text) === sameWords(todo.content)));
  for (const todo of asked) if (todo.id !== undefined) take(todo, free.get(todo.id));
  return matched;
}

/** Ids are never used again, so those of items that are gone count too. */
function highestId(log: readonly Entry[]): number {
  return Math.max(0, ...log.flatMap((entry) => (entry.type === 'attach' && entry.attachment.id === TODO_LIST_ID && entry.attachment.kind === 'todo' ? entry.attachment.items.map(({ id }) => id) : [])));
}

function stateOf({ status }: AskedTodo): TodoState {
  return status === 'completed' ? 'done' : status === 'in_progress' ? 'active' : 'open';
}

function wordsOf({ content }: AskedTodo): string {
  return content.replace(/\s+/g, ' ').trim();
}

function sameWords(text: string): string {
  return text.replace(/\s+/g, ' ').trim().toLowerCase();
}

function nameOf({ id, text }: TodoItem): string {
  return `${id} "${text}"`;
}
