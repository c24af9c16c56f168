import { count } from '#lib/text.ts';
import { documentOf } from './in-view.ts';
import type { Rule, Turn } from './rule.ts';
import type { Shown } from './told.ts';
import type { View } from './view.ts';
import { asPath, escape, fenced, glance, languageOf, lastOf, linesOf, lookUp, PATH, pathIn, type ReadText, readText, someOf, sorry, taken } from './words.ts';

const READ = new RegExp(String.raw`^(?:read|show(?: me)?|give me|open|print|cat|view|display|look (?:at|into)|explain|describe|summari[sz]e|tell me about|what(?:'s| is| does| stands?)(?: inside| in)?)(?: the)?(?: file)?(?: contents?(?: of)?| text of)?(?: of)?(?: the)?(?: file)? ${PATH}`, 'i');
const RANGE = new RegExp(String.raw`^(?:read|show(?: me)?|print|give me|what is in|what's in)?\s*(?:the )?lines? (\d+)(?:\s*(?:-|–|to|until|through)\s*(\d+))? (?:of|in|from) (?:the file )?${PATH}`, 'i');
const LINES = new RegExp(String.raw`^(?:how many lines (?:has|does|are in|are there in|of)|count (?:the )?lines (?:in|of)|how long is)(?: the)?(?: file)? ${PATH}`, 'i');
const LIST = new RegExp(String.raw`^(?:list|ls|find|show(?: me)?|what|which)(?: me)?(?: all)?(?: of)?(?: the)? (?:files?|folders?|directory|contents)(?: are)?(?: there)?(?: (?:in|of|below|under|inside) (?:the (?:folder |directory )?)?${PATH})?[?.!]*$`, 'i');
const LIST_PATH = new RegExp(String.raw`^(?:list|ls|what(?:'s| is) in)(?: the)?(?: (?:folder|directory))? ${PATH}(?: folder| directory)?[?.!]*$`, 'i');
const FIND = /^(?:find|list|show(?: me)?|where are)(?: me)?(?: all)?(?: of)?(?: the)? (?:(\S+) files|files (?:named|called|matching|like|that match) ["'`]?([^\s"'`]+?)["'`]?)[?.!]*$/i;
const WHERE = new RegExp(String.raw`^(?:find|where is|where's|locate)(?: the)?(?: file)? ${PATH}[?.!]*$`, 'i');
const SEARCH = new RegExp(String.raw`^(?:search(?: for)?|grep(?: for)?|find|look for|where is|where's|where are|who (?:uses|calls)|which files? (?:uses?|holds?|contains?|mentions?))(?: the)?(?: (?:word|text|string|function|class|type))? (?:"([^"\n]+)"|'([^'\n]+)'|\`([^\`\n]+)\`|([^\n]+?))(?: (?:defined|used|called|declared))?(?: (?:in|below|under) ${PATH})?[?.!]*$`, 'i');

const WHAT = String.raw`([\w .-]+?)`;
/** What of a file is wanted: in words before its name, or behind it. */
const ASKED_FIRST = new RegExp(String.raw`^(?:(?:what|which)(?:'s| is| are)?|tell me|give me|show me|say)(?: the| its)? ${WHAT} (?:in|of|from|does|has|according to)(?: the)?(?: file)? ${PATH}`, 'i');
const ASKED_LAST = [
  /\b(?:say|says|tell|know) (?:about|of) (?:its |the )?([\w .-]+?)[?.!]*$/i,
  /\b(?:tell me|say|give me|report)\s+(?:what\s+)?(?:its |the )?([\w .-]+?)(?: is| of it| in it)?[?.!]*$/i,
  /\S\s.*\bwhat(?:'s| is| are)\s+(?:its |the )([\w .-]+?)[?.!]*$/i,
];
const WHOLE = /^(?:contents?|text|file|files|lines?|first lines?|inside|summary|gist|point|it (?:says|does|is|holds)|about it)$/i;

const ENDINGS: Readonly<Record<string, string>> = {
  typescript: '{ts,tsx}', javascript: '{js,mjs,cjs,jsx}', markdown: 'md', python: 'py', rust: 'rs', yaml: '{yml,yaml}', test: 'test.*', text: 'txt', shell: 'sh',
};
const SHOWN_LINES = 12;
const SHOWN_NAMES = 40;

/** Requests that look at the project. */
export const fileRules: readonly Rule[] = [
  { id: 'lines', example: 'How many lines has README.md?', tools: ['Read'], reply: lines },
  { id: 'range', example: 'Show lines 1-3 of package.json', tools: ['Read'], reply: range },
  { id: 'find', example: 'Find all Markdown files', tools: ['Glob'], reply: find },
  { id: 'list', example: 'List the files in src', tools: ['Glob'], reply: list },
  { id: 'tell', example: 'Read package.json and tell me its name', tools: ['Read'], reply: tell },
  { id: 'read', example: 'What is in README.md?', tools: ['Read'], reply: read },
  { id: 'search', example: 'Search for "export" in src', tools: ['Grep'], reply: search },
];

/** Reads the files one after the other, then says something of each. */
function readFirst(view: View, paths: readonly string[], then: (path: string, text: ReadText) => string): Turn {
  const done = view.done.filter(({ tool }) => tool === 'Read');
  const next = paths[done.length];
  if (next !== undefined) return { call: { tool: 'Read', input: { file_path: next } } };
  return { say: paths.map((path, at) => { const got = done[at]; return got === undefined || got.failed ? sorry(`read ${path}`, got ?? EMPTY) : then(path, readText(got.text)); }).join('\n\n') };
}

const EMPTY = { tool: '', input: {}, text: '', failed: true };

/** The path that was asked for, and others behind it: `read a.ts, b.ts and c.ts`. */
function pathsIn(ask: string): readonly string[] {
  const match = READ.exec(ask);
  const first = pathIn(match);
  if (match === null || first === undefined) return [];
  const paths = [first];
  let rest = ask.slice(match[0].length);
  for (const next = new RegExp(String.raw`^(?:,| and|, and|,? then)(?: read)? ${PATH}`, 'i'); ;) {
    const more = next.exec(rest);
    const path = pathIn(more);
    if (more === null || path === undefined) return paths;
    paths.push(path);
    rest = rest.slice(more[0].length);
  }
}

function wantedIn(ask: string): string | undefined {
  const wanted = ASKED_LAST.map((pattern) => pattern.exec(ask)?.[1]).find((found) => found !== undefined);
  return wanted === undefined || WHOLE.test(wanted) || asPath(wanted) !== undefined ? undefined : wanted;
}

function tell(view: View): Turn | undefined {
  const first = ASKED_FIRST.exec(view.ask);
  const behind = pathIn(first, 2);
  const before = first?.[1];
  if (behind !== undefined && before !== undefined && !WHOLE.test(before) && !/\b(?:is|in|lines? \d+)\b/i.test(before)) return answer(view, behind, before);
  const [path] = pathsIn(view.ask);
  const wanted = wantedIn(view.ask);
  return path === undefined || wanted === undefined ? undefined : answer(view, path, wanted);
}

/** A question is answered from what is in view; whoever says "read" wants it read. */
function answer(view: View, path: string, wanted: string): Turn {
  const known = /^what/i.test(view.ask) ? documentOf(view.inView, path) : undefined;
  if (known !== undefined && !known.stale && known.kind !== 'part') return { say: lookUp(known, wanted) };
  return readFirst(view, [path], (name, { body }) => lookUp({ name, body }, wanted));
}

function read(view: View): Turn | undefined {
  const paths = pathsIn(view.ask);
  const [only] = paths;
  if (only === undefined) return undefined;
  const known = /^what/i.test(view.ask) && paths.length === 1 ? documentOf(view.inView, only) : undefined;
  if (known !== undefined && !known.stale && known.kind !== 'part') return { say: report(known, linesOf(known.body).length) };
  return readFirst(view, paths, (name, { body, lines }) => report({ name, body, kind: 'file' }, lines));
}

function report(document: Pick<Shown, 'name' | 'body' | 'kind'>, lines: number): string {
  const shown = linesOf(document.body);
  const rest = lines - shown.length;
  const more = someOf([...shown, ...Array.from<string>({ length: rest }).fill('')], SHOWN_LINES);
  return shown.length === 0 ? glance(document) : [glance(document, lines), '', fenced(more, languageOf(document.name))].join('\n');
}

function lines(view: View): Turn | undefined {
  const path = pathIn(LINES.exec(view.ask));
  return path === undefined ? undefined : readFirst(view, [path], (name, text) => `${name} has **${count(text.lines, 'line')}**.`);
}

function range(view: View): Turn | undefined {
  const match = RANGE.exec(view.ask);
  const path = pathIn(match, 3);
  if (match === null || path === undefined) return undefined;
  const from = Number(match[1]);
  const to = Math.max(from, Number(match[2] ?? from));
  const done = lastOf(view, 'Read');
  if (done === undefined) return { call: { tool: 'Read', input: { file_path: path, offset: from, limit: to - from + 1 } } };
  const which = from === to ? `Line ${from}` : `Lines ${from} to ${to}`;
  return { say: done.failed ? sorry(`read ${path}`, done) : `${which} of ${path}:\n\n${fenced(linesOf(readText(done.text).body), languageOf(path))}` };
}

/** Names as Glob gives them. Where a folder holds only folders, what is in these is listed. */
function named(view: View, pattern: string, path: string | undefined, what: string): Turn {
  const done = view.done.filter(({ tool }) => tool === 'Glob');
  const where = path === undefined ? {} : { path };
  const last = done.at(-1);
  if (last === undefined) return { call: { tool: 'Glob', input: { pattern, ...where } } };
  if (last.failed) return { say: sorry('list that', last) };
  const names = last.text.split('\n').filter((line) => line !== '' && !line.startsWith('['));
  if (last.text.startsWith('No files found.')) return pattern === '*' && done.length === 1 ? { call: { tool: 'Glob', input: { pattern: '**/*', ...where } } } : { say: `I find no ${what}.` };
  const of = /^\[shown \d+ of ((?:more than )?\d+) files?/m.exec(last.text)?.[1];
  const more = of !== undefined ? `- … of ${of} in all` : names.length > SHOWN_NAMES ? `- … and ${names.length - SHOWN_NAMES} more` : undefined;
  return { say: [`I find ${of ?? names.length} ${of === undefined && names.length === 1 ? what.replace(/files/, 'file') : what}:`, '', ...names.toSorted().slice(0, SHOWN_NAMES).map((name) => `- ${name}`), ...(more === undefined ? [] : [more])].join('\n') };
}

function list(view: View): Turn | undefined {
  const match = LIST.exec(view.ask) ?? LIST_PATH.exec(view.ask);
  if (match === null || /^(?:todos?|pins?)$/i.test(taken(match, 1)) || /\.\w+$/.test(taken(match, 1))) return undefined;
  const folder = taken(match, 1).replace(/(?<=.)\/$/, '');
  const isHere = /^(?:|\.|here|this|(?:this )?(?:folder|directory|project|repo(?:sitory)?))$/i.test(folder);
  return named(view, '*', isHere ? undefined : folder, isHere ? 'files' : `files in ${folder}`);
}

function find(view: View): Turn | undefined {
  const match = FIND.exec(view.ask);
  const [, kind = '', name = ''] = match ?? [];
  if (match !== null && !/^(?:the|all|of|me|my|some)$/i.test(kind)) {
    const ending = ENDINGS[kind.toLowerCase()] ?? kind.toLowerCase().replace(/^[*.]+/, '');
    return named(view, name === '' ? `**/*.${ending}` : `**/${name}`, undefined, name === '' ? `${kind} files` : `files like ${name}`);
  }
  const path = pathIn(WHERE.exec(view.ask));
  return path === undefined ? undefined : named(view, path.includes('/') ? path : `**/${path}`, undefined, `files named ${path}`);
}

function search(view: View): Turn | undefined {
  const match = SEARCH.exec(view.ask);
  if (match === null) return undefined;
  const [pattern, path] = [taken(match, 1), taken(match, 5)];
  const done = lastOf(view, 'Grep');
  if (done === undefined) return { call: { tool: 'Grep', input: { pattern: escape(pattern), output_mode: 'content', ...(path !== '' && !/^(?:this|the|here)$/i.test(path) && { path }) } } };
  if (done.failed) return { say: sorry('search that', done) };
  if (done.text.startsWith('No matches found.')) return { say: `"${pattern}" stands nowhere${path === '' ? '' : ` in ${path}`}.` };
  const found = done.text.split('\n').filter((line) => line !== '' && !/^\[(?:shown|left out) /.test(line));
  const total = /^\[shown \d+ of ((?:at least )?\d+)/m.exec(done.text)?.[1] ?? String(found.length);
  return { say: [`"${pattern}" stands in ${total} ${total === '1' ? 'line' : 'lines'}:`, '', fenced(someOf(found, 30).map((line) => line.slice(0, 200)))].join('\n') };
}

