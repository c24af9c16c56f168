import type { Rule, Turn } from './rule.ts';
import type { View } from './view.ts';
import { fenced, lastOf, linesOf, someOf, sorry } from './words.ts';

const BACKGROUND = [
  /^(?:run|start|execute)(?: the)?(?: shell)?(?: command)?:?\s+`([^`\n]+)` (?:in the background|beside us)\b/i,
  /^(?:run|start|execute)(?: the)?(?: shell)?(?: command)?:?\s+([^`\n]+?) (?:in the background|beside us)[.!]?$/i,
];
const TASK = String.raw`((?:shell|agent)-\d{1,9})`;
const OUTPUT = new RegExp(String.raw`^(?:what (?:does|did|is|has)|how is|show(?: me)?|read|look at)(?: the output of)? ${TASK}\b[^\n]{0,30}$`, 'i');
const STOP = new RegExp(String.raw`^(?:stop|end|kill|cancel) ${TASK}[.!]*$`, 'i');
const SHOWN_LINES = 30;

/** Requests about commands in the background. */
export const taskRules: readonly Rule[] = [
  { id: 'background', example: 'Run `sleep 30` in the background', tools: ['Bash'], reply: start },
  { id: 'output', example: 'What does shell-1 say?', tools: ['ToolSearch', 'TaskOutput'], needs: 'a command in the background', reply: look },
  { id: 'stop', example: 'Stop shell-1', tools: ['ToolSearch', 'TaskStop'], needs: 'a command in the background', reply: stop },
];

function start(view: View): Turn | undefined {
  const command = BACKGROUND.map((pattern) => pattern.exec(view.ask)?.[1]?.trim()).find((found) => found !== undefined);
  if (command === undefined) return undefined;
  const ran = lastOf(view, 'Bash');
  if (ran === undefined) return { call: { tool: 'Bash', input: { command, run_in_background: true } } };
  const id = new RegExp(String.raw`^Started in the background as ${TASK}\.`).exec(ran.text)?.[1];
  if (ran.failed || id === undefined) return { say: sorry('start it', ran) };
  return { say: `\`${command.replaceAll('`', '\'')}\` runs in the background as ${id}. Ask "What does ${id} say?" or "Stop ${id}".` };
}

function look(view: View): Turn | undefined {
  const id = OUTPUT.exec(view.ask)?.[1];
  if (id === undefined) return undefined;
  const read = lastOf(view, 'TaskOutput');
  if (read === undefined) return { call: { tool: 'TaskOutput', input: { id } } };
  if (read.failed) return { say: sorry(`look at ${id}`, read) };
  const [state = '', ...lines] = linesOf(read.text);
  const told = state.replace(/^\[|\]$/g, '');
  return { say: lines[0] === '(no new output)' ? `${told}, with no new output.` : [`${told}:`, '', fenced(someOf(lines, SHOWN_LINES))].join('\n') };
}

function stop(view: View): Turn | undefined {
  const id = STOP.exec(view.ask)?.[1];
  if (id === undefined) return undefined;
  const done = lastOf(view, 'TaskStop');
  if (done === undefined) return { call: { tool: 'TaskStop', input: { id } } };
  return { say: done.failed ? sorry(`stop ${id}`, done) : `${id} is ended.` };
}
