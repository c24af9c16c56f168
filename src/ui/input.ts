import { createBurstGuard } from './burst.ts';
import type { InputEvent } from './contract.ts';
import { createTokenizer } from './tokenizer.ts';

/** How long a lone ESC may be the beginning of a sequence, in ms. */
const ESCAPE_MS = 40;
/** How long a paste may stand still before its end marker is taken as lost, in ms. */
const PASTE_MS = 3000;

/** Brings bytes of the terminal to their events, in order, timers included. */
export interface InputReader {
  push(bytes: Uint8Array | string): void;
  /** Whatever waits is dropped, and no timer is left. */
  close(): void;
}

export function createReader(emit: (event: InputEvent) => void): InputReader {
  const tokenizer = createTokenizer();
  const guard = createBurstGuard(emit);
  let timer: NodeJS.Timeout | undefined;
  let reads = 0;

  const giveUpWaiting = (waiting: 'escape' | 'paste'): void => {
    const before = reads;
    // A busy process finds its timers due before it has read what came meanwhile: read first, then decide.
    setImmediate(() => {
      if (reads === before) guard.take(waiting === 'paste' ? tokenizer.endPaste() : tokenizer.flush());
    });
  };
  return {
    push(bytes) {
      reads += 1;
      guard.take(tokenizer.push(bytes));
      clearTimeout(timer);
      const waiting = tokenizer.waiting();
      if (waiting !== 'nothing') timer = setTimeout(giveUpWaiting, waiting === 'paste' ? PASTE_MS : ESCAPE_MS, waiting);
    },
    close() {
      reads += 1;
      clearTimeout(timer);
      guard.close();
    },
  };
}
