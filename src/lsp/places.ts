import { fileURLToPath } from 'node:url';
import type { CodePlace, Symbol } from '#domain/languages.ts';
import { cutToLength } from '#lib/text.ts';
import { readDisk } from './document.ts';
import { columnOf, lineStarts, lineText, type Position, type PositionEncoding } from './positions.ts';
import { isFields } from './protocol.ts';

/** As the protocol numbers them, from 1. */
const KINDS = ['file', 'module', 'namespace', 'package', 'class', 'method', 'property', 'field', 'constructor', 'enum', 'interface', 'function', 'variable', 'constant', 'string', 'number', 'boolean', 'array', 'object', 'key', 'null', 'enum member', 'struct', 'event', 'operator', 'type parameter'] as const;
const LONGEST_LINE = 200;
const LONGEST_NAME = 200;
const MOST_SYMBOLS = 2000;

/** A place as a server gives it, not yet measured in our columns. */
export interface RawPlace {
  readonly path: string;
  readonly start: Position;
  readonly endLine: number;
  readonly name?: string;
  readonly kind?: string;
  readonly container?: string;
  readonly depth?: number;
}

/** Locations, links to locations, or symbols; what is none, or lies in no file, is left out. */
export function placesIn(answer: unknown): readonly RawPlace[] {
  const all = Array.isArray(answer) ? answer as readonly unknown[] : [answer];
  return all.flatMap((one) => (isFields(one) ? placeOf(one) ?? [] : []));
}

type Fields = Readonly<Record<string, unknown>>;

function placeOf(one: Fields): RawPlace | undefined {
  if (typeof one['targetUri'] === 'string') return located(one['targetUri'], one['targetSelectionRange'] ?? one['targetRange'], one['targetRange']);
  if (isFields(one['location'])) {
    const place = located(one['location']['uri'], one['location']['range'], one['location']['range']);
    return place === undefined ? undefined : { ...place, ...named(one) };
  }
  return located(one['uri'], one['selectionRange'] ?? one['range'], one['range']);
}

/** Symbols of one file: flat ones, or trees of them. */
export function symbolsOfFile(answer: unknown, path: string): readonly RawPlace[] {
  const found: RawPlace[] = [];
  const walk = (all: readonly unknown[], depth: number): void => {
    for (const one of all) {
      if (!isFields(one) || found.length >= MOST_SYMBOLS || depth > 20) continue;
      const place = isFields(one['location']) ? placeOf(one) : ranged(path, one['selectionRange'] ?? one['range'], one['range']);
      if (place !== undefined) found.push({ ...place, path, ...named(one), depth });
      if (Array.isArray(one['children'])) walk(one['children'] as readonly unknown[], depth + 1);
    }
  };
  if (Array.isArray(answer)) walk(answer as readonly unknown[], 0);
  return found;
}

/** Callers (`from`) or callees (`to`) with their names. */
export function callsIn(answer: unknown, key: 'from' | 'to'): readonly RawPlace[] {
  const all = Array.isArray(answer) ? answer as readonly unknown[] : [];
  return all.flatMap((one) => {
    const item = isFields(one) ? one[key] : undefined;
    const place = isFields(item) ? placeOf(item) : undefined;
    return place === undefined || !isFields(item) ? [] : [{ ...place, ...named(item) }];
  });
}

function named(one: Fields): Pick<RawPlace, 'name' | 'kind' | 'container'> {
  const { name, kind, containerName } = one;
  return {
    ...(typeof name === 'string' && { name: cutToLength(name, LONGEST_NAME) }), ...(typeof kind === 'number' && { kind: KINDS[kind - 1] ?? 'symbol' }),
    ...(typeof containerName === 'string' && containerName !== '' && { container: cutToLength(containerName, LONGEST_NAME) }),
  };
}

function located(uri: unknown, range: unknown, whole: unknown): RawPlace | undefined {
  if (typeof uri !== 'string' || !uri.startsWith('file:')) return undefined;
  try {
    return ranged(fileURLToPath(uri), range, whole);
  } catch {
    return undefined;
  }
}

function ranged(path: string, range: unknown, whole: unknown): RawPlace | undefined {
  // A symbol may come without a range, to be asked for later: the file is all that is known.
  const start = isFields(range) && isFields(range['start']) ? range['start'] : { line: 0, character: 0 };
  const end = isFields(whole) && isFields(whole['end']) ? whole['end']['line'] : undefined;
  const { line, character } = start;
  if (typeof line !== 'number' || typeof character !== 'number') return undefined;
  return { path, start: { line, character }, endLine: typeof end === 'number' ? Math.max(line, end) : line };
}

/** Texts of the files that places lie in, each read once. */
export function createTexts(mayRead: (path: string) => boolean): (path: string) => Promise<{ readonly text: string; readonly starts: readonly number[] } | undefined> {
  const texts = new Map<string, Promise<{ readonly text: string; readonly starts: readonly number[] } | undefined>>();
  return (path) => {
    const known = texts.get(path) ?? (mayRead(path) ? readDisk(path).then((disk) => (disk === undefined ? undefined : { text: disk.text, starts: lineStarts(disk.text) })) : Promise.resolve(undefined));
    texts.set(path, known);
    return known;
  };
}

/** A place in our own measure, with its line where that may be read. */
export async function measured(raw: RawPlace, encoding: PositionEncoding, texts: ReturnType<typeof createTexts>): Promise<CodePlace> {
  const { path, start, name, kind, depth } = raw;
  const file = await texts(path);
  const line = file === undefined ? undefined : lineText(file.text, file.starts, start.line);
  return {
    path, line: start.line + 1, column: (line === undefined ? start.character : columnOf(line, start.character, encoding)) + 1,
    ...(line !== undefined && { text: cutToLength(line.trim(), LONGEST_LINE) }), ...(name !== undefined && { name }), ...(kind !== undefined && { kind }), ...(depth !== undefined && { depth }),
  };
}

export function symbolOf({ path, start, endLine, name, kind, container }: RawPlace): Symbol | undefined {
  return name === undefined || name === '' ? undefined : { name, kind: kind ?? 'symbol', path, line: start.line + 1, column: start.character + 1, toLine: endLine + 1, ...(container !== undefined && { container }) };
}
