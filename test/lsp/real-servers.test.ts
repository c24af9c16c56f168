import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BIN, signal, TSSERVER, workshop } from './support.ts';

const TS = { 'tsconfig.json': '{"compilerOptions":{"strict":true,"noEmit":true}}', 'b.ts': 'export function f(n: number): number {\n  return n;\n}\n', 'a.ts': 'import { f } from "./b";\nconst old: string = 1;\nexport const y: number = f(1);\n' };

describe('tsc --lsp (answers when asked)', () => {
  it('tells what is new since before the edit, in dependent files too, and that it is gone', async () => {
    const shop = workshop(TS, { bins: ['tsc'] });
    shop.read('a.ts');
    shop.read('b.ts');
    expect(await shop.moment()).toEqual([]);
    await shop.until((files) => files.length === 2);
    shop.write('a.ts', 'import { f } from "./b";\n// a line above\nconst old: string = 1;\nexport const y: string = f(1);\n');
    const first = await shop.until((files) => shop.fresh(files).length > 0);
    expect(shop.fresh(first)).toEqual(["a.ts:4:14 error Type 'number' is not assignable to type 'string'."]);
    expect(first.find(({ label }) => label === 'a.ts')).toMatchObject({ whole: true, reports: [{ line: 3, fresh: false }, { line: 3, severity: 'hint', fresh: false }, { line: 4, fresh: true, text: 'export const y: string = f(1);', source: 'ts', code: '2322' }] });
    shop.write('b.ts', 'export function f(n: string): string {\n  return n;\n}\n');
    const second = await shop.until((files) => shop.fresh(files).some((one) => one.includes('2345') || one.includes('Argument')));
    expect(shop.fresh(second)).toEqual(["a.ts:4:28 error Argument of type 'number' is not assignable to parameter of type 'string'."]);
    shop.write('b.ts', TS['b.ts']);
    shop.write('a.ts', TS['a.ts']);
    const third = await shop.until((files) => files.length === 2 && shop.fresh(files).length === 0);
    expect(Object.fromEntries(third.map(({ label, reports }) => [label, reports.length]))).toEqual({ 'a.ts': 2, 'b.ts': 0 });
  });

  it('knows what was wrong before when it is started by the edit itself, and after a resume', async () => {
    const shop = workshop(TS, { bins: ['tsc'] });
    shop.read('a.ts');
    shop.write('a.ts', `${TS['a.ts']}export const z: string = f(2);\n`);
    const found = await shop.until((files) => files.length > 0);
    expect(shop.fresh(found)).toEqual(["a.ts:4:14 error Type 'number' is not assignable to type 'string'."]);
  });

  it('a new file has nothing before; one in a file that nobody had read is not called new', async () => {
    const shop = workshop({ ...TS, 'c.ts': 'const c: string = 3;\n' }, { bins: ['tsc'] });
    shop.write('new.ts', 'export const n: string = 1;\n');
    expect(shop.fresh(await shop.until((files) => shop.fresh(files).length > 0))).toEqual(["new.ts:1:14 error Type 'number' is not assignable to type 'string'."]);
  });

  it('hears of files that others make and change', async () => {
    let names = ['tsconfig.json', 'a.ts', 'b.ts'];
    const before = names;
    let release = (): void => undefined;
    // The first look at the project takes until somebody has changed it.
    let held: Promise<readonly string[]> | undefined = new Promise((resolve) => { release = () => { resolve(before); }; });
    const shop = workshop(TS, { bins: ['tsc'], files: () => held ?? Promise.resolve(names) });
    shop.read('a.ts');
    await shop.until((files) => files.length === 1);
    shop.write('a.ts', 'import { g } from "./made";\nexport const y: number = g;\n');
    await shop.until((files) => shop.fresh(files).some((one) => one.includes('./made')));
    shop.change('made.ts', 'export const g = 1;\n');
    names = [...names, 'made.ts'];
    held = undefined;
    shop.session.append({ type: 'prompt', text: 'there it is' });
    await shop.moment();
    release();
    await shop.until((files) => files.length === 1 && shop.fresh(files).length === 0);
  }, 60_000);

  it('answers questions', async () => {
    const shop = workshop({ ...TS, 'wide.ts': '\uFEFFconst s = "😀é"; export const after = s;\r\nexport const q = after;\r\n' }, { bins: ['tsc'] });
    const path = join(shop.root, 'a.ts');
    const ask = (question: Parameters<typeof shop.languages.ask>[0]) => shop.languages.ask(question, signal);
    expect(await ask({ operation: 'definition', path, line: 3, name: 'f' })).toMatchObject({ kind: 'places', places: [{ path: join(shop.root, 'b.ts'), line: 1, column: 17, text: 'export function f(n: number): number {' }] });
    expect(await ask({ operation: 'definition', path: join(shop.root, 'wide.ts'), line: 2, name: 'after' })).toMatchObject({ places: [{ line: 1, column: 31 }] });
    expect(await ask({ operation: 'references', path: join(shop.root, 'b.ts'), name: 'f' })).toMatchObject({ places: [{ line: 1 }, { line: 1 }, { line: 3 }] });
    expect(await ask({ operation: 'hover', path, line: 3, name: 'f' })).toMatchObject({ kind: 'text', text: expect.stringContaining('f(n: number): number') as unknown });
    expect(await ask({ operation: 'documentSymbols', path: join(shop.root, 'b.ts') })).toMatchObject({ places: [{ name: 'f', kind: 'function', line: 1 }] });
    expect(await ask({ operation: 'callers', path: join(shop.root, 'b.ts'), line: 1, name: 'f' })).toMatchObject({ kind: 'places' });
    expect(await ask({ operation: 'diagnostics', path })).toMatchObject({ kind: 'reports', reports: [{ line: 2, severity: 'error' }, { line: 2, severity: 'hint' }] });
    expect(await ask({ operation: 'workspaceSymbols', query: 'f' })).toMatchObject({ places: expect.arrayContaining([expect.objectContaining({ name: 'f', kind: 'function' })]) as unknown });
    expect(await shop.languages.symbols('af', signal)).toMatchObject([{ name: 'after', line: 1 }]);
    expect(await ask({ operation: 'definition', path, line: 3, name: 'nothere' })).toEqual({ kind: 'problem', problem: '"nothere" does not stand on line 3: export const y: number = f(1);' });
    expect(await ask({ operation: 'definition', path, line: 99 })).toMatchObject({ problem: 'The file has only 4 lines.' });
    const library = await ask({ operation: 'definition', path: join(shop.root, 'b.ts'), line: 1, name: 'number' });
    expect(library.kind).toBe('places');
  });
});

