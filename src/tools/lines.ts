/**
 * Lines as Read numbers them: ended by LF or CRLF; by a lone CR only where the text has no LF at all. A text that ends in
 * a line end has no empty last line.
 */
export function linesOf(text: string): string[] {
  if (text === '') return [];
  const lines = text.includes('\n') ? text.split(/\r?\n/) : text.split('\r');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Numbers (from 1) of the lines in which the characters at `offsets` (ascending) stand. */
export function linesAt(text: string, offsets: readonly number[]): number[] {
  const end = text.includes('\n') ? '\n' : '\r';
  let line = 1;
  let next = text.indexOf(end);
  return offsets.map((offset) => {
    for (; next !== -1 && next < offset; next = text.indexOf(end, next + 1)) line += 1;
    return line;
  });
}

/** `  12⇥text`, as `cat -n` prints it. */
export function numbered(lines: readonly string[], first: number): string {
  return lines.map((line, index) => `${String(first + index).padStart(6)}\t${line}`).join('\n');
}

export type LineEnd = '\n' | '\r\n' | '\r';

/** The line end that most lines of the text have; undefined for a text of one line. */
export function lineEndOf(text: string): LineEnd | undefined {
  const tally = { '\n': 0, '\r\n': 0, '\r': 0 };
  for (const [end] of text.matchAll(/\r\n|\n|\r/g)) tally[end as LineEnd] += 1;
  const [most] = (Object.entries(tally) as [LineEnd, number][]).sort((a, b) => b[1] - a[1]);
  return most === undefined || most[1] === 0 ? undefined : most[0];
}
