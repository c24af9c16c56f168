import { blocksOf, list, obj, type Obj, text } from './messages-server/shape.ts';

/** What a model that believes all that it was told holds to be the case, files apart: by kind and name. */
export interface Beliefs {
  readonly skills: ReadonlyMap<string, string>;
  readonly agents: ReadonlyMap<string, string>;
  readonly tools: ReadonlyMap<string, string>;
  readonly team: ReadonlyMap<string, string>;
  /** In their order, by number: mark, words and whose it is. */
  readonly todos: ReadonlyMap<string, string>;
  readonly environment: ReadonlyMap<string, string>;
  readonly date: string;
  readonly mode: string;
  readonly style: string;
  readonly companion: string;
  readonly budget: string;
}

interface Mind {
  skills: Map<string, string>;
  agents: Map<string, string>;
  tools: Map<string, string>;
  team: Map<string, string>;
  todos: Map<string, string>;
  environment: Map<string, string>;
  date: string;
  mode: string;
  style: string;
  companion: string;
  budget: string;
}

type Heard = (mind: Mind, paragraph: string, lines: readonly string[]) => void;

const REMINDER = /^<system-reminder>\n([\s\S]*)\n<\/system-reminder>$/;

/** Lines `- name: what`; of team mates `- name (what)`. */
function entriesOf(lines: readonly string[]): readonly (readonly [string, string])[] {
  return lines.flatMap((line) => {
    const [, name, what = '', who] = /^- ([^\s:]+)(?:: (.*)| \((.*)\))?$/.exec(line) ?? [];
    return name === undefined ? [] : [[name, who ?? what] as const];
  });
}

function pairsOf(lines: readonly string[]): readonly (readonly [string, string])[] {
  return lines.flatMap((line) => {
    const [, name, value] = /^([^:]+): (.*)$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  });
}

function put(map: Map<string, string>, news: readonly (readonly [string, string])[], goneAs?: string): void {
  for (const [name, what] of news) {
    if (what === goneAs) map.delete(name);
    else map.set(name, what);
  }
}

