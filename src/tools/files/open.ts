import { constants, type BigIntStats } from 'node:fs';
import { lstat, open, realpath, type FileHandle } from 'node:fs/promises';
import { fsPath } from '#lib/names.ts';
import { codeOf, whereIs } from './folder.ts';

/** Files beyond this are not read whole into memory. */
export const MOST_FILE_BYTES = 16 * 1024 * 1024;

export interface OpenFile {
  readonly bytes: Buffer;
  readonly stat: BigIntStats;
}

/** Why a file could not be read; the message is a clause about the file, such as `is a directory`. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError';
  readonly why: 'missing' | 'directory' | 'notRegular' | 'denied' | 'loop' | 'tooLarge' | 'moved';
  constructor(why: UnreadableError['why'], message: string) {
    super(message);
    this.why = why;
  }
}

/** Bytes that tell the kind of a file. */
const HEAD_BYTES = 16;

/**
 * Reads a regular file by its real path: what was looked at is what is read. Links put there since are not followed, pipes
 * and devices are neither opened for long nor read. `limit`: most bytes, which may
 * depend on the first bytes of the file. Throws {@link UnreadableError}.
 */
export async function readRegular(real: string, limit: number | ((head: Buffer) => number) = MOST_FILE_BYTES): Promise<OpenFile> {
  return await withRegular(real, async (handle, stat) => {
    const most = typeof limit === 'number' ? limit : limit(await headOf(handle));
    if (stat.size > BigInt(most)) throw new UnreadableError('tooLarge', `has ${stat.size} bytes, more than the ${most} that can be read at once`);
    return { bytes: await readAll(handle, most), stat };
  });
}

async function headOf(handle: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}

/** The first bytes of a regular file, however large it is. Throws {@link UnreadableError}. */
export async function readHead(real: string, most: number): Promise<Buffer> {
  return await withRegular(real, (handle) => readAll(handle, most));
}

async function withRegular<T>(real: string, use: (handle: FileHandle, stat: BigIntStats) => Promise<T>): Promise<T> {
  const handle = await openReal(real);
  try {
    const stat = await handle.stat({ bigint: true });
    if (stat.isDirectory()) throw new UnreadableError('directory', 'is a directory');
    if (!stat.isFile()) throw new UnreadableError('notRegular', 'is no regular file (a pipe, socket or device)');
    await checkPlace(handle, real, stat);
    return await use(handle, stat);
  } finally {
    await handle.close();
  }
}

/** Opening a pipe or a device can do something already: it is only opened if it looks like a file, and looked at again then. */
async function openReal(real: string): Promise<FileHandle> {
  try {
    const stats = await lstat(fsPath(real));
    if (stats.isDirectory()) throw new UnreadableError('directory', 'is a directory');
    if (!stats.isFile() && !stats.isSymbolicLink()) throw new UnreadableError('notRegular', 'is no regular file (a pipe, socket or device)');
    return await open(fsPath(real), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    throw unreadable(error);
  }
}

function unreadable(error: unknown): unknown {
  switch (codeOf(error)) {
    case 'ENOENT': case 'ENOTDIR': return new UnreadableError('missing', 'does not exist');
    case 'EACCES': case 'EPERM': return new UnreadableError('denied', 'may not be read by this user');
    case 'ELOOP': return new UnreadableError('loop', 'is a symbolic link that leads nowhere, in a circle, or was put there just now');
    case 'ENXIO': return new UnreadableError('notRegular', 'is no regular file (a pipe, socket or device)');
    case 'EISDIR': return new UnreadableError('directory', 'is a directory');
    default: return error;
  }
}

/** The open file is the one at that path, and no link was on the way to it. */
async function checkPlace(handle: FileHandle, real: string, stat: BigIntStats): Promise<void> {
  const written = Buffer.from(fsPath(real) as string);
  if (process.platform === 'linux') {
    const now = whereIs(handle);
    if (now.equals(written) || now.equals(Buffer.concat([written, Buffer.from(' (deleted)')]))) return;
  } else {
    const [now, there] = await Promise.all([realpath(fsPath(real), { encoding: 'buffer' }), lstat(fsPath(real), { bigint: true })]);
    if (now.equals(written) && there.ino === stat.ino && there.dev === stat.dev) return;
  }
  throw new UnreadableError('moved', 'was replaced while it was being read; try again');
}

/** A file that grows meanwhile is read up to the limit; one whose size says 0 (in /proc) is read to its end. */
async function readAll(handle: FileHandle, most: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let total = 0;
  while (total < most) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(Math.min(most - total, 256 * 1024)));
    if (bytesRead === 0) break;
    pieces.push(buffer.subarray(0, bytesRead));
    total += bytesRead;
  }
  return Buffer.concat(pieces);
}
