import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '#lib/brand.ts';
import { findRipgrep } from '#tools/search/ripgrep.ts';
import { openHouse, type House } from './support.ts';

function put(house: House, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(house.root, path)), { recursive: true });
    writeFileSync(join(house.root, path), content);
  }
}

const TREE: Readonly<Record<string, string | Uint8Array>> = {
  '.gitignore': 'dist/\n*.log\n!keep.log\n/only-here.txt\n',
  '.hidden/conf.ts': 'export const hidden = "needle";\n',
  '.git/config': 'needle\n',
  '.ignore': 'src/\n',
  'README.md': '# Needle\n\nA needle in a haystack.\nneedles\n',
  'a.log': 'needle\n',
  'keep.log': 'needle\n',
  'only-here.txt': 'needle\n',
  'sub/only-here.txt': 'needle\n',
  'sub/.gitignore': '*.tmp\n!a.log\n',
  'sub/x.tmp': 'needle\n',
  'sub/a.log': 'needle\n',
  'dist/out.js': 'needle\n',
  'dist/deep/out.ts': 'needle\n',
  'src/a.ts': 'import x from "y";\n\nfunction needle() {\n  return 1;\n}\nneedle();\nneedle(1, 2);\n',
  'src/b.tsx': 'const a = <Needle />;\r\nconst b = "foo bar";\r\nneedle\r\n',
  'src/c.py': 'def needle():\n    pass\n',
  'src/app/(group)/[id]/page.ts': 'needle\n',
  'src/grün.ts': 'Größe = 1; ĞÜN\nÄrger needle\n',
  'src-x/z.ts': 'needle\n',
  'bin.dat': Uint8Array.of(110, 101, 101, 100, 108, 101, 0, 1, 2),
  'wide.txt': Buffer.from('\ufeffneedle wide\r\n', 'utf16le'),
  'bom.txt': '\ufeffneedle bom\n',
  'latin.txt': Buffer.from('caf\xe9 needle\n', 'latin1'),
  'empty.txt': '',
  'noeol.txt': 'last needle',
  'long.txt': `${'x'.repeat(3000)} needle\n`,
};

/** Every question is put to both searchers; the answers must be the same. */
const QUESTIONS: readonly Readonly<Record<string, Json>>[] = [
  { pattern: 'needle' },
  { pattern: 'needle', '-i': true, output_mode: 'count' },
  { pattern: 'needle', output_mode: 'content' },
  { pattern: 'needle', output_mode: 'content', '-n': false },
  { pattern: 'needle', output_mode: 'content', '-C': 1 },
  { pattern: 'needle', output_mode: 'content', '-B': 2, '-A': 0 },
  { pattern: 'needle', output_mode: 'content', path: 'src/a.ts', '-A': 1 },
  { pattern: 'needle', path: 'dist' },
  { pattern: 'needle', path: 'dist/out.js' },
  { pattern: 'needle', path: 'sub' },
  { pattern: 'needle', path: '.hidden' },
  { pattern: 'needle', path: 'bin.dat' },
  { pattern: 'needle', glob: '*.ts' },
  { pattern: 'needle', glob: '*.{ts,tsx}' },
  { pattern: 'needle', glob: 'src/**' },
  { pattern: 'needle', glob: 'src/*.ts' },
  { pattern: 'needle', glob: '/src/*.ts' },
  { pattern: 'needle', glob: '**/out.*' },
  { pattern: 'needle', glob: '*.log' },
  { pattern: 'needle', glob: '!*.ts' },
  { pattern: 'needle', glob: '!src' },
  { pattern: 'needle', glob: 'src/**/page.ts' },
  { pattern: 'needle', type: 'ts' },
  { pattern: 'needle', type: 'python' },
  { pattern: 'needle', type: 'ts', glob: 'src/**' },
  { pattern: 'needle$', output_mode: 'content' },
  { pattern: '^needle', output_mode: 'content' },
  { pattern: '\\bneedle\\(\\d*\\)', output_mode: 'content' },
  { pattern: '\\w+ße|[Ä-Ü]rger', output_mode: 'content' },
  { pattern: '(?i)NEEDLE', output_mode: 'count' },
  { pattern: '[[:upper:]]eedle', output_mode: 'content' },
  { pattern: '[^]a-z]', output_mode: 'count' },
  { pattern: '[-"]', output_mode: 'count' },
  { pattern: 'function (?P<name>\\w+)', output_mode: 'content' },
  { pattern: 'need(?=le\\()', output_mode: 'content' },
  { pattern: 'foo\\x20bar|\\x{23} Needle', output_mode: 'content' },
  { pattern: '<Needle />', output_mode: 'content' },
  { pattern: '{', output_mode: 'content' },
  { pattern: 'needle() {', output_mode: 'content' },
  { pattern: '\\{\\s*$', output_mode: 'content' },
  { pattern: 'x{3000}', output_mode: 'content' },
  { pattern: '', output_mode: 'count' },
  { pattern: 'needle\\(\\) \\{\\n\\s+return', output_mode: 'content', multiline: true },
  { pattern: 'needle.*needle', output_mode: 'content', multiline: true, path: 'src' },
  { pattern: 'needle', output_mode: 'count', multiline: true },
  { pattern: 'e\n', output_mode: 'count', multiline: true },
  { pattern: 'le$', output_mode: 'content', multiline: true },
  { pattern: 'needle', glob: 'src/app/(group)/[id]/*' },
  { pattern: '^$', output_mode: 'content', multiline: true },
  { pattern: 'a.b|needle', output_mode: 'content', multiline: true, '-C': 1, path: 'src' },
  { pattern: 'nothing like it' },
  { pattern: '\\p{Lu}\\p{Ll}+', output_mode: 'count' },
  { pattern: '\\d|\\s\\S', output_mode: 'count' },
];

