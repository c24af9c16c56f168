import { describe, expect, it } from 'vitest';
import { hasUnseen, marked, visible, visibleLine } from '#gate/visible.ts';

describe('text as a person must see it', () => {
  it.each([
    ['ls \u202e; rm x', 'ls <U+202E>; rm x'],
    ['a\u200bb', 'a<U+200B>b'],
    ['a\u00a0b', 'a<U+00A0>b'],
    ['\u{e0072}\u{e006d}', '<U+E0072><U+E006D>'],
    ['x\ufe01', 'x<U+FE01>'],
    ['\ue000', '<U+E000>'],
    ['a\u0007\u001b[31m', 'a<U+0007><U+001B>[31m'],
    ['\ud800', '<U+D800>'],
    ['ls\rrm', 'ls<U+000D>rm'],
    ['ᅟx', '<U+115F>x'],
  ])('marks %j', (text, shown) => { expect(visible(text)).toBe(shown); });
  it('leaves what can be seen', () => {
    for (const text of ['ls -la src/名前 ファイル.ts', 'naïve e\u0301', '👩\u200d💻 ❤\ufe0f', 'a\n\tb', 'short    gap']) {
      expect(visible(text)).toBe(text);
      expect(hasUnseen(text)).toBe(false);
    }
    expect(hasUnseen('ls\r\nls')).toBe(false);
    expect(hasUnseen('a\u200b')).toBe(true);
  });
  it('folds padding with its count and cuts nothing', () => {
    expect(visible(`ls${' '.repeat(300)}; rm x`)).toBe('ls <300 spaces> ; rm x');
    expect(visible(`ls${'\n'.repeat(200)}rm x`)).toBe('ls\n<199 empty lines>\nrm x');
    expect(visible(`${'a'.repeat(50_000)}; rm`)).toHaveLength(50_004);
    expect(marked(`x${' '.repeat(40)}y`)).toBe(`x${' '.repeat(40)}y`);
  });
  it('puts a line on one line', () => {
    expect(visibleLine('a\nb\tc\r\nd')).toBe('a␊b c␊d');
  });
});
