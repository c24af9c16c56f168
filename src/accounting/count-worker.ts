import { parentPort } from 'node:worker_threads';
import { countText } from './count.ts';

/** Counts off the main thread: `{ id, texts }` comes in, `{ id, tokens }` goes out. */
parentPort?.on('message', ({ id, texts }: { readonly id: number; readonly texts: readonly string[] }) => {
  parentPort?.postMessage({ id, tokens: texts.map(countText) }, []);
});
