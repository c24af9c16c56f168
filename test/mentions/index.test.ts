import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it, onTestFinished } from 'vitest';
import { nameFromBytes } from '#lib/names.ts';
import { completeMention } from '#mentions/complete.ts';
import { createFileIndex } from '#mentions/file-index.ts';
import type { FileIndex } from '#mentions/file-index.ts';
import { createIndexCore } from '#mentions/index-core.ts';
import type { IndexCore } from '#mentions/index-core.ts';
import { findMentions } from '#mentions/parse.ts';
import { readCases } from '../support/cases.ts';
import { tempFolder } from '../support/temp.ts';

function coreOf(root: string): IndexCore {
  const core = createIndexCore({ root, respectGitignore: true });
  onTestFinished(() => { core.close(); });
  return core;
}

const paths = ({ items }: { readonly items: readonly { readonly path: string; readonly directory: boolean }[] }): readonly string[] => items.map(({ path, directory }) => (directory ? `${path}/` : path));

describe('the index', () => {
  it('finds files and directories, and says when there is more', async () => {
    const core = coreOf(tempFolder({ 'src/alpha.ts': '', 'src/beta.ts': '', 'README.md': '' }));
    await core.refresh();
    expect(await core.search('alpha', 10)).toEqual({ items: [{ path: 'src/alpha.ts', directory: false }], more: false });
    expect(paths(await core.search('', 10))).toEqual(['README.md', 'src/', 'src/alpha.ts', 'src/beta.ts']);
    expect(await core.search('', 1)).toEqual({ items: [{ path: 'README.md', directory: false }], more: true });
  });
  it('answers while it is still being made', async () => {
    const root = tempFolder({ 'a.ts': '' });
    const core = createIndexCore({ root, respectGitignore: true, waitMs: 0 });
    expect((await core.search('a', 10)).more).toBe(true);
    await core.refresh();
    expect(await core.search('a', 10)).toEqual({ items: [{ path: 'a.ts', directory: false }], more: false });
    core.close();
  });
  it('shows what was just used first while nothing is typed', async () => {
    const core = coreOf(tempFolder({ 'a.ts': '', 'src/deep/b.ts': '', 'c.ts': '' }));
    await core.refresh();
    core.used('gone.ts');
    core.used('c.ts');
    core.used('src/deep/b.ts');
    expect(paths(await core.search('', 3))).toEqual(['src/deep/b.ts', 'c.ts', 'a.ts']);
  });
  it('names nothing that is gone, and what is new after a refresh', async () => {
    const root = tempFolder({ 'old.ts': '', 'also-old.ts': '' }, { 'old-link': 'nowhere' });
    const core = coreOf(root);
    await core.refresh();
    rmSync(join(root, 'old.ts'));
    writeFileSync(join(root, 'new-old.ts'), '');
    expect(paths(await core.search('old', 10))).toEqual(['also-old.ts']);
    await core.refresh();
    expect(paths(await core.search('old', 10)).toSorted()).toEqual(['also-old.ts', 'new-old.ts']);
  });
  it('lists the folder that a path names outright', async () => {
    const outer = tempFolder({ 'project/a.ts': '', 'sibling/x.md': '', 'sibling/.hidden': '', 'sibling/sub/y.md': '' }, { 'sibling/broken': 'nowhere' });
    const core = coreOf(join(outer, 'project'));
    expect(paths(await core.search('../sib', 10))).toEqual(['../sibling/']);
    expect(paths(await core.search('../sibling/', 10))).toEqual(['../sibling/sub/', '../sibling/x.md']);
    expect(paths(await core.search('../sibling/.h', 10))).toEqual(['../sibling/.hidden']);
    expect(paths(await core.search(`${outer}/sibling/X`, 10))).toEqual([`${outer}/sibling/x.md`]);
    expect(paths(await core.search('./a', 10))).toEqual(['./a.ts']);
    expect(await core.search('../none/', 10)).toEqual({ items: [], more: false });
    expect(await core.search('../sibling/', 1)).toMatchObject({ more: true });
    expect((await core.search('~/', 5)).items.every(({ path }) => path.startsWith('~/'))).toBe(true);
  });
});

