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
const GONE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG']);

/** Looks at files by stat, and by hash where the stat is another than at the last look: what did not change costs a stat. */
export function createLooker(): Looker {
  const cache = new Map<string, { readonly key: string; readonly hash: BlobHash }>();
  const running = new Map<string, Promise<BlobHash>>();
  const first = new Set<string>();

  const inspect = async (path: string): Promise<BlobHash> => {
    try {
      const stats = await stat(fsPath(path), { bigint: true });
      if (!stats.isFile()) return MISSING_HASH;
      const key = keyOf(stats);
      const cached = cache.get(path);
      if (cached?.key === key) return cached.hash;
      const started = Date.now();
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
    const at = running.get(path) ?? inspect(path).finally(() => { running.delete(path); });
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
      let over = false;
      let next = 0;
      const hand = async (): Promise<void> => {
        while (!over && next < order.length) {
          const path = order[next] ?? '';
          next += 1;
          const hash = await begin(path);
          if (!over) seen.set(path, hash);
        }
      };
      await untilOver(Promise.all(Array.from({ length: HANDS }, hand)), budgetMs, signal);
      over = true;
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

async function hashOf(path: string): Promise<BlobHash> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(fsPath(path), { highWaterMark: 256 * 1024 })) hash.update(chunk as Buffer);
  return hash.digest('hex') as BlobHash;
}

async function untilOver(work: Promise<unknown>, ms: number, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let stop = (): void => undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
    stop = resolve;
    signal.addEventListener('abort', stop, { once: true });
  });
  await Promise.race([work, over]);
  clearTimeout(timer);
  signal.removeEventListener('abort', stop);
}
