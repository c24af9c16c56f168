import { borderAtOrAfter, nextBorder, previousBorder } from './graphemes.ts';

/** A paste longer than this (UTF-16 units), or of more line breaks, is shown as a chip. */
const FOLD_LENGTH = 800;
const FOLD_BREAKS = 2;
const UNDO_LIMIT = 200;
const KILL_LIMIT = 20;
/** A chip stands in the text as one private-use character of plane 16, so that cursor and deletion take it as one. */
const CHIP_BASE = 0x100000;
const CHIPS = /[\u{100000}-\u{10fffd}]/gu;

interface Draft {
  /** What is typed; `\n` between lines, a chip as its one character. */
  readonly text: string;
  /** Offset in UTF-16 units, always on a grapheme border. */
  readonly cursor: number;
}

/** A text being written. Every function here gives a new one and leaves the old as it was. */
export interface Editor extends Draft {
  /** The pastes that chips stand for, by their character. */
  readonly chips: ReadonlyMap<string, string>;
  /** Column that Up and Down try to keep; undefined after any other motion. */
  readonly wanted: number | undefined;
  /** What was cut, newest first. */
  readonly kills: readonly string[];
  readonly undos: readonly Draft[];
  /** What was done last: typing joins one undo step, cuts in a row join one kill, a yank can be changed for an older one. */
  readonly last: 'typed' | 'killed' | 'other' | { readonly yanked: number; readonly from: number };
}

export const EMPTY: Editor = { text: '', cursor: 0, chips: new Map(), wanted: undefined, kills: [], undos: [], last: 'other' };

/** Keys go in as typed; a run of them is one undo step, up to each space. */
export function insert(editor: Editor, text: string): Editor {
  const joins = editor.last === 'typed' && !/\s$/.test(editor.text.slice(0, editor.cursor));
  const next = replace(editor, editor.cursor, editor.cursor, withoutChips(text));
  return { ...next, undos: joins ? editor.undos : next.undos, last: 'typed' };
}

/** A paste goes in whole; a large one becomes a chip `[Pasted text #1 +12 lines]`. */
export function paste(editor: Editor, text: string): Editor {
  const clean = withoutChips(text).replace(/\r\n?/g, '\n');
  const breaks = clean.split('\n', FOLD_BREAKS + 2).length - 1;
  if (clean.length <= FOLD_LENGTH && breaks <= FOLD_BREAKS) return { ...replace(editor, editor.cursor, editor.cursor, clean), last: 'other' };
  const number = Math.max(0, ...[...editor.chips.keys()].map(chipNumber)) + 1;
  const chip = String.fromCodePoint(CHIP_BASE + number);
  const next = replace(editor, editor.cursor, editor.cursor, chip);
  return { ...next, chips: new Map(editor.chips).set(chip, clean), last: 'other' };
}

/** How a character that stands for a paste is shown; undefined for any other grapheme. */
export function chipLabel(editor: Editor, grapheme: string): string | undefined {
  // A chip may have joined with what stands before it, as every character may.
  const chip = editor.chips.size === 0 ? undefined : grapheme.match(CHIPS)?.find((one) => editor.chips.has(one));
  const text = chip === undefined ? undefined : editor.chips.get(chip);
  if (chip === undefined || text === undefined) return undefined;
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  return `[Pasted text #${chipNumber(chip)} ${lines === 1 ? `${text.length} characters` : `+${lines} lines`}]`;
}

function chipNumber(chip: string): number {
  return (chip.codePointAt(0) ?? 0) - CHIP_BASE;
}

/** The text with every chip as what it stands for: what is sent. */
export function expand(editor: Editor): string {
  return editor.chips.size === 0 ? editor.text : editor.text.replace(CHIPS, (chip) => editor.chips.get(chip) ?? '');
}

/** Another text in place of this one, cursor at its end; undo brings the old one back. */
export function setText(editor: Editor, text: string): Editor {
  return { ...replace(editor, 0, editor.text.length, withoutChips(text).replace(/\r\n?/g, '\n')), last: 'other' };
}

/** Empty again; what was cut can still be yanked. */
export function cleared(editor: Editor): Editor {
  const kept = editor.kills.join('');
  return { ...EMPTY, kills: editor.kills, chips: new Map([...editor.chips].filter(([chip]) => kept.includes(chip))) };
}

/** Puts text in place of a range (offsets on grapheme borders); the cursor stands behind it. */
export function replace(editor: Editor, from: number, to: number, text: string): Editor {
  const whole = editor.text.slice(0, from) + text + editor.text.slice(to);
  return {
    ...editor, text: whole, cursor: borderAtOrAfter(whole, from + text.length), wanted: undefined, last: 'other',
    undos: [{ text: editor.text, cursor: editor.cursor }, ...editor.undos].slice(0, UNDO_LIMIT),
  };
}

export function undo(editor: Editor): Editor {
  const [before, ...undos] = editor.undos;
  return before === undefined ? editor : { ...editor, ...before, undos, wanted: undefined, last: 'other' };
}

