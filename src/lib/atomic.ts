import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import type { Json } from './brand.ts';
import { takeLock } from './pid-lock.ts';
import { readSmallFile } from './small-file.ts';

/** The parsed file, or undefined when it is missing or no JSON. A reader may meet a file that is just being replaced: it looks twice. */
export function readJson(file: string): Json | undefined {
  for (let tries = 0; tries < 2; tries += 1) {
    try {
      return JSON.parse(readSmallFile(file)) as Json;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    }
  }
  return undefined;
}

/**
 * Reads, changes and replaces a JSON file in one go (temporary file, fsync, rename), alone: several processes that do so lose
 * nothing of each other's. Waits up to two seconds for another holder. `mode` holds for a new file.
 */
export async function updateJson(file: string, change: (now: Json | undefined) => Json, mode = 0o600): Promise<void> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  let lock = takeLock(`${file}.lock`);
  for (let tries = 0; lock === undefined && tries < 100; tries += 1) {
    await new Promise((resolve) => { setTimeout(resolve, 20); });
    lock = takeLock(`${file}.lock`);
  }
  if (lock === undefined) throw new Error(`${file} is in use by another process (${file}.lock). Try again.`);
  try {
    writeFileAtomic.sync(file, `${JSON.stringify(change(readJson(file)), undefined, 2)}\n`, { mode });
  } finally {
    lock.release();
  }
}
