import { diffArrays } from 'diff';
import { type LineEnd, lineEndOf, linesAt } from './lines.ts';

export interface Edit {
  readonly old: string;
  readonly new: string;
  readonly all: boolean;
}

/** A piece of the old text (UTF-16 offsets, end exclusive) and what stands there now. */
export interface Change {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** `lineEnds`: found when CRLF, CR and LF count as one. `lookAlikes`: when quotes, dashes, blanks and blanks at line ends do too. */
export type How = 'exact' | 'lineEnds' | 'lookAlikes';

export type Edited =
  /** `twins`: lines of further places that would only match less exactly and were left alone. */
  | { readonly ok: true; readonly text: string; readonly changes: readonly Change[]; readonly how: How; readonly twins: readonly number[] }
  | { readonly ok: false; readonly error: 'not_found' }
  | { readonly ok: false; readonly error: 'ambiguous'; readonly how: How; readonly lines: readonly number[] };

/** Places beyond this many are not counted, unless all are to be replaced. */
const MOST_PLACES = 1000;
const DIFF_MS = 200;

/**
 * Replaces `old` by `new`. The most exact reading that fits anywhere decides: exact, then line ends, then look-alikes. Without
 * `all` it must fit once; look-alikes must fit once in any case. Nothing outside the places found is changed; within them,
 * what `old` and `new` have in common keeps the file's own characters. New line ends are those of the place.
 */
export function applyEdit(text: string, edit: Edit): Edited {
  for (const how of ['exact', 'lineEnds', 'lookAlikes'] as const) {
    const { view, places: found } = findPlaces(text, edit.old, how, edit.all ? Number.POSITIVE_INFINITY : MOST_PLACES);
    if (found.length === 0) continue;
    const places = edit.all && how !== 'lookAlikes' ? withoutOverlaps(found) : found;
    if (places.length > 1 && (!edit.all || how === 'lookAlikes')) return { ok: false, error: 'ambiguous', how, lines: linesAt(text, found.map(({ start }) => start)) };
    const lineEnd = text.includes('\r') ? (place: Place): LineEnd => lineEndAt(text, place) : (): LineEnd => '\n';
    const rewrite = how === 'exact' ? exactRewrite(edit) : alikeRewrite(edit, how, text, view);
    const changes = places.map((place) => ({ start: place.start, end: place.end, text: rewrite(place, lineEnd) }));
    return { ok: true, text: splice(text, changes), changes, how, twins: twinsOf(text, edit.old, how, places) };
  }
  return { ok: false, error: 'not_found' };
}

interface Place {
  readonly start: number;
  readonly end: number;
  /** Index in the view at which the place begins. */
  readonly at: number;
}

function findPlaces(text: string, old: string, how: How, most: number): { readonly view: View; readonly places: readonly Place[] } {
  const view = viewOf(text, how);
  const oldView = viewOf(old, how);
  const places: Place[] = [];
  if (oldView.text === '') return { view, places };
  for (let at = view.text.indexOf(oldView.text); at !== -1 && places.length < most; at = view.text.indexOf(oldView.text, at + 1)) {
    const next = at + oldView.text.length;
    if (oldView.cut && next < view.text.length && view.text[next] !== '\n') continue;
    const place = { start: view.start(at), end: view.end(next - 1), at };
    if (how !== 'exact' || !splitsLineEnd(text, place)) places.push(place);
  }
  return { view, places };
}

/** A place that holds only half of a CRLF is none: its other half would be left behind. */
function splitsLineEnd(text: string, { start, end }: { readonly start: number; readonly end: number }): boolean {
  return (text[start] === '\n' && text[start - 1] === '\r') || (text[end - 1] === '\r' && text[end] === '\n');
}

function withoutOverlaps(places: readonly Place[]): Place[] {
  const kept: Place[] = [];
  for (const place of places) if (place.start >= (kept.at(-1)?.end ?? 0)) kept.push(place);
  return kept;
}

function twinsOf(text: string, old: string, how: How, places: readonly Place[]): number[] {
  if (how === 'lookAlikes') return [];
  const taken = places.slice(0, MOST_PLACES);
  const overlaps = (other: Place): boolean => taken.some(({ start, end }) => other.start < end && start < other.end);
  const others = taken.length < places.length ? [] : findPlaces(text, old, 'lookAlikes', MOST_PLACES).places.filter((other) => !overlaps(other));
  return [...new Set(linesAt(text, others.map(({ start }) => start)))];
}

function splice(text: string, changes: readonly Change[]): string {
  let from = 0;
  let out = '';
  for (const change of changes) {
    out += text.slice(from, change.start) + change.text;
    from = change.end;
  }
  return out + text.slice(from);
}

// ── Views ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** A text as one reading sees it. Each of its units stands for a piece of the original; what lies between two pieces is not seen. */
interface View {
  readonly text: string;
  start(index: number): number;
  end(index: number): number;
  /** Whether blanks at the very end were left out. */
  readonly cut: boolean;
}

const ALIKE: ReadonlyMap<number, number> = new Map([
  ["'", '\u2018\u2019\u201a\u201b\u2032\u02bc\uff07'],
  ['"', '\u201c\u201d\u201e\u201f\u2033\uff02'],
  ['-', '\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d'],
  [' ', '\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000'],
].flatMap(([plain = '', others = '']) => Array.from(others, (other): [number, number] => [other.charCodeAt(0), plain.charCodeAt(0)])));

const LF = 10;
const CR = 13;
const isBlank = (unit: number | undefined): boolean => unit === 32 || unit === 9;

function viewOf(text: string, how: How): View {
  if (how === 'exact') return { text, start: (index) => index, end: (index) => index + 1, cut: false };
  const fold = how === 'lookAlikes';
  const units = new Uint16Array(text.length);
  const starts = new Uint32Array(text.length);
  let length = 0;
  const dropBlanks = (): void => { while (isBlank(units[length - 1])) length -= 1; };
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    starts[length] = at;
    if (unit === CR && text.charCodeAt(at + 1) === LF) at += 1;
    const seen = unit === CR ? LF : fold ? ALIKE.get(unit) ?? unit : unit;
    if (fold && seen === LF) {
      const start = starts[length] ?? 0;
      dropBlanks();
      starts[length] = start;
    }
    units[length] = seen;
    length += 1;
  }
  const whole = length;
  if (fold) dropBlanks();
  const start = (index: number): number => starts[index] ?? text.length;
  return {
    text: Buffer.from(units.buffer, 0, length * 2).toString('utf16le'),
    start,
    end: (index) => start(index) + (text.startsWith('\r\n', start(index)) ? 2 : 1),
    cut: length < whole,
  };
}

