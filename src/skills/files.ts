import { type Dirent, opendirSync, realpathSync, statSync, type Stats } from 'node:fs';
import { basename, join } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import { decode } from '#lib/decode.ts';
import { messageOf } from '#lib/errors.ts';
import { readFrontMatter } from '#lib/front-matter.ts';
import { readSmallBytes } from '#lib/small-file.ts';
import { firstParagraph, type Header, headerOf } from './header.ts';

/** A skill or Markdown command as it stands on the disk. */
export interface SkillFile {
  /** Of its folder or file; folders of Markdown commands stand before it with `:` between. */
  readonly name: string;
  /** As found, and where that really is. */
  readonly path: string;
  readonly real: string;
  readonly header: Header;
  /** What the header says, else the first paragraph. */
  readonly description: string;
  /** Line feeds only. */
  readonly body: string;
  /** What could not be read of it. */
  readonly problem?: string;
}

/** A file that cannot be used, and why. */
export interface BrokenFile {
  readonly path: string;
  readonly why: string;
}

export interface Found {
  readonly files: readonly SkillFile[];
  readonly broken: readonly BrokenFile[];
}

/** Looks into folders of skills and commands. What did not change since the last look costs a `stat`. */
export interface Reader {
  skills(folder: string, signal: AbortSignal): Promise<Found>;
  commands(folder: string, signal: AbortSignal): Promise<Found>;
}

/** Most entries of one folder, and most files in all folders of commands below one. */
const MOST_ENTRIES = 2000;
const DEEPEST = 6;
const LARGEST_BYTES = 256 * 1024;
/** What was changed this short a time ago may change again without another time stamp. */
const SETTLED_MS = 100;
/** Files that are looked at before others get a turn. */
const AT_A_TIME = 25;
const MOST_REMEMBERED = 10_000;
const NAME = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$/u;

interface Remembered<T> {
  /** Undefined where the next look must read again. */
  readonly stamp: string | undefined;
  readonly value: T;
}

interface Listed {
  readonly names: readonly { readonly name: string; readonly kind: 'file' | 'folder' | 'link' }[];
  readonly more: boolean;
}

type Read = { readonly file: Omit<SkillFile, 'name' | 'path'> } | { readonly why: string };

/** What one look gathers. `left`: how many more files are taken; `seen`: real folders that were looked into. */
interface Gathering {
  readonly files: SkillFile[];
  readonly broken: BrokenFile[];
  readonly seen: Set<string>;
  left: number;
}

const gathering = (): Gathering => ({ files: [], broken: [], seen: new Set(), left: MOST_ENTRIES });

export function createReader(): Reader {
  const disk = createDisk();
  let looks = 0;
  const take = async (path: string, name: string, found: Gathering): Promise<void> => {
    looks += 1;
    if (looks % AT_A_TIME === 0) await breathe();
    const stats = statOf(path);
    if (stats === undefined) return;
    const bad = name.split(':').find((piece) => !NAME.test(piece));
    const one: Read = bad === undefined ? await disk.read(path, stats) : { why: 'its name can have letters, digits, ".", "_" and "-" only, 64 at most, a letter or digit first' };
    if ('why' in one) found.broken.push({ path, why: one.why });
    else found.files.push({ ...one.file, name, path });
  };
  const collect = async (folder: string, before: string, found: Gathering, signal: AbortSignal): Promise<void> => {
    const real = realOf(folder);
    if (real === undefined || found.seen.has(real) || found.seen.size > MOST_ENTRIES) return;
    found.seen.add(real);
    const { names, more } = disk.list(folder);
    if (more) found.broken.push(tooMany(folder));
    for (const { name, kind } of names) {
      signal.throwIfAborted();
      const path = join(folder, name);
      const isFolder = kind === 'folder' || (kind === 'link' && statOf(path)?.isDirectory() === true);
      if (isFolder && before.split(':').length <= DEEPEST) await collect(path, `${before}${name}:`, found, signal);
      if (isFolder || !/\.md$/i.test(name)) continue;
      found.left -= 1;
      if (found.left === 0) found.broken.push(tooMany(folder));
      if (found.left > 0) await take(path, `${before}${name.slice(0, -3)}`, found);
    }
  };
  return {
    async skills(folder, signal) {
      const found = gathering();
      const { names, more } = disk.list(folder);
      if (more) found.broken.push(tooMany(folder));
      for (const { name, kind } of names) {
        signal.throwIfAborted();
        if (kind !== 'file') await take(join(folder, name, 'SKILL.md'), name, found);
      }
      return found;
    },
    async commands(folder, signal) {
      const found = gathering();
      await collect(folder, '', found, signal);
      return found;
    },
  };
}

