import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FoundEditor } from '#domain/editor.ts';
import { oneLine } from '#lib/names.ts';
import { isWithin, realPathOf } from '#lib/within.ts';

/** An editor that listens. The token is sent to nobody but its port. */
export interface EditorLock extends FoundEditor {
  readonly token: string;
  /** Milliseconds since the epoch at which it began to listen. */
  readonly since: number;
}

const MOST_BYTES = 64 * 1024;
const MOST_FILES = 500;
const MOST_FOLDERS = 100;
const LONGEST_NAME = 40;
/** What may stand in a header: no blanks, no line ends. */
const TOKEN = /^[\x21-\x7e]{8,512}$/;
const WORLD_WRITABLE = 0o002;

/**
 * Editors whose lock files (`<port>.lock`) lie in these folders, the best for `cwd` first: the one with the deepest folder that
 * holds it, then the newest. Only files that belong to this user and nobody else may write, of processes that live. All others
 * are passed over and left where they are. Never throws.
 */
export function findEditors(folders: readonly string[], cwd: string): readonly EditorLock[] {
  const locks = folders.flatMap((folder) => portsIn(folder).flatMap((port) => readLock(folder, port, cwd) ?? []));
  const unique = [...new Map(locks.map((lock) => [lock.port, lock])).values()];
  return unique.sort((a, b) => depth(b, cwd) - depth(a, cwd) || b.since - a.since || a.port - b.port);
}

/** Length of the deepest folder that holds `cwd`; 0 for none. */
function depth({ folders }: EditorLock, cwd: string): number {
  return Math.max(0, ...folders.filter((folder) => isWithin(folder, cwd)).map((folder) => folder.length));
}

function portsIn(folder: string): readonly number[] {
  try {
    const { uid, mode } = statSync(folder);
    if (!isOwn(uid) || (mode & WORLD_WRITABLE) !== 0) return [];
    const names = readdirSync(folder).slice(0, MOST_FILES);
    return names.flatMap((name) => Number(/^(\d{1,5})\.lock$/.exec(name)?.[1] ?? 0)).filter((port) => port > 0 && port < 65_536);
  } catch {
    return [];
  }
}

function isOwn(uid: number): boolean {
  const mine = process.getuid?.();
  return mine === undefined || uid === mine;
}

function readLock(folder: string, port: number, cwd: string): EditorLock | undefined {
  try {
    const { text, since } = readOwn(join(folder, `${port}.lock`));
    return decodeLock(JSON.parse(text) as unknown, { port, since, cwd });
  } catch {
    return undefined;
  }
}

/** Opened once and judged by what is open: a link, a pipe or another user's file is none. */
function readOwn(path: string): { readonly text: string; readonly since: number } {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile() || !isOwn(stats.uid) || (stats.mode & WORLD_WRITABLE) !== 0 || stats.size > MOST_BYTES) throw new Error('it is not to be trusted');
    return { text: readFileSync(fd, 'utf8'), since: stats.mtimeMs };
  } finally {
    closeSync(fd);
  }
}

function decodeLock(value: unknown, { port, since, cwd }: { readonly port: number; readonly since: number; readonly cwd: string }): EditorLock | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { pid, workspaceFolders, ideName, transport, authToken } = value as Readonly<Record<string, unknown>>;
  if (typeof pid !== 'number' || !Number.isInteger(pid) || pid <= 0 || !isAlive(pid)) return undefined;
  if (transport !== undefined && transport !== 'ws') return undefined;
  if (typeof authToken !== 'string' || !TOKEN.test(authToken)) return undefined;
  const written = Array.isArray(workspaceFolders) ? workspaceFolders.slice(0, MOST_FOLDERS) : [];
  const folders = written.flatMap((folder) => (typeof folder === 'string' ? folderOf(folder) ?? [] : []));
  const name = typeof ideName === 'string' && ideName.trim() !== '' ? oneLine(ideName.trim(), LONGEST_NAME) : 'an editor';
  return { name, port, folders, token: authToken, since, fits: folders.some((folder) => isWithin(folder, cwd)) };
}

function folderOf(written: string): string | undefined {
  const path = written.startsWith('file://') ? fileURLToPath(written) : written;
  return path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path) ? realPathOf(path) : undefined;
}

/** A process that may not be signalled is another user's. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
