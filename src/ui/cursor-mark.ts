const MARK = /\u{e0063}([\u{e0030}-\u{e0039}]+)\u{e007f}/u;

/**
 * Says where the real cursor stands in a line of the frame: at `column` (from 0). Goes directly behind a space of that line.
 * The stdout object takes it out and puts the cursor there, in the same write as the frame, so that an input method's window
 * opens in the right place. It is made of characters that join the space and take no column, so layout does not see it;
 * the sanitiser lets none of them in from outside.
 */
export function cursorMark(column: number): string {
  const digits = Array.from(String(Math.max(0, Math.trunc(column))), (digit) => String.fromCodePoint(0xe0030 + Number(digit))).join('');
  return `\u{e0063}${digits}\u{e007f}`;
}

/** A line without its mark, and the column that it told. */
export function takeCursorMark(line: string): { readonly line: string; readonly column: number | undefined } {
  const found = MARK.exec(line);
  if (found === null) return { line, column: undefined };
  const column = Number(Array.from(found[1] ?? '', (tag) => String((tag.codePointAt(0) ?? 0xe0030) - 0xe0030)).join(''));
  return { line: line.slice(0, found.index) + line.slice(found.index + found[0].length), column };
}
