import { markControls } from '#lib/marks.ts';
import { type Editor, chipLabel, moveTo } from './editor.ts';
import { graphemes } from './graphemes.ts';

/** Columns that a text takes. Given in, so that the first frame need not load the tables of wide characters. */
export type Measure = (text: string) => number;

/** One visual line of the editor. */
export interface VisualRow {
  /** Range of the text, in UTF-16 units; a line feed belongs to no row. */
  readonly from: number;
  readonly to: number;
  /** What is shown: tabs as spaces, controls as marks, chips as their labels. At most as wide as the columns. */
  readonly shown: string;
  /** Whether a line of the text ends here, rather than being wrapped. */
  readonly ends: boolean;
}

interface Cell { readonly length: number; readonly shown: string; readonly width: number }

const TAB = '    ';

/**
 * The editor's text as visual rows of at most `columns` columns (at least 4): broken behind a space where there is one, else
 * anywhere between graphemes. One column of each row is kept free for the cursor behind its last character.
 */
export function layOut(editor: Editor, columns: number, measure: Measure): readonly VisualRow[] {
  const room = Math.max(3, columns - 1);
  const rows: VisualRow[] = [];
  let from = 0;
  for (const line of editor.text.split('\n')) {
    if (line.length <= room && PLAIN.test(line)) rows.push({ from, to: from + line.length, shown: line, ends: true });
    else breakLine(cellsOf(editor, line, room, measure), from, room, rows);
    from += line.length + 1;
  }
  return rows;
}

const PLAIN = /^[\x20-\x7e]*$/;

function breakLine(cells: readonly Cell[], lineStart: number, room: number, rows: VisualRow[]): void {
  let from = lineStart;
  let first = 0;
  let width = 0;
  let lastSpace = -1;
  const push = (end: number, ends: boolean): void => {
    const row = cells.slice(first, end);
    const to = from + row.reduce((sum, cell) => sum + cell.length, 0);
    rows.push({ from, to, shown: row.map((cell) => cell.shown).join(''), ends });
    from = to;
    first = end;
  };
  for (let index = 0; index < cells.length; index += 1) {
    const cell = cells[index] as Cell;
    // A space may stand in the column that is kept free: it is not seen there.
    while (index > first && width + cell.width > room && !(cell.shown === ' ' && width === room)) {
      push(lastSpace >= first ? lastSpace + 1 : index, false);
      width = cells.slice(first, index).reduce((sum, one) => sum + one.width, 0);
      lastSpace = -1;
    }
    width += cell.width;
    if (cell.shown === ' ') lastSpace = index;
  }
  push(cells.length, true);
}

function cellsOf(editor: Editor, line: string, room: number, measure: Measure): readonly Cell[] {
  return [...graphemes(line)].map((grapheme) => {
    if (grapheme.length === 1 && PLAIN.test(grapheme)) return { length: 1, shown: grapheme, width: 1 };
    const shown = cut(chipLabel(editor, grapheme) ?? visible(grapheme), room, measure);
    return { length: grapheme.length, shown, width: Math.max(measure(shown), 0) };
  });
}

/** What a grapheme is drawn as, whatever was pasted. */
function visible(grapheme: string): string {
  return grapheme === '\t' ? TAB : markControls(grapheme);
}

function cut(shown: string, room: number, measure: Measure): string {
  return measure(shown) <= room ? shown : `${shown.slice(0, Math.max(0, room - 2))}…${shown.slice(-1)}`;
}

/** Where the cursor stands: which row, which column of it (from 0). At a wrap it stands at the start of the next row. */
export function cursorAt(rows: readonly VisualRow[], editor: Editor, measure: Measure): { readonly row: number; readonly column: number } {
  const found = rows.findIndex((row) => editor.cursor < row.to || (editor.cursor === row.to && row.ends));
  const row = found === -1 ? rows.length - 1 : found;
  return { row, column: columnOf(rows[row], editor, measure) };
}

function columnOf(row: VisualRow | undefined, editor: Editor, measure: Measure): number {
  if (row === undefined || editor.cursor <= row.from) return 0;
  const cells = cellsOf(editor, editor.text.slice(row.from, editor.cursor), Number.MAX_SAFE_INTEGER, measure);
  return Math.min(cells.reduce((sum, cell) => sum + cell.width, 0), measure(row.shown));
}

/** One visual row up (-1) or down (+1), keeping the column; undefined where there is none. */
export function moveRow(editor: Editor, by: 1 | -1, columns: number, measure: Measure): Editor | undefined {
  const rows = layOut(editor, columns, measure);
  const at = cursorAt(rows, editor, measure);
  const row = rows[at.row + by];
  if (row === undefined) return undefined;
  const wanted = editor.wanted ?? at.column;
  let offset = row.from;
  let column = 0;
  for (const cell of cellsOf(editor, editor.text.slice(row.from, row.to), columns, measure)) {
    // The last place of a wrapped row is the first of the next one.
    if (column + cell.width > wanted || (!row.ends && offset + cell.length >= row.to)) break;
    column += cell.width;
    offset += cell.length;
  }
  return moveTo(editor, offset, wanted);
}