// ── Motion ───────────────────────────────────────────────────────────────────────────────────────────────────────────

export function moveTo(editor: Editor, cursor: number, wanted?: number): Editor {
  return { ...editor, cursor: borderAtOrAfter(editor.text, cursor), wanted, last: 'other' };
}
export const left = (editor: Editor): Editor => moveTo(editor, previousBorder(editor.text, editor.cursor));
export const right = (editor: Editor): Editor => moveTo(editor, nextBorder(editor.text, editor.cursor));
export const lineStart = (editor: Editor): Editor => moveTo(editor, startOfLine(editor.text, editor.cursor));
export const lineEnd = (editor: Editor): Editor => moveTo(editor, endOfLine(editor.text, editor.cursor));
export const textStart = (editor: Editor): Editor => moveTo(editor, 0);
export const textEnd = (editor: Editor): Editor => moveTo(editor, editor.text.length);
export const wordLeft = (editor: Editor): Editor => moveTo(editor, wordBefore(editor.text, editor.cursor));
export const wordRight = (editor: Editor): Editor => moveTo(editor, wordAfter(editor.text, editor.cursor));

function startOfLine(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

/** A word is letters, digits, marks and `_`; a chip is one as well. */
const WORD = /[\p{L}\p{N}\p{M}_\u{100000}-\u{10fffd}]/u;

function wordBefore(text: string, from: number): number {
  let at = from;
  const before = (): string => text.slice(previousBorder(text, at), at);
  while (at > 0 && !WORD.test(before())) at = previousBorder(text, at);
  while (at > 0 && WORD.test(before())) at = previousBorder(text, at);
  return at;
}

function wordAfter(text: string, from: number): number {
  let at = from;
  const after = (): string => text.slice(at, nextBorder(text, at));
  while (at < text.length && !WORD.test(after())) at = nextBorder(text, at);
  while (at < text.length && WORD.test(after())) at = nextBorder(text, at);
  return at;
}

/** Back over spaces, then over everything else: what Ctrl-W cuts. */
function spacedWordBefore(text: string, from: number): number {
  const before = text.slice(0, from);
  return borderAtOrAfter(text, before.length - (/\S+\s*$|\s+$/u.exec(before)?.[0].length ?? 0));
}

// ── Cutting ──────────────────────────────────────────────────────────────────────────────────────────────────────────

export function deleteLeft(editor: Editor): Editor {
  return editor.cursor === 0 ? editor : replace(editor, previousBorder(editor.text, editor.cursor), editor.cursor, '');
}

export function deleteRight(editor: Editor): Editor {
  return editor.cursor === editor.text.length ? editor : replace(editor, editor.cursor, nextBorder(editor.text, editor.cursor), '');
}

/** At the line's end already, its line feed is cut. */
export function killToEnd(editor: Editor): Editor {
  const end = endOfLine(editor.text, editor.cursor);
  return kill(editor, editor.cursor, end === editor.cursor ? Math.min(end + 1, editor.text.length) : end);
}

export function killToStart(editor: Editor): Editor {
  const start = startOfLine(editor.text, editor.cursor);
  return kill(editor, start === editor.cursor ? Math.max(0, start - 1) : start, editor.cursor);
}

export const killWordLeft = (editor: Editor): Editor => kill(editor, spacedWordBefore(editor.text, editor.cursor), editor.cursor);
export const killPartLeft = (editor: Editor): Editor => kill(editor, wordBefore(editor.text, editor.cursor), editor.cursor);
export const killWordRight = (editor: Editor): Editor => kill(editor, editor.cursor, wordAfter(editor.text, editor.cursor));

function kill(editor: Editor, from: number, to: number): Editor {
  if (from === to) return editor;
  const cut = editor.text.slice(from, to);
  const [newest = '', ...older] = editor.kills;
  const joined = to === editor.cursor && from < editor.cursor ? cut + newest : newest + cut;
  const kills = editor.last === 'killed' ? [joined, ...older] : [cut, ...editor.kills].slice(0, KILL_LIMIT);
  return { ...replace(editor, from, to, ''), kills, last: 'killed' };
}

export function yank(editor: Editor): Editor {
  const [newest] = editor.kills;
  return newest === undefined ? editor : { ...replace(editor, editor.cursor, editor.cursor, newest), last: { yanked: 0, from: editor.cursor } };
}

/** Right after a yank: the cut before it instead, around the ring. */
export function yankOlder(editor: Editor): Editor {
  if (typeof editor.last !== 'object' || editor.kills.length < 2) return editor;
  const { from } = editor.last;
  const yanked = (editor.last.yanked + 1) % editor.kills.length;
  return { ...replace(editor, from, editor.cursor, editor.kills[yanked] ?? ''), undos: editor.undos, last: { yanked, from } };
}

/** Characters that would be taken for chips become U+FFFD. */
function withoutChips(text: string): string {
  return text.replace(CHIPS, '\ufffd');
}
