import { randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, fsyncSync, ftruncateSync, lstatSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readJson } from '#lib/atomic.ts';
import { oneLine } from '#lib/names.ts';
import { takeLock } from '#lib/pid-lock.ts';

/** Accounts of files that are being written: what a killed process leaves half done is put right at a later start. */
export interface Drafts {
  /** A temporary file is about to be made there. Whoever calls tells when it is gone. */
  temporary(path: string): () => void;
  /** The bytes of a file are about to be exchanged in place. Whoever calls tells when they are. */
  overwriting(path: string, before: Uint8Array, after: Uint8Array): () => void;
}

const TEMPORARY = /^\.pinion-[0-9a-f]{16}\.tmp$/;
const MOST_BYTES = 64 * 1024 * 1024;

/** Kept below `folder`, for the user only. An account that cannot be kept costs itself, not the write. */
export function createDrafts(folder: string): Drafts {
  const keep = (account: Readonly<Record<string, string>>, files: Readonly<Record<string, Uint8Array>> = {}): (() => void) => {
    const id = randomBytes(8).toString('hex');
    const clear = (): void => { removeAll(folder, id); };
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      takeLock(join(folder, `${id}.lock`));
      for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, `${id}.${name}`), bytes, { mode: 0o600, flag: 'wx' });
      writeFileSync(join(folder, `${id}.json`), JSON.stringify(account), { mode: 0o600, flag: 'wx' });
    } catch {
      clear();
      return () => undefined;
    }
    return clear;
  };
  return {
    temporary: (path) => keep({ temporary: path }),
    overwriting: (path, before, after) => keep({ overwriting: path }, { before, after }),
  };
}

function removeAll(folder: string, id: string): void {
  try {
    for (const end of ['json', 'before', 'after', 'lock']) rmSync(join(folder, `${id}.${end}`), { force: true });
  } catch {
    return;
  }
}

/**
 * Clears what killed processes left: temporary files go, a file of which a part was exchanged gets its old bytes back. A file that
 * holds anything else by now is left alone. Returns a line for each file that was put right. Never throws.
 */
export function sweepDrafts(folder: string): readonly string[] {
  const ids = new Set(namesIn(folder).map((name) => name.split('.')[0] ?? ''));
  return [...ids].flatMap((id) => {
    try {
      const lock = takeLock(join(folder, `${id}.lock`));
      if (lock === undefined) return [];
      const line = putRight(folder, id);
      removeAll(folder, id);
      lock.release();
      return line === undefined ? [] : [line];
    } catch {
      return [];
    }
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function putRight(folder: string, id: string): string | undefined {
  const account = readJson(join(folder, `${id}.json`));
  if (typeof account !== 'object' || account === null || Array.isArray(account)) return undefined;
  const { temporary, overwriting } = account as { readonly temporary?: unknown; readonly overwriting?: unknown };
  if (typeof temporary === 'string' && TEMPORARY.test(basename(temporary)) && lstatSync(temporary, { throwIfNoEntry: false })?.isFile() === true) rmSync(temporary);
  if (typeof overwriting !== 'string') return undefined;
  const [before, after] = ['before', 'after'].map((end) => readFileSync(join(folder, `${id}.${end}`)));
  if (before === undefined || after === undefined || !restore(overwriting, before, after)) return undefined;
  return `${oneLine(overwriting)} was being written when the program was killed; it has its old contents again.`;
}

/** Puts the old bytes back where the beginning is new and the rest is old. */
function restore(path: string, before: Buffer, after: Buffer): boolean {
  const fd = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile() || stats.size > MOST_BYTES) return false;
    const now = readFileSync(fd);
    if (now.equals(before) || now.equals(after) || !isHalf(now, before, after)) return false;
    for (let at = 0; at < before.length;) at += writeSync(fd, before, at, before.length - at, at);
    ftruncateSync(fd, before.length);
    fsyncSync(fd);
    return true;
  } finally {
    closeSync(fd);
  }
}

function isHalf(now: Buffer, before: Buffer, after: Buffer): boolean {
  const same = firstDifference(now, after);
  return now.length === Math.max(same, before.length) && now.subarray(same).equals(before.subarray(same));
}

function firstDifference(a: Buffer, b: Buffer): number {
  const most = Math.min(a.length, b.length);
  let at = 0;
  while (at < most && a[at] === b[at]) at += 1;
  return at;
}
