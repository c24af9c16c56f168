import { readdir, readFile, stat } from 'node:fs/promises';
import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import ignore from 'ignore';
import type { Ignore } from 'ignore';
import { fsPath, nameFromBytes } from '#lib/names.ts';
import { NEVER_LISTED } from './list-options.ts';
import type { ListOptions } from './list-options.ts';

/** The rules of one `.gitignore`; `prefix` is its folder relative to the root, empty or with a slash behind. */
interface Rules {
  readonly prefix: string;
  readonly ignoring: Ignore;
}

interface Folder {
  readonly prefix: string;
  readonly rules: readonly Rules[];
}

const AT_ONCE = 16;

/** Files found by reading folder after folder, shallow ones first. Links are named when they lead somewhere, and not followed. */
export async function* listByWalking({ root, respectGitignore }: ListOptions, signal: AbortSignal): AsyncGenerator<readonly string[]> {
  let folders: readonly Folder[] = [{ prefix: '', rules: [] }];
  while (folders.length > 0) {
    const next: Folder[] = [];
    for (let at = 0; at < folders.length; at += AT_ONCE) {
      signal.throwIfAborted();
      const read = await Promise.all(folders.slice(at, at + AT_ONCE).map((folder) => readFolder(root, folder, respectGitignore)));
      next.push(...read.flatMap(({ inner }) => inner));
      yield read.flatMap(({ names }) => names);
    }
    folders = next;
  }
}

async function readFolder(root: string, { prefix, rules }: Folder, respectGitignore: boolean): Promise<{ readonly names: readonly string[]; readonly inner: readonly Folder[] }> {
  const entries = await entriesOf(join(root, prefix));
  const all = respectGitignore ? await withRulesOf(root, prefix, entries, rules) : rules;
  const names: string[] = [];
  const inner: Folder[] = [];
  for (const entry of entries) {
    const name = nameFromBytes(entry.name);
    const path = prefix + name;
    const kind = NEVER_LISTED.includes(name) ? undefined : await kindOf(join(root, path), entry);
    if (kind === undefined || isIgnored(kind === 'file' ? path : `${path}/`, all)) continue;
    names.push(kind === 'file' ? path : `${path}/`);
    if (kind === 'directory' && entry.isDirectory()) inner.push({ prefix: `${path}/`, rules: all });
  }
  return { names, inner };
}

async function entriesOf(folder: string): Promise<readonly Dirent<Buffer>[]> {
  try {
    return await readdir(fsPath(folder), { withFileTypes: true, encoding: 'buffer' });
  } catch {
    return [];
  }
}

async function kindOf(path: string, entry: Dirent<Buffer>): Promise<'file' | 'directory' | undefined> {
  if (entry.isDirectory()) return 'directory';
  if (!entry.isSymbolicLink()) return entry.isFile() ? 'file' : undefined;
  try {
    const stats = await stat(fsPath(path));
    return stats.isDirectory() ? 'directory' : stats.isFile() ? 'file' : undefined;
  } catch {
    return undefined;
  }
}

async function withRulesOf(root: string, prefix: string, entries: readonly Dirent<Buffer>[], rules: readonly Rules[]): Promise<readonly Rules[]> {
  if (!entries.some((entry) => entry.isFile() && entry.name.equals(Buffer.from('.gitignore')))) return rules;
  try {
    return [...rules, { prefix, ignoring: ignore({ ignorecase: false }).add(await readFile(fsPath(join(root, prefix, '.gitignore')), 'utf8')) }];
  } catch {
    return rules;
  }
}

/** The innermost file that says anything of the path decides. */
function isIgnored(path: string, rules: readonly Rules[]): boolean {
  let ignored = false;
  for (const { prefix, ignoring } of rules) {
    const verdict = ignoring.test(path.slice(prefix.length));
    if (verdict.ignored) ignored = true;
    else if (verdict.unignored) ignored = false;
  }
  return ignored;
}
