import { readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fsPath, nameFromBytes } from '#lib/names.ts';

/** A path in the form in which it was asked for. */
export interface Item {
  readonly path: string;
  readonly directory: boolean;
}

const EXPLICIT = /^(?:\.{1,2}|~)?\//;

/** Whether a query names a folder on disk outright: `/…`, `./…`, `../…` or `~/…`. */
export function namesFolder(query: string): boolean {
  return EXPLICIT.test(query);
}

/** What is in the folder that such a query names and begins with its last part: hidden entries only when that begins with a dot. Links count as what they lead to; broken ones are left out. */
export async function listFolder(query: string, root: string, limit: number): Promise<{ readonly items: readonly Item[]; readonly more: boolean }> {
  const cut = query.lastIndexOf('/') + 1;
  const [written, begun] = [query.slice(0, cut), query.slice(cut).toLowerCase()];
  const folder = written.startsWith('~/') ? join(homedir(), written.slice(2)) : resolve(root, written);
  const names = (await namesIn(folder)).filter((name) => name.toLowerCase().startsWith(begun) && (begun.startsWith('.') || !name.startsWith('.')));
  const items: Item[] = [];
  for (const name of names.sort()) {
    if (items.length > limit) break;
    const directory = await isDirectory(join(folder, name));
    if (directory !== undefined) items.push({ path: written + name, directory });
  }
  return { items: items.slice(0, limit), more: items.length > limit };
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(fsPath(folder), { encoding: 'buffer' })).map((name) => nameFromBytes(name));
  } catch {
    return [];
  }
}

/** Undefined where nothing is there, or neither a file nor a directory. */
export async function isDirectory(path: string): Promise<boolean | undefined> {
  try {
    const stats = await stat(fsPath(path));
    return stats.isDirectory() ? true : stats.isFile() ? false : undefined;
  } catch {
    return undefined;
  }
}
