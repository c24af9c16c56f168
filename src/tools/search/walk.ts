import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { fsPath, nameFromBytes } from '#lib/names.ts';
import { readSmallFile } from '#lib/small-file.ts';
import type { Filter } from './globs.ts';

/** A file below the folder of a search; `path` is relative to it. */
export interface WalkedFile {
  readonly path: string;
  readonly isLink: boolean;
}

export interface WalkOptions {
  readonly signal: AbortSignal;
  /** Respect .gitignore files, these first. */
  readonly rules?: readonly Rules[];
  /** A repository within the folder has its own rules only. */
  readonly inRepository?: boolean;
  readonly filter?: Filter;
}

/** One .gitignore file and the folder (absolute) that it stands in. */
export interface Rules {
  readonly folder: string;
  readonly ignore: Ignore;
}

/** Version control's own files are never listed or searched. */
const OWN = '.git';

/**
 * Files below a folder, in the order of their paths' bytes, each folder's contents at its place. Links are named and not
 * followed; a folder that cannot be read is passed over.
 */
export async function* walk(root: string, options: WalkOptions, folder = ''): AsyncGenerator<WalkedFile> {
  options.signal.throwIfAborted();
  const here = join(root, folder);
  const rules = options.rules === undefined ? undefined : [...await isBoundary(here, folder, options) ? [] : options.rules, ...rulesIn(here)];
  for (const entry of await entriesOf(here)) {
    const name = nameFromBytes(entry.name);
    if (name === OWN) continue;
    const path = folder === '' ? name : `${folder}/${name}`;
    const isFolder = entry.isDirectory();
    const verdict = options.filter?.(path, isFolder);
    if (verdict === 'out' || (verdict === undefined && rules !== undefined && isIgnored(rules, join(root, path), isFolder))) continue;
    if (isFolder) yield* walk(root, { ...options, ...(rules === undefined ? {} : { rules }) }, path);
    else if (entry.isFile() || entry.isSymbolicLink()) yield { path, isLink: entry.isSymbolicLink() };
  }
}

async function entriesOf(folder: string): Promise<Dirent<Buffer>[]> {
  const entries = await readdir(fsPath(folder), { withFileTypes: true, encoding: 'buffer' }).catch(() => []);
  return entries.sort((a, b) => Buffer.compare(a.name, b.name));
}

function rulesIn(folder: string): Rules[] {
  try {
    return [{ folder, ignore: ignore({ ignorecase: false }).add(readSmallFile(join(folder, '.gitignore'))) }];
  } catch {
    return [];
  }
}

/** The nearest .gitignore that speaks of a path decides. */
function isIgnored(rules: readonly Rules[], path: string, isFolder: boolean): boolean {
  for (const { folder, ignore: rule } of rules.toReversed()) {
    const { ignored, unignored } = rule.test(`${relative(folder, path).split(sep).join('/')}${isFolder ? '/' : ''}`);
    if (ignored || unignored) return ignored;
  }
  return false;
}

async function isBoundary(path: string, folder: string, { inRepository }: WalkOptions): Promise<boolean> {
  return inRepository === true && folder !== '' && await isRepository(path);
}

/** What holds for a folder from above. */
export interface Above {
  readonly rules: readonly Rules[];
  /** Whether the folder lies in a repository, whose own folder is the last that counts. */
  readonly inRepository: boolean;
  /** The rules ignore the folder itself: who asks for it by name wants to see into it, and none of them counts. */
  readonly overruled: boolean;
}

/** The .gitignore files above the folder of a search. */
export async function rulesAbove(root: string): Promise<Above> {
  const found: Rules[] = [];
  let inRepository = await isRepository(root);
  for (let folder = root; !inRepository && folder !== dirname(folder);) {
    folder = dirname(folder);
    found.unshift(...rulesIn(folder));
    inRepository = await isRepository(folder);
  }
  const overruled = isIgnored(found, root, true);
  return { rules: overruled ? [] : found, inRepository, overruled };
}

async function isRepository(folder: string): Promise<boolean> {
  return await stat(join(folder, OWN)).then(() => true, () => false);
}