test('the ripgrep of the package is found', async () => {
  expect(await findRipgrep({})).toMatch(/rg$/);
});

describe('both searchers find the same', () => {
  let fast: House;
  let own: House;
  const cleanings: (() => void)[] = [];
  const atEnd = (clean: () => void): void => { cleanings.push(clean); };
  afterAll(() => { for (const clean of cleanings) clean(); });
  beforeAll(() => {
    fast = openHouse({}, atEnd);
    own = openHouse({ ripgrep: false }, atEnd);
    for (const house of [fast, own]) put(house, TREE);
  });

  test.each(QUESTIONS.map((question) => ({ question, shown: JSON.stringify(question) })))('$shown', async ({ question }) => {
    const [a, b] = [await fast.say('Grep', question), await own.say('Grep', question)];
    if (question['pattern'] === '') expect([a.kind, b.kind]).toEqual(['failed', 'failed']);
    else expect(b).toEqual({ kind: 'ok', text: a.text });
  });

  test('for patterns of any make-up', async () => {
    const piece = fc.constantFrom('a', 'b', '\\w', '\\d', '[ab-]', '[^a]', '.', '\\.', 'é', '(a|b)', '\\bx', '$', '^', 'a{2}', 'b?', 'a+', '\\s', '-', '"', '/');
    const line = fc.string({ unit: fc.constantFrom('a', 'b', 'x', ' ', 'é', '.', '-', '1', '"', '/', '\t'), maxLength: 8 });
    await fc.assert(fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 4 }), fc.array(line, { maxLength: 6 }), fc.boolean(), async (pieces, lines, ends) => {
      const text = lines.join('\n') + (ends ? '\n' : '');
      for (const house of [fast, own]) put(house, { 'fuzz.txt': text });
      const question = { pattern: pieces.join(''), output_mode: 'content', path: 'fuzz.txt' };
      const [a, b] = [await fast.say('Grep', question), await own.say('Grep', question)];
      expect({ question, text, answer: b }).toEqual({ question, text, answer: a });
    }), { numRuns: 25 });
  });
});

