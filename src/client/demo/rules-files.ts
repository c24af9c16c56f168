import type { Rule } from './rule.ts';
import type { View } from './view.ts';
import { contentOf, glance, lastOf, looksLikePath, lookUp, PATH, taken } from './words.ts';

const READ = new RegExp(String.raw`^(?:please )?(?:read|show(?: me)?|open|look at|cat|explain|summari[sz]e|what is in|what's in|what does)(?: (?:the )?(?:file|contents? of))? ${PATH}`, 'i');
const TELL = /\b(?:tell me|what is|what's|say) (?:its |the )([\w .-]+?)(?:\s+(?:in|of)\b.*)?[?.!]*$/i;
const LINES = new RegExp(String.raw`^how many lines (?:has|does|are in|are there in) ${PATH}`, 'i');
const LIST = new RegExp(String.raw`^(?:please )?(?:list|ls|show)(?: me)?(?: all)?(?: the)? (?:files|folder|directory|contents)(?: (?:in|of|below|under) (?:the (?:folder|directory) )?${PATH})?`, 'i');
const FIND = /^(?:please )?find (?:all )?(?:the )?(?:(\S+) files|files (?:named|called|matching|like) ["'`]?([^\s"'`]+)["'`]?)/i;
const SEARCH = new RegExp(String.raw`^(?:please )?(?:search(?: for)?|grep(?: for)?|look for|where is|where are) (?:"([^"\n]+)"|'([^'\n]+)'|\`([^\`\n]+)\`|(\S+?))(?: (?:defined|used))?(?: in ${PATH})?[?.!]*$`, 'i');

const ENDINGS: Readonly<Record<string, string>> = {
  typescript: '{ts,tsx}', javascript: '{js,mjs,cjs,jsx}', markdown: 'md', python: 'py', json: 'json', test: 'test.*', css: 'css', html: 'html', yaml: '{yml,yaml}',
};

/** Requests that look at the project. */
export const fileRules: readonly Rule[] = [
  { id: 'lines', example: 'How many lines has README.md?', tools: ['Read'], reply: lines },
  { id: 'list', example: 'List the files in src', tools: ['Glob'], reply: list },
  { id: 'find', example: 'Find all TypeScript files', tools: ['Glob'], reply: find },
  { id: 'tell', example: 'Read package.json and tell me its name', tools: ['Read'], reply: tell },
  { id: 'read', example: 'What is in README.md?', tools: ['Read'], reply: read },
  { id: 'search', example: 'Search for "export" in src', tools: ['Grep'], reply: search },
];

function readFirst(view: View, path: string, then: (body: string) => string): ReturnType<Rule['reply']> {
  const done = lastOf(view, 'Read');
  if (done !== undefined) return { say: done.failed ? `I cannot read ${path}: ${done.text}` : then(contentOf(done.text)) };
  return { call: { tool: 'Read', input: { file_path: path } } };
}

function pathIn(match: RegExpExecArray | null): string | undefined {
  const path = match === null ? '' : taken(match, 1);
  return looksLikePath(path) ? path : undefined;
}

function tell(view: View): ReturnType<Rule['reply']> {
  const path = pathIn(READ.exec(view.ask));
  const wanted = TELL.exec(view.ask)?.[1];
  return path === undefined || wanted === undefined ? undefined : readFirst(view, path, (body) => lookUp({ name: path, body }, wanted));
}

function read(view: View): ReturnType<Rule['reply']> {
  const path = pathIn(READ.exec(view.ask));
  if (path === undefined) return undefined;
  return readFirst(view, path, (body) => {
    const shown = body.split('\n').slice(0, 12);
    return [glance({ name: path, body }), '', `\`\`\`${path.split('.').at(-1) ?? ''}`, ...shown, '```'].join('\n');
  });
}

function lines(view: View): ReturnType<Rule['reply']> {
  const path = pathIn(LINES.exec(view.ask));
  return path === undefined ? undefined : readFirst(view, path, (body) => `${path} has **${body === '' ? 0 : body.split('\n').length} lines**.`);
}

function named(view: View, pattern: string, path: string | undefined, what: string): ReturnType<Rule['reply']> {
  const done = lastOf(view, 'Glob');
  if (done === undefined) return { call: { tool: 'Glob', input: { pattern, ...(path !== undefined && path !== '' && { path }) } } };
  if (done.failed) return { say: `I cannot list that: ${done.text}` };
  const names = done.text.split('\n').filter((line) => line.trim() !== '');
  return { say: names.length === 0 ? `I find no ${what}.` : [`Here ${names.length === 1 ? 'is' : 'are'} the ${what}:`, '', ...names.slice(0, 40).map((name) => `- ${name}`), ...(names.length > 40 ? [`- … and ${names.length - 40} more`] : [])].join('\n') };
}

function list(view: View): ReturnType<Rule['reply']> {
  const match = LIST.exec(view.ask);
  return match === null ? undefined : named(view, '*', taken(match, 1), 'files');
}

function find(view: View): ReturnType<Rule['reply']> {
  const match = FIND.exec(view.ask);
  if (match === null) return undefined;
  const [, kind = '', name = ''] = match;
  const ending = ENDINGS[kind.toLowerCase()] ?? kind.toLowerCase().replace(/^[*.]+/, '');
  return named(view, name === '' ? `**/*.${ending}` : `**/${name}`, undefined, kind === '' ? `files like ${name}` : `${kind} files`);
}

function search(view: View): ReturnType<Rule['reply']> {
  const match = SEARCH.exec(view.ask);
  if (match === null) return undefined;
  const [pattern, path] = [taken(match, 1), taken(match, 5)];
  const done = lastOf(view, 'Grep');
  if (done === undefined) return { call: { tool: 'Grep', input: { pattern: pattern.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`), output_mode: 'content', ...(path !== '' && { path }) } } };
  if (done.failed) return { say: `I cannot search that: ${done.text}` };
  const found = done.text.split('\n').filter((line) => line.trim() !== '');
  return { say: [`"${pattern}" stands here:`, '', '```', ...found.slice(0, 30), ...(found.length > 30 ? [`… and ${found.length - 30} more lines`] : []), '```'].join('\n') };
}