it('typescript-language-server (says so unasked, without a version, in several parts)', async () => {
  const shop = workshop(TS, { configured: () => ({ typescript: { command: join(BIN, 'typescript-language-server'), args: ['--stdio'], extensions: { '.ts': 'typescript' }, env: {}, rootMarkers: [], initializationOptions: { tsserver: { path: TSSERVER, useSyntaxServer: 'never' } } } }) });
  shop.read('a.ts');
  await shop.until((files) => files.some(({ whole }) => whole));
  shop.write('a.ts', `// above\n${TS['a.ts'].replace('y: number', 'y: string')}`);
  const first = await shop.until((files) => shop.fresh(files).length > 0);
  expect(shop.fresh(first)).toEqual(["a.ts:4:14 error Type 'number' is not assignable to type 'string'."]);
  shop.write('a.ts', TS['a.ts']);
  await shop.until((files) => files.some(({ whole, reports }) => whole && reports.filter(({ severity }) => severity === 'error').length === 1));
}, 120_000);

it('bash-language-server', async () => {
  const shop = workshop({ 's.sh': 'greet() { echo hi; }\n\ngreet\n' }, { bins: ['bash-language-server'] });
  const path = join(shop.root, 's.sh');
  expect(await shop.languages.ask({ operation: 'definition', path, line: 3, name: 'greet' }, signal)).toMatchObject({ places: [{ line: 1 }] });
  expect(await shop.languages.ask({ operation: 'documentSymbols', path }, signal)).toMatchObject({ places: [{ name: 'greet', kind: 'function' }] });
  expect(await shop.languages.ask({ operation: 'implementation', path, line: 3, name: 'greet' }, signal)).toEqual({ kind: 'problem', problem: 'bash does not know implementations.' });
});
