import { Worker } from 'node:worker_threads';
import type { Found } from './index-core.ts';
import type { ListOptions } from './list-options.ts';
import type { Asked, Told } from './worker-words.ts';

export interface FileIndex {
  /** Best first, within 100 ms; `more` tells that the index is still being made or that there are further matches. Never rejects. */
  search(query: string, limit: number): Promise<Found>;
  /** Lists the files anew. Not needed before a search: a listing that has grown old is renewed by itself. */
  refresh(): Promise<void>;
  /** A path, relative to the root, that was just used: such come first while nothing is typed. */
  used(path: string): void;
  close(): Promise<void>;
}

export interface FileIndexOptions extends ListOptions {
  /** The built `index-worker`. */
  readonly workerUrl: URL;
}

const NOTHING_YET: Found = { items: [], more: true };
const NOTHING: Found = { items: [], more: false };
const ANSWER_MS = 100;
/** A thread that died is started again so often. */
const MOST_STARTS = 3;

type Answer = (told: Told | undefined) => void;

/** The file index in a thread of its own, started at the first use. It does not keep the process alive. */
export function createFileIndex({ workerUrl, ...options }: FileIndexOptions): FileIndex {
  const waiting = new Map<number, Answer>();
  let worker: Worker | undefined;
  let starts = 0;
  let lastId = 0;
  let closed = false;

  const lost = (dead: Worker): void => {
    if (worker !== dead) return;
    worker = undefined;
    for (const answer of waiting.values()) answer(undefined);
    waiting.clear();
  };
  const start = (): Worker => {
    const started = new Worker(workerUrl, { workerData: options });
    started.unref();
    started.on('message', (told: Told) => {
      waiting.get(told.id)?.(told);
      waiting.delete(told.id);
    });
    started.on('error', () => { lost(started); });
    started.on('exit', () => { lost(started); });
    return started;
  };
  const running = (): Worker | undefined => {
    if (worker === undefined && !closed && starts < MOST_STARTS) {
      starts += 1;
      worker = start();
    }
    return worker;
  };
  const ask = async (asked: (id: number) => Asked): Promise<Told | undefined> => {
    const thread = running();
    if (thread === undefined) return undefined;
    lastId += 1;
    const id = lastId;
    const answer = new Promise<Told | undefined>((resolve) => { waiting.set(id, resolve); });
    thread.postMessage(asked(id), []);
    return await answer;
  };

  return {
    search: (query, limit) => withinTime(ask((id) => ({ type: 'search', id, query, limit })).then((told) => told?.found ?? NOTHING)),
    refresh: async () => { await ask((id) => ({ type: 'refresh', id })); },
    used: (path) => { running()?.postMessage({ type: 'used', path } satisfies Asked, []); },
    async close() {
      closed = true;
      await worker?.terminate();
    },
  };
}

async function withinTime(answer: Promise<Found>): Promise<Found> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Found>((resolve) => { timer = setTimeout(resolve, ANSWER_MS, NOTHING_YET); });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
