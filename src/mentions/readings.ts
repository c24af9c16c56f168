import { isCjk } from './candidates.ts';
import type { Candidate } from './candidates.ts';

export interface LineRange {
  readonly from: number;
  readonly to: number;
}

/** One way to read a candidate. `end` is the offset behind it, counted in UTF-16 units from the candidate's `@`. */
export interface Reading {
  readonly path: string;
  readonly lines?: LineRange;
  readonly end: number;
}

const RANGE = /(?::|#L?)(\d{1,9})(?:-L?(\d{1,9}))?$/;
const RANGE_BEHIND_QUOTE = /^(?::|#L?)\d{1,9}(?:-L?\d{1,9})?(?![\p{L}\p{N}])/u;
/** What may follow a name as part of the sentence around it. */
const PEELED = /[.,;:!?)\]}>("'`*\u2026]|[\p{Ps}\p{Pe}\p{Pi}\p{Pf}]|(?![\0-\x7f])\p{Po}/u;
/** Where one word may hold a name and then something else. */
const BORDER = /[()[\]{}<>"'`,:#]|[\p{Ps}\p{Pe}\p{Pi}\p{Pf}]|(?![\0-\x7f])\p{Po}/u;
const ESCAPE = /\\([\p{Zs}\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e])/gu;
const LONGEST_NAME_BYTES = 255;

/**
 * The ways to read a candidate, the one to be preferred first: the longest name, the same without the punctuation behind
 * it, then cut back at brackets, quotes, commas and the borders of CJK text. At each length: the name as it stands, with
 * its escapes taken out, in the other Unicode forms, and then with a range of lines behind it.
 */
export function* readingsOf(candidate: Candidate): Generator<Reading> {
  if (candidate.form === 'quoted') yield* quotedReadings(candidate.text, candidate.after);
  else for (const length of lengthsOf(candidate.text)) yield* readingsAt(candidate.text.slice(0, length), 1 + length);
}

function* quotedReadings(name: string, after: string): Generator<Reading> {
  const end = name.length + 3;
  const behind = RANGE_BEHIND_QUOTE.exec(after)?.[0] ?? '';
  const lines = rangeOf(behind);
  for (const path of formsOf(name)) yield { path, end: end + behind.length, ...(lines === undefined ? {} : { lines }) };
  yield* ranged(name, end);
}

function* readingsAt(name: string, end: number): Generator<Reading> {
  for (const path of formsOf(name)) yield { path, end };
  yield* ranged(name, end);
}

function* ranged(name: string, end: number): Generator<Reading> {
  const suffix = RANGE.exec(name);
  if (suffix === null || suffix.index === 0) return;
  const lines = rangeOf(suffix[0]);
  for (const path of formsOf(name.slice(0, suffix.index))) yield { path, end, ...(lines === undefined ? {} : { lines }) };
}

/** Line 0 and ranges that run backwards mean the whole file. */
function rangeOf(suffix: string): LineRange | undefined {
  const [, first = '', last = first] = RANGE.exec(suffix) ?? [];
  const range = { from: Number(first), to: Number(last) };
  return first !== '' && range.from >= 1 && range.to >= range.from ? range : undefined;
}

function formsOf(name: string): readonly string[] {
  if (name === '' || isTooLong(name)) return [];
  const literal = /[^\0-\x7f]/.test(name) ? [name, name.normalize('NFC'), name.normalize('NFD')] : [name];
  const forms = name.includes('\\') ? [...literal, ...literal.map((form) => form.replace(ESCAPE, '$1'))] : literal;
  return forms.length === 1 ? forms : [...new Set(forms)];
}

/** No file system has such a name; not asking saves time on long text without blanks. */
function isTooLong(path: string): boolean {
  const last = path.slice(path.lastIndexOf('/') + 1);
  return last.length > LONGEST_NAME_BYTES || (last.length * 3 > LONGEST_NAME_BYTES && Buffer.byteLength(last) > LONGEST_NAME_BYTES);
}

function* lengthsOf(word: string): Generator<number> {
  let length = word.length;
  while (length > 0) {
    yield length;
    while (length > 0 && PEELED.test(lastCharacter(word, length))) {
      length -= lastCharacter(word, length).length;
      if (length > 0) yield length;
    }
    length = borderBefore(word, length);
  }
}

/** The greatest length below `length` at which the word may be cut. */
function borderBefore(word: string, length: number): number {
  for (let at = length; at > 0;) {
    const last = lastCharacter(word, at);
    const before = at - last.length;
    if (BORDER.test(last) || (last === '\\' && /^\p{Zs}/u.test(word.slice(at, at + 1)))) return before;
    if (before > 0 && isCjk(last) !== isCjk(lastCharacter(word, before))) return before;
    at = before;
  }
  return 0;
}

function lastCharacter(word: string, length: number): string {
  const code = length >= 2 ? word.codePointAt(length - 2) ?? 0 : 0;
  return code > 0xffff ? String.fromCodePoint(code) : word.slice(Math.max(0, length - 1), length);
}

/** Whether a word that names nothing was meant as a path, and not as a handle, a package scope or a decorator. */
export function looksLikePath(candidate: Candidate): boolean {
  const text = candidate.text;
  if (/[({]|:\/\//.test(text)) return false;
  const name = trimmed(candidate);
  if (/^(?:\.{1,2}|~)?\/./.test(name) || /^[^/]+\/.*\/./.test(name) || /[^/]\/$/.test(name)) return true;
  const ending = /[^./\\]\.([a-z][a-z0-9]{0,4})$/i.exec(name)?.[1]?.toLowerCase();
  return ending !== undefined && !/^(?:com|net|io)$/.test(ending) && !name.includes('@');
}

/** The candidate's text without the sentence's punctuation, as it is named in a note. */
export function trimmed({ text, form }: Candidate): string {
  if (form === 'quoted') return text;
  const [head = ''] = text.split(/[("'`,<>[\]{}]/u, 1);
  let length = head.length;
  while (length > 0 && PEELED.test(lastCharacter(head, length))) length -= lastCharacter(head, length).length;
  return head.slice(0, length);
}
