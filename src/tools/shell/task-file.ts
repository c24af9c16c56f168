import { closeSync, fstatSync, mkdirSync, openSync, read as readLater, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { messageOf } from '#lib/errors.ts';
import type { SoFar } from './run.ts';

/** Bytes in one file. When it is full it is put aside in place of the one before, so that a task takes twice that at most. */
const FILE_BYTES = 4 * 1024 * 1024;
/** So much is taken in a moment without holding back whoever writes. */
const BURST_BYTES = 2 * 1024 * 1024;
const BURST_MS = 100;
const PIECE = 64 * 1024;

/** The newest output of a task on disk, for the user only. Positions count all bytes that it ever put out. */
export interface TaskFile {
  readonly path: string;
  /** All bytes so far, also those that are no longer kept. */
  bytes(): number;
  /** A promise where more has come at once than is good for the disk: hold back until it resolves. */
  push(chunk: Buffer): Promise<void> | undefined;
  /** Why output cannot be kept at present, one line. */
  problem(): string | undefined;
  close(): void;
}

const asideOf = (path: string): string => `${path}.old`;
const headOf = (before: number): string => `[${before} bytes of earlier output are no longer kept]\n`;
const HEAD = /^\[(\d{1,15}) bytes of earlier output are no longer kept\]\n/;

/** Makes the file. Throws when that cannot be done. */
export function makeTaskFile(path: string, soFar?: SoFar, most = FILE_BYTES): TaskFile {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let total = soFar?.before ?? 0;
  let fd: number | undefined = openFor(path, total);
  let held = 0;
  let closed = false;
  let problem: string | undefined;
  const pace = createPace();
  const turnOver = (): void => {
    if (fd !== undefined) {
      closeSync(fd);
      fd = undefined;
      renameSync(path, asideOf(path));
    }
    rmSync(path, { force: true });
    held = 0;
    fd = openFor(path, total);
  };
  const push = (chunk: Buffer): Promise<void> | undefined => {
    if (closed) return undefined;
    try {
      if (fd === undefined || (held > 0 && held + chunk.length > most)) turnOver();
      for (let at = 0; fd !== undefined && at < chunk.length;) {
        const written = writeSync(fd, chunk, at);
        at += written;
        held += written;
        total += written;
      }
      problem = undefined;
    } catch (error) {
      problem = messageOf(error);
    }
    return pace(chunk.length);
  };
  if (soFar !== undefined && soFar.bytes.length > 0) void push(soFar.bytes);
  return {
    path, push,
    bytes: () => total,
    problem: () => problem,
    close() {
      closed = true;
      if (fd !== undefined) closeSync(fd);
      fd = undefined;
    },
  };
}

function openFor(path: string, before: number): number {
  const fd = openSync(path, 'wx', 0o600);
  if (before > 0) writeSync(fd, headOf(before));
  return fd;
}

function createPace(): (bytes: number) => Promise<void> | undefined {
  let since = 0;
  let taken = 0;
  return (bytes) => {
    const now = Date.now();
    if (now - since > BURST_MS) [since, taken] = [now, 0];
    taken += bytes;
    return taken <= BURST_BYTES ? undefined : new Promise((resolve) => { setTimeout(resolve, Math.max(1, since + BURST_MS - now)).unref(); });
  };
}

interface Piece {
  readonly fd: number;
  /** Where its first byte of output stands in all of it, where it begins in the file, and how many there are. */
  readonly from: number;
  readonly head: number;
  readonly bytes: number;
}

/** What is kept of a task's output now. `to`: all bytes that it put out; `gone`: so many of them are missing at the beginning. */
export interface KeptOutput {
  readonly gone: number;
  readonly to: number;
  /** Bytes from a position on, piece by piece. */
  from(position: number): AsyncGenerator<Buffer>;
  /** The last bytes. */
  last(bytes: number): Buffer;
  close(): void;
}

/** Looks at a task's files; later output is not in the look. Undefined when there are none. */
export function openKept(path: string): KeptOutput | undefined {
  const pieces = [asideOf(path), path].map(openPiece).filter((piece) => piece !== undefined);
  const newest = pieces.at(-1);
  if (newest === undefined) return undefined;
  return {
    gone: pieces[0]?.from ?? 0,
    to: newest.from + newest.bytes,
    async *from(position) {
      for (const piece of pieces) yield* bytesIn(piece, position);
    },
    last(bytes) {
      const found: Buffer[] = [];
      for (let left = bytes, i = pieces.length - 1; left > 0 && i >= 0; i -= 1) {
        const piece = pieces[i] ?? newest;
        const part = Buffer.alloc(Math.min(left, piece.bytes));
        found.unshift(part.subarray(0, readSync(piece.fd, part, 0, part.length, piece.head + piece.bytes - part.length)));
        left -= part.length;
      }
      return Buffer.concat(found);
    },
    close() { for (const { fd } of pieces) closeSync(fd); },
  };
}

function openPiece(path: string): Piece | undefined {
  try {
    const fd = openSync(path, 'r');
    const start = Buffer.alloc(80);
    const match = HEAD.exec(start.subarray(0, readSync(fd, start, 0, start.length, 0)).toString('latin1'));
    const head = match?.[0].length ?? 0;
    return { fd, from: Number(match?.[1] ?? 0), head, bytes: fstatSync(fd).size - head };
  } catch {
    return undefined;
  }
}

const read = promisify(readLater);

async function* bytesIn({ fd, from, head, bytes }: Piece, position: number): AsyncGenerator<Buffer> {
  for (let at = Math.max(0, position - from); at < bytes;) {
    const { bytesRead, buffer } = await read(fd, Buffer.alloc(Math.min(PIECE, bytes - at)), 0, Math.min(PIECE, bytes - at), head + at);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}
