import wrapAnsi from 'wrap-ansi';
import { width, wrapLines } from '#lib/terminal.ts';
import type { Pen } from './pen.ts';
import type { Theme } from './theme.ts';

const ESCAPE = '\u001B';

/** Prose broken at words into lines of at most `columns` cells; runs of spaces at a break are dropped. SGR is closed and opened anew at breaks. */
export function wrapProse(text: string, columns: number): readonly string[] {
  return wrapAnsi(text, Math.max(1, columns), { hard: true, trim: true }).split('\n');
}

/** Text broken anywhere into lines of at most `columns` cells; every space stays. */
export function wrapVerbatim(text: string, columns: number): readonly string[] {
  const limit = Math.max(1, columns);
  return text.split('\n').flatMap((line) => (isShort(line, limit) ? [line] : wrapAnsi(line, limit, { hard: true, wordWrap: false, trim: false }).split('\n')));
}

/** Text whose own lines stay, each broken between words where it can be; the space at a break is dropped. */
export function wrapText(text: string, columns: number): readonly string[] {
  return text.split('\n').flatMap((line) => wrapLines(line, columns).map((part, index) => (index === 0 ? part : part.replace(/^ (?=\S)/, ''))));
}

/** One line cut to at most `columns` cells, with `…` at its end where something was left out. */
export function clip(line: string, columns: number): string {
  if (columns <= 0) return '';
  if (isShort(line, columns) || width(line) <= columns) return line;
  // A plain line may be very long; what lies far beyond the edge need not be measured.
  const near = line.includes(ESCAPE) ? line : line.slice(0, columns * 16);
  const [kept = ''] = wrapAnsi(near, Math.max(1, columns - 1), { hard: true, wordWrap: false, trim: false }).split('\n');
  // A wide sign does not fit into one cell, and stands there all the same.
  return width(kept) < columns ? `${kept}…` : '…';
}

/** Spaces up to `columns` cells, before the text when `align` is `right`. */
export function pad(text: string, columns: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, columns - width(text)));
  return align === 'right' ? space + text : text + space;
}

/** Puts `first` before the first line and `rest` before the others. */
export function hang(lines: readonly string[], first: string, rest = ' '.repeat(width(first))): readonly string[] {
  return lines.map((line, index) => {
    const mark = index === 0 ? first : rest;
    return line === '' ? mark.trimEnd() : mark + line;
  });
}

/** At most `most` lines, `ending` of them from the end; a line in between says how many are left out, `unseen` ones that were not given included. */
export function fold(lines: readonly string[], most: number, { theme, keys }: Pen, ending = 0, unseen = 0): readonly string[] {
  if (lines.length + unseen <= most) return lines;
  const last = Math.min(ending, Math.max(0, most - 1));
  const first = Math.max(0, most - 1 - last);
  const key = keys.label('toggleTranscript');
  const left = `… +${lines.length - first - last + unseen} lines${key === undefined ? '' : ` (${key} expands)`}`;
  return [...lines.slice(0, first), theme('dim', left), ...(last === 0 ? [] : lines.slice(-last))];
}

/** The last `most` lines; the first of them then says how many stand above, `unseen` ones that were not given included. */
export function tail(lines: readonly string[], most: number, theme: Theme, unseen = 0): readonly string[] {
  if (lines.length <= most) return lines;
  if (most <= 0) return [];
  const kept = most - 1;
  return [theme('dim', `… ${lines.length - kept + unseen} lines above`), ...(kept === 0 ? [] : lines.slice(-kept))];
}

/** ASCII shorter than the width needs no measuring; most lines are. */
function isShort(line: string, columns: number): boolean {
  return line.length <= columns && !/[^\u0020-\u007E]/.test(line);
}
