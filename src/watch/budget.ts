const TICK_MS = 10;
const LONGEST_TICK_MS = 2 * TICK_MS;
/** Milliseconds beyond the budget for the few things that were begun when it is spent. */
const ENDING_MS = 350;

export interface Budget {
  /** No further file is begun. */
  readonly spent: Promise<void>;
  /** Nothing is waited for any more. */
  readonly over: Promise<void>;
  isSpent(): boolean;
  isOver(): boolean;
  stop(): void;
}

/**
 * Time that a look may take. It is counted in short ticks, and a tick that comes late counts as a short one: a look must not
 * fail because the machine, or our own thread, was busy with something else. What was begun has a little longer to end.
 */
export function startBudget(ms: number, signal: AbortSignal): Budget {
  const spent = latch();
  const over = latch();
  let used = 0;
  let last = performance.now();
  const tick = (): void => {
    const now = performance.now();
    used += Math.min(now - last, LONGEST_TICK_MS);
    last = now;
    if (used >= ms) spent.open();
    if (used >= ms + ENDING_MS) over.open();
  };
  const stop = (): void => {
    clearInterval(timer);
    signal.removeEventListener('abort', stop);
    spent.open();
    over.open();
  };
  const timer = setInterval(tick, TICK_MS);
  signal.addEventListener('abort', stop, { once: true });
  if (ms <= 0) spent.open();
  return { spent: spent.opened, over: over.opened, isSpent: spent.isOpen, isOver: over.isOpen, stop };
}

function latch(): { readonly opened: Promise<void>; open(): void; isOpen(): boolean } {
  let resolve = (): void => undefined;
  let isOpen = false;
  const opened = new Promise<void>((done) => { resolve = done; });
  return { opened, isOpen: () => isOpen, open: () => { isOpen = true; resolve(); } };
}
