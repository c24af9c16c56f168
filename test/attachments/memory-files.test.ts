import { nothing } from '../support/nothing.ts';
import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMemory, type MemoryOptions } from '#attachments/memory-files.ts';
import { importsOf, stripComments } from '#attachments/memory-text.ts';
import source from '#attachments/sources/memory.ts';
import type { MemoryFile } from '#domain/world.ts';
import { memoryBlobs, memorySession } from '../support/logs.ts';
import { tempFolder } from '../support/temp.ts';
import { ask, pathsOf, textOf } from './world.ts';

interface Place { readonly home: string; readonly repo: string; files(more?: Partial<MemoryOptions>, denied?: readonly string[]): Promise<readonly MemoryFile[]> }

/** A home directory with a repository in it. */
function place(inRepo: Readonly<Record<string, string | Uint8Array>>, inHome: Readonly<Record<string, string>> = {}): Place {
  const home = tempFolder({ ...inHome, ...Object.fromEntries(Object.entries(inRepo).map(([name, text]) => [`repo/${name}`, text])) });
  const repo = join(home, 'repo');
  mkdirSync(repo, { recursive: true });
  return {
    home, repo,
    files: (more = {}, denied = []) => createMemory({
      cwd: repo, repository: repo, home, roots: [], excludes: [], userRules: [], kept: undefined, trusted: () => true, approved: () => undefined, paths: pathsOf(repo, denied, home),
      userFiles: [join(home, '.pinion/AGENTS.md'), join(home, '.claude/CLAUDE.md')], ...more,
    }).files(new AbortController().signal),
  };
}
const textIn = async (at: Place): Promise<string> => (await at.files()).map(({ text }) => text).join('\n---\n');

describe('instruction files', () => {
  it('come user first, then from the root down, each kind in its order', async () => {
    const at = place(
      { 'AGENTS.md': 'repo agents', 'CLAUDE.md': 'repo claude', '.claude/CLAUDE.md': 'repo dot claude', 'CLAUDE.local.md': 'mine', 'sub/AGENTS.md': 'sub agents', 'other/AGENTS.md': 'not on the way' },
      { '.pinion/AGENTS.md': 'my agents', '.claude/CLAUDE.md': 'my claude', 'AGENTS.md': 'above' },
    );
    const files = await at.files({ cwd: join(at.repo, 'sub') });
    expect(files.map(({ scope, text }) => `${scope}: ${text}`)).toEqual([
      'user: my agents', 'user: my claude', 'project: above', 'project: repo agents', 'project: repo claude', 'project: repo dot claude', 'local: mine', 'project: sub agents',
    ]);
  });
  it('are read once, however many names they have', async () => {
    const at = place({ 'AGENTS.md': 'one' });
    symlinkSync('AGENTS.md', join(at.repo, 'CLAUDE.md'));
    expect((await at.files()).map(({ path }) => path)).toEqual([join(at.repo, 'AGENTS.md')]);
  });
  it('are none where there are none, and an empty one counts as none', async () => {
    expect(await place({ 'AGENTS.md': '' }).files()).toEqual([]);
  });
  it('are left out by globs', async () => {
    const at = place({ 'AGENTS.md': 'one', 'CLAUDE.md': 'two' });
    expect((await at.files({ excludes: ['**/CLAUDE.md'] })).map(({ text }) => text)).toEqual(['one']);
  });
  it('obey the read rules', async () => {
    const at = place({ 'AGENTS.md': '@secret.md', 'secret.md': 'key', 'CLAUDE.md': 'secret too' });
    const files = await at.files({}, ['Read(secret.md)', 'Read(CLAUDE.md)']);
    expect(files[0]?.notes).toEqual(['@secret.md: not imported, a permission rule denies reading it']);
    expect(files[1]).toMatchObject({ text: '', notes: ['left out: a permission rule denies reading it'] });
  });
  it('that are huge or no text are left out with a note', async () => {
    const at = place({ 'AGENTS.md': Buffer.alloc(5 * 1024 * 1024, 97), 'CLAUDE.md': Buffer.from([0, 1, 2]) });
    expect((await at.files()).map(({ text, notes }) => [text, ...notes])).toEqual([['', 'left out: larger than 4 MiB'], ['', 'left out: it is no text']]);
  });
  it('that are links to the user\'s secrets are left out', async () => {
    const at = place({}, { '.ssh/id_rsa': 'PRIVATE', 'notes/rules.md': 'rules' });
    symlinkSync(join(at.home, '.ssh/id_rsa'), join(at.repo, 'AGENTS.md'));
    symlinkSync(join(at.home, 'notes/rules.md'), join(at.repo, 'CLAUDE.md'));
    const files = await at.files();
    expect(files[0]).toMatchObject({ text: '', notes: [expect.stringContaining('leads out of the project')] });
    expect(files[1]?.text).toBe('rules');
  });
  it.runIf(process.getuid?.() === 0)('of another user above the repository are left out', async () => {
    const at = place({ 'AGENTS.md': 'fine' }, { 'AGENTS.md': 'planted' });
    chownSync(join(at.home, 'AGENTS.md'), 1234, 1234);
    chownSync(join(at.repo, 'AGENTS.md'), 1234, 1234);
    expect((await at.files()).map(({ text, notes }) => [text, ...notes])).toEqual([['', 'left out: it lies above the repository and belongs to another user'], ['fine']]);
  });
  it('lose what a reader of them cannot see, and say so', async () => {
    const [file] = await place({ 'AGENTS.md': 'a\u{e0041}\u{e0042}b\u202ec\u200bd' }).files();
    expect(file).toMatchObject({ text: 'abcd', notes: ['4 invisible characters were taken out'] });
  });
  it('lose block comments, not code and not what stands on the line', async () => {
    expect(stripComments('a\n<!-- note -->\nb\n<!-- two\nlines --> rest\nc <!-- inline --> d\n```\n<!-- code -->\n```\n<!-- never closed')).toBe('a\nb\n rest\nc <!-- inline --> d\n```\n<!-- code -->\n```\n<!-- never closed');
    expect(stripComments('<!---->x')).toBe('x');
    expect(stripComments('<!-->\n-->z')).toBe('z');
  });
});