describe.each([{ name: 'ripgrep', ripgrep: true }, { name: 'own', ripgrep: false }])('Grep with $name', ({ ripgrep }) => {
  test('tells how much there is when it shows a part', async () => {
    const house = openHouse({ ripgrep });
    put(house, { 'many.txt': 'needle\n'.repeat(500), 'more.txt': 'needle\n' });
    const { text } = await house.say('Grep', { pattern: 'needle', output_mode: 'content', head_limit: 3 });
    expect(text).toBe('many.txt:1:needle\nmany.txt:2:needle\nmany.txt:3:needle\n[shown 3 of 501 matching lines; narrow pattern, path or glob to see others]');
    put(house, { 'lots.txt': 'needle\n'.repeat(20_000) });
    expect((await house.say('Grep', { pattern: 'needle', output_mode: 'content', head_limit: 1 })).text).toContain('of at least 10000 matching lines');
  });

  test('what a rule denies is not shown, and that is said', async () => {
    const house = openHouse({ ripgrep, deny: ['Read(./.env)', 'Read(./secret/**)'] });
    put(house, { '.env': 'KEY=needle\n', 'secret/a.txt': 'needle\n', 'b.txt': 'needle\n' });
    for (const mode of ['content', 'files_with_matches', 'count']) {
      const { text } = await house.say('Grep', { pattern: 'needle', output_mode: mode });
      expect(text).toMatch(/^b\.txt[^\n]*\n\[left out 2 files that the user's settings deny reading\]$/);
    }
    expect(await house.say('Grep', { pattern: 'needle', path: '.env' })).toMatchObject({ kind: 'failed' });
  });

  test('a broken pattern, an unknown type, a missing path, a line end without multiline', async () => {
    const house = openHouse({ ripgrep });
    put(house, { 'a.txt': 'x' });
    expect(await house.say('Grep', { pattern: '(' })).toMatchObject({ kind: 'failed', text: expect.stringMatching(/^The search failed: /) });
    expect(await house.say('Grep', { pattern: 'x', type: 'cobol' })).toMatchObject({ kind: 'failed', text: expect.stringContaining('no type "cobol"') });
    expect(await house.say('Grep', { pattern: 'x', path: 'nope' })).toMatchObject({ kind: 'failed', text: expect.stringContaining('does not exist') });
    expect(await house.say('Grep', { pattern: 'a\\nb' })).toMatchObject({ kind: 'failed', text: expect.stringContaining('multiline') });
  });

  test('links are not followed, circles do no harm', async () => {
    const house = openHouse({ ripgrep });
    put(house, { 'd/a.txt': 'needle\n' });
    symlinkSync('..', join(house.root, 'd/up'));
    symlinkSync('a.txt', join(house.root, 'd/link.txt'));
    expect((await house.say('Grep', { pattern: 'needle' })).text).toBe('d/a.txt');
  });

  test('rules of folders above count up to the repository, not beyond', async () => {
    const house = openHouse({ ripgrep });
    put(house, { '.gitignore': '*.x\n', 'repo/.git/HEAD': '', 'repo/.gitignore': '*.y\n', 'repo/in/a.x': 'needle', 'repo/in/a.y': 'needle', 'free/a.x': 'needle', 'free/a.y': 'needle' });
    put(house, { 'repo/module/.git': 'gitdir: x', 'repo/module/a.y': 'needle' });
    expect((await house.say('Grep', { pattern: 'needle', path: 'repo/in' })).text).toBe('repo/in/a.x');
    expect((await house.say('Grep', { pattern: 'needle', path: 'repo' })).text).toBe('repo/in/a.x\nrepo/module/a.y');
    expect((await house.say('Grep', { pattern: 'needle', path: 'free' })).text).toBe('free/a.y');
  });

  test('paths are written so that they can be used again', async () => {
    const house = openHouse({ ripgrep });
    put(house, { 'sub/a.txt': 'needle', 'b.txt': 'needle' });
    await house.call('Bash', { command: 'cd sub' });
    expect((await house.say('Grep', { pattern: 'needle', path: house.root })).text).toBe(`${house.root}/b.txt\na.txt`);
  });

  test('an interrupt ends the search', async () => {
    const house = openHouse({ ripgrep });
    put(house, Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`d${at}/a.txt`, 'x\n'.repeat(100)])));
    const stop = new AbortController();
    const running = house.call('Grep', { pattern: 'needle' }, stop.signal);
    setTimeout(() => { stop.abort(); }, 5);
    expect(['interrupted', 'ok']).toContain((await running).result.kind);
  });
});

test('a pattern that would take for ever is given up', async () => {
  const house = openHouse({ ripgrep: false });
  put(house, { 'a.txt': `${'a'.repeat(40)}b\n` });
  expect(await house.say('Grep', { pattern: '^(a+)+$' })).toMatchObject({ kind: 'failed', text: expect.stringContaining('takes too long') });
});

