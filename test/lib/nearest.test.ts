import { describe, expect, it } from 'vitest';
import { nearest } from '#lib/nearest.ts';

const WORDS = ['context', 'compact', 'cost', 'clear', 'pin', 'unpin', '?'];

describe('nearest', () => {
  it('takes slips of every kind', () => {
    expect(['contxt', 'conntext', 'comtext', 'cnotext', 'CONTEXT', 'pni', 'upin', 'claer'].map((word) => nearest(word, WORDS)))
      .toEqual(['context', 'context', 'context', 'context', 'context', 'pin', 'pin', 'clear']);
  });

  it('takes a beginning for the whole, the first that fits', () => {
    expect(nearest('co', WORDS)).toBe('context');
    expect(nearest('unp', WORDS)).toBe('unpin');
    expect(nearest('src/a.ts', ['src/b.ts', 'src/a.ts#10-40'])).toBe('src/a.ts#10-40');
  });

  it('gives nothing when nothing is meant', () => {
    expect(['', 'x', 'deploy', 'z'.repeat(100_000)].map((word) => nearest(word, WORDS))).toEqual([undefined, undefined, undefined, undefined]);
    expect(nearest('pin', [])).toBeUndefined();
  });
});