describe('imports', () => {
  it('stand in the place of a line of their own, below any other line', async () => {
    const text = await textIn(place({ 'AGENTS.md': 'start\n@docs/a.md\n- @docs/b.md\nsee @docs/c.md, please\nend', 'docs/a.md': 'A', 'docs/b.md': 'B', 'docs/c.md': 'C' }));
    expect(text).toBe('start\n[docs/a.md]\nA\n[end of docs/a.md]\n[docs/b.md]\nB\n[end of docs/b.md]\nsee @docs/c.md, please\n[docs/c.md]\nC\n[end of docs/c.md]\nend');
  });
  it('are relative to the file that they stand in, at every level', async () => {
    const at = place({ 'sub/x': '' }, { 'AGENTS.md': '@./rules/top.md', 'rules/top.md': '@deep/more.md', 'rules/deep/more.md': 'found' });
    expect((await at.files({ cwd: join(at.repo, 'sub') }))[0]?.text).toContain('found');
  });
  it('may have blanks in their paths, on a line of their own or in quotes', async () => {
    const at = place({ 'AGENTS.md': '@~/Library/Mobile Documents/x/_index.md\n@"my rules/a b.md"\ntext @"my rules/c.md" text\n@my\\ rules/d.md', 'my rules/a b.md': 'AB', 'my rules/c.md': 'C', 'my rules/d.md': 'D' }, { 'Library/Mobile Documents/x/_index.md': 'INDEX' });
    const [file] = await at.files();
    for (const text of ['INDEX', '\nAB\n', 'text @"my rules/c.md" text', '\nC\n', '\nD\n']) expect(file?.text).toContain(text);
    expect(file?.notes).toEqual([]);
  });
  it('that are missing cost one note, and nothing else', async () => {
    const [file] = await place({ 'AGENTS.md': 'a\n@./personal.md\n@docs/gone.md\nb' }).files();
    expect(file?.text).toBe('a\n@./personal.md\n@docs/gone.md\nb');
    expect(file?.notes).toEqual(['@./personal.md: not imported, no such file', '@docs/gone.md: not imported, no such file']);
  });
  it('are not seen in code, addresses, escapes, package names and decorators', async () => {
    const at = place({ 'AGENTS.md': '`@a.md` and ``x ` @a.md``\n```\n@a.md\n```\n~~~ts\n@a.md\n~~~\nmail me@a.md \\@a.md\nuse @scope/pkg and @Override, foo@a.md\n@param x', 'a.md': 'IMPORTED' });
    const [file] = await at.files();
    expect(file?.text).not.toContain('IMPORTED');
    expect(file?.notes).toEqual([]);
  });
  it('lose punctuation only if nothing bears the longer name', async () => {
    const text = await textIn(place({ 'AGENTS.md': 'see (@a.md), @b.md. and @c.md!', 'a.md': 'A', 'b.md': 'B', 'c.md!': 'C!', 'c.md': 'no' }));
    for (const part of ['[a.md]', '[b.md]', '[c.md!]']) expect(text).toContain(part);
  });
  it('go four hops deep', async () => {
    const at = place({ 'AGENTS.md': '@1.md', ...Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`${n}.md`, `hop ${n}\n@${n + 1}.md`])) });
    const [file] = await at.files();
    expect(file?.text).toContain('hop 4');
    expect(file?.text).not.toContain('hop 5');
    expect(file?.notes).toEqual(['@5.md: not imported, it is more than 4 imports deep']);
  });
  it('that go round in a circle, or come twice, are read once', async () => {
    const text = await textIn(place({ 'AGENTS.md': '@a.md\n@a.md', 'a.md': 'once\n@AGENTS.md\n@a.md', 'CLAUDE.md': '@AGENTS.md\n@a.md\nmore' }));
    expect(text.match(/once/g)).toHaveLength(1);
    expect(text).toContain('@AGENTS.md\n@a.md\nmore');
  });
  it('from outside are left out with a note: elsewhere, and secrets of the home directory', async () => {
    const outside = tempFolder({ 'o.md': 'OUTSIDE' });
    const at = place({ 'AGENTS.md': `@${outside}/o.md\n@~/.aws/credentials\n@~/notes.md\n@link.md` }, { '.aws/credentials': 'KEY', 'notes.md': 'NOTES' });
    symlinkSync(join(at.home, '.aws/credentials'), join(at.repo, 'link.md'));
    const [file] = await at.files();
    expect(file?.text).toContain('NOTES');
    expect(file?.text).not.toContain('OUTSIDE');
    expect(file?.text).not.toContain('KEY');
    expect(file?.notes).toEqual([`@${outside}/o.md: not imported, it lies outside the project, not approved by the user`, '@~/.aws/credentials: not imported, it lies outside the project and is no text such as .md', '@link.md: not imported, it lies outside the project and is no text such as .md']);
    expect((await at.files({ roots: [outside] }))[0]?.text).toContain('OUTSIDE');
  });
  it('of the user\'s own file may come from the home directory', async () => {
    const [file] = await place({}, { '.claude/CLAUDE.md': '@~/prefs', prefs: 'PREFS' }).files();
    expect(file?.text).toContain('PREFS');
  });
  it('that are no file, or cannot be read, are noted', async () => {
    const at = place({ 'AGENTS.md': '@./docs\n@bin.md', 'docs/x': '', 'bin.md': Buffer.from([0, 0]) });
    chmodSync(join(at.repo, 'bin.md'), 0o600);
    expect((await at.files())[0]?.notes).toEqual(['@./docs: not imported, it is no file', '@bin.md: left out: it is no text']);
  });
  it('take no time to be found in a long hostile line', () => {
    expect(importsOf(`${'`'.repeat(20_000)}${'@"'.repeat(20_000)}`)).toEqual([]);
  });
});

