import { lstatSync, readdirSync, statSync, type Dirent } from 'node:fs';
import { dirname, join } from 'node:path';
import { fsPath, nameFromBytes, oneLine } from '#lib/names.ts';
import { count } from '#lib/text.ts';
import { isWithin, realPathOf, relativeWithin } from '#lib/within.ts';
import type { MemoryFile } from '#domain/world.ts';
import type { Candidate } from './memory-read.ts';

type Scope = MemoryFile['scope'];

/** Names of one directory's instruction files, in the order in which they are told; rules stand between the shared and the local ones. */
const SHARED = ['AGENTS.md', 'CLAUDE.md', '.claude/CLAUDE.md', '.pinion/AGENTS.md'] as const;
const LOCAL = ['AGENTS.local.md', 'CLAUDE.local.md'] as const;
const RULES = ['.claude/rules', '.pinion/rules'] as const;

/** Most rule files of one folder, most entries that are looked at to find them, and how deep. */
const MOST_RULES = 300;
const MOST_ENTRIES = 3000;
const DEEPEST = 8;

/** What may be there, and what was not looked at (one line each, with the folder that it is about). */
export interface Found {
  readonly candidates: readonly Candidate[];
  readonly problems: readonly { readonly path: string; readonly note: string }[];
}

/** Directories from the root of the file system down to this one. */
export function directoriesTo(directory: string): readonly string[] {
  const directories: string[] = [];
  for (let at = directory; ; at = dirname(at)) {
    directories.unshift(at);
    if (dirname(at) === at) return directories;
  }
}

/** Directories from `top` down to the one that holds `path`; none where it lies elsewhere, or among files that others wrote. */
export function directoriesBetween(top: string, path: string): readonly string[] {
  const below = relativeWithin(top, dirname(path));
  if (below === undefined) return [];
  const names = below.split('/').filter((name) => name !== '');
  if (names.some((name) => FOREIGN.has(name))) return [];
  return [top, ...names.map((_, i) => join(top, ...names.slice(0, i + 1)))];
}

/** What others wrote is there to be used, not to give orders. */
const FOREIGN = new Set(['node_modules', '.git', 'site-packages', '.venv']);

/** The instruction files of one directory that are there. Links to folders of rules are followed within `tops`. */
export function filesIn(directory: string, tops: readonly string[]): Found {
  const plain = (names: readonly string[], scope: Scope): readonly Candidate[] => names.map((name) => join(directory, name)).filter(isThere).map((path) => ({ path, scope, rule: false, base: directory }));
  const rules = RULES.map((name) => rulesIn(join(directory, name), { scope: 'project', base: directory, tops: [directory, ...tops] }));
  return {
    candidates: [...plain(SHARED, 'project'), ...rules.flatMap(({ candidates }) => candidates), ...plain(LOCAL, 'local')],
    problems: rules.flatMap(({ problems }) => problems),
  };
}

/** Of some twenty names one or two are there, and they are looked for at every step: a look that costs next to nothing. */
export function isThere(path: string): boolean {
  try {
    return lstatSync(fsPath(path), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

interface Rules {
  readonly scope: Scope;
  /** The folder that globs are measured from. */
  readonly base: string;
  readonly tops: readonly string[];
}

/** Markdown files below a folder of rules, by name. A link to a folder is followed where it stays within `tops`, each real folder once. */
export function rulesIn(folder: string, { scope, base, tops }: Rules): Found {
  if (!isThere(folder)) return { candidates: [], problems: [] };
  const paths: string[] = [];
  const problems: Found['problems'][number][] = [];
  const visited = new Set<string>();
  let entries = 0;
  const walk = (at: string, depth: number): void => {
    const real = realPathOf(at);
    if (visited.has(real) || depth > DEEPEST || entries > MOST_ENTRIES) return;
    visited.add(real);
    if (!tops.some((top) => isWithin(realPathOf(top), real))) {
      problems.push({ path: at, note: `left out: it is a link that leads to ${oneLine(real)}` });
      return;
    }
    for (const entry of entriesOf(at)) {
      entries += 1;
      if (entries > MOST_ENTRIES) return;
      const path = join(at, nameFromBytes(entry.name));
      if (isFolder(entry, path)) walk(path, depth + 1);
      else if (/\.md$/i.test(path)) paths.push(path);
    }
  };
  walk(folder, 0);
  const kept = paths.slice(0, MOST_RULES);
  const left = paths.length - kept.length;
  if (left > 0 || entries > MOST_ENTRIES) problems.push({ path: folder, note: `${left > 0 && entries <= MOST_ENTRIES ? count(left, 'file') : 'further files'} left out: ${MOST_RULES} rules are the most of one folder` });
  return { candidates: kept.map((path) => ({ path, scope, rule: true, base })), problems };
}

function isFolder(entry: Dirent<Buffer>, path: string): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  try {
    return statSync(fsPath(path)).isDirectory();
  } catch {
    return false;
  }
}

function entriesOf(folder: string): readonly Dirent<Buffer>[] {
  try {
    return readdirSync(fsPath(folder), { withFileTypes: true, encoding: 'buffer' }).sort((a, b) => Buffer.compare(a.name, b.name));
  } catch {
    return [];
  }
}
