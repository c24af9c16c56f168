import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createDocuments } from '#documents/load.ts';
import { scaleWithSharp } from '#documents/images.ts';
import type { BlobHash, BlobRef, MediaPart } from '#domain/content.ts';
import type { BlobPort } from '#domain/ports.ts';
import type { Loaded } from '#domain/world.ts';
import { nameFromBytes } from '#lib/names.ts';
import { tempFolder } from '../support/temp.ts';
import { madePdf } from './pdfs.ts';

const never = new AbortController().signal;

function memoryBlobs(): BlobPort & { readonly kept: Map<string, Uint8Array> } {
  const kept = new Map<string, Uint8Array>();
  return {
    kept,
    put: (bytes): BlobRef => {
      const hash = createHash('sha256').update(bytes).digest('hex') as BlobHash;
      kept.set(hash, bytes);
      return { hash, bytes: bytes.length };
    },
    get: (hash) => kept.get(hash),
  };
}

interface How { readonly limitBytes?: number; readonly lines?: { readonly from: number; readonly to: number }; readonly images?: boolean; readonly pdf?: boolean; readonly scale?: typeof scaleWithSharp; readonly label?: string; readonly signal?: AbortSignal }

async function load(path: string, how: How = {}): Promise<Loaded & { readonly text: string; readonly kept: ReadonlyMap<string, Uint8Array> }> {
  const blobs = memoryBlobs();
  const documents = createDocuments({ blobs, capabilities: () => ({ images: how.images ?? true, pdf: how.pdf ?? true }), ...(how.scale === undefined ? {} : { scale: how.scale }) });
  const options = { limitBytes: how.limitBytes ?? 10_000, ...(how.lines === undefined ? {} : { lines: how.lines }) };
  const loaded = await documents.load(path, how.label ?? path.slice(path.lastIndexOf('/') + 1), options, how.signal ?? never);
  return { ...loaded, text: loaded.parts.map((part) => (part.type === 'text' ? part.text : `[${part.mime}]`)).join('\n'), kept: blobs.kept };
}

function body(text: string): string {
  return /\n<document-[^>]*>\n([^]*)\n<\/document-[^>]*>/.exec(text)?.[1] ?? '';
}

