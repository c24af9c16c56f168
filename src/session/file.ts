import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, readFileSync, readSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, UserError } from '#lib/errors.ts';
import type { Json } from '#lib/brand.ts';
import type { Entry } from '#domain/entry.ts';
import { decodeEntry } from './decode.ts';

export const LOG_VERSION = 1;

/** The first line of a log. */
export interface LogHead {
  readonly type: 'session';
  readonly version: number;
  readonly id: string;
  readonly cwd: string;
  readonly branch?: string;
  readonly at: string;
  /** The session that this one was branched off. */
  readonly forkOf?: string;
}

export interface LogContents {
  readonly head: LogHead | undefined;
  readonly entries: Entry[];
  /** Lines that could not be read: torn, mangled, or of a type that this version does not know. */
  readonly skipped: number;
}

const LARGEST_LOG_BYTES = 1024 * 1024 * 1024;
const LARGEST_LINE_BYTES = 64 * 1024 * 1024;

/** Reads a log line by line. A line that is damaged costs itself only; a record written twice counts once. */
export function readLog(file: string): LogContents {
  const { size } = statSync(file);
  if (size > LARGEST_LOG_BYTES) throw new UserError(`${file} is too large to open (${Math.round(size / 1024 / 1024)} MiB). Start a new session, or remove that file.`);
  const bytes = readFileSync(file);
  const entries: Entry[] = [];
  const seen = new Set<string>();
  let head: LogHead | undefined;
  let skipped = 0;
  for (let from = 0; from < bytes.length;) {
    const newline = bytes.indexOf(10, from);
    const end = newline === -1 ? bytes.length : newline;
    const line = end - from > LARGEST_LINE_BYTES ? '' : bytes.subarray(from, end).toString('utf8').replaceAll('\0', '').trim();
    const blank = line === '' && end - from <= LARGEST_LINE_BYTES;
    from = end + 1;
    if (blank) continue;
    if (head === undefined && entries.length === 0) {
      head = decodeHead(line);
      if (head !== undefined) continue;
    }
    const entry = decodeEntry(line);
    if (entry === undefined) skipped += 1;
    else if (!seen.has(entry.id)) {
      seen.add(entry.id);
      entries.push(entry);
    }
  }
  return { head, entries, skipped };
}

/** The first line of a log as its head, if it is one. A log of a newer version is not touched. */
export function decodeHead(line: string): LogHead | undefined {
  let value: Json;
  try {
    value = JSON.parse(line) as Json;
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || !('type' in value) || value['type'] !== 'session') return undefined;
  const head = value as unknown as LogHead;
  // Folders are named after it.
  if (typeof head.id !== 'string' || !/^[\w-]{1,200}$/.test(head.id) || typeof head.cwd !== 'string' || typeof head.version !== 'number') return undefined;
  if (head.version > LOG_VERSION) throw new UserError(`the session ${head.id} was written by a newer version of pinion (log version ${head.version}). Update pinion to open it.`);
  return head;
}

/** Appends records to one file: one synchronous write each, so that records of several kinds of death end on a line's border. */
export interface LogWriter {
  /** Writes the record, and before it whatever could not be written earlier. Returns why it could not, or undefined. */
  write(record: string): string | undefined;
  close(): void;
}

/** Opens for appending with the first record. A torn last line is closed off first, so that the next record does not join it. */
export function openWriter(file: string): LogWriter {
  let fd: number | undefined;
  let good = 0;
  let waiting = '';
  const open = (): number => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const opened = openSync(file, 'a+', 0o600);
    good = fstatSync(opened).size;
    const last = Buffer.alloc(1);
    if (good > 0 && readSync(opened, last, 0, 1, good - 1) === 1 && last[0] !== 10) good += writeSync(opened, '\n');
    return opened;
  };
  return {
    write(record) {
      const bytes = Buffer.from(`${waiting}${record}\n`);
      try {
        fd ??= open();
        const written = writeSync(fd, bytes);
        if (written !== bytes.length) throw new Error(`only ${written} of ${bytes.length} bytes could be written`);
        good += bytes.length;
        waiting = '';
        return undefined;
      } catch (error) {
        waiting = bytes.toString('utf8');
        // A full disk takes part of a record first: cut back to the last whole one.
        if (fd !== undefined) cutBack(fd, good);
        return messageOf(error);
      }
    },
    close() {
      if (fd !== undefined) closeSync(fd);
      fd = undefined;
    },
  };
}

function cutBack(fd: number, size: number): void {
  try {
    ftruncateSync(fd, size);
  } catch {
    // The reader skips a torn line; nothing else can be done for a disk that takes no cut either.
    return;
  }
}
