import type { Json } from '#lib/brand.ts';
import { sha256 } from '#lib/hash.ts';
import type { Entry } from '#domain/entry.ts';
import { inViewOf } from '#domain/folds.ts';

/** The two who tell of problems in files: whichever spoke of a file first speaks of it alone, as long as what it told stands. */
export const EDITOR = 'diagnostics';
export const SERVERS = 'lsp_diagnostics';

/** A file as the editor's snapshots name it. */
export function fileKey(path: string): string {
  return sha256(path).slice(0, FILE_DIGITS);
}

const FILE_DIGITS = 8;

/** How a snapshot of the editor's tells a problem: its file first. */
export function toldKey(path: string, key: string): string {
  return `${fileKey(path)}${key}`;
}

/** Keys of the editor's problems that the model was told of and that were not taken back, each with its file's. */
export function toldByEditor(log: readonly Entry[]): ReadonlyMap<string, string> {
  const told = new Map<string, string>();
  for (const entry of inViewOf(log)) {
    if (entry.type !== 'reminder' || entry.source !== EDITOR) continue;
    for (const key of listIn(entry.snapshot, 'told')) told.set(key.slice(FILE_DIGITS), key.slice(0, FILE_DIGITS));
    for (const key of listIn(entry.snapshot, 'gone')) told.delete(key);
  }
  return told;
}

function listIn(snapshot: Json, field: 'told' | 'gone'): readonly string[] {
  const list = snapshot !== null && typeof snapshot === 'object' && field in snapshot ? (snapshot as Readonly<Record<string, Json>>)[field] : undefined;
  return Array.isArray(list) ? list.filter((one): one is string => typeof one === 'string') : [];
}

/** What language servers told of a file and is not known to be gone, by its path: an id for each report. */
export type ToldByServers = ReadonlyMap<string, readonly string[]>;

export function toldByServers(log: readonly Entry[]): ToldByServers {
  const last = inViewOf(log).findLast((entry) => entry.type === 'reminder' && entry.source === SERVERS);
  return (last?.type === 'reminder' ? storedByServers(last.snapshot) : undefined) ?? new Map<string, readonly string[]>();
}

/** A stored snapshot of the servers' source; undefined when it is none. */
export function storedByServers(stored: Json): ToldByServers | undefined {
  if (stored === null || typeof stored !== 'object' || Array.isArray(stored)) return undefined;
  const pairs = Object.entries(stored);
  return pairs.every((pair): pair is [string, readonly string[]] => Array.isArray(pair[1]) && pair[1].every((id) => typeof id === 'string' && id.includes('.'))) ? new Map(pairs) : undefined;
}
