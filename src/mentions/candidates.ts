import { createCodeSpans, fencesIn } from './code.ts';

/** Text behind an `@` that may be a mention; `start` is the offset of the `@` in UTF-16 units. */
export type Candidate =
  /** `text` goes on to the next white space that no backslash escapes, and is what is left after peeling. */
  | { readonly form: 'bare'; readonly start: number; readonly text: string }
  /** `end` is just behind the closing quote; `after` is what may be a range of lines. */
  | { readonly form: 'quoted'; readonly start: number; readonly text: string; readonly end: number; readonly after: string };

/** A quoted name is at most this long; of a bare one no more than this is looked at. */
const LONGEST = 1024;

const BLANK_OR_CONTROL = /[\p{White_Space}\p{Cc}]/u;
const BLANK = /\p{Zs}/u;
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u30fc]/u;
const DECORATION = /[\ufe00-\ufe0f]/;

export function isCjk(character: string): boolean {
  return CJK.test(character);
}

/** Every place of the text that may be a mention, in order, outside of code. Time is in proportion to the length. */
export function candidatesIn(text: string): readonly Candidate[] {
  if (!text.includes('@')) return [];
  const found: Candidate[] = [];
  const fences = fencesIn(text);
  const codeEnd = createCodeSpans(text);
  const endOfWord = createWordEnds(text);
  let fence = 0;
  const marks = /[@`]/g;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    while (fence < fences.length && (fences[fence]?.end ?? 0) <= mark.index) fence += 1;
    const inFence = fences[fence];
    if (inFence !== undefined && inFence.start <= mark.index) {
      marks.lastIndex = inFence.end;
      continue;
    }
    const at = mark.index;
    if (mark[0] === '`') {
      const end = endOfRun(text, at);
      marks.lastIndex = codeEnd(at, end) ?? end;
    } else if (opens(text, at)) {
      const candidate = candidateAt(text, at, endOfWord);
      if (candidate === undefined) continue;
      found.push(candidate);
      if (candidate.form === 'quoted') marks.lastIndex = candidate.end;
    }
  }
  return found;
}

function endOfRun(text: string, from: number): number {
  let end = from;
  while (text[end] === '`') end += 1;
  return end;
}

/** Not within an address, a path, a handle behind a word, or another `@`; CJK text is written without blanks. */
function opens(text: string, at: number): boolean {
  if (text[at + 1] === '@') return false;
  const before = characterBefore(text, at);
  if (before < '\u0080') return !/[\w@\\/%+.-]/.test(before);
  return isCjk(before) || DECORATION.test(before) || !/[\p{L}\p{N}\p{M}]/u.test(before);
}

function characterBefore(text: string, at: number): string {
  const pair = at >= 2 ? text.codePointAt(at - 2) ?? 0 : 0;
  return pair > 0xffff ? String.fromCodePoint(pair) : text.slice(Math.max(0, at - 1), at);
}

function candidateAt(text: string, at: number, endOfWord: (from: number) => number): Candidate | undefined {
  if (text[at + 1] === '"') return quotedAt(text, at);
  const word = text.slice(at + 1, Math.min(endOfWord(at + 1), at + 1 + LONGEST));
  return word === '' ? undefined : { form: 'bare', start: at, text: word };
}

function quotedAt(text: string, at: number): Candidate | undefined {
  const inside = /[^"\n\r\v\f\x85\u2028\u2029]{1,1024}(?=")/y;
  inside.lastIndex = at + 2;
  const name = inside.exec(text)?.[0];
  if (name === undefined) return undefined;
  const end = at + 2 + name.length + 1;
  return { form: 'quoted', start: at, text: name, end, after: text.slice(end, end + 32) };
}

/** Where the word ends that holds an offset. To be asked with growing offsets; each word is walked once. */
function createWordEnds(text: string): (from: number) => number {
  let known = -1;
  return (from) => {
    if (from < known) return known;
    let at = from;
    while (at < text.length) {
      const character = text.charAt(at);
      if (character === '\\' && BLANK.test(text.charAt(at + 1))) at += 2;
      else if (character === '\\' && text.charAt(at + 1) === '\\') at += 2;
      else if (character <= ' ' || (character > '~' && BLANK_OR_CONTROL.test(character))) break;
      else at += 1;
    }
    known = at;
    return at;
  };
}
