import { count } from '#lib/text.ts';
import { nearest } from '#lib/nearest.ts';
import type { TodoItem, TodoState } from '#domain/attachment.ts';
import { type CommandContext, defineCommand, type Effect } from '#domain/command.ts';
import { todosOf } from '#domain/folds.ts';
import { nextTodoId, todoEntry, todoLine } from '#domain/todos.ts';

type Verb = (rest: string, items: readonly TodoItem[], context: CommandContext) => Effect;

/** The user's half of the todo list; the model has TodoWrite. Items go by their numbers, which never change. */
export default defineCommand({
  id: 'todo',
  summary: 'The todo list that you share with the model; without arguments show it',
  usage: '[add <text> | done <n> | undo <n> | edit <n> <text> | move <n> <place> | rm <n> | clear [done]]',
  anytime: true,
  complete: (args) => (/\s/.test(args) ? [] : Object.keys(VERBS)),
  run(args, context) {
    const [, word = '', rest = ''] = /^\s*(\S*)\s*([\s\S]*)$/.exec(args) ?? [];
    const items = todosOf(context.session.log);
    if (word === '') return { type: 'show', card: listCard('Todos', items) };
    const verb = VERBS[word];
    if (verb !== undefined) return verb(rest.trim(), items, context);
    const near = nearest(word, Object.keys(VERBS));
    return { type: 'refuse', message: `/todo has no "${word}".${near === undefined ? ` It has ${Object.keys(VERBS).join(', ')}.` : ` Did you mean /todo ${near}?`}` };
  },
});

const VERBS: Readonly<Record<string, Verb>> = {
  add(text, items, { session }) {
    if (text === '') return { type: 'refuse', message: 'Say what is to be done: /todo add <text>.' };
    const item: TodoItem = { id: nextTodoId(session.log), text: text.replace(/\s+/g, ' '), state: 'open', by: 'user' };
    return change(`Added ${item.id}`, [...items, item]);
  },
  done: (rest, items) => mark(rest, items, 'done', 'Done'),
  undo: (rest, items) => mark(rest, items, 'open', 'Open again'),
  edit(rest, items) {
    const [, number = '', text = ''] = /^(\S+)\s*([\s\S]*)$/.exec(rest) ?? [];
    return withItem(number, items, (item) => (text === ''
      ? { type: 'refuse', message: `Say what item ${item.id} shall be: /todo edit ${item.id} <text>.` }
      : change(`Edited ${item.id}`, items.map((at) => (at === item ? { ...item, text: text.replace(/\s+/g, ' '), by: 'user' } : at)))));
  },
  move(rest, items) {
    const [number = '', place = ''] = rest.split(/\s+/);
    const to = Number(place);
    return withItem(number, items, (item) => (!Number.isInteger(to) || to < 1 || to > items.length
      ? { type: 'refuse', message: `Say where to: /todo move ${item.id} <place from 1 to ${items.length}>.` }
      : change(`Moved ${item.id} to place ${to}`, items.filter((at) => at !== item).toSpliced(to - 1, 0, item))));
  },
  rm: (rest, items) => withItem(rest, items, (item) => change(`Removed ${item.id}`, items.filter((at) => at !== item))),
  clear(rest, items) {
    if (rest !== '' && rest !== 'done') return { type: 'refuse', message: 'It is /todo clear for the whole list, or /todo clear done.' };
    const kept = rest === 'done' ? items.filter(({ state }) => state !== 'done') : [];
    return change(`Cleared ${count(items.length - kept.length, 'item')}`, kept);
  },
};

function mark(rest: string, items: readonly TodoItem[], state: TodoState, title: string): Effect {
  return withItem(rest, items, (item) => change(`${title}: ${item.id}`, items.map((at) => (at === item ? { ...item, state } : at))));
}

function withItem(number: string, items: readonly TodoItem[], then: (item: TodoItem) => Effect): Effect {
  const item = items.find(({ id }) => String(id) === number.replace(/^#/, ''));
  if (item !== undefined) return then(item);
  if (items.length === 0) return { type: 'refuse', message: 'The todo list is empty. Add to it with /todo add <text>.' };
  return { type: 'refuse', message: `${number === '' ? 'Say which item' : `There is no item ${number}`}: the list has ${items.map(({ id }) => id).join(', ')}.` };
}

function change(title: string, items: readonly TodoItem[]): Effect {
  return { type: 'append', entries: [todoEntry(items, 'user')], card: listCard(title, items) };
}

function listCard(title: string, items: readonly TodoItem[]): { title: string; body: readonly { type: 'list'; items: readonly string[] }[]; detail: string } {
  const open = items.filter(({ state }) => state !== 'done').length;
  return { title, detail: items.length === 0 ? 'the list is empty' : `${open} open, ${items.length - open} done`, body: items.length === 0 ? [] : [{ type: 'list', items: items.map(todoLine) }] };
}
