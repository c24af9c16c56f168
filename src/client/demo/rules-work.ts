import { count } from '#lib/text.ts';
import type { Done } from './in-view.ts';
import type { Rule, Turn } from './rule.ts';
import type { View } from './view.ts';
import { escape, fenced, lastOf, PATH, pathIn, QUOTED, readText, someOf, sorry, taken } from './words.ts';

const QUOTED_ONLY = String.raw`(?:"([^"\n]+)"|'([^'\n]+)'|\`([^\`\n]+)\`)`;
const REPLACE = new RegExp(String.raw`^(replace|change|substitute|rename)(?: (?:all|every|each))?(?: of)?(?: the)?(?: (?:word|text|string|function|variable|class|type))? ${QUOTED} (?:by|with|to|into|as) ${QUOTED}(?: everywhere)? in(?: the file)? ${PATH}`, 'i');
const IN_FRONT = new RegExp(String.raw`^in(?: the file)? ${PATH},? ((?:replace|change|substitute|rename) [^\n]*?)[.!]*$`, 'i');
const WRITE = new RegExp(String.raw`^(?:write|create|make|save)(?: (?:a|the))?(?: new)?(?: file)?(?: (?:called|named))? ${PATH} (?:with|saying|containing|holding|that (?:says|holds|contains))(?: (?:the|this))?(?: (?:text|contents?|words?|lines?))?:?\s+([\s\S]+)$`, 'i');
const SAVE = new RegExp(String.raw`^(?:write|save|put)(?: the (?:text|line|words))? ${QUOTED_ONLY} (?:to|into|in)(?: (?:a|the))?(?: new)?(?: file)?(?: (?:called|named))? ${PATH}`, 'i');
const APPEND = new RegExp(String.raw`^(?:add|append)(?: (?:a|the) (?:line|text))?:? ${QUOTED_ONLY} (?:to|at)(?: the (?:end|bottom) of)?(?: the file)? ${PATH}`, 'i');
const RUN = [/^(?:run|execute|what (?:does|is the output of))(?: the)?(?: shell)?(?: command)?:?\s+`([^`\n]+)`/i, /^(?:(?:run|execute)(?: the)?(?: shell)?(?: command)?:?|\$)\s+([^\n]+?)(?:(?<=\w)[.!])?$/i];
const SCRIPTS: Readonly<Record<string, string>> = { tests: 'npm test', test: 'npm test', 'test suite': 'npm test', 'the tests': 'npm test', build: 'npm run build', linter: 'npm run lint' };
const SHOWN_LINES = 30;

/** Requests that change something or run something. */
export const workRules: readonly Rule[] = [
  { id: 'write', example: 'Create notes.txt with "alpha"', tools: ['Write'], anyLength: true, reply: write },
  { id: 'append', example: 'Add the line "one more" to notes.txt', tools: ['Read', 'Write'], needs: 'notes.txt', reply: append },
  { id: 'replace', example: 'Replace "alpha" by "beta" in notes.txt', tools: ['Read', 'Edit'], needs: 'notes.txt with "alpha" in it', reply: replace },
  { id: 'run', example: 'Run `node --version`', tools: ['Bash'], reply: run },
];

function replace(view: View): Turn | undefined {
  const front = IN_FRONT.exec(view.ask);
  const match = REPLACE.exec(front === null ? view.ask : `${front[5]} in "${taken(front, 1)}"`);
  const path = pathIn(match, 10);
  if (match === null || path === undefined) return undefined;
  const [before, after] = [taken(match, 2), taken(match, 6)];
  const changed = view.done.findLast(({ tool }) => tool === 'Edit' || tool === 'Write');
  if (changed !== undefined) return { say: changed.failed ? sorry(`change ${path}`, changed) : `Done: in ${path} "${before}" is "${after}" now.` };
  const read = lastOf(view, 'Read');
  if (read === undefined) return { say: `I look at ${path} first.`, call: { tool: 'Read', input: { file_path: path } } };
  if (read.failed) return { say: sorry(`read ${path}`, read) };
  const { body, whole } = readText(read.text);
  const times = body.split(before).length - 1;
  if (before === after) return { say: `"${before}" and "${after}" are the same: there is nothing to change.` };
  if (times === 0 && whole) return { say: `${path} does not hold "${before}".` };
  const word = new RegExp(String.raw`(?<![\w$])${escape(before)}(?![\w$])`, 'g');
  const words = body.match(word)?.length ?? 0;
  // Renaming leaves longer names alone that hold the old one; Edit knows no words, so the file is written anew.
  if (/^rename/i.test(match[1] ?? '') && whole && words < times) {
    if (words === 0) return { say: `${path} holds "${before}" only inside of longer words.` };
    return { call: { tool: 'Write', input: { file_path: path, content: `${body.replace(word, () => after)}\n` } } };
  }
  return { say: `It stands there ${count(times, 'time')}.`, call: { tool: 'Edit', input: { file_path: path, old_string: before, new_string: after, ...(times > 1 && { replace_all: true }) } } };
}

function append(view: View): Turn | undefined {
  const match = APPEND.exec(view.ask);
  const path = pathIn(match, 4);
  if (match === null || path === undefined) return undefined;
  const line = taken(match, 1, 3);
  const written = lastOf(view, 'Write');
  if (written !== undefined) return { say: written.failed ? sorry(`write ${path}`, written) : `Done: ${path} ends with "${line}" now.` };
  const read = lastOf(view, 'Read');
  if (read === undefined) return { call: { tool: 'Read', input: { file_path: path } } };
  if (read.failed && !isMissing(read)) return { say: sorry(`read ${path}`, read) };
  const { body, whole } = readText(read.text);
  if (!whole) return { say: `${path} is too long for me: I have not seen all of it, so I leave it alone.` };
  return { call: { tool: 'Write', input: { file_path: path, content: read.failed || body === '' ? `${line}\n` : `${body}\n${line}\n` } } };
}

const isMissing = ({ text }: Done): boolean => / does not exist\./.test(text);
const isUnread = ({ text }: Done): boolean => /have not read it|only read in part|changed since you last saw/.test(text);

function write(view: View): Turn | undefined {
  const written = WRITE.exec(view.ask);
  const saved = SAVE.exec(view.ask);
  const path = pathIn(written) ?? pathIn(saved, 4);
  if (path === undefined) return undefined;
  const text = written === null || pathIn(written) === undefined ? (saved === null ? '' : taken(saved, 1, 3)) : unquoted(written[5] ?? '');
  const call: Turn = { call: { tool: 'Write', input: { file_path: path, content: text.endsWith('\n') ? text : `${text}\n` } } };
  const done = lastOf(view, 'Write');
  if (done === undefined) return call;
  if (!done.failed) return { say: `Done: ${done.text}` };
  const read = lastOf(view, 'Read');
  if (read === undefined && isUnread(done)) return { say: `${path} is there already. I read it before I replace it.`, call: { tool: 'Read', input: { file_path: path } } };
  const tries = view.done.filter(({ tool }) => tool === 'Write').length;
  return read !== undefined && !read.failed && tries === 1 ? call : { say: sorry(`write ${path}`, done) };
}

/** What is to be written, without the quotes or the fence around it. */
function unquoted(text: string): string {
  const words = text.trim();
  return /^```[^\n]*\n([\s\S]*?)\n?```[.!]?$/.exec(words)?.[1] ?? /^(["'`])([\s\S]*)\1[.!]?$/.exec(words)?.[2] ?? words;
}

function run(view: View): Turn | undefined {
  const words = RUN.map((pattern) => pattern.exec(view.ask)?.[1]?.trim()).find((found) => found !== undefined);
  if (words === undefined) return undefined;
  const command = SCRIPTS[words.toLowerCase()] ?? words;
  const ran = lastOf(view, 'Bash');
  if (ran === undefined) return { call: { tool: 'Bash', input: { command, description: `Run ${command.split(/\s/, 1)[0] ?? command}` } } };
  if (ran.text === '' || ran.text === '(no output)') return { say: `\`${command}\` ran and printed nothing.` };
  const inTicks = `\`${command.replaceAll('`', '\'')}\``;
  return { say: [ran.failed ? `${inTicks} did not end well:` : `${inTicks} printed:`, '', fenced(someOf(ran.text.split('\n'), SHOWN_LINES))].join('\n') };
}

