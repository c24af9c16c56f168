import { Worker } from 'node:worker_threads';
import { sha256 } from '#lib/hash.ts';
import { type PdfAnswer, type PdfWish, readPdf } from './pdf.ts';

/** Looks into PDFs. Never rejects, but for an abort of the signal. */
export type PdfReader = (bytes: Uint8Array, wish: PdfWish, signal: AbortSignal) => Promise<PdfAnswer>;

/** Milliseconds for one file; what takes longer was made to. */
const PATIENCE_MS = 20_000;
const MOST_LOOKS = 64;
const MOST_CUTS = 4;
/** Megabytes that a thread may take for it. */
const MOST_MEGABYTES = 1024;

/**
 * A reader that gives each file to a thread of its own, which ends with it: a file that is hard to read, or was made so,
 * neither holds up the program nor takes its memory. `worker` is the address of the built `pdf-worker.js`; without one (run
 * from source, where no thread can load it) files are read in this thread.
 */
export function createPdfReader(worker?: URL, patienceMs = PATIENCE_MS): PdfReader {
  if (worker === undefined || worker.pathname.endsWith('.ts')) return remembering(async (bytes, wish) => await readPdf(bytes, wish));
  return remembering(async (bytes, wish, signal) => {
    signal.throwIfAborted();
    const thread = new Worker(worker, { workerData: { bytes: Uint8Array.from(bytes), wish }, stdout: true, stderr: true, resourceLimits: { maxOldGenerationSizeMb: MOST_MEGABYTES } });
    return await answerOf(thread, patienceMs, signal).finally(() => { void thread.terminate(); });
  });
}

/** A pinned file is looked at before each request: what was found in the same bytes is known. Pages are large, so few are kept. */
function remembering(read: PdfReader): PdfReader {
  const looks = new Map<string, PdfAnswer>();
  const pages = new Map<string, PdfAnswer>();
  return async (bytes, wish, signal) => {
    const [known, most] = wish.kind === 'look' ? [looks, MOST_LOOKS] : [pages, MOST_CUTS];
    const key = `${sha256(bytes)} ${JSON.stringify(wish)}`;
    const answer = known.get(key) ?? await read(bytes, wish, signal);
    known.delete(key);
    if (answer.kind !== 'failed' || answer.why !== 'slow') known.set(key, answer);
    const oldest = known.keys().next();
    if (known.size > most && oldest.done !== true) known.delete(oldest.value);
    return answer;
  };
}

function answerOf(thread: Worker, patienceMs: number, signal: AbortSignal): Promise<PdfAnswer> {
  return new Promise((resolve, reject) => {
    const slow = setTimeout(() => { resolve({ kind: 'failed', why: 'slow' }); }, patienceMs);
    const abort = (): void => { reject(signal.reason instanceof Error ? signal.reason : new Error('interrupted')); };
    const end = (): void => {
      clearTimeout(slow);
      signal.removeEventListener('abort', abort);
    };
    signal.addEventListener('abort', abort, { once: true });
    thread.once('message', (answer: PdfAnswer) => { resolve(answer); });
    thread.once('error', () => { resolve({ kind: 'failed', why: 'damaged' }); });
    thread.once('exit', () => {
      end();
      resolve({ kind: 'failed', why: 'damaged' });
    });
  });
}