function sha(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

describe('text', () => {
  it('is shown whole, with path, lines and bytes, and counts as known', async () => {
    const folder = tempFolder({ 'src/a.ts': 'let a;\nlet b;\n' });
    const loaded = await load(join(folder, 'src/a.ts'), { label: 'src/a.ts' });
    expect(loaded.text).toBe('File "src/a.ts": 2 lines, 14 bytes\n<document-src-a-ts-text-typescript>\nlet a;\nlet b;\n\n</document-src-a-ts-text-typescript>');
    expect(loaded.files).toEqual([{ path: join(folder, 'src/a.ts'), hash: sha('let a;\nlet b;\n'), how: 'mention', kept: true }]);
    expect(loaded.notes).toEqual([]);
    expect(loaded.kept.has(sha('let a;\nlet b;\n'))).toBe(true);
  });

  it('is cut after the last line that fits and says how to read on', async () => {
    const folder = tempFolder({ 'long.txt': 'one two\n'.repeat(100) });
    const loaded = await load(join(folder, 'long.txt'), { limitBytes: 30 });
    expect(body(loaded.text)).toBe('one two\n'.repeat(3));
    expect(loaded.text).toContain('lines 1-3 of 100 lines, 800 bytes');
    expect(loaded.notes).toEqual(['long.txt: shown: lines 1-3 of 100 (24 of 800 bytes); read on with Read from line 4']);
    expect(loaded.files).toMatchObject([{ how: 'partial', hash: sha('one two\n'.repeat(100)) }]);
  });

  it('cuts one endless line on a character', async () => {
    const folder = tempFolder({ 'min.js': 'é'.repeat(100) });
    const loaded = await load(join(folder, 'min.js'), { limitBytes: 31 });
    expect(body(loaded.text)).toBe('é'.repeat(15));
    expect(loaded.notes).toEqual(['min.js: shown: line 1 of 1 (30 of 200 bytes); line 1 is too long and was cut']);
  });

  it('shows exactly the lines that were asked for', async () => {
    const folder = tempFolder({ 'a.txt': 'one\r\ntwo\r\nthree\r\nfour' });
    expect(body((await load(join(folder, 'a.txt'), { lines: { from: 2, to: 3 } })).text)).toBe('two\r\nthree\r\n');
    expect((await load(join(folder, 'a.txt'), { lines: { from: 4, to: 90 } })).text).toContain('File "a.txt": line 4 of 4 lines, 21 bytes\n');
    expect((await load(join(folder, 'a.txt'), { lines: { from: 5, to: 6 } })).notes).toEqual(['a.txt: has only 4 lines, nothing to show from line 5']);
    expect((await load(join(folder, 'a.txt'), { lines: { from: 1, to: 4 } })).files).toMatchObject([{ how: 'mention' }]);
  });

  it('takes other encodings and says so; the hash is that of the raw bytes', async () => {
    const utf16 = Buffer.from('\ufeffnaïve\n', 'utf16le');
    const folder = tempFolder({ 'a.txt': utf16, 'b.txt': Buffer.from('caf\xe9\n', 'latin1'), 'c.txt': '\ufeffmarked' });
    const loaded = await load(join(folder, 'a.txt'));
    expect(body(loaded.text)).toBe('naïve\n');
    expect(loaded.text).toContain('1 line, 14 bytes, utf-16le');
    expect(loaded.files).toMatchObject([{ hash: sha(utf16) }]);
    expect((await load(join(folder, 'b.txt'))).text).toContain('taken for windows-1252\n');
    expect(body((await load(join(folder, 'c.txt'))).text)).toBe('marked');
  });

  it('is text by its content, whatever its ending', async () => {
    const folder = tempFolder({ 'a.ts': 'x', 'b.png': 'not a picture\n', 'c.mp4': 'words\n', 'd.unknown': 'GIF89a is a format\n' });
    for (const name of ['a.ts', 'b.png', 'c.mp4', 'd.unknown']) expect((await load(join(folder, name))).text).toMatch(/<document-[a-z0-9-]+-text-(plain|typescript)>/);
  });

  it('says that an empty file is empty, and knows it', async () => {
    const folder = tempFolder({ 'empty.txt': '' });
    expect(await load(join(folder, 'empty.txt'))).toMatchObject({ parts: [], notes: ['empty.txt is empty'], files: [{ hash: sha(''), how: 'mention', kept: true }] });
  });

  it('reads of a huge file what is needed, line-exact', async () => {
    const folder = tempFolder();
    const path = join(folder, 'huge.log');
    const line = `${'é'.repeat(49)}\n`;
    for (let at = 0; at < 10; at += 1) appendFileSync(path, line.repeat(10_000));
    const loaded = await load(path, { lines: { from: 99_999, to: 99_999 } });
    expect(body(loaded.text)).toBe(line);
    expect(loaded.text).toContain('line 99999 of 100000 lines, 9900000 bytes\n');
    expect(loaded.files).toMatchObject([{ how: 'partial', kept: false, hash: sha(line.repeat(100_000)) }]);
    const head = await load(path, { limitBytes: 250 });
    expect(body(head.text)).toBe(line.repeat(2));
    expect(head.notes[0]).toContain('read on with Read from line 3');
    expect((await load(path, { lines: { from: 100_001, to: 100_002 } })).notes).toEqual(['huge.log: has only 100000 lines, nothing to show from line 100001']);
  });

  it('does not read all of what is larger than can be watched', async () => {
    const folder = tempFolder();
    const path = join(folder, 'sparse.log');
    writeFileSync(path, 'line\n'.repeat(2_000_000));
    execFileSync('truncate', ['-s', '3G', path]);
    const loaded = await load(path, { limitBytes: 12 });
    expect(body(loaded.text)).toBe('line\nline\n');
    expect(loaded.files).toEqual([]);
    expect(loaded.notes).toHaveLength(2);
  });

  it('stops when it is told to', async () => {
    const folder = tempFolder({ 'a.txt': 'x' });
    expect((await load(join(folder, 'a.txt'), { signal: AbortSignal.abort() })).notes).toEqual(['a.txt: not read in time']);
  });
});

describe('what is no file to read', () => {
  it('is refused in a line, without waiting', async () => {
    const folder = tempFolder();
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    symlinkSync('loop', join(folder, 'loop'));
    const server = createServer().listen(join(folder, 'socket'));
    onTestFinished(() => { server.close(); });
    await new Promise((resolve) => { server.once('listening', resolve); });
    expect((await load(join(folder, 'pipe'))).notes).toEqual(['pipe: is not a regular file (named pipe)']);
    expect((await load(join(folder, 'socket'))).notes).toEqual(['socket: is not a regular file (socket)']);
    expect((await load('/dev/zero')).notes).toEqual(['zero: is not a regular file (device)']);
    expect((await load(join(folder, 'missing'))).notes).toEqual(['missing: no such file']);
    expect((await load(join(folder, 'loop'))).notes).toEqual(['loop: is a symbolic link that leads nowhere']);
    expect((await load(join(folder, 'x'.repeat(300)))).notes).toEqual([expect.stringMatching(/: the name is too long$/)]);
    expect((await load(join(folder, 'a\0b'))).notes).toHaveLength(1);
  });

  it('reads files of /proc, whose size is told as 0', async () => {
    expect((await load('/proc/self/status')).text).toContain('Name:');
  });

  it('reads a file whose name is not UTF-8', async () => {
    const folder = tempFolder();
    const name = Buffer.from([0x61, 0xff, 0x2e, 0x74]);
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), name]), 'bytes');
    const loaded = await load(`${folder}/${nameFromBytes(name)}`);
    expect(loaded.text).toContain('File "a\\u{DCFF}.t": 1 line, 5 bytes');
    expect(body(loaded.text)).toBe('bytes');
  });

  it('says what a binary file is instead of showing it', async () => {
    const folder = tempFolder({ 'a.zip': Uint8Array.of(0x50, 0x4b, 3, 4, 0, 0), 'x.ts': '\0\u0001\u0002binary' });
    expect((await load(join(folder, 'a.zip'))).notes).toEqual(['a.zip: left out, model does not support MIME type "application/zip" (6 bytes)']);
    expect(await load(join(folder, 'x.ts'))).toMatchObject({ parts: [], files: [], notes: ['x.ts: left out, model does not support MIME type "application/octet-stream" (9 bytes)'] });
  });
});

