import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createBlobs } from '#session/blobs.ts';
import { createWatch, type Watch, type WatchOptions } from '#watch/watch.ts';
import { nameFromBytes } from '#lib/names.ts';
import { sha256 } from '#lib/hash.ts';
import type { BlobHash } from '#domain/content.ts';
import type { BlobPort } from '#domain/ports.ts';
import { MISSING_HASH, UNREADABLE_HASH, type FileTouch } from '#domain/tool.ts';
import type { FileChange } from '#domain/world.ts';
import { readCases } from '../support/cases.ts';
import { memoryBlobs } from '../support/logs.ts';
import { tempFolder } from '../support/temp.ts';

const signal = new AbortController().signal;

const canUnshare = ((): boolean => {
  try {
    execFileSync('unshare', ['-Ur', 'sh', '-c', 'echo 1 > /proc/sys/user/max_inotify_instances'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

interface Desk {
  readonly watch: Watch;
  readonly blobs: BlobPort;
  readonly known: Map<string, FileTouch>;
  /** Takes note that the model was given the file as it is now. */
  give(path: string): void;
  /** Looks, and takes note of what was told. */
  look(): Promise<readonly FileChange[]>;
}

function desk(more: Partial<WatchOptions> = {}): Desk {
  const blobs = more.blobs ?? memoryBlobs();
  const watch = createWatch({ label: (path) => path.split('/').at(-1) ?? path, budgetMs: 2000, ...more, blobs });
  const known = new Map<string, FileTouch>();
  onTestFinished(() => { watch.close(); });
  return {
    watch, blobs, known,
    give(path) {
      const bytes = readFileSync(path);
      known.set(path, { path, hash: sha256(bytes) as BlobHash, how: 'read', kept: blobs.put(bytes) !== undefined });
    },
    async look() {
      const { changes } = await watch.look(known, signal);
      for (const { path, hash, kept } of changes) known.set(path, { path, hash, how: 'notice', kept });
      for (const { changedAtMs } of changes) if (changedAtMs !== undefined) expect(Math.abs(Date.now() - changedAtMs)).toBeLessThan(60_000);
      return changes;
    },
  };
}

const lines = (n: number): string => Array.from({ length: n }, (_, i) => `line ${i + 1}\n`).join('');

describe('a look', () => {
  it('tells a change once, as a diff with line numbers', async () => {
    const root = tempFolder({ 'a.ts': lines(30) });
    const at = desk();
    const file = join(root, 'a.ts');
    at.give(file);
    expect(await at.look()).toEqual([]);
    writeFileSync(file, lines(30).replace('line 20', 'line twenty'));
    expect(await at.look()).toEqual([{
      path: file, label: 'a.ts', kind: 'changed', kept: true, changedAtMs: expect.any(Number) as number, hash: sha256(readFileSync(file)), addedLines: 1, removedLines: 1,
      patch: '@@ -17,7 +17,7 @@\n line 17\n line 18\n line 19\n-line 20\n+line twenty\n line 21\n line 22\n line 23',
    }]);
    expect(await at.look()).toEqual([]);
  });
  it('tells the next change against what was told last', async () => {
    const file = join(tempFolder({ 'a.ts': lines(10) }), 'a.ts');
    const at = desk();
    at.give(file);
    for (const name of ['one', 'two', 'three']) {
      writeFileSync(file, `${readFileSync(file, 'utf8')}${name}\n`);
      const [change] = await at.look();
      expect(change).toMatchObject({ addedLines: 1, removedLines: 0 });
      expect(change?.patch?.endsWith(`+${name}`)).toBe(true);
    }
  });
  it('does not take a touch, a chmod, or a save of the same bytes for a change', async () => {
    const root = tempFolder({ 'a.ts': lines(5) });
    const file = join(root, 'a.ts');
    const at = desk();
    at.give(file);
    await at.look();
    utimesSync(file, new Date(), new Date());
    expect(await at.look()).toEqual([]);
    chmodSync(file, 0o600);
    expect(await at.look()).toEqual([]);
    writeFileSync(file, lines(5));
    expect(await at.look()).toEqual([]);
    copyFileSync(file, join(root, 'tmp'));
    renameSync(join(root, 'tmp'), file);
    expect(await at.look()).toEqual([]);
    linkSync(file, join(root, 'second-name'));
    expect(await at.look()).toEqual([]);
  });
  it('sees a change of the same size within one tick of the clock', async () => {
    const file = join(tempFolder({ 'a.ts': 'aaaa\n' }), 'a.ts');
    const at = desk();
    at.give(file);
    for (let i = 0; i < 40; i += 1) {
      writeFileSync(file, i % 2 === 0 ? 'bbbb\n' : 'aaaa\n');
      expect(await at.look()).toHaveLength(1);
    }
  });
  it('sees a change whose time was set back', async () => {
    const file = join(tempFolder({ 'a.ts': 'aaaa\n' }), 'a.ts');
    const old = new Date(2020, 1, 1);
    utimesSync(file, old, old);
    const at = desk();
    at.give(file);
    await at.look();
    await at.look();
    writeFileSync(file, 'bbbb\n');
    utimesSync(file, old, old);
    expect(await at.look()).toHaveLength(1);
  });
  it('tells a deletion once, and when the file is there again', async () => {
    const file = join(tempFolder({ 'a.ts': 'a\n' }), 'a.ts');
    const at = desk();
    at.give(file);
    rmSync(file);
    expect(await at.look()).toEqual([{ path: file, label: 'a.ts', kind: 'deleted', hash: MISSING_HASH, kept: false }]);
    expect(await at.look()).toEqual([]);
    writeFileSync(file, 'a\n');
    expect(await at.look()).toMatchObject([{ kind: 'changed', kept: true }]);
    expect(await at.look()).toEqual([]);
  });
  it('takes a file whose place a folder took for gone', async () => {
    const root = tempFolder({ 'a/b.ts': 'a\n', 'c.ts': 'c\n' });
    const at = desk();
    at.give(join(root, 'a/b.ts'));
    at.give(join(root, 'c.ts'));
    rmSync(join(root, 'a'), { recursive: true });
    writeFileSync(join(root, 'a'), 'now a file');
    rmSync(join(root, 'c.ts'));
    mkdirSync(join(root, 'c.ts'));
    expect((await at.look()).map(({ kind }) => kind)).toEqual(['deleted', 'deleted']);
  });
  it.runIf(existsSync('/proc/self/mem'))('tells once of a file that cannot be read', async () => {
    const at = desk();
    at.known.set('/proc/self/mem', { path: '/proc/self/mem', hash: 'x' as BlobHash, how: 'read', kept: false });
    expect(await at.look()).toMatchObject([{ kind: 'unreadable', hash: UNREADABLE_HASH }]);
    expect(await at.look()).toEqual([]);
  });
  it('names binaries, generated files and large changes without a diff', async () => {
    const root = tempFolder({ 'a.bin': Buffer.from([0, 1, 2]), 'package-lock.json': '{}\n', 'gen.ts': '// @generated\n', 'big.ts': lines(10), 'long.ts': 'x\n' });
    const at = desk();
    const names = ['a.bin', 'package-lock.json', 'gen.ts', 'big.ts', 'long.ts'];
    for (const name of names) at.give(join(root, name));
    writeFileSync(join(root, 'a.bin'), Buffer.from([0, 9, 9]));
    writeFileSync(join(root, 'package-lock.json'), '{"a":1}\n');
    writeFileSync(join(root, 'gen.ts'), '// @generated\nx\n');
    writeFileSync(join(root, 'big.ts'), lines(2000));
    writeFileSync(join(root, 'long.ts'), 'y'.repeat(600));
    const changes = await at.look();
    expect(changes.map(({ label }) => label)).toEqual(names);
    expect(changes.map(({ patch }) => patch)).toEqual(names.map(() => undefined));
    expect(changes.map(({ addedLines }) => addedLines)).toEqual([undefined, 1, 1, 1990, 1]);
  });
  it('keeps no bytes of very large files, and still sees them change', async () => {
    const file = join(tempFolder({ 'a.txt': Buffer.alloc(3 * 1024 * 1024, 97) }), 'a.txt');
    const at = desk();
    at.give(file);
    expect(await at.look()).toEqual([]);
    writeFileSync(file, Buffer.alloc(3 * 1024 * 1024, 98));
    expect(await at.look()).toMatchObject([{ kind: 'changed', kept: false }]);
    expect(await at.look()).toEqual([]);
  });
  it('diffs against bytes that an earlier process kept', async () => {
    const root = tempFolder({ 'a.ts': lines(10) });
    const folder = join(root, 'blobs');
    const first = desk({ blobs: createBlobs(folder) });
    first.give(join(root, 'a.ts'));
    writeFileSync(join(root, 'a.ts'), `${lines(10)}x\n`);
    const second = desk({ blobs: createBlobs(folder) });
    for (const [path, touch] of first.known) second.known.set(path, touch);
    expect((await second.look())[0]?.patch).toContain('+x');
  });
  it('reads text in other encodings', async () => {
    const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le');
    const file = join(tempFolder({ 'a.txt': utf16(lines(9)) }), 'a.txt');
    const at = desk();
    at.give(file);
    writeFileSync(file, utf16(`${lines(9)}é\n`));
    expect((await at.look())[0]?.patch).toContain('+é');
  });
  it.runIf(process.platform === 'linux')('looks at files whose names are no text', async () => {
    const root = tempFolder();
    const name = Buffer.concat([Buffer.from(`${root}/a`), Buffer.from([0xff])]);
    writeFileSync(name, 'a\n');
    const at = desk();
    const path = nameFromBytes(name);
    at.known.set(path, { path, hash: sha256('a\n') as BlobHash, how: 'read', kept: false });
    expect(await at.look()).toEqual([]);
    writeFileSync(name, 'b\n');
    expect(await at.look()).toHaveLength(1);
  });
  it('stops when it is told to', async () => {
    const file = join(tempFolder({ 'a.ts': 'a\n' }), 'a.ts');
    const at = desk({ graceMs: 60_000 });
    at.give(file);
    rmSync(file);
    const abort = new AbortController();
    const looking = at.watch.look(at.known, abort.signal);
    setTimeout(() => { abort.abort(new Error('esc')); }, 20);
    await expect(looking).rejects.toThrow();
  });
});

describe('many files', () => {
  const many = (n: number): { readonly root: string; readonly paths: readonly string[] } => {
    const root = tempFolder();
    const paths = Array.from({ length: n }, (_, i) => join(root, `f${i}.ts`));
    for (const path of paths) writeFileSync(path, path);
    return { root, paths };
  };
  it('are told by name alone', async () => {
    const { paths } = many(60);
    const at = desk();
    for (const path of paths) at.give(path);
    for (const path of paths) writeFileSync(path, 'other branch\n');
    const changes = await at.look();
    expect(changes).toHaveLength(60);
    expect(changes.every(({ patch, kept }) => patch === undefined && !kept)).toBe(true);
    expect(await at.look()).toEqual([]);
  });
  it('that there is no time for are counted, and come first at the next look', async () => {
    const { paths } = many(100);
    const at = desk({ budgetMs: 0 });
    for (const path of paths) at.give(path);
    for (const path of paths) writeFileSync(path, 'changed\n');
    const seen = new Set<string>();
    let skipped = 0;
    for (let i = 0; i < 200 && seen.size < paths.length; i += 1) {
      const look = await at.watch.look(at.known, signal);
      expect(look.changes.length + look.skipped).toBeLessThanOrEqual(paths.length);
      skipped += look.skipped;
      for (const { path } of look.changes) seen.add(path);
    }
    expect(skipped).toBeGreaterThan(0);
    expect(seen.size).toBe(paths.length);
  });
  it('are all looked at although the thread was busy with something else for longer than a look may take', async () => {
    const { paths } = many(40);
    const at = desk({ budgetMs: 150 });
    for (const path of paths) at.give(path);
    writeFileSync(paths[0] ?? '', 'changed\n');
    const looking = at.watch.look(at.known, signal);
    for (let busy = 0; busy < 3; busy += 1) {
      const until = performance.now() + 200;
      while (performance.now() < until);
      await sleep(1);
    }
    const { changes, skipped } = await looking;
    expect([changes.length, skipped]).toEqual([1, 0]);
  });
  it('say nothing while a checkout is under way', async () => {
    const { root, paths } = many(3);
    mkdirSync(join(root, '.git'));
    const lock = join(root, '.git', 'index.lock');
    const at = desk({ gitDirectory: join(root, '.git') });
    for (const path of paths) at.give(path);
    for (const path of paths) writeFileSync(path, 'x');
    writeFileSync(lock, '');
    expect(await at.watch.look(at.known, signal)).toEqual({ changes: [], skipped: 0, settling: true });
    const old = new Date(Date.now() - 10 * 60_000);
    utimesSync(lock, old, old);
    expect((await at.watch.look(at.known, signal)).changes).toHaveLength(3);
    rmSync(lock);
    expect((await at.watch.look(at.known, signal)).changes).toHaveLength(3);
  });
});

/** How editors and tools save a file. */
const SAVES: Readonly<Record<string, (file: string, text: string) => void>> = {
  'in place': (file, text) => { writeFileSync(file, text); },
  'renamed over (echo > z && mv z file)': (file, text) => { writeFileSync(`${file}.tmp`, text); renameSync(`${file}.tmp`, file); },
  'backup, then new (vim)': (file, text) => { writeFileSync(join(file, '..', '4913'), ''); rmSync(join(file, '..', '4913')); renameSync(file, `${file}~`); writeFileSync(file, text); rmSync(`${file}~`); },
  'unlinked and made anew': (file, text) => { rmSync(file); writeFileSync(file, text); },
  'swap file beside it': (file, text) => { writeFileSync(`${file}.swp`, text); writeFileSync(file, text); rmSync(`${file}.swp`); },
  'hot exit': (file, text) => { const tmp = `${file}.${Math.random()}`; writeFileSync(tmp, text); copyFileSync(tmp, file); rmSync(tmp); },
  'gedit': (file, text) => { writeFileSync(join(file, '..', '.goutputstream-X1'), text); renameSync(join(file, '..', '.goutputstream-X1'), file); },
  'copied over': (file, text) => { writeFileSync(`${file}.new`, text); copyFileSync(`${file}.new`, file); rmSync(`${file}.new`); },
  'sed -i': (file, text) => { execFileSync('sh', ['-c', `printf '%s' "$1" > "$2.in" && sed -n 'w '"$2.out" "$2.in" && mv "$2.out" "$2" && rm "$2.in"`, 'sh', text, file]); },
};

describe('saves', () => {
  it.each(Object.keys(SAVES))('%s: five saves are five changes', async (name) => {
    const file = join(tempFolder({ 'a.ts': lines(20) }), 'a.ts');
    const save = SAVES[name];
    const at = desk();
    at.give(file);
    await at.look();
    for (let i = 0; i < 5; i += 1) {
      save?.(file, `${lines(20)}save ${i}\n`);
      expect(await at.look()).toMatchObject([{ kind: 'changed', hash: sha256(readFileSync(file)) }]);
    }
  });
  it('by renaming, with the file away for a moment, are no deletion', async () => {
    const file = join(tempFolder({ 'a.ts': 'old\n' }), 'a.ts');
    const at = desk();
    at.give(file);
    for (let i = 0; i < 5; i += 1) {
      renameSync(file, `${file}~`);
      const looking = at.look();
      await sleep(30);
      writeFileSync(file, `new ${i}\n`);
      expect(await looking).toMatchObject([{ kind: 'changed' }]);
    }
  });
  it('of the target of a link are seen', async () => {
    const root = tempFolder({ 'real.ts': 'a\n' });
    symlinkSync(join(root, 'real.ts'), join(root, 'link.ts'));
    const at = desk();
    at.give(join(root, 'real.ts'));
    writeFileSync(join(root, 'link.ts'), 'b\n');
    expect(await at.look()).toHaveLength(1);
  });
});

describe('following files for the screen', () => {
  it.each(Object.keys(SAVES))('hears of each save once: %s', async (name) => {
    const root = tempFolder({ 'a.ts': 'a\n', 'other.ts': 'o\n' });
    const file = join(root, 'a.ts');
    const at = desk();
    const heard: string[] = [];
    at.watch.watchFiles([file], (path) => { heard.push(path); });
    for (let i = 1; i <= 5; i += 1) {
      SAVES[name]?.(file, `save ${i}\n`);
      writeFileSync(join(root, 'other.ts'), `${i}`);
      for (let waited = 0; waited < 200 && heard.length < i; waited += 1) await sleep(10);
      expect(heard).toEqual(Array.from({ length: i }, () => file));
    }
  });
  it.runIf(canUnshare)('gives up with one notice where no more can be watched, and looks go on', async () => {
    const root = tempFolder({ a: 'a', 'b/c': 'c' });
    const script = `
      import { createWatch } from './src/watch/watch.ts';
      const root = ${JSON.stringify(root)};
      const watch = createWatch({ blobs: { put: () => undefined, get: () => undefined }, label: (path) => path, onNotice: (text) => { console.log('notice', text); } });
      watch.watchFiles([root + '/a', root + '/b/c'], () => undefined);
      watch.watchFiles([root + '/a'], () => undefined);
      const { changes } = await watch.look(new Map([[root + '/a', { path: root + '/a', hash: 'x', how: 'read', kept: false }]]), new AbortController().signal);
      console.log('changes', changes.length);
      watch.close();`;
    const out = join(root, 'bundle.mjs');
    await build({ stdin: { contents: script, resolveDir: process.cwd() }, bundle: true, platform: 'node', format: 'esm', target: 'node20', outfile: out });
    for (const limit of ['max_inotify_instances', 'max_inotify_watches']) {
      const shown = execFileSync('unshare', ['-Ur', 'sh', '-c', `echo 0 > /proc/sys/user/${limit}; exec "$0" "$1"`, process.execPath, out], { encoding: 'utf8' }).trim().split('\n');
      expect(shown).toEqual([expect.stringMatching(/^notice Files are not watched .*still seen at each step/), 'changes 1']);
    }
  });
  it('follows others when it is told to, and none after it is closed', async () => {
    const root = tempFolder({ 'a.ts': 'a\n', 'sub/b.ts': 'b\n' });
    const at = desk();
    const heard: string[] = [];
    at.watch.watchFiles([join(root, 'a.ts')], (path) => { heard.push(path); });
    at.watch.watchFiles([join(root, 'sub/b.ts')], (path) => { heard.push(path); });
    for (let tries = 0; tries < 100 && heard.length === 0; tries += 1) {
      writeFileSync(join(root, 'sub/b.ts'), `${tries}`);
      writeFileSync(join(root, 'a.ts'), `${tries}`);
      await sleep(50);
    }
    expect(new Set(heard)).toEqual(new Set([join(root, 'sub/b.ts')]));
    at.watch.close();
    heard.length = 0;
    writeFileSync(join(root, 'sub/b.ts'), 'after');
    await sleep(50);
    expect(heard).toEqual([]);
  });
});

interface FileName { readonly id: string; readonly name?: string; readonly bytes_b64?: string; readonly linux_ok: boolean }

describe.runIf(process.platform === 'linux')('file names of every kind', () => {
  const names = (readCases('filenames') as { readonly names: readonly FileName[] }).names.filter(({ linux_ok }) => linux_ok)
    .map(({ id, name, bytes_b64 }) => ({ id, bytes: bytes_b64 === undefined ? Buffer.from(name ?? '') : Buffer.from(bytes_b64, 'base64') }))
    .filter(({ bytes }) => bytes.length > 0 && bytes.length < 250 && !bytes.includes(0x2f));
  it('are given, followed, changed, saved by renaming, and deleted', async () => {
    expect(names.length).toBeGreaterThan(70);
    const root = tempFolder();
    const at = desk();
    const on = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from(`${root}/`), bytes]);
    const paths = new Map(names.map(({ id, bytes }) => [id, join(root, nameFromBytes(bytes))]));
    for (const { id, bytes } of names) {
      const path = paths.get(id) ?? '';
      writeFileSync(on(bytes), id);
      at.known.set(path, { path, hash: sha256(id) as BlobHash, how: 'read', kept: at.blobs.put(Buffer.from(id)) !== undefined });
    }
    const all = new Set(paths.values());
    const heard = new Set<string>();
    at.watch.watchFiles(all, (path) => { heard.add(path); });
    expect(await at.look()).toEqual([]);
    for (const { bytes } of names) writeFileSync(on(bytes), 'changed');
    const changes = new Set<string>();
    for (const { path, kind } of await at.look()) if (kind === 'changed') changes.add(path);
    expect(changes).toEqual(all);
    for (let waited = 0; waited < 200 && heard.size < all.size; waited += 1) await sleep(10);
    expect(heard).toEqual(all);
    for (const { bytes } of names) {
      writeFileSync(join(root, 'new'), 'saved');
      renameSync(join(root, 'new'), on(bytes));
    }
    expect((await at.look()).map(({ kind }) => kind)).toEqual([...all].map(() => 'changed'));
    for (const { bytes } of names) rmSync(on(bytes));
    expect((await at.look()).map(({ kind }) => kind)).toEqual([...all].map(() => 'deleted'));
    expect(await at.look()).toEqual([]);
  });
});
