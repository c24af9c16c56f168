import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bothEnds, cutToBytes, cutToLength, wellFormed } from '#lib/text.ts';

describe('cutting text', () => {
  it('keeps what fits', () => {
    expect(cutToBytes('naïve', 6)).toBe('naïve');
    expect(cutToLength('abc', 3)).toBe('abc');
  });
  it('cuts before the character that does not fit', () => {
    expect(cutToBytes('naïve', 3)).toBe('na');
    expect(cutToBytes('naïve', 4)).toBe('naï');
  });
  it('splits no grapheme', () => {
    const family = '👩‍👩‍👧';
    expect(cutToBytes(`a${family}b`, 10)).toBe('a');
    expect(cutToLength(`a${family}b`, 4)).toBe('a');
    expect(cutToLength('e\u0301x', 1)).toBe('');
  });
  it('tears no flag out of a long run of them', () => {
    const flags = `a${'🇩🇪'.repeat(40)}`;
    expect(cutToLength(flags, 100)).toBe(`a${'🇩🇪'.repeat(24)}`);
    expect(cutToLength(flags, 102)).toBe(`a${'🇩🇪'.repeat(25)}`);
    expect(cutToBytes(flags, 100)).toBe(`a${'🇩🇪'.repeat(12)}`);
  });
  it('never passes the limit and always gives a well-formed beginning of the text', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.nat(300), (text, limit) => {
      const cut = cutToBytes(text, limit);
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(limit);
      expect(text.startsWith(cut)).toBe(true);
      expect(cut.isWellFormed()).toBe(true);
    }));
  });
});

it('replaces lone surrogates only', () => {
  expect(wellFormed('a\ud800b')).toBe('a\ufffdb');
  expect(wellFormed('😀')).toBe('😀');
});

it('a command for people keeps its quotes and arrows, on one line; of a long one both ends are shown', () => {
  expect(bothEnds(String.raw`jq -r '"\(.a)"' >> ~/log`, 60)).toBe(String.raw`jq -r '"\(.a)"' >> ~/log`);
  expect(bothEnds('cat <<E\n  a\nE\n', 60)).toBe('cat <<E ␊ a ␊ E');
  expect(bothEnds('abcdefghij', 6)).toBe('abc…hij');
  expect(bothEnds('abc\u{1f600}\u{1f600}', 3)).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/);
});
