import { nearest } from '#lib/nearest.ts';
import { oneLine } from '#lib/names.ts';
import { count } from '#lib/text.ts';
import type { TodoItem, TodoState } from '#domain/attachment.ts';
import type { Card } from '#domain/card.ts';
import { type CommandContext, defineCommand, type Effect } from '#domain/command.ts';
import { todosOf } from '#domain/folds.ts';
import { nextTodoId, todoEntry } from '#domain/todos.ts';

type Verb = (rest: string, items: readonly TodoItem[], context: CommandContext) => Effect;

/** What the model can send back in one call of TodoWrite. */
const MOST_ITEMS = 100;
const LONGEST_ITEM = 500;
const MARKS: Readonly<Record<TodoState, string>> = { open: '☐', active: '▶', done: '☑' };

/** The user's half of the todo list; the model has TodoWrite. Items go by their numbers, which never change. */
export default defineCommand({
  id: 'todo',
  group: 'In view',
  summary: 'The todo list that you share with the model; alone: show it',
  usage: '[add <text> | done <n…> | undo <n…> | edit <n> <text> | move <n> <place> | rm <n…> | clear [done]]',
  anytime: true,
  complete(args, { session }) {
    const [, verb = '', rest] = /^\s*(\S*)(\s+\S*)?/.exec(args) ?? [];
    if (rest === undefined) return Object.keys(VERBS);
    if (verb === 'clear') return ['done'];
    return ['done', 'undo', 'edit', 'move', 'rm'].includes(verb) ? todosOf(session.log).map(({ id }) => String(id)) : [];
  },
  run(args, context) {
    const [, word = '', rest = ''] = /^\s*(\S*)\s*([\s\S]*)$/.exec(args) ?? [];
    const items = todosOf(context.session.log);
    if (word === '') return { type: 'show', card: listCard('Todos', items) };
    const verb = Object.hasOwn(VERBS, word.toLowerCase()) ? VERBS[word.toLowerCase()] : undefined;
    if (verb !== undefined) return verb(rest.trim(), items, context);
    const near = nearest(word, Object.keys(VERBS));
    const meant = near !== undefined ? `Did you mean /todo ${near}?` : rest.trim() === '' ? `It has ${Object.keys(VERBS).join(', ')}.` : `To put it on the list: /todo add ${oneLine(args.trim(), 60)}`;
    return refuse(`/todo has no "${oneLine(word, 40)}". ${meant}`);
  },
});

const VERBS: Readonly<Record<string, Verb>> = {
  add(text, items, { session }) {
    if (text === '') return refuse('Say what is to be done: /todo add <text>.');
    if (items.length >= MOST_ITEMS) return refuse(`The list is full: ${MOST_ITEMS} items are the most. Make room with /todo clear done.`);
    return worded(text, (words) => {
      const id = nextTodoId(session.log);
      return change(`Added ${id}`, [...items, { id, text: words, state: 'open', by: 'user' }]);
    });
  },
  done: (rest, items) => mark(rest, items, 'done', 'Done'),
  undo: (rest, items) => mark(rest, items, 'open', 'Open again'),
  edit(rest, items) {
    const [, number = '', text = ''] = /^(\S*)\s*([\s\S]*)$/.exec(rest) ?? [];
    return withItems(number, items, ([item]) => {
      if (item === undefined || text === '') return refuse(`Say what item ${item?.id ?? number} shall be: /todo edit ${item?.id ?? number} <text>.`);
      return worded(text, (words) => change(`Edited ${item.id}`, items.map((at) => (at === item ? { ...item, text: words, by: 'user' } : at))));
    });
  },
  move(rest, items) {
    const [number = '', place = ''] = rest.split(/\s+/);
    const to = /^\d+$/.test(place) ? Number(place) : 0;
    return withItems(number, items, ([item]) => (item === undefined || to < 1 || to > items.length
      ? refuse(`Say where to: /todo move ${item?.id ?? number} <place from 1 to ${items.length}>.`)
      : change(`Moved ${item.id} to place ${to}`, items.filter((at) => at !== item).toSpliced(to - 1, 0, item))));
  },
  rm: (rest, items) => withItems(rest, items, (gone) => change(`Removed ${ids(gone)}`, items.filter((at) => !gone.includes(at)))),
  clear(rest, items) {
    if (rest !== '' && rest !== 'done') return refuse('It is /todo clear for the whole list, or /todo clear done.');
    const kept = rest === 'done' ? items.filter(({ state }) => state !== 'done') : [];
    if (kept.length === items.length) return { type: 'show', card: listCard('Nothing to clear', items) };
    return change(`Cleared ${count(items.length - kept.length, 'item')}`, kept);
  },
};

function refuse(message: string): Effect {
  return { type: 'refuse', message };
}

/** The words of an item: on one line, and not so long that the model could not send them back. */
function worded(text: string, then: (words: string) => Effect): Effect {
  const words = text.replace(/\s+/g, ' ').trim();
  return words.length > LONGEST_ITEM ? refuse(`An item has at most ${LONGEST_ITEM} characters; this has ${words.length}. Pin a longer text with /pin note <text>.`) : then(words);
}

function mark(rest: string, items: readonly TodoItem[], state: TodoState, title: string): Effect {
  return withItems(rest, items, (meant) => {
    if (meant.every((item) => item.state === state)) return { type: 'show', card: listCard(`${ids(meant)}: ${state} already`, items) };
    return change(`${title}: ${ids(meant)}`, items.map((at) => (meant.includes(at) ? { ...at, state } : at)));
  });
}

/** Items by their numbers, with blanks or commas between: all of them, or none and a word why. */
function withItems(numbers: string, items: readonly TodoItem[], then: (items: readonly TodoItem[]) => Effect): Effect {
  const wanted = [...new Set(numbers.split(/[\s,]+/).map((number) => number.replace(/^#/, '')).filter((number) => number !== ''))];
  const found = wanted.map((number) => items.find(({ id }) => String(id) === number));
  const there = found.filter((item) => item !== undefined);
  if (wanted.length > 0 && there.length === wanted.length) return then(there);
  if (items.length === 0) return refuse('The todo list is empty. Add to it with /todo add <text>.');
  const missing = wanted[found.indexOf(undefined)];
  return refuse(`${missing === undefined ? 'Say which item' : `There is no item ${oneLine(missing, 40)}`}: the list has ${ids(items)}.`);
}

const ids = (items: readonly TodoItem[]): string => items.map(({ id }) => id).join(', ');

function change(title: string, items: readonly TodoItem[]): Effect {
  return { type: 'append', entries: [todoEntry(items, 'user')], card: listCard(title, items) };
}

function listCard(title: string, items: readonly TodoItem[]): Card {
  if (items.length === 0) return { title, detail: 'the list is empty', body: [] };
  const done = items.filter(({ state }) => state === 'done').length;
  return {
    title, detail: `${items.length - done} open, ${done} done`,
    body: [{ type: 'table', head: [''], rows: items.map(({ id, text, state, by }) => [`${MARKS[state]} ${id} ${text}${by === 'user' ? ' (yours)' : ''}`]) }],
  };
}
