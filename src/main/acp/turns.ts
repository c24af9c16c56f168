import type { StopReason } from '@agentclientprotocol/sdk';

/** What is done in a session: one thing after the other, each of which can be cancelled while it waits or runs. */
export interface Turns {
  busy(): boolean;
  /** Waits for its turn, unless it is cancelled before. */
  take(signal: AbortSignal | undefined, task: (signal: AbortSignal) => Promise<StopReason>): Promise<StopReason>;
  /** Ends what is being done, and what waits. */
  cancel(): void;
  /** Resolves when all is done, at the latest after so many milliseconds. Nothing begins any more. */
  close(ms: number): Promise<void>;
}

export function createTurns(): Turns {
  /** Of all that is being done or waits. */
  const open = new Set<AbortController>();
  let last: Promise<unknown> = Promise.resolve();
  let closed = false;
  const cancel = (): void => { for (const stop of open) stop.abort(new Error('interrupted')); };
  return {
    busy: () => open.size > 0,
    cancel,
    async take(signal, task) {
      const stop = new AbortController();
      const cancelled = new Promise<void>((resolve) => { stop.signal.addEventListener('abort', () => { resolve(); }, { once: true }); });
      const giveUp = (): void => { stop.abort(new Error('interrupted')); };
      signal?.addEventListener('abort', giveUp, { once: true });
      if (signal?.aborted === true) giveUp();
      open.add(stop);
      const before = last;
      let pass = (): void => undefined;
      last = Promise.all([before, new Promise<void>((resolve) => { pass = resolve; })]);
      try {
        await Promise.race([before, cancelled]);
        return stop.signal.aborted || closed ? 'cancelled' : await task(stop.signal);
      } finally {
        signal?.removeEventListener('abort', giveUp);
        open.delete(stop);
        pass();
      }
    },
    async close(ms) {
      closed = true;
      cancel();
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([last, new Promise((resolve) => { timer = setTimeout(resolve, ms); })]);
      clearTimeout(timer);
    },
  };
}
