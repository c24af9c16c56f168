import { expect, it } from 'vitest';
import type { Symbol } from '#domain/languages.ts';
import { completeSymbol } from '#main/complete-symbol.ts';

const symbol = (name: string, path: string, more: Partial<Symbol> = {}): Symbol => ({ name, kind: 'function', path, line: 12, column: 1, toLine: 20, ...more });

it('symbols are mentions of their lines, marked with kind and place', async () => {
  const asked: string[] = [];
  const languages = { symbols: (query: string) => {
    asked.push(query);
    return Promise.resolve([symbol('greet', '/w/src/a.ts'), symbol('gr\n\u202eeet', '/w/my file.ts', { toLine: 12, container: 'Door', kind: 'method' }), symbol('greeting', '/elsewhere/x.ts'), ...Array.from({ length: 20 }, (_, i) => symbol(`greet${i}`, '/w/b.ts'))]);
  } };
  const found = await completeSymbol(languages, '/w', 'gre');
  expect(found.slice(0, 2)).toEqual([
    { insert: '@src/a.ts#12-20', label: 'greet  function  src/a.ts:12' },
    { insert: '@"my file.ts"#12', label: 'gr eet  method in Door  my file.ts:12' },
  ]);
  expect(found).toHaveLength(8);
  expect(await completeSymbol(languages, '/w', 'g')).toEqual([]);
  expect(await completeSymbol(languages, '/w', 'src/gre')).toEqual([]);
  expect(await completeSymbol(languages, '/w', '"gre')).toEqual([]);
  expect(asked).toEqual(['gre']);
});

it('a server that dawdles or fails costs nothing but its own lines', async () => {
  let aborted = false;
  const slow = { symbols: (_query: string, signal: AbortSignal) => new Promise<never>(() => { signal.addEventListener('abort', () => { aborted = true; }); }) };
  expect(await completeSymbol(slow, '/w', 'gre')).toEqual([]);
  expect(aborted).toBe(true);
  expect(await completeSymbol({ symbols: () => Promise.reject(new Error('broken')) }, '/w', 'gre')).toEqual([]);
});
