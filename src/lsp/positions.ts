/** How a server counts characters in a line. */
export type PositionEncoding = 'utf-16' | 'utf-8';

/** As the protocol has it: both from 0. */
export interface Position {
  readonly line: number;
  readonly character: number;
}

export interface TextChange {
  readonly range: { readonly start: Position; readonly end: Position };
  readonly text: string;
}

/** Offsets at which lines begin. Lines end with LF, CR LF or CR, as the protocol has it. */
export function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (const { index, 0: end } of text.matchAll(/\r\n|\n|\r/g)) starts.push(index + end.length);
  return starts;
}

/** The text of a line (from 0) without its end; empty for a line that is not there. */
export function lineText(text: string, starts: readonly number[], line: number): string {
  const start = starts[line];
  return start === undefined ? '' : text.slice(start, starts[line + 1] ?? text.length).replace(/(?:\r\n|\n|\r)$/, '');
}

export function positionAt(text: string, starts: readonly number[], offset: number, encoding: PositionEncoding): Position {
  let [low, high] = [0, starts.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  const start = starts[low] ?? 0;
  return { line: low, character: encoding === 'utf-16' ? offset - start : Buffer.byteLength(text.slice(start, offset)) };
}

/** Column in UTF-16 units (from 0) of a server's `character` in a line; never beyond the line's end. */
export function columnOf(line: string, character: number, encoding: PositionEncoding): number {
  if (encoding === 'utf-16') return Math.max(0, Math.min(character, line.length));
  let bytes = 0;
  let column = 0;
  for (const point of line) {
    if (bytes >= character) break;
    bytes += Buffer.byteLength(point);
    column += point.length;
  }
  return column;
}

/** The opposite of {@link columnOf}. */
export function characterOf(line: string, column: number, encoding: PositionEncoding): number {
  const at = Math.max(0, Math.min(column, line.length));
  return encoding === 'utf-16' ? at : Buffer.byteLength(line.slice(0, at));
}

/** One change that makes `after` of `before`; it tears no character and no CR LF apart. Undefined where they are equal. */
export function changeBetween(before: string, after: string, encoding: PositionEncoding): TextChange | undefined {
  if (before === after) return undefined;
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before.charCodeAt(start) === after.charCodeAt(start)) start += 1;
  while (start > 0 && (isTorn(before, start) || isTorn(after, start))) start -= 1;
  let end = 0;
  while (end < most - start && before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end)) end += 1;
  while (end > 0 && (isTorn(before, before.length - end) || isTorn(after, after.length - end))) end -= 1;
  const starts = lineStarts(before);
  return {
    range: { start: positionAt(before, starts, start, encoding), end: positionAt(before, starts, before.length - end, encoding) },
    text: after.slice(start, after.length - end),
  };
}

/** Whether the place lies within a surrogate pair or a CR LF. */
function isTorn(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false;
  const [left, right] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return (left === 13 && right === 10) || (left >= 0xd800 && left <= 0xdbff && right >= 0xdc00 && right <= 0xdfff);
}
