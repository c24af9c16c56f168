import type { Rule } from './rule.ts';
import type { View } from './view.ts';
import { contentOf, lastOf, PATH, taken } from './words.ts';

const QUOTED = String.raw`(?:"([^"\n]+)"|'([^'\n]+)'|\`([^\`\n]+)\`|(\S+?))`;
const REPLACE = new RegExp(String.raw`^(?:please )?(?:replace|change) ${QUOTED} (?:by|with|to) ${QUOTED} in ${PATH}`, 'i');
const WRITE = new RegExp(String.raw`^(?:please )?(?:write|create|make)(?: (?:a|the) file)? ${PATH} (?:with|saying|containing)(?: the (?:text|content))?:?\s+([\s\S]+)$`, 'i');
const APPEND = new RegExp(String.raw`^(?:please )?(?:add|append)(?: (?:a|the) line)? (?:"([^"\n]+)"|'([^'\n]+)'|\`([^\`\n]+)\`) to (?:the end of )?${PATH}`, 'i');
const RUN = /^(?:please )?(?:run|execute)(?: the command)?:?\s+(?:`([^`]+)`|([\s\S]+?))[.!]?$/i;
const TODOS = /^(?:please )?(?:make|create|add|write) (?:a )?(?:todos?|todo list|list of todos)(?: for)?:?\s+([\s\S]+)$/i;
const DONE = /^(?:mark|tick off|finish) (?:todo |item )?#?(\d+)(?: (?:as )?done)?\b/i;

/** Requests that change something or run something. */
export const workRules: readonly Rule[] = [
  { id: 'replace', example: 'Replace "alpha" by "beta" in notes.txt', tools: ['Read', 'Edit'], reply: replace },
  { id: 'append', example: 'Add the line "one more" to notes.txt', tools: ['Read', 'Write'], reply: append },
  { id: 'todos', example: 'Make todos: read the code, write a test, fix the bug', tools: ['TodoWrite'], reply: todos },
  { id: 'tick', example: 'Mark todo 1 done', tools: ['TodoWrite'], reply: tick },
  { id: 'write', example: 'Write hello.txt with "Hello, world"', tools: ['Write'], reply: write },
  { id: 'run', example: 'Run `node --version`', tools: ['Bash'], reply: run },
];

function replace(view: View): ReturnType<Rule['reply']> {
  const match = REPLACE.exec(view.ask);
  if (match === null) return undefined;
  const [before, after, path] = [taken(match, 1), taken(match, 5), taken(match, 9)];
  const edit = lastOf(view, 'Edit');
  if (edit !== undefined) return { say: edit.failed ? `That did not work: ${edit.text}` : `Done: in ${path} "${before}" is "${after}" now.` };
  const read = lastOf(view, 'Read');
  if (read === undefined) return { say: `I'll look at ${path} first.`, call: { tool: 'Read', input: { file_path: path } } };
  if (read.failed) return { say: `I cannot read ${path}: ${read.text}` };
  const times = contentOf(read.text).split(before).length - 1;
  if (times === 0) return { say: `${path} does not hold "${before}".` };
  return { call: { tool: 'Edit', input: { file_path: path, old_string: before, new_string: after, ...(times > 1 && { replace_all: true }) } } };
}

function append(view: View): ReturnType<Rule['reply']> {
  const match = APPEND.exec(view.ask);
  if (match === null) return undefined;
  const [line, path] = [taken(match, 1, 3), taken(match, 4)];
  const written = lastOf(view, 'Write');
  if (written !== undefined) return { say: written.failed ? `That did not work: ${written.text}` : `Done: ${path} ends with "${line}" now.` };
  const read = lastOf(view, 'Read');
  if (read === undefined) return { call: { tool: 'Read', input: { file_path: path } } };
  const before = read.failed ? '' : contentOf(read.text).replace(/\n*$/, '\n');
  return { call: { tool: 'Write', input: { file_path: path, content: `${before}${line}\n` } } };
}

function write(view: View): ReturnType<Rule['reply']> {
  const match = WRITE.exec(view.ask);
  if (match === null) return undefined;
  const path = taken(match, 1);
  const written = lastOf(view, 'Write');
  if (written !== undefined) return { say: written.failed ? `That did not work: ${written.text}` : `Done: ${path} is written.` };
  const content = (match[5] ?? '').trim().replace(/^(["'`])([\s\S]*)\1[.!]?$/, '$2');
  return { call: { tool: 'Write', input: { file_path: path, content: content.endsWith('\n') ? content : `${content}\n` } } };
}

function run(view: View): ReturnType<Rule['reply']> {
  const match = RUN.exec(view.ask);
  if (match === null) return undefined;
  const command = (match[1] ?? match[2] ?? '').trim();
  const ran = lastOf(view, 'Bash');
  if (ran === undefined) return { call: { tool: 'Bash', input: { command, description: `Run ${command.split(/\s/)[0]}` } } };
  return { say: `${ran.failed ? `\`${command}\` failed:` : `\`${command}\` printed:`}\n\n\`\`\`\n${ran.text}\n\`\`\`` };
}

function todos(view: View): ReturnType<Rule['reply']> {
  const match = TODOS.exec(view.ask);
  if (match === null) return undefined;
  const made = lastOf(view, 'TodoWrite');
  if (made !== undefined) return { say: made.failed ? `That did not work: ${made.text}` : 'The list is made. Tell me "Mark todo 1 done" when one is, or use /todo.' };
  const texts = (match[1] ?? '').split(/\s*(?:,|;|\n|\band then\b)\s*/).map((text) => text.replace(/^(?:\d+[.)]|-)\s*/, '').replace(/[.!]$/, '')).filter((text) => text !== '');
  return { call: { tool: 'TodoWrite', input: { todos: [...listOf(view), ...texts.map((content) => ({ content, status: 'pending' }))] } } };
}

function tick(view: View): ReturnType<Rule['reply']> {
  const number = Number(DONE.exec(view.ask)?.[1] ?? 0);
  if (number === 0) return undefined;
  const made = lastOf(view, 'TodoWrite');
  if (made !== undefined) return { say: made.failed ? `That did not work: ${made.text}` : `Done: item ${number} is ticked off.` };
  const list = listOf(view);
  if (!list.some(({ id }) => id === number)) return { say: list.length === 0 ? 'The todo list is empty, as far as I was told.' : `There is no item ${number} on the list.` };
  return { call: { tool: 'TodoWrite', input: { todos: list.map((item) => (item.id === number ? { ...item, status: 'completed' } : item)) } } };
}

const STATES: Readonly<Record<string, string>> = { ' ': 'pending', '~': 'in_progress', 'x': 'completed' };
const ITEM = /^(?:added: |now: |removed: )?(\d+)\. \[([ ~x])\] (.*)$/;

/** The list as the reminders and the results of earlier calls tell it. */
function listOf(view: View): readonly { readonly id: number; readonly content: string; readonly status: string }[] {
  const items = new Map<number, { id: number; content: string; status: string }>();
  for (const text of view.told) {
    if (text.includes('Todo list, shared')) items.clear();
    for (const line of text.split('\n')) {
      const [, number = '', mark = '', words = ''] = ITEM.exec(line) ?? [];
      if (number === '') continue;
      if (line.startsWith('removed: ')) items.delete(Number(number));
      else items.set(Number(number), { id: Number(number), content: words.replace(/ \(user's\)$/, ''), status: STATES[mark] ?? 'pending' });
    }
  }
  return [...items.values()];
}
