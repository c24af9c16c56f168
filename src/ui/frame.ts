import { takeCursorMark } from './cursor-mark.ts';
import type { Measure } from './editor-layout.ts';

/** What stands at the bottom of the terminal at the moment, and where its cursor is. */
export interface Frame {
  /** Lines as they were written, without their line ends. None: nothing stands there, the cursor is at the start of a free line. */
  readonly lines: readonly string[];
  /** Index of the line that the cursor is in, and its column from 0. */
  readonly cursor: { readonly line: number; readonly column: number; readonly shown: boolean };
  /** The window that it was written in. */
  readonly window: Window;
}

export interface Window { readonly columns: number; readonly rows: number }

export const NO_FRAME: Frame = { lines: [], cursor: { line: 0, column: 0, shown: false }, window: { columns: 0, rows: 0 } };

const HIDE = '\x1b[?25l';
const SHOW = '\x1b[?25h';
const up = (n: number): string => (n > 0 ? `\x1b[${n}A` : '');
const down = (n: number): string => (n > 0 ? `\x1b[${n}B` : '');
const COLOURS = /\x1b\[[0-9;:]*m|\x1b\]8;[^\x07\x1b]*(?:\x07|\x1b\\)/g;

/** Columns of a line that may hold colours and links. */
export function widthOf(line: string, measure: Measure): number {
  return measure(line.includes('\x1b') ? line.replace(COLOURS, '') : line);
}

/**
 * What a terminal does with its cursor when a narrower window breaks lines anew. `follows`: it stays with its text, as one
 * would think. `drifts` (xterm.js, and so many editors' terminals): it moves down by every row that any line gains, also by
 * those of lines below it; lines are broken from the last to the first, and the one that it is in just then is left whole.
 */
export type CursorReflow = 'follows' | 'drifts';

/**
 * Bytes that take the cursor to the frame's first line and wipe from there on. A window that became narrower has broken the
 * frame's lines to several rows each: they are counted as the terminal has them now.
 */
export function wipe(frame: Frame, window: Window, measure: Measure, reflow: CursorReflow): string {
  if (frame.lines.length === 0) return '';
  const { line, column } = frame.cursor;
  const more = frame.lines.map((text) => Math.max(0, Math.ceil(widthOf(text, measure) / window.columns) - 1));
  const gained = reflow === 'follows' ? more.slice(0, line).reduce((sum, rows) => sum + rows, Math.floor(column / window.columns))
    : more.reduceRight((drift, rows, index) => (index === line + drift ? drift : drift + rows), 0);
  // From the second column on: tmux takes wiping from the very first place for clearing the screen, and keeps it in its history.
  return `\r${up(Math.min(line + gained, window.rows - 1))}\x1b[2G\x1b[J\r\x1b[K`;
}

/** A frame's lines as they are to be seen: no taller than the window, its cursor's mark taken out. */
export function lineUp(text: string, window: Window): Frame {
  const lines = text.split('\n');
  const shown = lines.slice(Math.max(0, lines.length - window.rows));
  let cursor: Frame['cursor'] = { line: shown.length - 1, column: 0, shown: false };
  const clean = shown.map((marked, line) => {
    const { line: text, column } = takeCursorMark(marked);
    if (column !== undefined) cursor = { line, column: Math.min(column, window.columns - 1), shown: true };
    return text;
  });
  return { lines: clean, cursor, window };
}

/** Bytes that put the whole frame below what stands above it, the cursor being at the start of a free line. */
export function drawWhole(frame: Frame): string {
  if (frame.lines.length === 0) return '';
  const last = frame.lines.length - 1;
  return `${frame.lines.join('\r\n')}\r${up(last - frame.cursor.line)}${toColumn(frame)}`;
}

/** Bytes that make one frame of the other, writing only lines that differ. Both fit the window as it is. */
export function drawChanges(old: Frame, next: Frame): string {
  let out = '';
  let at = old.cursor.line;
  const go = (line: number): void => {
    out += line < at ? up(at - line) : down(line - at);
    at = line;
  };
  const common = Math.min(old.lines.length, next.lines.length);
  for (let line = 0; line < common; line += 1) {
    if (old.lines[line] === next.lines[line]) continue;
    go(line);
    out += `\r\x1b[2K${next.lines[line] ?? ''}`;
  }
  if (next.lines.length > common) {
    go(common - 1);
    out += `\r\n${next.lines.slice(common).join('\r\n')}`;
    at = next.lines.length - 1;
  } else if (old.lines.length > common) {
    go(common);
    out += '\r\x1b[J';
  }
  go(next.cursor.line);
  return `${out}\r${toColumn(next)}`;
}

function toColumn(frame: Frame): string {
  return frame.cursor.shown && frame.cursor.column > 0 ? `\x1b[${frame.cursor.column + 1}G` : '';
}

/** Whether a frame can be changed line by line: the window is as it was, and no line that differs reaches over its edge. */
export function isChangeable(old: Frame, next: Frame, measure: Measure): boolean {
  const fits = (line: string, other: string | undefined): boolean => line === other || widthOf(line, measure) <= next.window.columns;
  return old.lines.length > 0 && next.lines.length > 0 && old.window.columns === next.window.columns && old.window.rows === next.window.rows
    && next.lines.every((line, index) => fits(line, old.lines[index])) && old.lines.every((line, index) => fits(line, next.lines[index]));
}

export function isSame(old: Frame, next: Frame): boolean {
  return old.lines.length === next.lines.length && old.lines.every((line, index) => line === next.lines[index])
    && old.cursor.line === next.cursor.line && old.cursor.column === next.cursor.column && old.cursor.shown === next.cursor.shown;
}

/** Bytes that leave a frame where it is, with the cursor at the start of the line below. */
export function stepBelow(frame: Frame): string {
  return frame.lines.length === 0 ? '' : `${down(frame.lines.length - 1 - frame.cursor.line)}\r\n`;
}

/** Bytes between which a terminal shows nothing half done (where it can), the cursor out of sight. */
export function asOne(bytes: string, shown: boolean): string {
  return `\x1b[?2026h${HIDE}${bytes}${shown ? SHOW : ''}\x1b[?2026l`;
}
