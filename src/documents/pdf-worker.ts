import { parentPort, workerData } from 'node:worker_threads';
import { type PdfWish, readPdf } from './pdf.ts';

/** One PDF off the main thread: the wish comes with the start, the answer goes out, the thread ends. */
const { bytes, wish } = workerData as { readonly bytes: Uint8Array; readonly wish: PdfWish };
if (parentPort !== null) parentPort.postMessage(await readPdf(bytes, wish), []);