describe('Glob', () => {
  test('newest first, names with dots and ignored files too, never .git', async () => {
    const house = openHouse();
    put(house, TREE);
    utimesSync(join(house.root, 'src/a.ts'), new Date('2030-01-01'), new Date('2030-01-01'));
    utimesSync(join(house.root, 'dist/deep/out.ts'), new Date('2029-01-01'), new Date('2029-01-01'));
    const { text } = await house.say('Glob', { pattern: '**/*.ts' });
    expect(text.split('\n').slice(0, 2)).toEqual(['src/a.ts', 'dist/deep/out.ts']);
    expect(text.split('\n').toSorted()).toEqual(['.hidden/conf.ts', 'dist/deep/out.ts', 'src-x/z.ts', 'src/a.ts', 'src/app/(group)/[id]/page.ts', 'src/grün.ts']);
    expect((await house.say('Glob', { pattern: '**/config' })).text).toBe('No files found.');
  });

  test.each([
    ['src/*.{ts,tsx}', 'src/a.ts src/b.tsx src/grün.ts'], ['src/app/(group)/[id]/*.ts', 'src/app/(group)/[id]/page.ts'], ['src/app/(group)/[id]/page.ts', 'src/app/(group)/[id]/page.ts'],
    ['./src/a.ts', 'src/a.ts'], ['*.md', 'README.md'], ['src/gr\u00fcn.ts', 'src/grün.ts'], ['src/gru\u0308n.ts', 'src/grün.ts'], ['nope/**', 'No files found.'], ['src/app/(group)/**', 'src/app/(group)/[id]/page.ts'],
  ])('%s', async (pattern, expected) => {
    const house = openHouse();
    put(house, TREE);
    expect((await house.say('Glob', { pattern })).text.split('\n').toSorted().join(' ')).toBe(expected);
  });

  test('patterns stay below their folder', async () => {
    const house = openHouse();
    put(house, TREE);
    for (const pattern of ['../*', '/etc/*', 'src/../../*', '{..,src}/*', '~/x']) expect(await house.say('Glob', { pattern })).toMatchObject({ text: expect.stringMatching(/leads out of|No files found|^src\//) });
    expect((await house.say('Glob', { pattern: '../*' })).kind).toBe('failed');
    expect((await house.say('Glob', { pattern: `${house.root}/src/a.*` })).text).toBe('src/a.ts');
    expect((await house.say('Glob', { pattern: 'a.*', path: 'src' })).text).toBe('src/a.ts');
    expect(await house.say('Glob', { pattern: '*', path: 'README.md' })).toMatchObject({ kind: 'failed', text: expect.stringContaining('no folder') });
    expect(await house.say('Glob', { pattern: '*', path: 'scr' })).toMatchObject({ kind: 'failed', text: expect.stringContaining('does not exist') });
  });

  test('shows a hundred and counts the rest; leaves out what a rule denies', async () => {
    const house = openHouse({ deny: ['Read(./f1.txt)'] });
    put(house, Object.fromEntries(Array.from({ length: 120 }, (_, at) => [`f${at}.txt`, ''])));
    const { text } = await house.say('Glob', { pattern: '*.txt' });
    expect(text.split('\n')).toHaveLength(101);
    expect(text).toMatch(/\[shown 100 of \d+ files, newest first; narrow the pattern to see others\]$/);
    expect((await house.say('Glob', { pattern: 'f1.*' })).text).toBe('No files found.');
  });

  test('names that are no text, or hold line ends, stay on one line and can be read', async () => {
    const house = openHouse();
    execFileSync('bash', ['-c', `cd ${realpathSync(house.root)} && printf x > $'bad\\xff.txt' && printf y > $'line\\nend.txt'`]);
    const { text } = await house.say('Glob', { pattern: '*.txt' });
    expect(text.split('\n')).toHaveLength(2);
    for (const name of text.split('\n')) expect(await house.say('Read', { file_path: name })).toMatchObject({ kind: 'ok' });
  });
});

test('a pattern of many stars is answered at once, whatever the names', async () => {
  const house = openHouse({ ripgrep: false });
  writeFileSync(join(house.root, `${'a'.repeat(200)}.txt`), 'x\n');
  expect(await house.say('Glob', { pattern: `${'*a'.repeat(12)}*b` })).toMatchObject({ kind: 'ok', text: 'No files found.' });
  expect((await house.say('Glob', { pattern: `${'*a'.repeat(12)}*` })).text).toContain('aaa');
});
