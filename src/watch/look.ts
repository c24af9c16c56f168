import { createHash } from 'node:crypto';
import { createReadStream, type BigIntStats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { sha256 } from '#lib/hash.ts';
import { fsPath } from '#lib/names.ts';
import { MISSING_HASH, UNREADABLE_HASH } from '#domain/tool.ts';
import type { BlobHash } from '#domain/content.ts';
import { startBudget } from './budget.ts';

export interface Looker {
  /** The hash of each file as it is now (or `MISSING_HASH`, `UNREADABLE_HASH`), as far as there was time. */
  look(paths: Iterable<string>, budgetMs: number, signal: AbortSignal): Promise<ReadonlyMap<string, BlobHash>>;
  /** Something was heard of these: they come first at the next look. */
  hurry(path: string): void;
}

/** Files that are looked at at the same time. */
const HANDS = 16;
/** A file hashed so soon after its last write may be written again without a change of its times: it is hashed once more. */
const RACY_MS = 100;
/** Files that take long to hash; they are not waited for once the budget is spent. */
const LARGE_BYTES = 8 * 1024 * 1024;
const SMALL_BYTES = 1024 * 1024;
const GONE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG']);

interface Hasher {
  hash(path: string): Promise<BlobHash>;
  /** Whether it is being hashed now and takes long. */
  isLarge(path: string): boolean;
}

/** Hashes files; one whose stat is what it was when it was last hashed costs a stat. */
function createHasher(): Hasher {
  const cache = new Map<string, { readonly key: string; readonly hash: BlobHash }>();
  const running = new Map<string, Promise<BlobHash>>();
  const large = new Set<string>();

  const inspect = async (path: string): Promise<BlobHash> => {
    try {
      const stats = await stat(fsPath(path), { bigint: true });
      if (!stats.isFile()) return MISSING_HASH;
      const key = keyOf(stats);
      const cached = cache.get(path);
      if (cached?.key === key) return cached.hash;
      const started = Date.now();
      if (stats.size > LARGE_BYTES) large.add(path);
      const hash = await hashOf(path, stats.size);
      const settled = started - Number(stats.mtimeMs) > RACY_MS && keyOf(await stat(fsPath(path), { bigint: true })) === key;
      if (settled) cache.set(path, { key, hash });
      else cache.delete(path);
      return hash;
    } catch (error) {
      return error instanceof Error && 'code' in error && typeof error.code === 'string' && GONE.has(error.code) ? MISSING_HASH : UNREADABLE_HASH;
    }
  };
  return {
    isLarge: (path) => large.has(path),
    // A file too large for one budget goes on being hashed, so that a later look finds it done.
    hash(path) {
      const at = running.get(path) ?? inspect(path).finally(() => { running.delete(path); large.delete(path); });
      running.set(path, at);
      return at;
    },
  };
}

/** Looks at files by stat, and by hash where the stat is another than at the last look: what did not change costs a stat. */
export function createLooker(): Looker {
  const hasher = createHasher();
  const first = new Set<string>();
  return {
    hurry: (path) => { first.add(path); },
    async look(paths, budgetMs, signal) {
      const all = new Set(paths);
      for (const path of first) if (!all.has(path)) first.delete(path);
      // Those that waited longest come first, so that looks that end too early get round in the end.
      const order = [...first, ...[...all].filter((path) => !first.has(path))];
      const seen = new Map<string, BlobHash>();
      const budget = startBudget(budgetMs, signal);
      let next = 0;
      const hand = async (): Promise<void> => {
        do {
          const path = order[next];
          if (path === undefined) return;
          next += 1;
          const hash = hasher.hash(path);
          const done = await Promise.race([hash, budget.spent.then(() => (hasher.isLarge(path) ? undefined : hash))]);
          if (done !== undefined && !budget.isOver()) seen.set(path, done);
        } while (!budget.isSpent());
      };
      await Promise.race([Promise.all(Array.from({ length: HANDS }, hand)), budget.over]);
      budget.stop();
      signal.throwIfAborted();
      for (const path of order) {
        if (seen.has(path)) first.delete(path);
        else first.add(path);
      }
      return seen;
    },
  };
}

function keyOf({ mtimeNs, ctimeNs, size, ino }: BigIntStats): string {
  return `${mtimeNs} ${ctimeNs} ${size} ${ino}`;
}

async function hashOf(path: string, size: bigint): Promise<BlobHash> {
  // A stream costs several times as much as a small file.
  if (size <= SMALL_BYTES) return sha256(await readFile(fsPath(path))) as BlobHash;
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(fsPath(path), { highWaterMark: 256 * 1024 })) hash.update(chunk as Buffer);
  return hash.digest('hex') as BlobHash;
}
