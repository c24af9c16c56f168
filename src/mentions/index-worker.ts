import { parentPort, workerData } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { createIndexCore } from './index-core.ts';
import type { IndexCore } from './index-core.ts';
import type { ListOptions } from './list-options.ts';
import type { Asked, Told } from './worker-words.ts';

/** The thread in which the index lives. It ends when it is terminated. */
function serve(port: MessagePort, index: IndexCore): void {
  const tell = (told: Told): void => { port.postMessage(told, []); };
  port.on('message', (asked: Asked) => {
    switch (asked.type) {
      case 'search': void index.search(asked.query, asked.limit).then((found) => { tell({ id: asked.id, found }); }); return;
      case 'refresh': void index.refresh().then(() => { tell({ id: asked.id }); }); return;
      case 'used': index.used(asked.path);
    }
  });
}

if (parentPort !== null) serve(parentPort, createIndexCore(workerData as ListOptions));
