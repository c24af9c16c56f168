import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nameFromBytes } from '#lib/names.ts';
import { listWithGit } from '#mentions/list-git.ts';
import { listWithRipgrep } from '#mentions/list-ripgrep.ts';
import { listByWalking } from '#mentions/list-walk.ts';
import { listFiles } from '#mentions/list.ts';
import { tempFolder } from '../support/temp.ts';

const never = new AbortController().signal;
const FILES = { 'a.ts': '', 'src/b.ts': '', '.env': '', 'dist/out.js': '', 'src/deep/secret.key': '', 'src/deep/kept.key': '', '.gitignore': 'dist/\n*.key\n', 'src/deep/.gitignore': '!kept.key\n', '.hg/store': '', 'my "file".txt': '' };
const SEEN = ['.env', '.gitignore', 'a.ts', 'my "file".txt', 'src/b.ts', 'src/deep/.gitignore', 'src/deep/kept.key'];

async function collect(batches: AsyncIterable<readonly string[]>): Promise<readonly string[]> {
  const all: string[] = [];
  for await (const names of batches) all.push(...names);
  return all.filter((name) => !name.endsWith('/')).sort();
}

function git(cwd: string, ...args: readonly string[]): void {
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'init.defaultBranch=main', '-c', 'protocol.file.allow=always', ...args], { cwd, stdio: 'ignore' });
}

function repository(files: Readonly<Record<string, string>>): string {
  const root = tempFolder(files);
  git(root, 'init');
  return root;
}

async function drain(listing: AsyncGenerator<readonly string[], boolean>): Promise<{ readonly names: readonly string[]; readonly done: boolean }> {
  const names: string[] = [];
  for (;;) {
    const step = await listing.next();
    if (step.done === true) return { names, done: step.value };
    names.push(...step.value);
  }
}

describe('listing by git', () => {
  it('gives tracked and untracked files, not ignored ones', async () => {
    const root = repository(FILES);
    git(root, 'add', 'a.ts');
    expect((await drain(listWithGit(root, never))).names.filter((name) => !name.startsWith('.hg')).sort()).toEqual(SEEN);
    expect((await drain(listWithGit(join(root, 'src'), never))).names.filter((name) => !name.endsWith('/')).sort()).toEqual(['b.ts', 'deep/.gitignore', 'deep/kept.key']);
  });
  it('goes into nested repositories and submodules', async () => {
    const inner = repository({ 'in.ts': '' });
    git(inner, 'add', '.');
    git(inner, 'commit', '-m', 'x');
    const root = repository({ 'a.ts': '', 'nested/n.ts': '' });
    git(join(root, 'nested'), 'init');
    git(root, 'submodule', 'add', inner, 'sub');
    expect((await drain(listWithGit(root, never))).names).toEqual(expect.arrayContaining(['a.ts', 'nested/n.ts', 'sub/in.ts']));
  });
  it('starts no program that the repository names', async () => {
    const root = repository({ 'a.ts': '' });
    writeFileSync(join(root, 'evil.sh'), `#!/bin/sh\ntouch "${root}/ran"\n`, { mode: 0o755 });
    git(root, 'config', 'core.fsmonitor', join(root, 'evil.sh'));
    expect((await drain(listWithGit(root, never))).names).toContain('a.ts');
    expect(existsSync(join(root, 'ran'))).toBe(false);
  });
  it('fetches nothing that a partial clone lacks: the repository names the program that would', async () => {
    const root = repository({ 'a.ts': 'a', 'src/b.ts': 'b' });
    const told = join(root, 'told');
    git(root, 'add', '.');
    git(root, 'commit', '-m', 'x');
    // A sparse index names folders by their trees, and those are gone: listing wants them back.
    git(root, 'sparse-checkout', 'init', '--cone', '--sparse-index');
    const settings = {
      'remote.origin.url': root, 'remote.origin.promisor': 'true', 'remote.origin.partialclonefilter': 'tree:0', 'remote.origin.uploadpack': `touch ${told}; git-upload-pack`,
      'extensions.partialClone': 'origin', 'core.repositoryformatversion': '1',
    };
    for (const [key, value] of Object.entries(settings)) git(root, 'config', key, value);
    for (const name of readdirSync(join(root, '.git/objects'))) if (name.length === 2) rmSync(join(root, '.git/objects', name), { recursive: true });
    await collect(listWithGit(root, never));
    expect(existsSync(told)).toBe(false);
  });

  it('is no way where there is no work tree, or where the outer one ignores the folder', async () => {
    expect(await drain(listWithGit(tempFolder({ 'a.ts': '' }), never))).toEqual({ names: [], done: false });
    const root = repository({ '.gitignore': 'scratch/\n', 'scratch/a.ts': '' });
    expect(await drain(listWithGit(join(root, 'scratch'), never))).toEqual({ names: [], done: false });
    expect(await collect(listFiles({ root: join(root, 'scratch'), respectGitignore: true }, never))).toEqual(['a.ts']);
  });
});

describe('listing without git', () => {
  it('gives the same by ripgrep and by walking', async () => {
    const root = tempFolder(FILES);
    const options = { root, respectGitignore: true };
    const byRipgrep = await drain(listWithRipgrep(options, never));
    if (byRipgrep.done) expect([...byRipgrep.names].sort()).toEqual(SEEN);
    expect(await collect(listByWalking(options, never))).toEqual(SEEN);
    expect(await collect(listFiles(options, never))).toEqual(SEEN);
  });
  it('leaves nothing out when it is not to mind .gitignore, but the folders of version control', async () => {
    const root = tempFolder({ ...FILES, '.git/config': '' });
    const all = Object.keys(FILES).filter((name) => !name.startsWith('.hg')).sort();
    expect(await collect(listFiles({ root, respectGitignore: false }, never))).toEqual(all);
    expect(await collect(listByWalking({ root, respectGitignore: false }, never))).toEqual(all);
  });
  it('names links that lead somewhere and follows none', async () => {
    const root = tempFolder({ 'dir/a.ts': '' }, { 'loop': 'loop', 'broken': 'nowhere', 'up': '.', 'file-link': 'dir/a.ts' });
    const names: string[] = [];
    for await (const batch of listByWalking({ root, respectGitignore: true }, never)) names.push(...batch);
    expect(names.sort()).toEqual(['dir/', 'dir/a.ts', 'file-link', 'up/']);
  });
  it('keeps names that are not UTF-8', async () => {
    const root = tempFolder();
    mkdirSync(join(root, 'd'));
    writeFileSync(Buffer.concat([Buffer.from(`${root}/d/`), Buffer.from([0xff])]), '');
    symlinkSync('d', join(root, 'e'));
    const name = `d/${nameFromBytes(Buffer.from([0xff]))}`;
    expect(await collect(listByWalking({ root, respectGitignore: true }, never))).toContain(name);
    expect(await collect(listFiles({ root, respectGitignore: true }, never))).toContain(name);
  });
  it('is empty where there is nothing to read', async () => {
    expect(await collect(listFiles({ root: '/nonexistent/folder', respectGitignore: true }, never))).toEqual([]);
  });
});
