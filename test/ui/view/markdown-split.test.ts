import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { beyond, type Piece, splitMarkdown } from '#ui/markdown-split.ts';

/** As the reducer does it: cut at each delta that holds a line's end, the rest at the end. */
function inSteps(text: string, size: number): readonly Piece[] {
  const pieces: Piece[] = [];
  let rest = '';
  let joined = false;
  for (let at = 0; at < text.length; at += size) {
    rest += text.slice(at, at + size);
    const split = splitMarkdown(rest, joined, false);
    pieces.push(...split.pieces);
    ({ rest, joined } = split);
  }
  return [...pieces, ...splitMarkdown(rest, joined, true).pieces];
}

const block = fc.oneof(
  fc.constant('# heading'),
  fc.constant('a paragraph\nof two lines'),
  fc.integer({ min: 1, max: 130 }).map((n) => Array.from({ length: n }, (_, i) => `- item ${i}`).join('\n')),
  fc.integer({ min: 1, max: 130 }).map((n) => Array.from({ length: n }, (_, i) => `${i + 1}. item ${i}`).join('\n')),
  fc.integer({ min: 1, max: 160 }).map((n) => `\`\`\`js\n${Array.from({ length: n }, (_, i) => `line(${i})`).join('\n')}\n\`\`\``),
  fc.integer({ min: 1, max: 120 }).map((n) => Array.from({ length: n }, (_, i) => `plain line ${i}`).join('\n')),
  fc.constant('| a | b |\n|---|---|\n| 1 | 2 |'),
  fc.constant('> quote'),
  fc.constant('---'),
);

describe('cutting Markdown into blocks', () => {
  it('gives the same pieces in steps as at once', () => {
    fc.assert(fc.property(fc.array(block, { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: 400 }), (blocks, size) => {
      const text = blocks.join('\n\n');
      expect(inSteps(text, size)).toEqual(splitMarkdown(text, false, true).pieces);
    }), { numRuns: 60 });
  });

  it('takes the end of a line for no line of its own', () => {
    const text = `${Array.from({ length: 50 }, (_, i) => `line ${i}`).join('\n')}\n\nnext`;
    expect(inSteps(text, 61).map(({ joined }) => joined)).toEqual([false, false]);
  });

  it('loses and doubles no word, whatever the text', () => {
    const words = (text: string): string => text.replace(/\s+/g, '');
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom('a', ' ', '\n', '#', '-', '*', '>', '|', '1', '.', '[', ']', ':', '=', '<', '\t', '_') , maxLength: 200 }), fc.integer({ min: 1, max: 20 }), (text, size) => {
      expect(words(inSteps(text, size).map(({ raw }) => raw).join('\n'))).toBe(words(text));
    }), { numRuns: 300 });
  });

  it('holds the last two blocks back while more may come', () => {
    const { pieces, rest } = splitMarkdown('one\n\ntwo\n\nthree\n\nfour', false, false);
    expect(pieces.map(({ raw }) => raw.trim())).toEqual(['one', 'two']);
    expect(rest).toBe('three\n\nfour');
  });

  it('finishes a long listing part by part, each a listing of its own', () => {
    const lines = Array.from({ length: 120 }, (_, i) => `line ${i}`);
    const { pieces, rest } = splitMarkdown(`before\n\n\`\`\`txt\n${lines.join('\n')}`, false, false);
    expect(pieces.map(({ joined }) => joined)).toEqual([false, false, true]);
    expect(pieces[1]?.raw).toBe(`\`\`\`txt\n${lines.slice(0, 50).join('\n')}\n\`\`\``);
    expect(rest).toBe(`\`\`\`txt\n${lines.slice(100).join('\n')}`);
  });

  it('numbers a long list on, however it was numbered', () => {
    const { pieces } = splitMarkdown(Array.from({ length: 120 }, () => '1. item').join('\n'), false, true);
    expect(pieces.map(({ raw }) => raw.split('\n', 1)[0])).toEqual(['1. item', '51. item', '101. item']);
  });
});

describe('what an entry has beyond what streamed', () => {
  it.each([
    ['abc', 'ab', 'c'],
    ['a\n\nb', 'ab', ''],
    ['ab', 'a\n\nb', ''],
    ['other', 'ab', 'other'],
    ['', '', ''],
    ['x', '', 'x'],
  ])('%j beyond %j is %j', (whole, seen, rest) => { expect(beyond(whole, seen)).toBe(rest); });
});
