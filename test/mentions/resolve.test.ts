import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, realpathSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DocumentPort, PathPort } from '#domain/documents.ts';
import type { Loaded } from '#domain/world.ts';
import { createDocuments } from '#documents/load.ts';
import { nameFromBytes } from '#lib/names.ts';
import { mentionText } from '#mentions/quote.ts';
import { createMentions } from '#mentions/resolve.ts';
import { readCases } from '../support/cases.ts';
import { tempFolder } from '../support/temp.ts';

/** The port over a real folder, with rules reduced to names that are denied. */
function pathsOf(root: string, denied: readonly string[] = []): PathPort {
  return {
    lookUp: async (written, cwd) => {
      const path = resolve(cwd, written);
      let real = path;
      let kind: 'file' | 'directory' | 'other' | 'missing' = 'missing';
      try {
        real = realpathSync(path);
        const stats = statSync(real);
        kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : 'other';
      } catch (error) {
        if (!(error instanceof Error)) throw error;
      }
      const label = relative(root, real);
      const outside = label.startsWith('..');
      return await Promise.resolve({ real, label: outside ? real : label, kind, outside, denied: denied.includes(label) });
    },
  };
}

const documents = createDocuments({ blobs: { put: () => undefined, get: () => undefined }, capabilities: () => ({ images: true, pdf: true }) });

async function load(text: string, root: string, how: { readonly denied?: readonly string[]; readonly documents?: DocumentPort; readonly signal?: AbortSignal } = {}): Promise<Loaded & { readonly headers: readonly string[] }> {
  const mentions = createMentions({ paths: pathsOf(root, how.denied), documents: how.documents ?? documents, cwd: () => root });
  const loaded = await mentions.load(text, how.signal ?? new AbortController().signal);
  return { ...loaded, headers: loaded.parts.map((part) => (part.type === 'text' ? part.text.split('\n', 1).join('') : part.mime)) };
}

