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

/** Number (from 1) of the line in which the character at `offset` stands. */
export function lineAt(text: string, offset: number): number {
  const end = text.includes('\n') ? '\n' : '\r';
  let line = 1;
  for (let at = text.indexOf(end); at !== -1 && at < offset; at = text.indexOf(end, at + 1)) line += 1;
  return line;
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