describe('a directory', () => {
  it('is shown as its names, escaped, directories with a slash', async () => {
    const folder = tempFolder({ 'src/b.ts': '', 'src/a\nb.ts': '', 'src/deep/c.ts': '', 'src/<x>.md': '' }, { 'src/lnk': 'b.ts' });
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/src/`), Buffer.from([0xff])]), '');
    const loaded = await load(join(folder, 'src'));
    expect(loaded.text).toMatch(/^Directory "src": 6 entries\n<document-src-text-x-directory>\n/);
    expect(body(loaded.text).split('\n')).toEqual(['a\\u{A}b.ts', 'b.ts', 'deep/', '\\u{3C}x\\u{3E}.md', 'lnk', '\\u{DCFF}'].toSorted());
    expect(loaded).toMatchObject({ files: [], notes: [] });
  });
  it('is cut after 1,000 names, or after what fits', async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'many'));
    for (let at = 0; at < 1004; at += 1) writeFileSync(join(folder, 'many', String(at).padStart(4, '0')), '');
    const loaded = await load(join(folder, 'many'));
    expect(body(loaded.text).split('\n')).toHaveLength(1000);
    expect(loaded.text).toMatch(/\n\[4 more names not shown\]$/);
    expect(loaded.notes).toEqual(['many: 4 more names not shown']);
    expect(body((await load(join(folder, 'many'), { limitBytes: 52 })).text).split('\n')).toHaveLength(10);
  });
});

const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAD0lEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==', 'base64');
const GIF = Buffer.from('R0lGODlhAwACAIAAAAAAAP///yH5BAAAAAAALAAAAAADAAIAAAIDhI8FADs=', 'base64');

async function picture(width: number, height: number, format: 'png' | 'jpeg' | 'webp'): Promise<Buffer> {
  const { default: sharp } = await import('sharp');
  return await sharp({ create: { width, height, channels: 3, background: '#369' } })[format]().toBuffer();
}

function media(loaded: Loaded): MediaPart | undefined {
  return loaded.parts.find((part) => part.type === 'media');
}

describe('pictures and PDFs', () => {
  it('go as media, with their size, by content and not by ending', async () => {
    const folder = tempFolder({ 'a.png': PNG, 'b.txt': GIF, 'c.jpg': await picture(30, 20, 'jpeg'), 'd.webp': await picture(30, 20, 'webp') });
    const png = await load(join(folder, 'a.png'));
    expect(png.text).toBe(`File "a.png": picture, 3×2 pixels, ${PNG.length} bytes\n[image/png]`);
    expect(media(png)).toEqual({ type: 'media', mime: 'image/png', name: 'a.png', width: 3, height: 2, blob: { hash: sha(PNG), bytes: PNG.length } });
    expect(png.files).toMatchObject([{ hash: sha(PNG), how: 'mention' }]);
    expect(media(await load(join(folder, 'b.txt')))).toMatchObject({ mime: 'image/gif', width: 3, height: 2 });
    expect(media(await load(join(folder, 'c.jpg')))).toMatchObject({ mime: 'image/jpeg', width: 30, height: 20 });
    expect(media(await load(join(folder, 'd.webp')))).toMatchObject({ mime: 'image/webp', width: 30, height: 20 });
  });

  it('are dropped with a reason when the model does not take them', async () => {
    const folder = tempFolder({ 'a.png': PNG, 'a.pdf': madePdf(['']) });
    expect(await load(join(folder, 'a.png'), { images: false })).toMatchObject({ parts: [], files: [], notes: ['a.png: left out, model does not support MIME type "image/png"'] });
    expect(await load(join(folder, 'a.pdf'), { pdf: false })).toMatchObject({ parts: [], notes: [expect.stringContaining('a.pdf: left out, model does not support MIME type "application/pdf"')] });
  });

  it('are scaled down to 2000 pixels at most', async () => {
    const folder = tempFolder({ 'big.png': await picture(3000, 1500, 'png'), 'big.jpg': await picture(2500, 10, 'jpeg') });
    const loaded = await load(join(folder, 'big.png'));
    expect(media(loaded)).toMatchObject({ mime: 'image/png', width: 2000, height: 1000 });
    expect(loaded.text).toContain('3000×1500 pixels, scaled down to 2000×1000');
    expect(media(await load(join(folder, 'big.jpg')))).toMatchObject({ mime: 'image/jpeg', width: 2000, height: 8 });
  });

  it('are left out with a note when they cannot be scaled down', async () => {
    const folder = tempFolder({ 'big.png': await picture(3000, 1500, 'png') });
    expect((await load(join(folder, 'big.png'), { scale: async () => await Promise.resolve(undefined) })).notes).toEqual([
      expect.stringMatching(/^big\.png: left out, the picture is too large \(3000×1500 pixels, \d+ bytes\) and could not be scaled down here$/),
    ]);
  });

  it('are left out when they are damaged', async () => {
    const folder = tempFolder({ 'a.png': PNG.subarray(0, 20) });
    expect((await load(join(folder, 'a.png'))).notes).toEqual(['a.png: left out, the picture (image/png) is damaged']);
  });
});