function todo(line: string): readonly [string, string] {
  const [, id = '', rest = ''] = /^(\d+)\. (.*)$/.exec(line) ?? [];
  return [id, rest.replace(/ \(the user's\)$/, ' (user\'s)').replace(/ \(was under way before the summary; unconfirmed\)$/, '')];
}

/** By how a paragraph begins. */
const HEARD: readonly (readonly [string | RegExp, Heard])[] = [
  ['Skills (the Skill tool loads one):', (mind, _, lines) => { mind.skills = new Map(entriesOf(lines)); }],
  [/^(?:New skills:|Skills whose description changed:|No longer there: )/, (mind, paragraph, lines) => {
    put(mind.skills, entriesOf(lines));
    for (const name of /^No longer there: (.*)\.$/m.exec(paragraph)?.[1]?.split(', ') ?? []) mind.skills.delete(name);
  }],
  ['There are no skills to load any more.', (mind) => { mind.skills.clear(); }],
  ['Types of sub-agents (Task):', (mind, _, lines) => { mind.agents = new Map(entriesOf(lines)); }],
  ['Types of sub-agents (Task), changed:', (mind, _, lines) => { put(mind.agents, entriesOf(lines), 'there is none any more'); }],
  ['There are no sub-agents any more.', (mind) => { mind.agents.clear(); }],
  ['More tools, to be loaded with ToolSearch before they are called:', (mind, _, lines) => { mind.tools = new Map(entriesOf(lines)); }],
  ['More tools can be loaded with ToolSearch now:', (mind, _, lines) => { put(mind.tools, entriesOf(lines)); }],
  ['No longer available: ', (mind, paragraph) => { for (const name of paragraph.slice('No longer available: '.length).split(', ')) mind.tools.delete(name); }],
  ['There are no tools left that could be loaded with ToolSearch.', (mind) => { mind.tools.clear(); }],
  ['Your teammates (SendMessage reaches them):', (mind, _, lines) => { mind.team = new Map(entriesOf(lines)); }],
  ['The team, changed:', (mind, _, lines) => { put(mind.team, entriesOf(lines), 'works no more'); }],
  ['There are no teammates at work or waiting any more.', (mind) => { mind.team.clear(); }],
  ['Todo list, shared by the user and you:', (mind, _, lines) => { mind.todos = new Map(lines.map(todo)); }],
  ['Todo list, changed by the user:', hearTodos],
  ['The todo list is empty now.', (mind) => { mind.todos.clear(); }],
  ['Environment:', (mind, _, lines) => { mind.environment = new Map(pairsOf(lines)); }],
  ['Environment, changed:', (mind, _, lines) => { put(mind.environment, pairsOf(lines), 'none any more'); }],
  [/^(?:Today is|The date has changed: today is) /, (mind, paragraph) => { mind.date = /(?:T|t)oday is (.*)\.$/.exec(paragraph)?.[1] ?? ''; }],
  ['Plan mode is on.', (mind) => { mind.mode = 'plan'; }],
  ['Auto mode is on:', (mind) => { mind.mode = 'auto'; }],
  [/^(?:Plan|Auto) mode is over/, (mind, paragraph) => { if (paragraph.toLowerCase().startsWith(mind.mode)) mind.mode = ''; }],
  ['Output style ', (mind, paragraph) => { mind.style = /"(.*?)"/.exec(paragraph)?.[1] ?? ''; }],
  [/^The output style .* is no longer in effect/, (mind) => { mind.style = ''; }],
  [/^".*?" is a persona/, (mind, paragraph) => { mind.companion = /^"(.*?)"/.exec(paragraph)?.[1] ?? ''; }],
  [/ does not speak along any more\.$/, (mind) => { mind.companion = ''; }],
  ['Of this session\'s budget of ', (mind, paragraph) => { mind.budget = /budget of (\S+),/.exec(paragraph)?.[1] ?? ''; }],
  ['This session has no budget any more.', (mind) => { mind.budget = ''; }],
];

function hearTodos(mind: Mind, _: string, lines: readonly string[]): void {
  for (const line of lines) {
    const [, how = '', rest = ''] = /^(added|now|removed|order): (.*)$/.exec(line) ?? [];
    const [id, what] = todo(rest);
    if (how === 'added' || how === 'now') mind.todos.set(id, what);
    if (how === 'removed') mind.todos.delete(id);
    if (how === 'order') mind.todos = new Map(rest.split(', ').map((one) => [one, mind.todos.get(one) ?? '']));
  }
}

/** Goes through a request as a model reads it. */
export function beliefsOf(body: Obj): Beliefs {
  const mind: Mind = { skills: new Map(), agents: new Map(), tools: new Map(), team: new Map(), todos: new Map(), environment: new Map(), date: '', mode: '', style: '', companion: '', budget: '' };
  const calls = new Map<string, string>();
  for (const message of list(body['messages']).map(obj)) {
    for (const block of blocksOf(message['content'])) {
      if (block['type'] === 'tool_use') calls.set(text(block['id']), text(block['name']));
      const parts = block['type'] === 'tool_result' ? blocksOf(block['content']) : message['role'] === 'user' ? [block] : [];
      parts.forEach((part, at) => {
        const words = text(part['text']);
        if (at === 0 && calls.get(text(block['tool_use_id'])) === 'TodoWrite' && block['is_error'] !== true) hearOwn(mind, words);
        for (const paragraph of REMINDER.exec(words)?.[1]?.split('\n\n') ?? []) hear(mind, paragraph);
      });
    }
  }
  return mind;
}

/** What the tool answers is the list as it then stands. */
function hearOwn(mind: Mind, result: string): void {
  if (result.startsWith('(taken out')) return;
  mind.todos = new Map(result.split('\n').filter((line) => /^\d+\. \[/.test(line)).map(todo));
}

function hear(mind: Mind, paragraph: string): void {
  for (const [head, heard] of HEARD) {
    if (typeof head === 'string' ? paragraph.startsWith(head) : head.test(paragraph)) {
      heard(mind, paragraph, paragraph.split('\n').slice(1));
      return;
    }
  }
}