// ── Rewriting ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** What stands in a place afterwards. */
type Rewrite = (place: Place, lineEnd: (place: Place) => LineEnd) => string;

const BARE_LF = /(?<!\r)\n/;

function exactRewrite(edit: Edit): Rewrite {
  if (!BARE_LF.test(edit.new) || BARE_LF.test(edit.old)) return () => edit.new;
  const pieces = edit.new.split(BARE_LF);
  return (place, lineEnd) => pieces.join(lineEnd(place));
}

function alikeRewrite(edit: Edit, how: How, text: string, view: View): Rewrite {
  const before = edit.old.replace(/\r\n?/g, '\n');
  const after = edit.new.replace(/\r\n?/g, '\n');
  const steps = diffArrays(tokens(before), tokens(after), { timeout: DIFF_MS });
  if (steps === undefined) return (place, lineEnd) => after.replaceAll('\n', lineEnd(place));
  const seen = unitsSeen(before, how);
  return (place, lineEnd) => {
    let at = 0;
    return steps.map(({ value, added, removed }) => {
      const piece = value.join('');
      if (added) return piece.replaceAll('\n', lineEnd(place));
      at += piece.length;
      return removed ? '' : originalOf(text, place, view, seen, at - piece.length, at);
    }).join('');
  };
}

/** For each unit of `old` (line ends as LF): its index in the view of `old`; -1 for a blank that the view leaves out. */
function unitsSeen(before: string, how: How): readonly number[] {
  const view = viewOf(before, how);
  const seen = Array.from<number>({ length: before.length }).fill(-1);
  for (let index = 0; index < view.text.length; index += 1) seen[view.start(index)] = index;
  return seen;
}

/** The file's own characters for the units `from` to `to` of `old`. */
function originalOf(text: string, place: Place, view: View, seen: readonly number[], from: number, to: number): string {
  const indexes = seen.slice(from, to).filter((index) => index !== -1);
  const [first] = indexes;
  const last = indexes.at(-1);
  return first === undefined || last === undefined ? '' : text.slice(view.start(place.at + first), view.end(place.at + last));
}

function tokens(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+|[^]/gu) ?? [];
}

/** The line end that new lines in a place get: that of its own lines, else of the line it stands in, else of the one before. */
function lineEndAt(text: string, { start, end }: Place): LineEnd {
  const inside = lineEndOf(text.slice(start, end));
  if (inside !== undefined) return inside;
  const ends = /\r\n|\n|\r/g;
  ends.lastIndex = end;
  const after = ends.exec(text)?.[0];
  if (after !== undefined) return after as LineEnd;
  const last = Math.max(text.lastIndexOf('\n', start - 1), text.lastIndexOf('\r', start - 1));
  if (start === 0 || last === -1) return '\n';
  return text[last] === '\r' ? '\r' : text[last - 1] === '\r' ? '\r\n' : '\n';
}
