import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRanking } from '#mentions/rank.ts';

function rankingOf(...paths: readonly string[]): ReturnType<typeof createRanking> {
  const ranking = createRanking();
  ranking.add(paths);
  return ranking;
}

describe('ranking', () => {
  it('adds the folders above each path', () => {
    const ranking = rankingOf('src/deep/a.ts', 'src/b.ts', 'lib/');
    expect(ranking.search('src').paths).toContain('src/');
    expect(ranking.search('deep').paths).toEqual(['src/deep/', 'src/deep/a.ts']);
    expect(ranking.size()).toBe(5);
  });
  it('finds letters in order, whatever their case, best first', () => {
    const ranking = rankingOf('src/ui/TokenCache.ts', 'docs/the-old-kitchen-can-hear.md', 'src/token/cache-store.ts', 'README.md');
    expect(ranking.search('tokencache').paths[0]).toBe('src/ui/TokenCache.ts');
    expect(ranking.search('tokcach').paths).toContain('src/token/cache-store.ts');
    expect(ranking.search('rdme').paths).toEqual(['README.md']);
    expect(ranking.search('zq').paths).toEqual([]);
  });
  it('keeps the right name among many rough matches', () => {
    const many = Array.from({ length: 3000 }, (_, at) => `packages/p${at}/configuration/internal/notes-for-gate-${at}.txt`);
    const ranking = rankingOf(...many, 'src/config.ts');
    const { paths, matches } = ranking.search('config.t');
    expect(paths[0]).toBe('src/config.ts');
    expect(matches).toBeGreaterThan(2000);
    expect(ranking.search('config').paths.slice(0, 3)).toContain('src/config.ts');
  });
  it('answers a narrowed query as a fresh one', () => {
    const ranking = rankingOf('src/alpha.ts', 'src/beta.ts', 'alphabet.md');
    ranking.search('al');
    expect(ranking.search('alph').paths).toEqual(rankingOf('src/alpha.ts', 'src/beta.ts', 'alphabet.md').search('alph').paths);
    ranking.add(['alphorn.md']);
    expect(ranking.search('alpho').paths).toEqual(['alphorn.md']);
    expect(ranking.search('beta').paths).toEqual(['src/beta.ts']);
  });
  it('shows shallow paths first while nothing is typed, hidden ones last on their level', () => {
    expect(rankingOf('src/deep/a.ts', '.env', 'b.md', 'src/c.ts').shallow(10)).toEqual(['b.md', 'src/', '.env', 'src/c.ts', 'src/deep/', 'src/deep/a.ts']);
    expect(rankingOf('src/deep/a.ts', 'b.md').shallow(1)).toEqual(['b.md']);
  });
  it('takes any name and any query', () => {
    fc.assert(fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 10 }), { maxLength: 8 }), fc.string({ unit: 'binary', maxLength: 5 }), (paths, query) => {
      const ranking = rankingOf(...paths);
      for (const path of ranking.search(query).paths) expect(paths.some((given) => given === path || given.startsWith(path))).toBe(true);
    }));
  });
});
