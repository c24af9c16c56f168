import { Worker } from 'node:worker_threads';
import { sha256 } from '#lib/hash.ts';

/** Counts texts in tokens of o200k. */
export interface Counter {
  /** One number for each text, in order. Never rejects; without a tokenizer the numbers are guessed from the characters. */
  count(texts: readonly string[]): Promise<readonly number[]>;
  /** Ends the worker. Counts that are under way are guessed. */
  close(): void;
}

/** How long a count may take before it is guessed, in milliseconds; the first one loads the tokenizer. */
const PATIENCE_MS = 10_000;
const REMEMBERED = 4000;
/** Shorter texts are remembered as they are, longer ones by their hash. */
const SHORT = 80;

/**
 * A counter that works in a thread of its own, started at the first count. `worker` is the address of the built
 * `count-worker.js`. For one that ends in `.ts` (run from source, where no thread can load it) texts are counted in this thread.
 * What was counted once is remembered.
 */
export function createCounter({ worker, patienceMs = PATIENCE_MS }: { readonly worker: URL; readonly patienceMs?: number }): Counter {
  const source = worker.pathname.endsWith('.ts') ? inThisThread() : inWorker(worker, patienceMs);
  const known = new Map<string, number>();
  return {
    async count(texts) {
      const keys = texts.map(keyOf);
      const fresh = new Map<string, string>();
      keys.forEach((key, at) => { if (!known.has(key)) fresh.set(key, texts[at] ?? ''); });
      const counts = new Map<string, number>();
      for (const key of keys) counts.set(key, known.get(key) ?? 0);
      if (fresh.size > 0) {
        const asked = [...fresh.keys()];
        const { tokens, guessed } = await source.count([...fresh.values()]);
        asked.forEach((key, at) => {
          counts.set(key, tokens[at] ?? 0);
          if (!guessed) remember(known, key, tokens[at] ?? 0);
        });
      }
      return keys.map((key) => counts.get(key) ?? 0);
    },
    close() {
      source.close();
    },
  };
}

function keyOf(text: string): string {
  return text.length <= SHORT ? text : `${text.length} ${sha256(text)}`;
}

function remember(known: Map<string, number>, key: string, tokens: number): void {
  if (known.size >= REMEMBERED) {
    const oldest = known.keys().next();
    if (oldest.done !== true) known.delete(oldest.value);
  }
  known.set(key, tokens);
}

interface Counted {
  readonly tokens: readonly number[];
  readonly guessed: boolean;
}

interface Source {
  count(texts: readonly string[]): Promise<Counted>;
  close(): void;
}

function inThisThread(): Source {
  return {
    async count(texts) {
      const { countText } = await import('./count.ts');
      return { tokens: texts.map(countText), guessed: false };
    },
    close() { /* Nothing runs. */ },
  };
}

function guessed(texts: readonly string[]): Counted {
  return { tokens: texts.map(guessTokens), guessed: true };
}

/** The worker ends on its own with the program, and does not keep it alive. A worker that fails is not started again. */
function inWorker(address: URL, patienceMs: number): Source {
  const waiting = new Map<number, (tokens: readonly number[] | undefined) => void>();
  let worker: Worker | undefined;
  let failed = false;
  let last = 0;
  const fail = (): void => {
    failed = true;
    for (const answer of waiting.values()) answer(undefined);
  };
  const started = (): Worker => {
    if (worker !== undefined) return worker;
    worker = new Worker(address, { stdout: true, stderr: true });
    worker.unref();
    worker.on('message', ({ id, tokens }: { readonly id: number; readonly tokens: readonly number[] }) => { waiting.get(id)?.(tokens); });
    worker.on('error', fail);
    worker.on('exit', fail);
    return worker;
  };
  return {
    async count(texts) {
      if (failed) return guessed(texts);
      last += 1;
      const id = last;
      const tokens = await new Promise<readonly number[] | undefined>((resolve) => {
        const timer = setTimeout(() => { resolve(undefined); }, patienceMs);
        waiting.set(id, (answer) => {
          clearTimeout(timer);
          resolve(answer);
        });
        try {
          started().postMessage({ id, texts }, []);
        } catch {
          fail();
        }
      });
      waiting.delete(id);
      return tokens === undefined ? guessed(texts) : { tokens, guessed: false };
    },
    close() {
      fail();
      if (worker !== undefined) void worker.terminate();
    },
  };
}

const ASCII_RUN = /[\0-\x7f]/g;

/** Tokens of o200k, roughly, from the characters alone. */
export function guessTokens(text: string): number {
  const ascii = text.length > 100_000 ? text.length : text.match(ASCII_RUN)?.length ?? 0;
  return Math.ceil(ascii / 3.8 + (text.length - ascii) / 1.4);
}

/** More tokens than this no text has, in any tokenizer of ours. */
export function mostTokens(text: string): number {
  return Buffer.byteLength(text);
}