async function builtWorker(): Promise<URL> {
  const outfile = join(tempFolder(), 'index-worker.mjs');
  const entry = new URL('../../src/mentions/index-worker.ts', import.meta.url).pathname;
  await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'silent', external: ['@vscode/ripgrep'], banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" } });
  return pathToFileURL(outfile);
}

/** Asks until the answer is not a late or half one. */
async function settled(index: FileIndex, query: string, limit = 100): Promise<readonly string[]> {
  for (;;) {
    const found = await index.search(query, limit);
    if (!found.more || found.items.length === limit) return paths(found);
    await new Promise((resolve) => { setTimeout(resolve, 10); });
  }
}

describe('the index in its thread', () => {
  it('answers at once, then with everything, and ends when it is closed', async () => {
    const root = tempFolder(Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`src/file-${at}.ts`, ''])));
    const index = createFileIndex({ root, respectGitignore: true, workerUrl: await builtWorker() });
    expect((await index.search('file', 5)).more).toBe(true);
    expect(await settled(index, 'file-1')).toHaveLength(15);
    index.used('src/file-7.ts');
    expect((await settled(index, '', 1))[0]).toBe('src/file-7.ts');
    writeFileSync(join(root, 'src/newcomer.ts'), '');
    await index.refresh();
    expect(await settled(index, 'newcomer')).toEqual(['src/newcomer.ts']);
    await index.close();
    expect(await index.search('file', 5)).toEqual({ items: [], more: false });
  });
  it('gives up quietly on a thread that cannot start', async () => {
    const index = createFileIndex({ root: tempFolder(), respectGitignore: true, workerUrl: new URL('file:///nonexistent/worker.mjs') });
    for (let at = 0; at < 5; at += 1) await index.refresh();
    expect(await index.search('a', 5)).toEqual({ items: [], more: false });
    await index.close();
  });
});

describe('completion', () => {
  it('inserts what mentions the path, and leaves a folder open', async () => {
    const core = coreOf(tempFolder({ 'src/a.ts': '', 'my docs/my notes.md': '' }));
    await core.refresh();
    expect((await completeMention(core, 'a.ts')).items).toEqual([{ insert: '@src/a.ts', label: 'src/a.ts' }]);
    expect((await completeMention(core, 'src')).items[0]).toEqual({ insert: '@src/', label: 'src/', more: true });
    expect((await completeMention(core, '"my do')).items).toContainEqual({ insert: '@"my docs/', label: 'my docs/', more: true });
    expect((await completeMention(core, 'my\\ notes')).items).toEqual([{ insert: '@"my docs/my notes.md"', label: 'my docs/my notes.md' }]);
  });

  it('finds every name of the list that can be typed, and inserts text that leads to that file', async () => {
    const { names } = readCases('filenames') as { readonly names: readonly { readonly name?: string; readonly bytes_b64?: string; readonly mention: string | null; readonly display: string; readonly linux_ok: boolean }[] };
    const root = tempFolder();
    mkdirSync(join(root, 'all'));
    symlinkSync('all', join(root, 'linked'));
    const made = names.filter(({ linux_ok: ok, name }) => ok && name !== '.git');
    for (const { name, bytes_b64: bytes = '' } of made) writeFileSync(Buffer.concat([Buffer.from(`${root}/all/`), name === undefined ? Buffer.from(bytes, 'base64') : Buffer.from(name)]), '');
    const core = coreOf(root);
    await core.refresh();
    for (const { name, bytes_b64: bytes = '', mention, display } of made) {
      const path = `all/${name ?? nameFromBytes(Buffer.from(bytes, 'base64'))}`;
      if (path === 'all/.gitignore' || path === 'all/node_modules') continue;
      expect((await core.search(path, 100)).items).toContainEqual({ path, directory: false });
      const { items } = await completeMention({ search: async () => await Promise.resolve({ items: [{ path, directory: false }], more: false }) }, '');
      expect(items).toHaveLength(mention === null ? 0 : 1);
      if (items[0] === undefined) continue;
      expect(items[0].label).toMatch(display.includes('…') ? /…/ : /^all\//);
      const { mentions } = await findMentions(items[0].insert, (asked) => (asked === path ? asked : undefined));
      expect(mentions).toMatchObject([{ found: path }]);
    }
  });
});
