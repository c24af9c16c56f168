import { expect, it } from 'vitest';
import type { Symbol } from '#domain/languages.ts';
import { completeSymbol } from '#main/complete-symbol.ts';

const symbol = (name: string, path: string, more: Partial<Symbol> = {}): Symbol => ({ name, kind: 'function', path, line: 12, column: 1, toLine: 20, ...more });

const NONE = { items: [], more: false };

it('symbols are mentions of their lines, marked with kind and place', async () => {
  const asked: string[] = [];
  const languages = { symbols: (query: string) => {
    asked.push(query);
    return Promise.resolve([symbol('greet', '/w/src/a.ts'), symbol('gr\n\u202eeet', '/w/my file.ts', { toLine: 12, container: 'Door', kind: 'method' }), symbol('greeting', '/elsewhere/x.ts'), ...Array.from({ length: 20 }, (_, i) => symbol(`greet${i}`, '/w/b.ts'))]);
  } };
  const found = await completeSymbol(languages, '/w', 'gre');
  expect(found.more).toBe(false);
  expect(found.items.slice(0, 2)).toEqual([
    { insert: '@src/a.ts#12-20', label: 'greet  function  src/a.ts:12' },
    { insert: '@"my file.ts"#12', label: 'gr eet  method in Door  my file.ts:12' },
  ]);
  expect(found.items).toHaveLength(8);
  expect(await completeSymbol(languages, '/w', 'g')).toEqual(NONE);
  expect(await completeSymbol(languages, '/w', 'src/gre')).toEqual(NONE);
  expect(await completeSymbol(languages, '/w', '"gre')).toEqual(NONE);
  expect(asked).toEqual(['gre']);
});

it('a server that dawdles delays nothing: its answer is there when the same is asked again; one that fails has none', async () => {
  let answer = (_found: readonly Symbol[]): void => undefined;
  let asked = 0;
  const slow = { symbols: () => new Promise<readonly Symbol[]>((resolve) => {
    asked += 1;
    answer = resolve;
  }) };
  expect(await completeSymbol(slow, '/w', 'gre')).toEqual({ items: [], more: true });
  expect(await completeSymbol(slow, '/w', 'gre')).toEqual({ items: [], more: true });
  answer([symbol('greet', '/w/a.ts')]);
  expect(await completeSymbol(slow, '/w', 'gre')).toMatchObject({ items: [{ insert: '@a.ts#12-20' }], more: false });
  expect(asked).toBe(1);
  expect(await completeSymbol({ symbols: () => Promise.reject(new Error('broken')) }, '/w', 'gre')).toEqual(NONE);
});
