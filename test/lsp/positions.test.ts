import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { changeBetween, characterOf, columnOf, lineStarts, lineText, type Position, type PositionEncoding } from '#lsp/positions.ts';

const text = fc.array(fc.constantFrom('a', 'b', ' ', '\n', '\r\n', '\r', 'é', '日', '\u{1F600}', '\u{1F601}', '\u{10000}')).map((parts) => parts.join(''));
const encoding = fc.constantFrom<PositionEncoding>('utf-16', 'utf-8');

function offsetOf(whole: string, { line, character }: Position, how: PositionEncoding): number {
  const starts = lineStarts(whole);
  return (starts[line] ?? 0) + columnOf(whole.slice(starts[line] ?? 0, starts[line + 1] ?? whole.length), character, how);
}

it('one change makes the one text of the other, and tears nothing apart', () => {
  fc.assert(fc.property(text, text, text, encoding, (head, middle, other, how) => {
    const [before, after] = [head + middle + head, head + other + head];
    const change = changeBetween(before, after, how);
    expect(change === undefined).toBe(before === after);
    if (change === undefined) return;
    const [start, end] = [offsetOf(before, change.range.start, how), offsetOf(before, change.range.end, how)];
    expect(before.slice(0, start) + change.text + before.slice(end)).toBe(after);
    expect(change.text.isWellFormed()).toBe(true);
    expect(before.slice(0, start).endsWith('\r') && before.slice(start).startsWith('\n')).toBe(false);
  }), { numRuns: 500 });
});

it('columns and characters are each other\'s opposite', () => {
  fc.assert(fc.property(text, encoding, fc.nat(30), (whole, how, at) => {
    const line = lineText(whole, lineStarts(whole), 0);
    const column = columnOf(line, characterOf(line, Math.min(at, line.length), how), how);
    expect(Math.abs(column - Math.min(at, line.length))).toBeLessThanOrEqual(1);
  }));
  expect(columnOf('\u{1F600}é x', 7, 'utf-8')).toBe(4);
  expect(columnOf('abc', 99, 'utf-16')).toBe(3);
  expect(lineText('a\r\nb\rc\nd', lineStarts('a\r\nb\rc\nd'), 2)).toBe('c');
});
