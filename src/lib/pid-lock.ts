import { randomBytes } from 'node:crypto';
import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { readSmallFile } from './small-file.ts';

/** Who holds a lock. `started` tells two processes apart that bore one number (Linux: clock ticks since boot). */
interface Holder {
  readonly pid: number;
  readonly host: string;
  readonly started: string;
}

/**
 * A lock file that names its holder, so that the lock of a killed process is taken over at once: a lock that goes stale by
 * time alone would make `-c` after a crash wait or branch off.
 */
export interface PidLock {
  release(): void;
}

/** The lock, or undefined while a living process holds it. Throws when the folder cannot be written. */
export function takeLock(file: string): PidLock | undefined {
  const mine = JSON.stringify(holder());
  const draft = join(dirname(file), `.lock-${randomBytes(8).toString('hex')}`);
  writeFileSync(draft, mine, { mode: 0o600, flag: 'wx' });
  try {
    for (let tries = 0; tries < 5; tries += 1) {
      if (tryLink(draft, file)) return { release: () => { if (read(file) === mine) rmSync(file, { force: true }); } };
      const seen = read(file);
      if (seen !== undefined && isAlive(seen)) return undefined;
      if (seen !== undefined) clearStale(file, seen);
    }
    return undefined;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Moved aside before it is judged: of two processes that see the same stale lock, one moves it and the other finds it gone. */
function clearStale(file: string, stale: string): void {
  const aside = `${file}.stale-${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  if (read(aside) !== stale) tryLink(aside, file);
  rmSync(aside, { force: true });
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

function read(file: string): string | undefined {
  try {
    return readSmallFile(file);
  } catch {
    return undefined;
  }
}

function holder(): Holder {
  return { pid: process.pid, host: hostname(), started: startOf(process.pid) };
}

function isAlive(text: string): boolean {
  let held: Partial<Holder>;
  try {
    held = JSON.parse(text) as Partial<Holder>;
  } catch {
    return false;
  }
  if (typeof held.pid !== 'number' || !Number.isInteger(held.pid)) return false;
  // Another machine on a shared folder: nothing to be known of its processes, so its lock stands.
  if (held.host !== hostname()) return true;
  try {
    process.kill(held.pid, 0);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
  }
  return held.started === startOf(held.pid);
}

function startOf(pid: number): string {
  const stat = read(`/proc/${pid}/stat`);
  return stat === undefined ? '' : (stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '');
}
