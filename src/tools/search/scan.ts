import { basename, join } from 'node:path';
import { createContext, Script } from 'node:vm';
import { decode } from '#lib/decode.ts';
import { messageOf } from '#lib/errors.ts';
import { readRegular } from '../files/open.ts';
import { globOf } from './globs.ts';
import { PatternError, patternOf } from './pattern.ts';
import { type Hit, type Query, SearchError, shortLine } from './query.ts';
import { walk } from './walk.ts';

/** Larger files are passed over: each is read whole. */
const MOST_BYTES = 64 * 1024 * 1024;
/** A file that is binary shows it here, as ripgrep looks for it. */
const LOOKED_AT = 64 * 1024;
/** Milliseconds that a pattern may take for one piece of a file: some take for ever. */
const PATTERN_MS = 1000;
/** UTF-16 units in one such piece. */
const PIECE = 256 * 1024;

/** The search without ripgrep: what it finds is the same. Throws {@link SearchError}. */
export async function* scan(query: Query, signal: AbortSignal): AsyncGenerator<Hit> {
  const pattern = compile(query);
  for await (const path of filesOf(query, signal)) {
    signal.throwIfAborted();
    const text = await textIn(join(query.root, path));
    if (text === undefined || text === '') continue;
    const lines = linesOf(text);
    const marked = query.multiline ? within(() => acrossLines(text, pattern), query) : matchedLines(lines, pattern, query);
    if (marked.count === 0) continue;
    if (query.mode === 'files_with_matches') yield { path, line: 0, text: '', isMatch: true };
    else if (query.mode === 'count') yield { path, line: marked.count, text: '', isMatch: true };
    else yield* hitsOf(path, lines, marked.lines, query);
  }
}

function compile(query: Query): RegExp {
  try {
    return patternOf(query.pattern, query);
  } catch (error) {
    if (error instanceof PatternError) throw new SearchError(error.message);
    throw error;
  }
}

async function* filesOf(query: Query, signal: AbortSignal): AsyncGenerator<string> {
  if (query.file !== undefined) {
    yield query.file;
    return;
  }
  const names = query.names?.map(globOf);
  for await (const { path, isLink } of walk(query.root, { signal, rules: query.above.rules, inRepository: query.above.inRepository, filter: query.filter })) {
    if (!isLink && (names === undefined || names.some((fits) => fits(basename(path))))) yield path;
  }
}

/** Undefined for what cannot be read or is binary. */
async function textIn(path: string): Promise<string | undefined> {
  const file = await readRegular(path, MOST_BYTES).catch(() => undefined);
  return file === undefined ? undefined : textOf(file.bytes);
}

function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function textOf(bytes: Buffer): string | undefined {
  if (isWide(bytes)) {
    const decoded = decode(bytes);
    return decoded.kind === 'text' ? decoded.text : undefined;
  }
  return isBinary(bytes) ? undefined : bytes.toString('utf8').replace(/^\ufeff/, '');
}

function isWide(bytes: Uint8Array): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}

/** Whether a file is passed over as binary; its beginning is enough to tell. */
export function isBinary(bytes: Buffer): boolean {
  return !isWide(bytes) && bytes.subarray(0, LOOKED_AT).includes(0);
}

interface Marked {
  /** Numbers of the lines that fit, ascending, from 1. */
  readonly lines: readonly number[];
  /** Lines, or matches if they can span several. */
  readonly count: number;
}

function matchedLines(lines: readonly string[], pattern: RegExp, query: Query): Marked {
  const single = new RegExp(pattern.source, pattern.flags.replace('g', ''));
  const found: number[] = [];
  for (let from = 0; from < lines.length;) {
    let to = from;
    for (let size = 0; to < lines.length && (size === 0 || size < PIECE); to += 1) size += (lines[to]?.length ?? 0) + 1;
    const [first, end] = [from, to];
    within(() => { for (let at = first; at < end; at += 1) if (single.test(lines[at] ?? '')) found.push(at + 1); }, query);
    from = to;
  }
  return { lines: found, count: found.length };
}

function acrossLines(text: string, pattern: RegExp): Marked {
  const found = new Set<number>();
  let count = 0;
  let line = 1;
  let at = 0;
  const lineTo = (offset: number): number => {
    for (; at < offset; at += 1) if (text.charCodeAt(at) === 10) line += 1;
    return line;
  };
  for (const { 0: match, index } of text.matchAll(pattern)) {
    if (index === text.length && text.endsWith('\n')) continue;
    count += 1;
    const first = lineTo(index);
    const last = match === '' ? first : lineTo(index + match.length - 1);
    for (let number = first; number <= last; number += 1) found.add(number);
  }
  return { lines: [...found].sort((a, b) => a - b), count };
}

const realm = createContext({ work: (): void => undefined });
const script = new Script('work()');

/** Runs work that a pattern could hold up for ever, under a limit that ends it. */
function within<T>(work: () => T, query: Query): T {
  let result: { readonly value: T } | undefined;
  realm['work'] = () => { result = { value: work() }; };
  try {
    script.runInContext(realm, { timeout: PATTERN_MS });
  } catch (error) {
    // The error comes from the other realm: it is no instance of this one's Error.
    if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw new SearchError(`the pattern ${query.pattern} takes too long; make it simpler (no repetition inside of a repetition)`);
    throw new SearchError(messageOf(error));
  }
  if (result === undefined) throw new SearchError('the search was cut off');
  return result.value;
}

function* hitsOf(path: string, lines: readonly string[], marked: readonly number[], query: Query): Generator<Hit> {
  const matches = new Set(marked);
  let shown = 0;
  for (const number of marked) {
    for (let line = Math.max(shown + 1, number - query.before); line <= Math.min(lines.length, number + query.after); line += 1) {
      if (line > number && matches.has(line)) break;
      yield { path, line, text: shortLine(lines[line - 1] ?? ''), isMatch: matches.has(line) };
      shown = line;
    }
  }
}
