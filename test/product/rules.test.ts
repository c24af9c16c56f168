import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Planted {
  /** Path to text. */
  readonly files: Readonly<Record<string, string>>;
  /** What the linter is to say of the first file; undefined: nothing. */
  readonly rule: string | undefined;
}

const lines = (count: number): string => Array.from({ length: count }, (_, i) => `export const value${i} = ${i};`).join('\n');
const longFunction = (count: number): string => `export function long(): number {\n  let sum = 0;\n${'  sum += 1;\n'.repeat(count - 4)}  return sum;\n}\n`;
const importOf = (from: string, to: string): Planted => ({ files: { [from]: `import { thing } from '${to}';\n\nexport const other = thing;\n` }, rule: 'no-restricted-imports' });

const VIOLATIONS: Readonly<Record<string, Planted>> = {
  'a wing that imports another wing': importOf('src/tools/planted-1.ts', '#gate/rules.ts'),
  'a wing that imports main': importOf('src/loop/planted-2.ts', '#main/house.ts'),
  'a wing that imports a command': importOf('src/session/planted-3.ts', '#commands/pin.ts'),
  'domain that imports a wing': importOf('src/domain/planted-4.ts', '#session/session.ts'),
  'lib that imports domain': importOf('src/lib/planted-5.ts', '#domain/entry.ts'),
  'a command that imports the loop': importOf('commands/planted-6.ts', '#loop/query.ts'),
  'a command that imports another': importOf('commands/planted-7.ts', './pin.ts'),
  'a source that imports the store': importOf('src/attachments/sources/planted-8.ts', '#attachments/store.ts'),
  'a source that imports another': importOf('src/attachments/sources/planted-9.ts', './pins.ts'),
  'react outside ui': importOf('src/headless/planted-10.ts', 'react'),
  'the SDK outside client': importOf('src/loop/planted-11.ts', '@anthropic-ai/sdk'),
  'climbing into another room': importOf('src/tools/planted-12.ts', '../gate/rules.ts'),
  'climbing out of a folder of a wing': importOf('src/tools/kinds/planted-13.ts', '../../gate/rules.ts'),
  'two files that import each other': {
    files: {
      'src/lib/planted-14.ts': "import { b } from './planted-14b.ts';\n\nexport const a = (): number => b() + 1;\n",
      'src/lib/planted-14b.ts': "import { a } from './planted-14.ts';\n\nexport const b = (): number => a() + 1;\n",
    },
    rule: 'no-cycle',
  },
  'three files in a ring of types, by their aliases': {
    files: {
      'src/domain/planted-15.ts': "import type { B } from '#domain/planted-15b.ts';\n\nexport interface A { readonly b?: B }\n",
      'src/domain/planted-15b.ts': "import type { C } from '#domain/planted-15c.ts';\n\nexport interface B { readonly c?: C }\n",
      'src/domain/planted-15c.ts': "import type { A } from '#domain/planted-15.ts';\n\nexport interface C { readonly a?: A }\n",
    },
    rule: 'no-cycle',
  },
  'a file of 401 lines': { files: { 'src/lib/planted-16.ts': `${lines(401)}\n` }, rule: 'max-lines' },
  'a function of 61 lines': { files: { 'commands/planted-17.ts': longFunction(61) }, rule: 'max-lines-per-function' },
  'a launcher of 401 lines': { files: { 'bin/planted-18.js': `${lines(401)}\n` }, rule: 'max-lines' },
  'a barrel': { files: { 'src/lib/planted-19.ts': "export * from './names.ts';\n" }, rule: 'no-barrel-file' },
  'an any': { files: { 'src/lib/planted-20.ts': 'export const some = (value: any): string => String(value);\n' }, rule: 'no-explicit-any' },
  'a !': { files: { 'src/lib/planted-21.ts': 'export const first = (values: readonly string[]): string => values[0]!;\n' }, rule: 'no-non-null-assertion' },
  'a promise that nobody waits for': { files: { 'src/lib/planted-22.ts': 'const work = (): Promise<void> => Promise.resolve();\nexport function start(): void {\n  work();\n}\n' }, rule: 'no-floating-promises' },
  'a word on the console': { files: { 'src/lib/planted-23.ts': "export const say = (): void => { console.log('here'); };\n" }, rule: 'no-console' },
};

/** What stays just inside the rules. */
const SOUND: Readonly<Record<string, Planted>> = {
  'a file of 400 lines': { files: { 'src/lib/sound-1.ts': `${lines(399)}\n` }, rule: undefined },
  'a function of 60 lines': { files: { 'src/lib/sound-2.ts': longFunction(60) }, rule: undefined },
  'a wing that imports domain, lib and itself': { files: { 'src/tools/sound-3.ts': "import type { Entry } from '#domain/entry.ts';\nimport { oneLine } from '#lib/names.ts';\nimport { done } from './result.ts';\n\nexport const told = (entry: Entry): unknown => done(oneLine(entry.id), { title: '', body: [] });\n" }, rule: undefined },
  'types of the SDK anywhere': { files: { 'src/loop/sound-4.ts': "import type { Anthropic } from '@anthropic-ai/sdk';\n\nexport type Message = Anthropic.Message;\n" }, rule: undefined },
};

let folder = '';
let said: readonly { readonly code: string; readonly filename: string }[] = [];

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'pinion-rules-')));
  for (const name of ['src', 'commands', '.oxlintrc.json', 'tsconfig.json', 'package.json']) cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const { files } of [...Object.values(VIOLATIONS), ...Object.values(SOUND)]) {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
  }
  said = await lint();
});
afterAll(() => { rmSync(folder, { recursive: true, force: true, maxRetries: 5 }); });

/** As `npm run check` calls it, once for all that is planted. */
function lint(): Promise<typeof said> {
  const args = [join(root, 'node_modules/oxlint/bin/oxlint'), '-c', '.oxlintrc.json', '--type-aware', '--deny-warnings', '--format', 'json', 'src', 'commands', 'bin'];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error?.code === 1) resolve((JSON.parse(stdout) as { diagnostics: typeof said }).diagnostics);
      else reject(new Error(`the linter did not fail: ${stderr}${stdout.slice(0, 1000)}`));
    });
  });
}

it.each(Object.entries({ ...VIOLATIONS, ...SOUND }).map(([what, { files, rule }]) => ({ what, rule, file: Object.keys(files)[0] ?? '' })))('$what: $rule', ({ rule, file }) => {
  const rules = new Set(said.filter(({ filename }) => filename === file).map(({ code }) => /\(([^)]+)\)$/.exec(code)?.[1] ?? code));
  expect([...rules]).toEqual(rule === undefined ? [] : expect.arrayContaining([rule]));
});
