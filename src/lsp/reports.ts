import { cutToLength } from '#lib/text.ts';
import type { Report } from '#domain/languages.ts';
import { columnOf, lineStarts, lineText, type PositionEncoding } from './positions.ts';
import { isFields } from './protocol.ts';

/** A report before anybody knows whether it is fresh. */
export type Said = Omit<Report, 'fresh'>;

/** Of one file so many are kept, the worst first. */
const MOST_OF_FILE = 300;
const LONGEST_MESSAGE = 600;
const LONGEST_LINE = 200;
const LONGEST_NAME = 60;
const SEVERITIES = ['error', 'warning', 'info', 'hint'] as const;

/** What a server says of a text, in the order of its lines. What is none of the protocol's is left out. */
export function reportsIn(items: unknown, path: string, text: string, encoding: PositionEncoding): readonly Said[] {
  if (!Array.isArray(items)) return [];
  const starts = lineStarts(text);
  const said: Said[] = [];
  for (const item of items as readonly unknown[]) {
    const one = reportOf(item, path, text, starts, encoding);
    if (one !== undefined) said.push(one);
  }
  return worst(said).sort((a, b) => a.line - b.line || a.column - b.column);
}

function worst(said: Said[]): Said[] {
  if (said.length <= MOST_OF_FILE) return said;
  return said.sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || a.line - b.line).slice(0, MOST_OF_FILE);
}

function reportOf(item: unknown, path: string, text: string, starts: readonly number[], encoding: PositionEncoding): Said | undefined {
  if (!isFields(item) || !isFields(item['range']) || !isFields(item['range']['start'])) return undefined;
  const { line, character } = item['range']['start'];
  const message = messageIn(item['message']);
  if (typeof line !== 'number' || typeof character !== 'number' || message === '') return undefined;
  const whole = lineText(text, starts, line);
  const source = item['source'];
  const code = item['code'];
  return {
    path, line: line + 1, column: columnOf(whole, character, encoding) + 1, severity: SEVERITIES[Number(item['severity'] ?? 1) - 1] ?? 'error', message, text: cutToLength(whole.trim(), LONGEST_LINE),
    ...(typeof source === 'string' && source !== '' && { source: cutToLength(source, LONGEST_NAME) }),
    ...((typeof code === 'string' || typeof code === 'number') && { code: cutToLength(String(code), LONGEST_NAME) }),
  };
}

/** Newer servers may send `{ kind, value }`. */
function messageIn(message: unknown): string {
  const text = isFields(message) ? message['value'] : message;
  return typeof text === 'string' ? cutToLength(text.slice(0, 4 * LONGEST_MESSAGE).replaceAll(/\s+/g, ' ').trim(), LONGEST_MESSAGE) : '';
}

/**
 * Which reports of now were not there before. Lines may have moved: one is the same as one of before where all but its place is the
 * same, first with the same line's text, then in the order of the lines.
 */
export function freshAmong(before: readonly Said[], now: readonly Said[]): readonly Report[] {
  const left = new Map<string, string[]>();
  for (const one of before) left.set(keyOf(one), [...left.get(keyOf(one)) ?? [], one.text]);
  const old = new Set<Said>();
  for (const one of now) if (takeOut(left.get(keyOf(one)), one.text)) old.add(one);
  for (const one of now) if (!old.has(one) && left.get(keyOf(one))?.shift() !== undefined) old.add(one);
  return now.map((one) => ({ ...one, fresh: !old.has(one) }));
}

function takeOut(texts: string[] | undefined, text: string): boolean {
  const at = texts?.indexOf(text) ?? -1;
  if (at !== -1) texts?.splice(at, 1);
  return at !== -1;
}

function keyOf({ severity, source = '', code = '', message }: Said): string {
  return [severity, source, code, message].join('\0');
}
