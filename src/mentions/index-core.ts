import { join } from 'node:path';
import { isDirectory, listFolder, namesFolder } from './disk.ts';
import type { Item } from './disk.ts';
import { listFiles } from './list.ts';
import type { ListOptions } from './list-options.ts';
import { createRanking } from './rank.ts';
import type { Ranking } from './rank.ts';

/** `more`: there are further matches, or the index is still being made. Paths of directories have no slash behind. */
export interface Found {
  readonly items: readonly Item[];
  readonly more: boolean;
}

export interface IndexCore {
  /** Best first; answers within about `waitMs` with what the index has by then. Never rejects. */
  search(query: string, limit: number): Promise<Found>;
  /** Lists the files anew; resolves when that is done. */
  refresh(): Promise<void>;
  /** A path, relative to the root, that was just used: such come first while nothing is typed. */
  used(path: string): void;
  close(): void;
}

export interface CoreOptions extends ListOptions {
  /** How long a search waits for the first listing; milliseconds. */
  readonly waitMs?: number;
}

const WAIT_MS = 60;
const MOST_USED = 50;
/** A listing is fresh for three seconds, or for twenty times as long as it took. */
const FRESH_MS = 3000;
const FRESH_FACTOR = 20;

/** The index of a project's files in this thread: listed in the background, searched while it grows. */
export function createIndexCore({ waitMs = WAIT_MS, ...options }: CoreOptions): IndexCore {
  const closing = new AbortController();
  let ranking: Ranking = createRanking();
  let listed: { readonly at: number; readonly tookMs: number } | undefined;
  let listing: Promise<void> | undefined;
  let used: readonly string[] = [];

  const list = async (): Promise<void> => {
    const begun = performance.now();
    const next = listed === undefined ? ranking : createRanking();
    try {
      for await (const paths of listFiles(options, closing.signal)) next.add(paths);
      ranking = next;
    } catch {
      // What was found until then stays searchable; the next search tries again.
    }
    listed = { at: performance.now(), tookMs: performance.now() - begun };
    listing = undefined;
  };
  const refresh = (): Promise<void> => (listing ??= closing.signal.aborted ? Promise.resolve() : list());
  const isStale = (): boolean => listed === undefined || performance.now() - listed.at > Math.max(FRESH_MS, listed.tookMs * FRESH_FACTOR);

  return {
    refresh,
    used: (path) => { used = [path, ...used.filter((other) => other !== path)].slice(0, MOST_USED); },
    close: () => { closing.abort(); },
    async search(query, limit) {
      if (namesFolder(query)) return await listFolder(query, options.root, limit);
      if (isStale()) void refresh();
      if (listed === undefined) await Promise.race([listing, wait(waitMs)]);
      const { paths, matches } = query === '' ? unasked(ranking, used, limit) : ranking.search(query);
      const items = await existing(options.root, paths, limit);
      return { items, more: listed === undefined || matches > items.length };
    },
  };
}

function unasked(ranking: Ranking, used: readonly string[], limit: number): { readonly paths: readonly string[]; readonly matches: number } {
  return { paths: [...used, ...ranking.shallow(limit + used.length)], matches: ranking.size() };
}

/** The first `limit` paths that are there; what became of others since they were listed does not matter. */
async function existing(root: string, paths: readonly string[], limit: number): Promise<readonly Item[]> {
  const items = new Map<string, Item>();
  for (let at = 0; at < paths.length && items.size < limit; at += limit) {
    const batch = paths.slice(at, at + limit);
    const kinds = await Promise.all(batch.map((path) => isDirectory(join(root, path))));
    for (const [index, path] of batch.entries()) {
      const directory = kinds[index];
      const name = path.endsWith('/') ? path.slice(0, -1) : path;
      if (directory !== undefined && items.size < limit) items.set(name, { path: name, directory });
    }
  }
  return [...items.values()];
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => { setTimeout(resolve, ms); });
}
