import { width } from '#lib/terminal.ts';
import { hang, pad, wrapProse } from './lines.ts';
import type { Theme } from './theme.ts';

/** Cells are ready for the terminal: sanitised, one line each, roles painted. */
export interface Grid {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly align: readonly ('left' | 'right')[];
}

const GAP = 3;
const NARROWEST = 6;
/** A column below so many cells that tears words apart is hard to read. */
const NARROW = 20;

/**
 * A table of at most `columns` cells: wide columns give way and wrap. Where that would tear words apart in narrow columns, those
 * of text become one; where even that does not fit, each row becomes a list.
 */
export function drawTable(grid: Grid, columns: number, theme: Theme): readonly string[] {
  const natural = grid.head.map((head, column) => Math.max(1, width(head), ...grid.rows.map((row) => width(row[column] ?? ''))));
  const room = columns - GAP * (natural.length - 1);
  const widths = shrink(natural, room);
  if (widths === undefined) return drawRecords(grid, columns, theme);
  const folded = tears(grid, widths) ? fold(grid, natural) : undefined;
  if (folded !== undefined) return drawTable(folded, columns, theme);
  const line = (cells: readonly string[], role?: 'strong'): readonly string[] => drawRow(cells, widths, grid.align, theme, role);
  const rule = theme('border', widths.map((size) => '─'.repeat(size)).join('─┼─'));
  const head = grid.head.some((text) => text !== '') ? [...line(grid.head, 'strong'), rule] : [];
  return [...head, ...grid.rows.flatMap((row) => line(row))];
}

/** Takes cells from the widest column until all fit; undefined when a column would become too narrow to read. */
function shrink(natural: readonly number[], room: number): readonly number[] | undefined {
  const least = natural.map((size) => Math.min(size, NARROWEST));
  if (least.reduce((sum, size) => sum + size, 0) > room) return undefined;
  const widths = [...natural];
  for (let over = widths.reduce((sum, size) => sum + size, 0) - room; over > 0; over -= 1) {
    const widest = widths.indexOf(Math.max(...widths));
    widths[widest] = (widths[widest] ?? 1) - 1;
  }
  return widths;
}

function tears({ head, rows }: Grid, widths: readonly number[]): boolean {
  return widths.some((size, column) => size < NARROW && [head, ...rows].some((row) => (row[column] ?? '').split(' ').some((word) => width(word) > size)));
}

/** The columns of text as one, what is in a row of them parted by dots; undefined where there is but one. Marks keep their column. */
function fold({ head, rows, align }: Grid, natural: readonly number[]): Grid | undefined {
  const texts = head.flatMap((_, column) => (align[column] !== 'right' && (natural[column] ?? 0) > 1 ? [column] : []));
  const [first, ...others] = texts;
  if (first === undefined || others.length === 0) return undefined;
  const cells = (row: readonly string[]): readonly string[] => row.flatMap((cell, column) => (
    column === first ? [texts.map((one) => row[one] ?? '').filter((text) => text !== '').join(' · ')] : others.includes(column) ? [] : [cell]));
  return { head: cells(head), rows: rows.map(cells), align: align.filter((_, column) => !others.includes(column)) };
}

function drawRow(cells: readonly string[], widths: readonly number[], align: Grid['align'], theme: Theme, role: 'strong' | undefined): readonly string[] {
  const wrapped = widths.map((size, column) => wrapProse(cells[column] ?? '', size));
  const height = Math.max(...wrapped.map((lines) => lines.length));
  return Array.from({ length: height }, (_, y) => widths.map((size, column) => {
    const text = wrapped[column]?.[y] ?? '';
    const aligned = pad(text, size, align[column]);
    return role === undefined ? aligned : theme(role, aligned);
  }).join(theme('border', ' │ ')).trimEnd());
}

function drawRecords({ head, rows }: Grid, columns: number, theme: Theme): readonly string[] {
  return rows.flatMap((row, index) => [
    ...(index === 0 ? [] : [theme('border', '─'.repeat(Math.min(columns, NARROWEST)))]),
    ...row.flatMap((cell, column) => hang(wrapProse(`${theme('strong', `${head[column] ?? ''}:`)} ${cell}`, columns - 2), '', '  ')),
  ]);
}
