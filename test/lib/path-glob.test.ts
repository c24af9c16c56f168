import * as fc from 'fast-check';
import picomatch from 'picomatch';
import { describe, expect, it } from 'vitest';
import { pathGlob } from '#lib/path-glob.ts';

const fits = (pattern: string, path: string): boolean | undefined => pathGlob(pattern)?.(path);

describe('a glob over paths', () => {
  it.each([
    ['*.ts', 'a.ts', true], ['*.ts', 'src/a.ts', false], ['**/*.ts', 'a.ts', true], ['**/*.ts', 'src/deep/a.ts', true],
    ['src/**', 'src/a/b.ts', true], ['src/**', 'lib/a.ts', false], ['src/', 'src/a/b.ts', true], ['./src/*.ts', 'src/a.ts', true], ['/src/*.ts', 'src/a.ts', true],
    ['src/**/*.{ts,tsx}', 'src/a/b.tsx', true], ['src/**/*.{ts,tsx}', 'src/b.ts', true], ['src/**/*.{ts,tsx}', 'src/b.css', false],
    ['{a,b/{c,d}}/x', 'b/d/x', true], ['{a,b/{c,d}}/x', 'b/x', false], ['{a}/x', '{a}/x', true], ['{a/x', '{a/x', true], ['{,b}x', 'x', true],
    ['a?c', 'abc', true], ['a?c', 'a/c', false], ['[a-c]x', 'bx', true], ['[!a-c]x', 'bx', false], ['[!a-c]x', 'dx', true], ['[a', '[a', true], ['[]]x', ']x', true],
    ['\\*.ts', '*.ts', true], ['\\*.ts', 'a.ts', false], ['.github/**', '.github/workflows/a.yml', true], ['*', '.env', true],
    ['a/**/b', 'a/b', true], ['a/**/b', 'a/x/y/b', true], ['a/**/b/**/c', 'a/b/x/b/c', true], ['**', 'any/thing', true], ['é*', 'e\u0301a', true], ['a**b', 'axxb', true],
  ])('%s and %s: %s', (pattern, path, expected) => {
    expect(fits(pattern, path)).toBe(expected);
  });
  it('is none where it cannot be used', () => {
    for (const pattern of ['', ' ', '/', 'x'.repeat(1001), '{a,b}'.repeat(20)]) expect(pathGlob(pattern)).toBeUndefined();
  });
  it('takes no time over a pattern that was made to take for ever', () => {
    expect(fits(`${'*a'.repeat(400)}*b`, 'a'.repeat(250))).toBe(false);
    expect(fits(`${'**/a/'.repeat(150)}b`, `${'a/'.repeat(400)}c`)).toBe(false);
    expect(pathGlob('{'.repeat(900))?.('x')).toBe(false);
  });
  it('says what the well-known library says of plain patterns', () => {
    const name = fc.stringMatching(/^[ab.]{1,4}$/).filter((text) => !/^\.{1,2}$/.test(text));
    const part = fc.oneof(name, fc.constantFrom('*', '**', 'a*', '*b', '?', '[ab]', '*.{a,b}'));
    fc.assert(fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), fc.array(name, { minLength: 1, maxLength: 4 }), (parts, names) => {
      const [pattern, path] = [parts.join('/'), names.join('/')];
      // A trailing `/**` fits the folder itself there; a file is never its own folder here.
      fc.pre(!pattern.endsWith('/**') || !picomatch.isMatch(path, pattern.slice(0, -3), { dot: true }));
      expect(`${pattern} ${path} ${fits(pattern, path)}`).toBe(`${pattern} ${path} ${picomatch.isMatch(path, pattern, { dot: true, nonegate: true, noextglob: true })}`);
    }), { numRuns: 1000 });
  });
});
