import { Worker } from 'node:worker_threads';
import { whenAborted } from '#lib/deadline.ts';
import { wordsOf } from './words.ts';

const CONVERT_MS = 20_000;
const MOST_MEGABYTES = 768;

/**
 * A page as Markdown, made in a thread of its own so that nothing stalls; `worker` is the address of the built
 * `page-worker.js` (one that ends in `.ts` cannot be loaded by a thread: the page is then parsed in this one). A page that
 * takes too long or that no parser takes gives its bare words. Throws when the signal aborts.
 */
export async function toMarkdown(html: string, base: string, worker: URL, signal: AbortSignal): Promise<{ readonly text: string; readonly whole: boolean }> {
  const markdown = await (worker.pathname.endsWith('.ts') ? inThisThread(html, base) : inWorker(html, base, worker, signal)).catch(() => undefined);
  signal.throwIfAborted();
  return markdown === undefined ? { text: wordsOf(html), whole: false } : { text: markdown, whole: true };
}

async function inThisThread(html: string, base: string): Promise<string> {
  const { markdownOf } = await import('./markdown.ts');
  return markdownOf(html, base);
}

async function inWorker(html: string, base: string, address: URL, signal: AbortSignal): Promise<string> {
  const worker = new Worker(address, { workerData: { html, base }, stdout: true, stderr: true, resourceLimits: { maxOldGenerationSizeMb: MOST_MEGABYTES, stackSizeMb: 4 } });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([
      whenAborted(signal),
      new Promise<string>((resolve, reject) => {
        timer = setTimeout(() => { reject(new Error('it takes too long')); }, CONVERT_MS);
        worker.once('message', resolve);
        worker.once('error', reject);
        worker.once('exit', () => { reject(new Error('the thread ended')); });
      }),
    ]);
  } finally {
    clearTimeout(timer);
    void worker.terminate();
  }
}
