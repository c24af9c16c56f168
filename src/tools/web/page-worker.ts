import { parentPort, workerData } from 'node:worker_threads';
import { markdownOf } from './markdown.ts';

/** A thread for one page: parsing takes seconds where pages are large, and hostile ones may take it all. */
const { html, base } = workerData as { readonly html: string; readonly base: string };
parentPort?.postMessage(markdownOf(html, base), []);
