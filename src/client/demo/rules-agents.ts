import type { Rule, Turn } from './rule.ts';
import type { Told } from './told.ts';
import type { View } from './view.ts';
import { lastOf, sorry } from './words.ts';

const LET = /^(?:let|have|ask|tell)(?: the)?(?: (?:sub-?)?agent)? @?(?:agent-)?(explore|plan|general|[a-z][\w-]{0,40}(?= (?:sub-?)?agent))(?: (?:sub-?)?agent)?,?(?: to)? ([^\n]+?)( in the background)?[.!]*$/i;
/** What stands before a sub-agent's own words. */
const HEAD = /^Sub-agent [^\n]*\n(?:[^\n]+\n)*\n/;
const BESIDE = /^Sub-agent (\S+) \([^\n]*\) works beside the conversation\b/;

/** Requests that another agent is to work on. */
export const agentRules: readonly Rule[] = [
  { id: 'agent', example: 'Let explore list the files in src', tools: ['Task'], reply: delegate },
];

/** How reminders of tasks begin. */
const TASKS = /^Background tasks, as the program reports them/;
/** What the program says around a sub-agent's words. */
const AROUND = /^(?:Sub-agent \S+ \(|What follows are the sub-agent's words)/;

/** What came from the background last, as an answer when nothing was asked. */
export function newsIn(told: readonly Told[]): string | undefined {
  const note = told.findLast(({ kind, text }) => kind === 'note' && TASKS.test(text));
  if (note === undefined) return undefined;
  const lines = note.text.split('\n').slice(1).filter((line) => !AROUND.test(line));
  return lines.map((line) => (line.startsWith('>') ? line.replace(/^> ?/, '') : `\n${line}\n`)).join('\n').trim();
}

function delegate(view: View): Turn | undefined {
  const [, type = '', prompt = '', background] = LET.exec(view.ask) ?? [];
  if (prompt === '') return undefined;
  const done = lastOf(view, 'Task');
  if (done === undefined) return { call: { tool: 'Task', input: { subagent_type: type, description: prompt.slice(0, 60), prompt, ...(background !== undefined && { run_in_background: true }) } } };
  if (done.failed) return { say: sorry(`have ${type} do it`, done) };
  const id = BESIDE.exec(done.text)?.[1];
  if (id !== undefined) return { say: `${type} works on it in the background as ${id}. What it finds is told when it is done.` };
  return { say: HEAD.test(done.text) ? `${type} answers:\n\n${done.text.replace(HEAD, '')}` : done.text };
}
