import type { Turn } from './rule.ts';
import type { Conversation, DemoRequest } from './view.ts';

/** The tool that takes the result of a run which is to be JSON. */
const TOOL = 'StructuredOutput';
const CANNOT = 'I am the demo model: a set of rules, no AI. As JSON I can give no more than one field of text, and this schema wants something else.';

/** What was called for the work itself. */
export function withoutShaping(talk: Conversation): Conversation {
  return { ...talk, calls: talk.calls.filter(({ tool }) => tool !== TOOL) };
}

/** Where the result is to be JSON, an answer goes into its one field of text; where it has others, it is said that this cannot be. */
export function shaped(turn: Turn, { tools = [] }: DemoRequest, { calls }: Conversation): Turn {
  const tool = tools.find(({ name }) => name === TOOL);
  if (tool === undefined || turn.call !== undefined || turn.say === undefined) return turn;
  const last = calls.findLast((call) => call.tool === TOOL);
  const field = fieldIn(tool.input_schema);
  if (field === undefined || last?.failed === true) return { say: CANNOT };
  return last === undefined ? { call: { tool: TOOL, input: { [field]: turn.say } } } : { say: 'That is the result.' };
}

function fieldIn(schema: unknown): string | undefined {
  const { properties, required } = fieldsOf(schema);
  const all = Object.entries(fieldsOf(properties));
  const wanted = Array.isArray(required) ? all.filter(([name]) => required.includes(name)) : [];
  const [one, second] = wanted.length > 0 ? wanted : all;
  return one !== undefined && second === undefined && fieldsOf(one[1])['type'] === 'string' ? one[0] : undefined;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value as Readonly<Record<string, unknown>> : {};
}
