import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sha256 } from '#lib/hash.ts';
import type { BlobHash } from '#domain/content.ts';
import type { BlobPort } from '#domain/ports.ts';

/** Larger bytes are not kept: a change of such a file is told by name. An image of the API's largest size fits. */
const LARGEST_BYTES = 12 * 1024 * 1024;
const SWEEP_AFTER_MS = 30 * 24 * 3600 * 1000;
const SWEEP_OVER_BYTES = 1024 * 1024 * 1024;

let drafts = 0;

/** Bytes kept by their SHA-256 below `folder`, readable by the user only. A full disk costs the bytes, never the caller. */
export function createBlobs(folder: string): BlobPort {
  const fileOf = (hash: string): string => join(folder, hash.slice(0, 2), hash);
  return {
    put(bytes) {
      if (bytes.byteLength > LARGEST_BYTES) return undefined;
      const hash = sha256(bytes) as BlobHash;
      const file = fileOf(hash);
      try {
        if (exists(file)) {
          // Used again: the sweep goes by the time of the last write.
          const now = new Date();
          utimesSync(file, now, now);
        } else {
          mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
          const draft = `${file}.${process.pid}-${(drafts += 1)}`;
          writeFileSync(draft, bytes, { mode: 0o600, flag: 'wx' });
          renameSync(draft, file);
        }
        return { hash, bytes: bytes.byteLength };
      } catch {
        return undefined;
      }
    },
    get(hash) {
      if (!/^[0-9a-f]{64}$/.test(hash)) return undefined;
      try {
        const bytes = readFileSync(fileOf(hash));
        return sha256(bytes) === hash ? bytes : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

function exists(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false }) !== undefined;
}

/** Removes bytes that nobody wrote for 30 days, and the oldest beyond 1 GiB. Returns how many files went. */
export function sweepBlobs(folder: string, now: number = Date.now()): number {
  const files = list(folder).sort((a, b) => b.ms - a.ms);
  let kept = 0;
  let gone = 0;
  for (const { file, ms, bytes } of files) {
    kept += bytes;
    if (now - ms <= SWEEP_AFTER_MS && kept <= SWEEP_OVER_BYTES) continue;
    rmSync(file, { force: true });
    gone += 1;
  }
  return gone;
}

function list(folder: string): { file: string; ms: number; bytes: number }[] {
  try {
    return readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile()).flatMap((entry) => {
      const file = join(entry.parentPath, entry.name);
      const stat = statSync(file, { throwIfNoEntry: false });
      return stat === undefined ? [] : [{ file, ms: stat.mtimeMs, bytes: stat.size }];
    });
  } catch {
    return [];
  }
}