/** Folders and files as they are, each read anew only when it changed. */
function createDisk() {
  const folders = new Map<string, Remembered<Listed>>();
  const files = new Map<string, Remembered<Read>>();
  return {
    list(folder: string): Listed {
      const stats = statOf(folder);
      if (stats?.isDirectory() !== true) return { names: [], more: false };
      const stamp = stampOf(stats);
      const known = folders.get(folder);
      if (known !== undefined && known.stamp === stamp && stamp !== undefined) return known.value;
      const value = namesIn(folder);
      remember(folders, folder, { stamp, value });
      return value;
    },
    async read(path: string, stats: Stats): Promise<Read> {
      const stamp = stampOf(stats);
      const known = files.get(path);
      if (known !== undefined && known.stamp === stamp && stamp !== undefined) return known.value;
      const value = await readOne(path, stats);
      remember(files, path, { stamp, value });
      return value;
    },
  };
}

const tooMany = (folder: string): BrokenFile => ({ path: folder, why: `it holds more than ${MOST_ENTRIES}; the others are left out` });

function remember<T>(known: Map<string, Remembered<T>>, path: string, value: Remembered<T>): void {
  if (known.size > MOST_REMEMBERED) known.clear();
  known.set(path, value);
}

/** What tells one state of a file or folder from another; undefined while it may still change unnoticed. */
function stampOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string | undefined {
  const age = Date.now() - Math.max(mtimeMs, ctimeMs);
  return age < SETTLED_MS ? undefined : `${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}`;
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** Names in order, hidden ones left out. */
function namesIn(folder: string): Listed {
  const names: { name: string; kind: 'file' | 'folder' | 'link' }[] = [];
  let more = false;
  try {
    const open = opendirSync(folder);
    try {
      for (let entry = open.readSync(); entry !== null && !more; entry = open.readSync()) {
        if (entry.name.startsWith('.')) continue;
        more = names.length === MOST_ENTRIES;
        if (!more) names.push({ name: entry.name, kind: kindOf(entry) });
      }
    } finally {
      open.closeSync();
    }
  } catch {
    return { names: [], more: false };
  }
  return { names: names.sort((a, b) => (a.name < b.name ? -1 : 1)), more };
}

function kindOf(entry: Dirent): 'file' | 'folder' | 'link' {
  return entry.isDirectory() ? 'folder' : entry.isSymbolicLink() ? 'link' : 'file';
}

async function readOne(path: string, stats: Stats): Promise<Read> {
  if (stats.isDirectory()) return { why: `${basename(path)} is a folder` };
  try {
    const real = realpathSync.native(path);
    const decoded = decode(readSmallBytes(path, LARGEST_BYTES));
    if (decoded.kind === 'binary') return { why: 'it is no text' };
    const { fields, body, problem } = await readFrontMatter(decoded.text.replaceAll('\r\n', '\n'));
    const header = headerOf(fields);
    if (body.trim() === '' && header.description === undefined) return { why: 'it is empty' };
    return { file: { real, header, body, description: header.description ?? firstParagraph(body), ...(problem !== undefined && { problem }) } };
  } catch (error) {
    return { why: messageOf(error) };
  }
}