describe('mentions in a prompt', () => {
  it('attach files, ranges and directories, each once, in the order of the text', async () => {
    const root = tempFolder({ 'src/a.ts': '1\n2\n3\n4\n', 'src/b.ts': 'b', 'my file.txt': 'x' }, { 'lnk.ts': 'src/a.ts' });
    const loaded = await load('look at @"my file.txt", @src/a.ts:2-3 and (@src/) @src/a.ts#L2-3 @./src//a.ts:2-3 @src', root);
    expect(loaded.headers).toEqual(['File "my file.txt": 1 line, 1 byte', 'File "src/a.ts": lines 2-3 of 4 lines, 8 bytes', 'Directory "src": 2 entries']);
    expect(loaded.files.map(({ how }) => how)).toEqual(['mention', 'partial']);
    expect((await load('@src/a.ts @lnk.ts @src/a.ts:1-2', root)).headers).toEqual(['File "src/a.ts": 4 lines, 8 bytes']);
    expect(loaded.notes).toEqual([]);
  });

  it('of a file that is pinned attach nothing, and say so; its ranges are attached', async () => {
    const root = tempFolder({ 'a.ts': '1\n2\n3\n', 'b.ts': 'b' }, { 'lnk.ts': 'a.ts' });
    const mentions = createMentions({ paths: pathsOf(root), documents, cwd: () => root });
    const loaded = await mentions.load('@lnk.ts @b.ts', new AbortController().signal, new Set([join(root, 'a.ts')]));
    expect(loaded.notes).toEqual(['a.ts: pinned, in view already']);
    expect(loaded.files.map(({ path }) => path)).toEqual([join(root, 'b.ts')]);
    const range = await mentions.load('@a.ts:2', new AbortController().signal, new Set([join(root, 'a.ts')]));
    expect(range.parts).toHaveLength(1);
  });

  it('say in one line each what was not attached, and attach the rest', async () => {
    const root = tempFolder({ 'a.ts': 'a', '.env': 'SECRET', 'b.bin': Uint8Array.of(0, 1, 2) });
    execFileSync('mkfifo', [join(root, 'pipe')]);
    symlinkSync('/etc/hostname', join(root, 'out'));
    const loaded = await load('@missing.ts @.env @out @../x/y.md @b.bin @pipe @a.ts @a.ts/', root, { denied: ['.env'] });
    expect(loaded.headers).toEqual(['File "a.ts": 1 line, 1 byte']);
    expect(loaded.notes).toEqual([
      'b.bin: left out, model does not support MIME type "application/octet-stream" (3 bytes)',
      'pipe: is not a regular file (named pipe)',
      '.env: a deny rule keeps it from being read',
      '/etc/hostname: not attached, it is outside of the working folders',
      '@missing.ts: no such file or directory',
      '@../x/y.md: no such file or directory',
      '@a.ts/: no such file or directory',
    ]);
  });

  it('survive a part that fails', async () => {
    const root = tempFolder({ 'a.ts': 'a', 'b.ts': 'b' });
    const broken: DocumentPort = { load: async (path, ...rest) => { if (path.endsWith('a.ts')) throw new Error('boom'); return await documents.load(path, ...rest); } };
    const loaded = await load('@a.ts @b.ts', root, { documents: broken });
    expect(loaded.headers).toEqual(['File "b.ts": 1 line, 1 byte']);
    expect(loaded.notes).toEqual(['a.ts: boom']);
    expect((await load('@a.ts', root, { signal: AbortSignal.abort() })).notes).toEqual(['a.ts: not read in time']);
  });

  it('are fifty at most, and a pasted flood of @ is said, not looked up', async () => {
    const root = tempFolder(Object.fromEntries(Array.from({ length: 52 }, (_, at) => [`f${at}.txt`, 'x'])));
    const loaded = await load(Array.from({ length: 52 }, (_, at) => `@f${at}.txt`).join(' '), root);
    expect(loaded.headers).toHaveLength(50);
    expect(loaded.notes).toEqual(['2 further mentions not attached: 50 are the most for one prompt']);
    const flood = await load(Array.from({ length: 400 }, (_, at) => `@${`${at},`.repeat(200)}`).join(' '), root);
    expect(flood.notes).toEqual(['not everything that begins with @ was looked up: the text holds too much of it']);
  });

  it('take `.` and `..` behind an @ for words', async () => {
    const root = tempFolder({ 'a.ts': 'a' });
    expect(await load('meet @. or @.. or @...', root)).toMatchObject({ parts: [], notes: [] });
  });
});

describe('every file name of the list', () => {
  const { names } = readCases('filenames') as { readonly names: readonly { readonly id: string; readonly name?: string; readonly bytes_b64?: string; readonly mention: string | null; readonly display: string; readonly linux_ok: boolean }[] };

  it('is created, listed, mentioned and read: the right file each time', async () => {
    const root = tempFolder();
    const made = names.filter(({ linux_ok: ok }) => ok).map((known) => ({ ...known, bytes: known.name === undefined ? Buffer.from(known.bytes_b64 ?? '', 'base64') : Buffer.from(known.name) }));
    mkdirSync(join(root, 'all'));
    for (const { id, bytes } of made) writeFileSync(Buffer.concat([Buffer.from(`${root}/all/`), bytes]), `contents of ${id}`);
    const listed = new Set(readdirSync(join(root, 'all'), { encoding: 'buffer' }).map((bytes) => nameFromBytes(bytes)));
    expect(listed.size).toBe(made.length);
    const listing = await load('@all/', root);
    const shown = listing.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
    for (const { id, bytes, display, mention } of made) {
      const name = nameFromBytes(bytes);
      expect(listed.has(name)).toBe(true);
      expect(shown).toContain(display);
      const direct = await documents.load(`${root}/all/${name}`, name, { limitBytes: 1000 }, new AbortController().signal);
      expect(direct.parts).toMatchObject([{ text: expect.stringContaining(`\ncontents of ${id}\n`) as string }]);
      const typed = mentionText(`all/${name}`);
      expect(typed === undefined).toBe(mention === null);
      if (typed === undefined) continue;
      const loaded = await load(`see ${typed} please`, root);
      expect(loaded.notes).toEqual([]);
      expect(loaded.parts).toMatchObject([{ text: expect.stringContaining(`\ncontents of ${id}\n`) as string }]);
    }
  });
});
