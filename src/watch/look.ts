import { createHash } from 'node:crypto';
import { createReadStream, type BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { fsPath } from '#lib/names.ts';
import { MISSING_HASH, UNREADABLE_HASH } from '#domain/tool.ts';
import type { BlobHash } from '#domain/content.ts';

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
const TICK_MS = 10;
const LONGEST_TICK_MS = 2 * TICK_MS;
/** Milliseconds beyond the budget for the few files that are being looked at when it is spent. */
const ENDING_MS = 350;
const GONE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG']);

/** Looks at files by stat, and by hash where the stat is another than at the last look: what did not change costs a stat. */
export function createLooker(): Looker {
  const cache = new Map<string, { readonly key: string; readonly hash: BlobHash }>();
  const running = new Map<string, Promise<BlobHash>>();
  const first = new Set<string>();
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
      const hash = await hashOf(path);
      const settled = started - Number(stats.mtimeMs) > RACY_MS && keyOf(await stat(fsPath(path), { bigint: true })) === key;
      if (settled) cache.set(path, { key, hash });
      else cache.delete(path);
      return hash;
    } catch (error) {
      return error instanceof Error && 'code' in error && typeof error.code === 'string' && GONE.has(error.code) ? MISSING_HASH : UNREADABLE_HASH;
    }
  };
  /** A file too large for one budget goes on being hashed, so that a later look finds it done. */
  const begin = (path: string): Promise<BlobHash> => {
    const at = running.get(path) ?? inspect(path).finally(() => { running.delete(path); large.delete(path); });
    running.set(path, at);
    return at;
  };
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
          const hash = begin(path);
          const done = await Promise.race([hash, budget.spent.then(() => (large.has(path) ? undefined : hash))]);
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

interface Budget {
  /** No further file is begun. */
  readonly spent: Promise<void>;
  /** Nothing is waited for any more. */
  readonly over: Promise<void>;
  isSpent(): boolean;
  isOver(): boolean;
  stop(): void;
}

/**
 * Time that a look may take. It is counted in short ticks, and a tick that comes late counts as a short one: a look must not
 * fail because the machine, or our own thread, was busy with something else. What was begun has a little longer to end.
 */
function startBudget(ms: number, signal: AbortSignal): Budget {
  const spent = latch();
  const over = latch();
  let used = 0;
  let last = performance.now();
  const tick = (): void => {
    const now = performance.now();
    used += Math.min(now - last, LONGEST_TICK_MS);
    last = now;
    if (used >= ms) spent.open();
    if (used >= ms + ENDING_MS) over.open();
  };
  const stop = (): void => {
    clearInterval(timer);
    signal.removeEventListener('abort', stop);
    spent.open();
    over.open();
  };
  const timer = setInterval(tick, TICK_MS);
  signal.addEventListener('abort', stop, { once: true });
  if (ms <= 0) spent.open();
  return { spent: spent.opened, over: over.opened, isSpent: spent.isOpen, isOver: over.isOpen, stop };
}

function latch(): { readonly opened: Promise<void>; open(): void; isOpen(): boolean } {
  let resolve = (): void => undefined;
  let isOpen = false;
  const opened = new Promise<void>((done) => { resolve = done; });
  return { opened, isOpen: () => isOpen, open: () => { isOpen = true; resolve(); } };
}

function keyOf({ mtimeNs, ctimeNs, size, ino }: BigIntStats): string {
  return `${mtimeNs} ${ctimeNs} ${size} ${ino}`;
}

async function hashOf(path: string): Promise<BlobHash> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(fsPath(path), { highWaterMark: 256 * 1024 })) hash.update(chunk as Buffer);
  return hash.digest('hex') as BlobHash;
}
