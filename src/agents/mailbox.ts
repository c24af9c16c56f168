import { closeSync, fstatSync, fsyncSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import writeFileAtomic from 'write-file-atomic';
import type { Json } from '#lib/brand.ts';
import { messageOf } from '#lib/errors.ts';
import { isTooDeep } from '#lib/json-depth.ts';
import { bytes as forPeople } from '#lib/numbers.ts';
import { takeLock, type PidLock } from '#lib/pid-lock.ts';
import { readSmallFile } from '#lib/small-file.ts';
import { wellFormed } from '#lib/text.ts';
import type { Mail } from '#domain/agents.ts';

/** Bytes of one message, and of a mailbox. */
export const LONGEST_MESSAGE = 16 * 1024;
const LARGEST_BOX = 512 * 1024;
/** A box that somebody else filled is still read up to here. */
const LARGEST_READ = 4 * 1024 * 1024;
const PATIENCE_MS = 2000;
const LOOK_MS = 10;

/** A member's name, as it stands in a path: one plain word. Names are compared in lower case. */
export const MEMBER_NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/i;

/** Names that mean somebody or something else. */
export const RESERVED: ReadonlySet<string> = new Set(['lead', 'user', 'all', 'main', 'system', 'human', 'assistant']);

type Fields = Readonly<Record<string, Json>>;

/**
 * All messages of a mailbox, oldest first. A line that is damaged, or none of ours, costs itself only; a file that cannot be
 * read, or is none, holds nothing. A message that is being written is not there yet.
 */
export function readMail(file: string): readonly Mail[] {
  let text: string;
  try {
    text = readSmallFile(file, LARGEST_READ);
  } catch {
    return [];
  }
  const mail: Mail[] = [];
  for (const line of text.split('\n')) {
    const one = line === '' ? undefined : mailIn(line);
    if (one !== undefined && one.id > (mail.at(-1)?.id ?? '')) mail.push(one);
  }
  return mail;
}

function mailIn(line: string): Mail | undefined {
  if (line.length > 8 * LONGEST_MESSAGE || isTooDeep(line)) return undefined;
  let value: Json;
  try {
    value = JSON.parse(line) as Json;
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { id, from, to, text, at } = value as Fields;
  const fits = typeof id === 'string' && isId(id) && typeof from === 'string' && MEMBER_NAME.test(from) && typeof to === 'string' && MEMBER_NAME.test(to)
    && typeof text === 'string' && Buffer.byteLength(text) <= LONGEST_MESSAGE && typeof at === 'string' && !Number.isNaN(Date.parse(at));
  return fits ? { id, from, to, text: wellFormed(text), at } : undefined;
}

/** Sixteen digits that grow from message to message of a box, whichever process writes, and after the box was emptied too. */
const ID = /^\d{16}$/;
/** Beyond it numbers cannot be told apart, and nothing could come after. */
const LAST_ID = Number.MAX_SAFE_INTEGER - 1_000_000;

function isId(id: string): boolean {
  return ID.test(id) && Number(id) < LAST_ID;
}

function idAfter(earlier: readonly string[], now: number): string {
  return String(Math.max(now * 1000, ...earlier.filter(isId).map((id) => Number(id) + 1))).padStart(16, '0');
}

/**
 * Puts a message into a box, alone: several processes lose nothing of each other's. Of a full box what was told already
 * (ids up to `told`) makes room; a box full of untold messages takes no more. `problem`: one line.
 */
export async function putMail(file: string, message: Omit<Mail, 'id' | 'at'>, told: string, now = () => new Date()): Promise<Mail | { readonly problem: string }> {
  const size = Buffer.byteLength(message.text);
  if (size > LONGEST_MESSAGE) return { problem: `a message has at most ${forPeople(LONGEST_MESSAGE)}, this one has ${forPeople(size)}: write it to a file and name the file` };
  let lock: PidLock | undefined;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    lock = await waitForLock(`${file}.lock`);
    if (lock === undefined) return { problem: `the mailbox of ${message.to} is in use by another process; try again` };
    const box = readMail(file);
    const at = now();
    const mail: Mail = { id: idAfter([box.at(-1)?.id ?? '', told], at.getTime()), ...message, text: wellFormed(message.text), at: at.toISOString() };
    const line = JSON.stringify(mail);
    const room = LARGEST_BOX - Buffer.byteLength(line) - 1;
    if (sizeOf(file) > room) {
      const kept = box.filter(({ id }) => id > told).map((one) => `${JSON.stringify(one)}\n`).join('');
      if (Buffer.byteLength(kept) > room) return { problem: `the mailbox of ${message.to} is full: what is in it was not read yet` };
      writeFileAtomic.sync(file, kept, { mode: 0o600 });
    }
    append(file, line);
    return mail;
  } catch (error) {
    return { problem: `the mailbox of ${message.to} cannot be written: ${messageOf(error)}` };
  } finally {
    lock?.release();
  }
}

async function waitForLock(file: string): Promise<PidLock | undefined> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const lock = takeLock(file);
    if (lock !== undefined || performance.now() > until) return lock;
    await sleep(LOOK_MS + Math.random() * LOOK_MS);
  }
}

function sizeOf(file: string): number {
  let fd: number | undefined;
  try {
    fd = openSync(file, 'r');
    return fstatSync(fd).size;
  } catch {
    return 0;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** One write; a line that was torn by a crash is closed off first, so that this one does not join it. */
function append(file: string, line: string): void {
  const fd = openSync(file, 'a+', 0o600);
  try {
    const { size } = fstatSync(fd);
    const last = Buffer.alloc(1);
    const torn = size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== 10;
    const record = Buffer.from(`${torn ? '\n' : ''}${line}\n`);
    const written = writeSync(fd, record);
    if (written !== record.length) throw new Error(`only ${written} of ${record.length} bytes could be written`);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
