import { constants, readlinkSync } from 'node:fs';
import { mkdir, open, realpath, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fsPath } from '#lib/names.ts';

/** A folder held open: names are looked up in it, wherever its path leads by now. */
export interface Folder {
  readonly path: string;
  readonly handle: FileHandle;
  /** A path for `name` in this very folder. */
  at(name: string): string | Buffer;
  /** Throws {@link MovedError} when the folder is no longer where it was looked up. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Something on the way to a file was exchanged between the look and the use. */
export class MovedError extends Error {
  override readonly name = 'MovedError';
}

const HOLD = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Opens a folder by its real path (no symbolic links). On Linux everything goes through the open folder from here on, so that
 * nobody can slip a link in between; elsewhere its path is checked again before each use.
 */
export async function holdFolder(path: string): Promise<Folder> {
  const handle = await open(fsPath(path), HOLD);
  const folder: Folder = {
    path,
    handle,
    at: (name) => fsPath(process.platform === 'linux' ? `/proc/self/fd/${handle.fd}/${name}` : join(path, name)),
    async check() {
      const now = process.platform === 'linux' ? whereIs(handle) : await realpath(fsPath(path), { encoding: 'buffer' });
      if (!now.equals(Buffer.from(fsPath(path) as string))) throw new MovedError(`${path} was replaced while it was being used`);
    },
    close: () => handle.close(),
  };
  try {
    await folder.check();
    return folder;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** As {@link holdFolder}; folders that are missing are made. `made` counts them. */
export async function makeFolder(path: string): Promise<{ readonly folder: Folder; readonly made: number }> {
  try {
    return { folder: await holdFolder(path), made: 0 };
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || path === dirname(path)) throw error;
  }
  const { folder: parent, made } = await makeFolder(dirname(path));
  try {
    await mkdir(parent.at(basename(path))).catch((error: unknown) => { if (codeOf(error) !== 'EEXIST') throw error; });
    return { folder: await holdFolder(path), made: made + 1 };
  } finally {
    await parent.close();
  }
}

/** Where an open file lies by now, as the kernel says. */
export function whereIs(handle: FileHandle): Buffer {
  return readlinkSync(`/proc/self/fd/${handle.fd}`, { encoding: 'buffer' });
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
