import fc from 'fast-check';
import { applyPatch } from 'diff';
import { describe, expect, it } from 'vitest';
import { lineDiff } from '#lib/line-diff.ts';

describe('a line diff', () => {
  it('has hunks with line numbers and counts', () => {
    expect(lineDiff('a\nb\nc\n', 'a\nB\nc\nd\n')).toEqual({ patch: '@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d', added: 2, removed: 1 });
  });
  it('counts from the first line that it is told', () => {
    expect(lineDiff('a\n', 'b\n', 10)?.patch).toBe('@@ -10,1 +10,1 @@\n-a\n+b');
  });
  it('is empty for equal texts', () => {
    expect(lineDiff('a', 'a')).toEqual({ patch: '', added: 0, removed: 0 });
  });
  it('gives up on texts that are too different', () => {
    const text = (word: string): string => Array.from({ length: 20_000 }, (_, i) => `${word} ${i}\n`).join('');
    expect(lineDiff(text('a'), text('b'))).toBeUndefined();
  });
  it('leads from the one text to the other', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 30 }).map((lines) => lines.map((line) => `${line}\n`).join(''));
    fc.assert(fc.property(text, text, (before, after) => {
      const diff = lineDiff(before, after);
      expect(applyPatch(before, `--- a\n+++ b\n${diff?.patch ?? ''}\n`)).toBe(after);
    }));
  });
});