describe('the source', () => {
  it('says files whole, then changes, then what went', async () => {
    const at = place({ 'AGENTS.md': `${'rule\n'.repeat(80)}end` });
    const session = memorySession();
    const blobs = memoryBlobs();
    const say = async (): Promise<string | undefined> => textOf(await ask(source, session, { blobs, memory: { ...nothing.memory, files: () => at.files() } }));
    expect(await say()).toContain(`${at.repo}/AGENTS.md (the project's instructions):\nrule\n`);
    expect(await say()).toBeUndefined();
    writeFileSync(join(at.repo, 'AGENTS.md'), `${'rule\n'.repeat(80)}new end\n@./gone.md`);
    const change = await say();
    expect(change).toContain('-end\n');
    expect(change).toContain('+new end');
    expect(change).toContain('[@./gone.md: not imported, no such file]');
    writeFileSync(join(at.repo, 'CLAUDE.md'), 'second');
    expect(await say()).toBe(`${at.repo}/CLAUDE.md (the project's instructions):\nsecond`);
    writeFileSync(join(at.repo, 'AGENTS.md'), '');
    expect(await say()).toContain('AGENTS.md is no longer there, or empty: its instructions no longer hold.');
    writeFileSync(join(at.repo, 'CLAUDE.md'), '');
    expect(await say()).toContain('no instruction files any more');
  });
});
