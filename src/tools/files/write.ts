import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { constants, renameSync, type BigIntStats } from 'node:fs';
import { access, lstat, open, unlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf, holdFolder, makeFolder, MovedError, type Folder } from './folder.ts';

/** Why a file was not written; the message is a clause about the file, such as `is read-only`. The file is as it was. */
export class WriteError extends Error {
  override readonly name = 'WriteError';
  readonly why: 'readOnly' | 'cannotWrite' | 'diskFull' | 'changed' | 'moved';
  constructor(why: WriteError['why'], message: string) {
    super(message);
    this.why = why;
  }
}

export interface WriteRequest {
  /** Absolute, no symbolic links. */
  readonly real: string;
  readonly bytes: Uint8Array;
  /** The file as it was read before; undefined for a file that is to be new. */
  readonly before: { readonly bytes: Uint8Array; readonly stat: BigIntStats } | undefined;
  readonly signal: AbortSignal;
  readonly drafts?: DraftPort;
}

/** Where account is kept of what is being written, for the case that the process is killed meanwhile. Both give the call that ends the account. */
export interface DraftPort {
  temporary(path: string): () => void;
  overwriting(path: string, before: Uint8Array, after: Uint8Array): () => void;
}

/**
 * Replaces a file or makes a new one, with the folders that it needs: afterwards there are the old bytes or the new ones,
 * never a part. A file that has changed since it was read is left alone. Mode, owner and extended attributes are kept. A file
 * with several names, or one in a folder that takes no new file, is written in place instead. Throws {@link WriteError}.
 */
export async function writeRegular(request: WriteRequest): Promise<void> {
  const { real, before } = request;
  if (before !== undefined && (before.stat.mode & 0o222n) === 0n) throw new WriteError('readOnly', 'is read-only (its mode forbids writing)');
  let folder: Folder | undefined;
  try {
    folder = before === undefined ? (await makeFolder(dirname(real))).folder : await holdFolder(dirname(real));
    if (before !== undefined) await access(folder.at(basename(real)), constants.W_OK);
    if (before !== undefined && before.stat.nlink > 1n) await writeInPlace(folder, request, before);
    else await writeBeside(folder, request);
  } catch (error) {
    throw asWriteError(error);
  } finally {
    await folder?.close();
  }
}

function asWriteError(error: unknown): unknown {
  if (error instanceof MovedError) return new WriteError('moved', 'lies in a folder that was replaced just now; look again');
  switch (codeOf(error)) {
    case 'ENOSPC': case 'EDQUOT': return new WriteError('diskFull', 'was not written: the disk is full');
    case 'EACCES': case 'EPERM': return new WriteError('cannotWrite', 'may not be written by this user');
    case 'EROFS': return new WriteError('cannotWrite', 'lies on a file system that is mounted read-only');
    case 'ENOTDIR': case 'ELOOP': return new WriteError('cannotWrite', 'cannot be there: a part of its path is no folder');
    case 'ENAMETOOLONG': return new WriteError('cannotWrite', 'has too long a name');
    default: return error;
  }
}

async function writeBeside(folder: Folder, request: WriteRequest): Promise<void> {
  const { before, bytes, signal } = request;
  const name = basename(request.real);
  const draft = `.pinion-${randomBytes(8).toString('hex')}.tmp`;
  const temporary = folder.at(draft);
  const forget = request.drafts?.temporary(join(folder.path, draft));
  let handle: FileHandle;
  try {
    handle = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, before === undefined ? 0o666 : 0o600);
  } catch (error) {
    forget?.();
    if (before === undefined || !['EACCES', 'EPERM'].includes(codeOf(error) ?? '')) throw error;
    await writeInPlace(folder, request, before);
    return;
  }
  try {
    await handle.writeFile(bytes);
    if (before !== undefined) await takeOver(handle, folder.at(name), before.stat);
    await handle.sync();
    await folder.check();
    await checkSame(folder, name, before?.stat);
    signal.throwIfAborted();
    renameSync(temporary, folder.at(name));
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  } finally {
    forget?.();
    await handle.close();
  }
  await folder.handle.sync().catch(() => undefined);
}

/** Size and time of the last write decide, and that it is the same file: a save by anyone else since the look is seen. */
async function checkSame(folder: Folder, name: string, then: BigIntStats | undefined): Promise<void> {
  const now = await lstat(folder.at(name), { bigint: true }).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (now === undefined && then === undefined) return;
  if (then === undefined) throw new WriteError('changed', 'was made by somebody else just now; read it first');
  if (now === undefined) throw new WriteError('changed', 'was deleted just now');
  if (!sameFile(now, then)) throw new WriteError('changed', 'was changed by somebody else just now; read it again');
}

function sameFile(now: BigIntStats, then: BigIntStats): boolean {
  return now.ino === then.ino && now.dev === then.dev && now.size === then.size && now.mtimeNs === then.mtimeNs;
}

/** Mode, owner, and on Linux access lists and extended attributes, which Node cannot copy itself. What is not allowed is left out. */
async function takeOver(handle: FileHandle, from: string | Buffer, then: BigIntStats): Promise<void> {
  if (process.platform === 'linux') await copyAttributes(handle, from);
  const now = await handle.stat({ bigint: true });
  if (now.uid !== then.uid || now.gid !== then.gid) await handle.chown(Number(then.uid), Number(then.gid)).catch(() => undefined);
  await handle.chmod(Number(then.mode & 0o7777n));
}

const COPY_MS = 2000;

/** Both files are handed over open, so that no name can be exchanged meanwhile. A `cp` that does not know the flags changes nothing. */
async function copyAttributes(to: FileHandle, from: string | Buffer): Promise<void> {
  const source = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    await new Promise<void>((resolve) => {
      const copy = spawn('/bin/cp', ['--attributes-only', '--preserve=mode,ownership,xattr', '--', '/proc/self/fd/3', '/proc/self/fd/4'],
        { stdio: ['ignore', 'ignore', 'ignore', source.fd, to.fd], env: {}, timeout: COPY_MS });
      copy.once('error', () => { resolve(); });
      copy.once('exit', () => { resolve(); });
    });
  } finally {
    await source.close();
  }
}

/** If the new bytes do not fit on the disk, the old ones are put back: their place is still there. */
async function writeInPlace(folder: Folder, request: WriteRequest, before: { readonly bytes: Uint8Array; readonly stat: BigIntStats }): Promise<void> {
  const handle = await open(folder.at(basename(request.real)), constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    await folder.check();
    if (!sameFile(await handle.stat({ bigint: true }), before.stat)) throw new WriteError('changed', 'was changed by somebody else just now; read it again');
    request.signal.throwIfAborted();
    const forget = request.drafts?.overwriting(request.real, before.bytes, request.bytes);
    try {
      await overwrite(handle, request.bytes);
    } catch (error) {
      await overwrite(handle, before.bytes);
      throw error;
    } finally {
      forget?.();
    }
  } finally {
    await handle.close();
  }
}

async function overwrite(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await handle.write(bytes, at, bytes.length - at, at)).bytesWritten;
  await handle.truncate(bytes.length);
  await handle.sync();
}
