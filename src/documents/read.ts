import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import { messageOf } from '#lib/errors.ts';
import { fsPath } from '#lib/names.ts';
import { mediaTypeOf } from './mime.ts';

const CHUNK = 256 * 1024;
/** Text up to this size is read and decoded as one piece. */
export const WHOLE_LIMIT = 8 * 1024 * 1024;
/** The API takes requests of 32 MB, base64 included. */
export const MEDIA_LIMIT = 20 * 1024 * 1024;
/** Of a PDF some pages may be all that is wanted. */
const PDF_LIMIT = 64 * 1024 * 1024;
/** Beyond this a file is read only as far as is needed, and not hashed. */
export const HASH_LIMIT = 64 * 1024 * 1024;

/** What is wanted of a text that is too large to be read as one piece. Lines count from 1. */
export interface Wanted {
  readonly from: number;
  readonly to: number;
  readonly limitBytes: number;
  /** Up to this size it is read as one piece; default {@link WHOLE_LIMIT}. */
  readonly wholeBytes?: number;
}

export type FileRead =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  /** `piece`: bytes of the wanted lines, cut soon after the limit. `lines` and `hash`: only when it was read to its end. */
  | { readonly kind: 'large'; readonly head: Buffer; readonly piece: Buffer; readonly size: number; readonly lines: number | undefined; readonly hash: string | undefined }
  | { readonly kind: 'directory' }
  | { readonly kind: 'failed'; readonly why: string };

/** Most bytes of a picture or PDF that is read at all. */
export function mostOf(media: ReturnType<typeof mediaTypeOf>): number {
  return media === 'application/pdf' ? PDF_LIMIT : MEDIA_LIMIT;
}

/** Reads a regular file; a FIFO, device or socket is refused without waiting for it. `path` is absolute and real: a symbolic link as its last part is not followed. */
export async function readSafely(path: string, wanted: Wanted, signal: AbortSignal): Promise<FileRead> {
  let file: FileHandle | undefined;
  try {
    const before = await stat(fsPath(path));
    if (before.isDirectory()) return { kind: 'directory' };
    if (!before.isFile()) return { kind: 'failed', why: otherKind(before) };
    file = await open(fsPath(path), constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const stats = await file.stat();
    return stats.isFile() ? await readOpen(file, stats.size, wanted, signal) : { kind: 'failed', why: otherKind(stats) };
  } catch (error) {
    return { kind: 'failed', why: signal.aborted ? 'not read in time' : whyNot(error) };
  } finally {
    await file?.close();
  }
}

function otherKind(stats: Stats): string {
  return `is not a regular file (${stats.isFIFO() ? 'named pipe' : stats.isSocket() ? 'socket' : 'device'})`;
}

function whyNot(error: unknown): string {
  switch (error instanceof Error && 'code' in error ? error.code : undefined) {
    case 'ENOENT': case 'ENOTDIR': return 'no such file';
    case 'EACCES': case 'EPERM': return 'no permission to read it';
    case 'ELOOP': return 'is a symbolic link that leads nowhere';
    case 'ENAMETOOLONG': return 'the name is too long';
    default: return messageOf(error);
  }
}

async function readOpen(file: FileHandle, size: number, wanted: Wanted, signal: AbortSignal): Promise<FileRead> {
  const chunks: Buffer[] = [];
  let length = 0;
  let limit = wanted.wholeBytes ?? WHOLE_LIMIT;
  for (;;) {
    signal.throwIfAborted();
    const chunk = await nextChunk(file);
    if (chunk.length === 0) return { kind: 'whole', bytes: Buffer.concat(chunks) };
    const media = length === 0 ? mediaTypeOf(chunk) : undefined;
    if (media !== undefined) limit = mostOf(media);
    chunks.push(chunk);
    length += chunk.length;
    if (length > limit) return await scanRest(file, Math.max(size, length), chunks, wanted, signal);
  }
}

async function nextChunk(file: FileHandle): Promise<Buffer> {
  const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK, null);
  return buffer.subarray(0, bytesRead);
}

async function scanRest(file: FileHandle, size: number, begun: readonly Buffer[], wanted: Wanted, signal: AbortSignal): Promise<FileRead> {
  const hash = size <= HASH_LIMIT ? createHash('sha256') : undefined;
  const scan = createScan(wanted);
  const head = Buffer.concat(begun);
  let chunk: Buffer = head;
  while (chunk.length > 0 && (hash !== undefined || !scan.done())) {
    signal.throwIfAborted();
    hash?.update(chunk);
    scan.take(chunk);
    chunk = await nextChunk(file);
  }
  const ended = chunk.length === 0;
  return {
    kind: 'large', head, size, piece: scan.piece(),
    lines: ended ? scan.lines() : undefined, hash: ended ? hash?.digest('hex') : undefined,
  };
}

const NEWLINE = 0x0a;

/** Collects the bytes of the wanted lines out of chunks and counts lines as it goes. */
function createScan({ from, to, limitBytes }: Wanted): { take(chunk: Buffer): void; done(): boolean; piece(): Buffer; lines(): number } {
  const pieces: Buffer[] = [];
  let kept = 0;
  let newlines = 0;
  let last = NEWLINE;
  const keep = (bytes: Buffer): void => {
    const wantedBytes = bytes.subarray(0, Math.max(0, limitBytes + 4 - kept));
    pieces.push(wantedBytes);
    kept += wantedBytes.length;
  };
  return {
    take(chunk) {
      for (let at = 0; at < chunk.length;) {
        const found = chunk.indexOf(NEWLINE, at);
        const end = found === -1 ? chunk.length : found + 1;
        const line = newlines + 1;
        if (line >= from && line <= to && kept < limitBytes + 4) keep(chunk.subarray(at, end));
        if (found !== -1) newlines += 1;
        at = end;
      }
      last = chunk.at(-1) ?? last;
    },
    done: () => newlines >= to || kept > limitBytes,
    piece: () => Buffer.concat(pieces),
    lines: () => newlines + (last === NEWLINE ? 0 : 1),
  };
}
