import { lstatSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import picomatch from 'picomatch';
import { decode } from '#lib/decode.ts';
import { sha256 } from '#lib/hash.ts';
import { fsPath, oneLine } from '#lib/names.ts';
import { isWithin } from '#lib/within.ts';
import type { BlobHash } from '#domain/content.ts';
import type { PathPort } from '#domain/documents.ts';
import type { MemoryFile, MemoryPort } from '#domain/world.ts';
import { importsOf, insertImports, stripComments, stripHidden, type Import, type Imported } from './memory-text.ts';

export interface MemoryOptions {
  /** The session's directory, real path. */
  readonly cwd: string;
  /** Top of the repository that `cwd` lies in, real path; undefined outside a repository. */
  readonly repository: string | undefined;
  /** The user's home directory, real path. */
  readonly home: string;
  /** The user's own instruction files, absolute, in order: `<pinion home>/AGENTS.md`, `~/.claude/CLAUDE.md`. */
  readonly userFiles: readonly string[];
  /** Further directories of the workspace, from which files may be imported. */
  readonly roots: readonly string[];
  /** Globs of absolute paths that are left out. */
  readonly excludes: readonly string[];
  readonly paths: PathPort;
}

const NAMES = ['AGENTS.md', 'CLAUDE.md', '.claude/CLAUDE.md', 'CLAUDE.local.md'] as const;
/** A larger file is left out, with a note. */
const LARGEST_BYTES = 4 * 1024 * 1024;
/** An import of an import of an import of an import is the last one followed. */
const MOST_HOPS = 4;
/** What may be imported from the home directory: texts, so that a repository cannot fetch a key from there. */
const PROSE = /\.(?:md|mdx|mdc|markdown|txt|rst|adoc)$/i;

interface Reading {
  readonly options: MemoryOptions;
  readonly excluded: (path: string) => boolean;
  readonly seen: Set<string>;
  readonly notes: string[];
}

/**
 * Instruction files of the user, then of the project: AGENTS.md, CLAUDE.md, .claude/CLAUDE.md and CLAUDE.local.md of every
 * directory from the root down to `cwd`, each real file once. `@path` in them stands for that file's text (relative to the
 * file it stands in, at most four hops); block comments of HTML are left out.
 */
export function createMemory(options: MemoryOptions): MemoryPort {
  const excluded = options.excludes.length === 0 ? () => false : picomatch([...options.excludes], { dot: true });
  return {
    async files(signal) {
      const files: MemoryFile[] = [];
      const seen = new Set<string>();
      for (const { path, scope } of candidates(options)) {
        signal.throwIfAborted();
        if (!isThere(path) || excluded(path)) continue;
        const file = await readMemory(path, scope, { options, excluded, seen, notes: [] });
        if (file !== undefined && (file.text !== '' || file.notes.length > 0)) files.push(file);
      }
      return files;
    },
    nested: () => Promise.resolve([]),
    recall: () => Promise.resolve([]),
  };
}

/** Of some twenty names one or two are there, and they are looked for at every step: a look that costs next to nothing. */
function isThere(path: string): boolean {
  try {
    return lstatSync(fsPath(path), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

function candidates({ userFiles, cwd }: MemoryOptions): readonly { readonly path: string; readonly scope: MemoryFile['scope'] }[] {
  const directories: string[] = [];
  for (let at = cwd; ; at = dirname(at)) {
    directories.unshift(at);
    if (dirname(at) === at) break;
  }
  return [
    ...userFiles.map((path) => ({ path, scope: 'user' as const })),
    ...directories.flatMap((directory) => NAMES.map((name) => ({ path: join(directory, name), scope: name === 'CLAUDE.local.md' ? 'local' as const : 'project' as const }))),
  ];
}

async function readMemory(path: string, scope: MemoryFile['scope'], reading: Reading): Promise<MemoryFile | undefined> {
  const found = await reading.options.paths.lookUp(path, dirname(path));
  if (found.kind !== 'file' || reading.seen.has(found.real)) return undefined;
  const file = (text: string, hash?: BlobHash): MemoryFile => ({ path: found.real, scope, text, notes: reading.notes, ...(hash !== undefined && { hash }) });
  if (found.denied) return { ...file(''), notes: ['left out: a permission rule denies reading it'] };
  if (scope !== 'user' && !isOurs(path, found.real, reading.options)) return { ...file(''), notes: [`left out: it is a link that leads out of the project, to ${oneLine(found.real)}`] };
  if (scope !== 'user' && !await isTrusted(found.real, reading.options)) return { ...file(''), notes: ['left out: it lies above the repository and belongs to another user'] };
  const text = await readText(found.real, '', scope, 0, reading);
  return text === undefined ? file('') : file(text.text, text.hash);
}

/** A repository's instruction file may be a link, but not to a file that the user never meant for the model. */
function isOurs(path: string, real: string, options: MemoryOptions): boolean {
  return real === path || mayBeImported(real, 'project', options) || isWithin(dirname(path), real);
}

/** Above the repository only the user's own and the system's files count: anybody can put a file into a shared folder. */
async function isTrusted(real: string, { repository, cwd }: MemoryOptions): Promise<boolean> {
  if (isWithin(repository ?? cwd, real) || process.getuid === undefined) return true;
  const { uid } = await stat(fsPath(real));
  return uid === process.getuid() || uid === 0;
}

/** The text with imports in place, and the hash of the bytes where there are none; undefined, with a note, when there is no text. */
async function readText(real: string, named: string, scope: MemoryFile['scope'], hops: number, reading: Reading): Promise<{ readonly text: string; readonly hash?: BlobHash } | undefined> {
  reading.seen.add(real);
  const note = (why: string): undefined => { reading.notes.push(named === '' ? why : `@${oneLine(named)}: ${why}`); };
  let bytes: Buffer;
  try {
    if ((await stat(fsPath(real))).size > LARGEST_BYTES) return note(`left out: larger than ${LARGEST_BYTES / 1024 / 1024} MiB`);
    bytes = await readFile(fsPath(real));
  } catch {
    return note('left out: it cannot be read');
  }
  const decoded = decode(bytes);
  if (decoded.kind === 'binary') return note('left out: it is no text');
  const { text, removed } = stripHidden(decoded.text.replaceAll('\r\n', '\n'));
  if (removed > 0) note(`${removed} invisible characters were taken out`);
  const body = stripComments(text).trim();
  const texts: Imported[] = [];
  for (const found of importsOf(body)) {
    const imported = await readImport(found, dirname(real), scope, hops, reading);
    if (imported !== undefined) texts.push(imported);
  }
  return texts.length === 0 ? { text: body, hash: sha256(bytes) as BlobHash } : { text: insertImports(body, texts) };
}

async function readImport(wanted: Import, from: string, scope: MemoryFile['scope'], hops: number, reading: Reading): Promise<Imported | undefined> {
  const { options, notes, seen, excluded } = reading;
  const note = (path: string, why: string): undefined => { notes.push(`@${oneLine(path)}: not imported, ${why}`); };
  for (const path of wanted.candidates) {
    const found = await options.paths.lookUp(path, from);
    if (found.kind === 'missing') continue;
    if (found.kind !== 'file') return wanted.certain ? note(path, 'it is no file') : undefined;
    if (excluded(found.real) || seen.has(found.real)) return undefined;
    if (found.denied) return note(path, 'a permission rule denies reading it');
    if (!mayBeImported(found.real, scope, options)) return note(path, 'it lies outside the project');
    if (hops >= MOST_HOPS) return note(path, `it is more than ${MOST_HOPS} imports deep`);
    const text = await readText(found.real, path, scope, hops + 1, reading);
    return text === undefined ? undefined : { line: wanted.line, path, text: `[${oneLine(path)}]\n${text.text}\n[end of ${oneLine(path)}]` };
  }
  return wanted.certain ? note(wanted.candidates.at(-1) ?? '', 'no such file') : undefined;
}

function mayBeImported(real: string, scope: MemoryFile['scope'], { cwd, repository, roots, home }: MemoryOptions): boolean {
  if ([cwd, ...(repository === undefined ? [] : [repository]), ...roots].some((root) => isWithin(root, real))) return true;
  return isWithin(home, real) && (scope === 'user' || PROSE.test(real));
}
