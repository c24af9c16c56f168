import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSanitiser, expandTabs, sanitise, truncateTo, width, wrapLines } from '#lib/terminal.ts';

// What a terminal could take as more than print: C0 without tab and line feed, DEL, C1, direction controls, lone surrogates.
const HARM = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

describe('sanitise', () => {
  it('keeps what can be printed', () => {
    const text = 'naïve\tfn() {\n  return "日本 👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 é क्षि";\n}';
    expect(sanitise(text)).toBe(text);
  });
  it.each([
    ['OSC 52 (clipboard)', '\x1b]52;c;aGk=\x07', '␛]52;c;aGk=␇'],
    ['OSC 0 (title)', '\x1b]0;t\x1b\\', '␛]0;t␛\\'],
    ['OSC 8 (link)', '\x1b]8;;http://x\x07y\x1b]8;;\x07', '␛]8;;http://x␇y␛]8;;␇'],
    ['OSC 9;7 (run)', '\x1b]9;7;calc\x1b\\', '␛]9;7;calc␛\\'],
    ['DCS', '\x1bP+q544e\x1b\\', '␛P+q544e␛\\'],
    ['APC', '\x1b_Gx\x1b\\', '␛_Gx␛\\'],
    ['cursor report', '\x1b[6n', '␛[6n'],
    ['reset', '\x1bc', '␛c'],
    ['clear', '\x1b[2J\x1b[3J', '␛[2J␛[3J'],
    ['8-bit CSI', '\u009b31m', '<U+009B>31m'],
    ['unterminated OSC', '\x1b]2;never', '␛]2;never'],
    ['carriage return', 'good\rbad', 'good␍bad'],
    ['backspace', 'ab\b', 'ab␈'],
    ['DEL', 'a\x7f', 'a␡'],
    ['right-to-left override', 'a\u202eb', 'a<U+202E>b'],
    ['zero-width space', 'a\u200bb', 'a<U+200B>b'],
    ['hidden tag characters', 'a\u{e0041}\u{e007f}', 'a<U+E0041><U+E007F>'],
    ['lone surrogates', 'a\ud800b\udc00', 'a\ufffdb\ufffd'],
    ['Windows line ends', 'a\r\nb', 'a\nb'],
    ['NUL', 'a\0', 'a␀'],
  ])('shows %s', (_, from, to) => { expect(sanitise(from)).toBe(to); });

  it('drops colours when asked, and only those', () => {
    expect(sanitise('\x1b[1;31mred\x1b[0m \x1b[2Jx', { dropColours: true })).toBe('red ␛[2Jx');
  });
  it('keeps one line one line', () => {
    expect(sanitise('a\nb\x1b', { newlines: false })).toBe('a␊b␛');
  });
  it('expands tabs by display columns', () => {
    expect(sanitise('a\tb\n日\tc', { tabs: 4 })).toBe('a   b\n日  c');
    expect(expandTabs('\t', 8)).toBe('        ');
  });
  it('never lets a control through, is idempotent, and changes no clean text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
      const clean = sanitise(text);
      expect(HARM.test(clean)).toBe(false);
      expect(clean.isWellFormed()).toBe(true);
      expect(sanitise(clean)).toBe(clean);
    }));
  });
  it('takes a megabyte of escapes in linear time', () => {
    expect(sanitise('\x1b['.repeat(500_000), { dropColours: true }).length).toBe(1_000_000);
    expect(sanitise('\x1b[1;'.repeat(250_000), { dropColours: true }).length).toBe(1_000_000);
  });
});

describe('the streaming sanitiser', () => {
  const pieces = fc.array(fc.constantFrom('a', '日', '\t', '\n', '\r', '\r\n', '\x1b', '[', '31', 'm', '\x1b[0m', '\ud83d', '\ude00', '\u009b', ' '), { maxLength: 30 });
  it.each([{}, { dropColours: true }, { tabs: 4 }, { tabs: 4, dropColours: true }])('gives the same over any chunks (%o)', (options) => {
    fc.assert(fc.property(pieces, (chunks) => {
      const stream = createSanitiser(options);
      const parts = chunks.map((chunk) => stream.push(chunk)).join('') + stream.end();
      expect(parts).toBe(sanitise(chunks.join(''), options));
    }));
  });
});

describe('widths', () => {
  it('counts columns', () => {
    expect([width('abc'), width('日本'), width('👩‍👩‍👧'), width('\x1b[1mx\x1b[0m'), width('e\u0301')]).toEqual([3, 4, 2, 1, 1]);
  });
  it('wraps between words, else inside, never beyond the columns', () => {
    expect(wrapLines('one two', 5)).toEqual(['one ', 'two']);
    expect(wrapLines('abcdef\n', 4)).toEqual(['abcd', 'ef', '']);
    fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), fc.integer({ min: 8, max: 20 }), (text, columns) => {
      for (const line of wrapLines(sanitise(text, { tabs: 4 }), columns)) expect(width(line)).toBeLessThanOrEqual(columns);
    }));
  });
  it('cuts at columns, not inside a grapheme', () => {
    expect(truncateTo('abcdef', 4)).toBe('abc…');
    expect(truncateTo('abcd', 4)).toBe('abcd');
    expect(truncateTo('日本語', 4)).toBe('日…');
    expect(truncateTo('a👩‍👩‍👧b', 3)).toBe('a…');
    expect(truncateTo('abc', 0)).toBe('');
  });
});
