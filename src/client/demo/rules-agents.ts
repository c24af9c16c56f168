import type { Rule, Turn } from './rule.ts';
import type { View } from './view.ts';
import { lastOf, sorry } from './words.ts';

const LET = /^(?:let|have|ask|tell)(?: the)?(?: (?:sub-?)?agent)? @?(?:agent-)?(explore|plan|general|[a-z][\w-]{0,40}(?= (?:sub-?)?agent))(?: (?:sub-?)?agent)?,?(?: to)? ([^\n]+?)( in the background)?[.!]*$/i;
/** What stands before a sub-agent's own words. */
const HEAD = /^Sub-agent [^\n]*\n(?:[^\n]+\n)*\n/;

/** Requests that another agent is to work on. */
export const agentRules: readonly Rule[] = [
  { id: 'agent', example: 'Let explore list the files in src', tools: ['Task'], reply: delegate },
];

function delegate(view: View): Turn | undefined {
  const [, type = '', prompt = '', background] = LET.exec(view.ask) ?? [];
  if (prompt === '') return undefined;
  const done = lastOf(view, 'Task');
  if (done === undefined) return { call: { tool: 'Task', input: { subagent_type: type, description: prompt.slice(0, 60), prompt, ...(background !== undefined && { run_in_background: true }) } } };
  if (done.failed) return { say: sorry(`have ${type} do it`, done) };
  return { say: HEAD.test(done.text) ? `${type} answers:\n\n${done.text.replace(HEAD, '')}` : done.text };
}
