import { count } from '#lib/text.ts';
import type { Done } from './in-view.ts';
import type { Shown } from './told.ts';
import type { View } from './view.ts';

/** Words in quotes, or words up to what comes next: four groups, of which one takes part. */
export const QUOTED = String.raw`(?:"([^"\n]+)"|'([^'\n]+)'|\`([^\`\n]+)\`|([^\n]+?))`;

/** A path as people write it in a request: quoted, mentioned, or a word. Four groups, of which one takes part. */
export const PATH = String.raw`@?(?:"([^"\n]+)"|'([^'\n]+)'|\`([^\`\n]+)\`|([^\s"'\`,;:?!]*[^\s"'\`,;:?!.)]))`;

const POLITE = /^(?:(?:please|pls|hey|hi|hello|ok(?:ay)?|now|then|and|also|(?:can|could|would|will) you|i want you to|let's|tell me(?= (?:what|how|which|where)\b))(?:,\s*|\s+))+(?=\S)/i;

/** The request without courtesies, which no rule needs to know. */
export function plain(ask: string): string {
  return ask.trim().replace(POLITE, '').replace(/,\s+please(?=[?.!]*$)/i, '');
}

/** The first of a match's groups from `from` on that took part. */
export function taken(match: RegExpExecArray, from: number, groups = 4): string {
  return match.slice(from, from + groups).find((group) => group !== undefined) ?? '';
}

const NAMED: Readonly<Record<string, string>> = { readme: 'README.md', license: 'LICENSE', licence: 'LICENSE', changelog: 'CHANGELOG.md', makefile: 'Makefile', dockerfile: 'Dockerfile' };

/** A word as a path; undefined when it is only a word. */
export function asPath(word: string): string | undefined {
  return NAMED[word.toLowerCase()] ?? (/[./\\]/.test(word) ? word : undefined);
}

/** The path in four groups of a match, if they hold one. */
export function pathIn(match: RegExpExecArray | null, from = 1): string | undefined {
  return match === null ? undefined : asPath(taken(match, from));
}

/** The last call of a tool for this request. */
export function lastOf(view: View, tool: string): Done | undefined {
  return view.done.findLast((done) => done.tool === tool);
}

export function sorry(what: string, { text }: Done): string {
  return `I cannot ${what}: ${text === '' ? 'there is no reason given.' : text}`;
}

export interface ReadText {
  readonly body: string;
  /** Lines of the whole file. */
  readonly lines: number;
  /** Whether `body` is all of it. */
  readonly whole: boolean;
}

/** What Read gave, without its line numbers and closing notes. */
export function readText(result: string): ReadText {
  const numbered = result.split('\n').flatMap((line) => /^\s*\d+\t([\s\S]*)$/.exec(line)?.slice(1) ?? []);
  const rest = result.slice(result.lastIndexOf('\t') + 1);
  const of = /^\[lines \d+ to \d+ of (\d+)/m.exec(rest)?.[1];
  return { body: numbered.join('\n'), lines: of === undefined ? numbered.length : Number(of), whole: of === undefined && !/^\[\d+ lines? cut at /m.test(rest) };
}

export function linesOf(body: string): readonly string[] {
  return body === '' ? [] : body.replace(/\n$/, '').split('\n');
}

/** A block of code that holds whatever its text holds. */
export function fenced(lines: readonly string[], language = ''): string {
  const longest = Math.max(2, ...lines.flatMap((line) => [...line.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length)));
  const fence = '`'.repeat(longest + 1);
  return [`${fence}${language}`, ...lines, fence].join('\n');
}

/** The first lines, and how many more there are. */
export function someOf(lines: readonly string[], most: number): readonly string[] {
  return lines.length <= most ? lines : [...lines.slice(0, most), `… ${count(lines.length - most, 'more line')}`];
}

/** The language that a code block of a file is marked with. */
export function languageOf(path: string): string {
  return /\.(\w{1,8})$/.exec(path)?.[1] ?? '';
}

/** What can be told of a document at a glance. `lines` where it has more than are shown. */
export function glance({ name, body, kind }: Pick<Shown, 'name' | 'body' | 'kind'>, lines = linesOf(body).length): string {
  if (kind === 'listing') return `**${name}** holds ${count(linesOf(body).filter((line) => !line.startsWith('[')).length, 'name')}.`;
  if (body.trim() === '') return `**${name}** is empty.`;
  const filled = linesOf(body).filter((line) => line.trim() !== '');
  const heading = filled.find((line) => /^#{1,3} /.test(line))?.replace(/^#+ /, '');
  const exported = [...body.matchAll(/^export (?:default )?(?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm)].map(([, word = '']) => word);
  return [
    `**${name}** has ${count(lines, 'line')}.`,
    heading === undefined ? '' : `Its first heading is "${heading}".`,
    exported.length === 0 ? '' : `It exports ${exported.slice(0, 8).map((word) => `\`${word}\``).join(', ')}${exported.length > 8 ? ' and more' : ''}.`,
    heading === undefined && exported.length === 0 ? `It begins with \`${filled[0]?.trim().replaceAll('`', '\'').slice(0, 80) ?? ''}\`.` : '',
  ].filter((fact) => fact !== '').join(' ');
}

/** The value that a text gives for a word: a JSON key, or a line `key: value` or `key = value`. */
export function valueOf(body: string, key: string): string | undefined {
  const line = new RegExp(String.raw`^\s*(?:export\s+)?(?:const|let|var)?\s*["']?${escape(key)}["']?\s*(?::|=(?!=))\s*(.+?),?\s*$`, 'im').exec(body)?.[1];
  const value = jsonValue(body, key) ?? line;
  return value?.replace(/^(["'`])(.*)\1;?$/, '$2').replace(/;$/, '');
}

/** The value for a word, else the lines that hold it. */
export function lookUp({ name, body }: Pick<Shown, 'name' | 'body'>, wanted: string): string {
  const key = keyOf(wanted);
  const found = valueOf(body, key);
  if (found !== undefined) return `The ${key} in ${name} is **${found}**.`;
  const lines = linesOf(body).filter((line) => line.toLowerCase().includes(key.toLowerCase()));
  if (lines.length === 0) return `${name} says nothing of "${key}".`;
  return [`In ${name} "${key}" stands here:`, '', fenced(someOf(lines, 10))].join('\n');
}

export function keyOf(wanted: string): string {
  return wanted.trim().replace(/^(?:the|its|a|an)\s+/i, '').replace(/[?.!"'`]+$/, '').replace(/^["'`]/, '');
}

function jsonValue(body: string, key: string): string | undefined {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value !== 'object' || value === null) return undefined;
    const entry = Object.entries(value).find(([name]) => name.toLowerCase() === key.toLowerCase());
    if (entry === undefined) return undefined;
    return typeof entry[1] === 'string' ? entry[1] : JSON.stringify(entry[1]);
  } catch {
    return undefined;
  }
}

/** Text as a pattern that fits just that text. */
export function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

/** The first line of a text, cut. */
export function firstLine(text: string, most: number): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}
