import type { KeyEvent } from './contract.ts';
import { clip } from './lines.ts';
import type { Pen } from './pen.ts';

const PAGE = 8;

/** By how many lines a key scrolls what is to be read in a dialog; 0: it does not. `reach`: how far it goes at most. */
export function scrollBy({ name, shift }: KeyEvent, reach: number): number {
  switch (name) {
    case 'pageup': return -PAGE;
    case 'pagedown': return PAGE;
    case 'home': return -reach;
    case 'end': return reach;
    case 'up': return shift ? -1 : 0;
    case 'down': return shift ? 1 : 0;
    default: return 0;
  }
}

/** How many of the lines cannot be seen at once in so many rows, of which one tells the place. */
export function reachIn(lines: number, rows: number): number {
  return lines <= rows ? 0 : Math.max(0, lines - Math.max(1, rows - 1));
}

/** The part of the lines that is seen; where not all are, the last row tells which. */
export function windowOf(lines: readonly string[], scroll: number, rows: number, { theme, columns }: Pen): readonly string[] {
  if (lines.length <= rows) return lines;
  if (rows <= 0) return [];
  const shown = rows - 1;
  const from = Math.min(scroll, lines.length - shown);
  const place = shown === 0 ? `${lines.length} lines` : `lines ${from + 1}–${from + shown} of ${lines.length}`;
  return [...lines.slice(from, from + shown), clip(theme('dim', `  ${place} · PgUp/PgDn`), columns)];
}
