import { TODO_LIST_ID, type TodoItem } from '#domain/attachment.ts';
import { todosOf } from '#domain/folds.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';
import { todoLine } from '../words.ts';

/** The list as it stands, when nobody has written it for a while and something on it is still to do. */
export default defineSource<readonly TodoItem[]>({
  id: 'todo_reminders', on: ['prompt', 'step'], threads: 'all', cadence: { sinceWrite: 10, between: 10 },
  observe: ({ log, tools }) => {
    const left = todosOf(log).filter(({ state }) => state !== 'done');
    return left.length === 0 || !tools.has('TodoWrite') ? absent : left;
  },
  keep: (now) => now.map(({ id }) => id),
  revive: () => undefined,
  wrote: (entry) => entry.type === 'attach' && entry.attachment.id === TODO_LIST_ID,
  full: (now) => ['The todo list has not been written for a while. Still on it:', ...now.map((item) => todoLine(item))].join('\n'),
});
