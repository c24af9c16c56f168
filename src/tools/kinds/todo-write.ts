import * as z from 'zod';
import type { Card } from '#domain/card.ts';
import { TODO_LIST_ID, type TodoItem } from '#domain/attachment.ts';
import { defineTool } from '../define.ts';
import { wholeNumber } from '../fields.ts';
import { done, failed } from '../result.ts';
import { mergeTodos } from '../todos.ts';
import description from './todo-write.md';

const MOST_ITEMS = 100;
const LONGEST_ITEM = 500;

const item = z.strictObject({
  id: wholeNumber(1, 1e6).optional(),
  content: z.string().trim().min(1).max(LONGEST_ITEM),
  status: z.enum(['pending', 'in_progress', 'completed', 'cancelled']),
});

const input = z.strictObject({ todos: z.preprocess(asOursAre, z.array(item).max(MOST_ITEMS)).describe('The whole list, in order') });

/** Models bring the shapes of other lists along: `text` for `content`, ids of letters, fields that we have no use for. */
function asOursAre(todos: unknown): unknown {
  if (!Array.isArray(todos)) return todos;
  return todos.map((todo: unknown) => {
    if (typeof todo !== 'object' || todo === null) return todo;
    const { id, content, text, status, completed } = todo as Readonly<Record<string, unknown>>;
    const state = status ?? (completed === true ? 'completed' : completed === false ? 'pending' : undefined);
    return { content: content ?? text, status: state, ...(/^[1-9]\d{0,5}$/.test(String(id)) ? { id: Number(id) } : {}) };
  });
}

export const todoWrite = defineTool({
  id: 'TodoWrite',
  description,
  effect: 'reads',
  input,
  title: () => 'Todos',
  async *run({ todos }, { session }) {
    const merged = mergeTodos(session.log, todos);
    if (!merged.ok) return failed('Todos', merged.message);
    const { items, notes } = merged;
    const list = items.length === 0 ? 'The list is empty.' : items.map(lineOf).join('\n');
    return done([list, ...notes.map((note) => `[${note}]`)].join('\n'), cardOf(items),
      { entries: [{ type: 'attach', by: 'model', attachment: { kind: 'todo', id: TODO_LIST_ID, items } }] });
  },
});

const MARKS = { open: '[ ]', active: '[~]', done: '[x]' } as const;

function lineOf({ id, text, state, by }: TodoItem): string {
  return `${id}. ${MARKS[state]} ${text}${by === 'user' ? ' (the user\'s)' : ''}`;
}

function cardOf(items: readonly TodoItem[]): Card {
  const finished = items.filter(({ state }) => state === 'done').length;
  return { title: 'Todos', detail: `${finished} of ${items.length} done`, body: items.length === 0 ? [] : [{ type: 'list', items: items.map(({ text, state }) => `${MARKS[state]} ${text}`) }] };
}
