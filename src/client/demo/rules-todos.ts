import { count } from '#lib/text.ts';
import type { Todo } from './in-view.ts';
import type { Rule, Turn } from './rule.ts';
import type { View } from './view.ts';
import { lastOf, sorry } from './words.ts';

const MAKE = /^(?:(?:make|create|add|write)(?: (?:a|some|new|me|the))*\s*(?:todos?|todo list|list of todos|to-dos?)(?: list)?(?: items?)?(?: (?:for|with|to|of))?:?\s+|todos?:\s*|remind me to\s+)([\s\S]+)$/i;
const ADD = /^(?:add|put)\s+(?:"([^"\n]+)"|'([^'\n]+)'|`([^`\n]+)`|([^\n]+?))\s+(?:to|on|onto) (?:the |my |our )?(?:todos?|todo list|list|to-dos?)[.!]*$/i;
const STATE = /^(?<verb>mark|tick(?: off)?|check(?: off)?|finish|complete|start|begin(?: with)?|reopen|set)?\s*(?:the )?(?:(?:todo|item|number)\s*)?#?(?<id>\d+)\s*(?:off\s*)?(?:(?:as|is|to)\s+)?(?<state>done|finished|completed?|ticked off|open|pending|active|started|in progress)?[.!]*$/i;
const SHOW = /^(?:show(?: me)?|list|read|what(?:'s| is| are)(?: still)?(?: (?:left|on))?|which)(?: me)?(?: on)?(?: of)?(?: the| my| our)? (?:todos?|todo list|to-dos?|open items)(?: (?:list|are (?:open|left)))?[?.!]*$/i;

/** Requests about the todo list that the user and the model share. */
export const todoRules: readonly Rule[] = [
  { id: 'todos', example: 'Make todos: read the code, write a test, fix the bug', tools: ['TodoWrite'], reply: make },
  { id: 'tick', example: 'Mark todo 1 done', tools: ['TodoWrite'], needs: 'a todo list', reply: mark },
  { id: 'list-todos', example: 'What is on the todo list?', tools: [], reply: show },
];

const EMPTY = 'The todo list is empty, as far as I was told.';

function make(view: View): Turn | undefined {
  const added = ADD.exec(view.ask)?.slice(1).find((group) => group !== undefined);
  const made = MAKE.exec(view.ask)?.[1];
  if (added === undefined && made === undefined) return undefined;
  const done = lastOf(view, 'TodoWrite');
  if (done !== undefined) return { say: done.failed ? sorry('write the todo list', done) : `The list has ${count(view.inView.todos.length, 'item')} now. Say "Mark todo ${view.inView.todos.at(-1)?.id ?? 1} done" when one is, or use /todo.` };
  const texts = added === undefined ? itemsIn(made ?? '') : [added];
  return texts.length === 0 ? { say: 'Tell me what is to be done: "Make todos: this, that".' } : write([...view.inView.todos, ...texts.map((content) => ({ content, status: 'pending' }))]);
}

/** Items stand apart by lines, else by semicolons, else by commas. */
function itemsIn(text: string): readonly string[] {
  const apart = text.trim().includes('\n') ? /\n/ : text.includes(';') ? /;/ : /,\s*(?:and(?: then)?\s+)?|\s+and then\s+/;
  return text.split(apart).map((item) => item.trim().replace(/^(?:\d+[.)]|[-*]|\[ \])\s*/, '').replace(/^(["'`])(.*)\1$/, '$2').replace(/[.!]$/, '')).filter((item) => item !== '');
}

function write(todos: readonly (Pick<Todo, 'content' | 'status'> & Partial<Todo>)[]): Turn {
  return { call: { tool: 'TodoWrite', input: { todos: todos.map(({ id, content, status }) => ({ ...(id !== undefined && { id }), content, status })) } } };
}

function mark(view: View): Turn | undefined {
  const { verb, id, state: named } = STATE.exec(view.ask)?.groups ?? {};
  if (id === undefined || (verb === undefined && named === undefined)) return undefined;
  const number = Number(id);
  const state = named?.toLowerCase() ?? (/^(?:start|begin)/i.test(view.ask) ? 'active' : /^reopen/i.test(view.ask) ? 'open' : 'done');
  const status = /^(?:open|pending)$/.test(state) ? 'pending' : /^(?:active|started|in progress)$/.test(state) ? 'in_progress' : 'completed';
  const done = lastOf(view, 'TodoWrite');
  if (done !== undefined) return { say: done.failed ? sorry('write the todo list', done) : `Done: todo ${number} is ${WORDS[status]}.` };
  const { todos } = view.inView;
  if (!todos.some(({ id }) => id === number)) return { say: todos.length === 0 ? EMPTY : `There is no todo ${number}: the list has ${todos.map(({ id }) => id).join(', ')}.` };
  return write(todos.map((item) => (item.id === number ? { ...item, status } : item)));
}

const WORDS = { pending: 'open again', in_progress: 'under way', completed: 'ticked off' } as const;
const MARKS: Readonly<Record<string, string>> = { pending: '[ ]', in_progress: '[~]', completed: '[x]' };

function show(view: View): Turn | undefined {
  if (!SHOW.test(view.ask)) return undefined;
  const { todos } = view.inView;
  return { say: todos.length === 0 ? EMPTY : ['The todo list:', '', ...todos.map(({ id, content, status, by }) => `- ${id}. ${MARKS[status] ?? ''} ${content}${by === 'user' ? ' (yours)' : ''}`)].join('\n') };
}
