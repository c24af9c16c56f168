/** Limits of one attempt, in milliseconds. */
export interface Deadlines {
  /** From the request to the answer's headers. */
  readonly headersMs: number;
  /** Without a single byte of the timers. */
  readonly idleMs: number;
  /** Without an event other than a ping. */
  readonly stallMs: number;
  /** The whole attempt. */
  readonly totalMs: number;
}

/** A limit of {@link Deadlines} ran out. The message is for people. */
export class Overdue extends Error {
  override readonly name = 'Overdue';
}

export interface Watch {
  /** Aborts when a limit runs out or the outer signal aborts. */
  readonly signal: AbortSignal;
  /** The request goes out: the time for its headers begins. */
  sending(): void;
  headersCame(): void;
  bytesCame(): void;
  eventCame(): void;
  /** Ends all timers and whatever still runs under the signal. */
  close(): void;
}

/** Watches over one attempt. Its timers hold the process awake, so that a print-mode run lives to see its own time-out. */
export function startWatch(deadlines: Deadlines, outer: AbortSignal): Watch {
  const controller = new AbortController();
  const limit = (ms: number, what: string): NodeJS.Timeout => setTimeout(() => { controller.abort(new Overdue(`${what} within ${inWords(ms)}`)); }, ms);
  const total = limit(deadlines.totalMs, 'the reply did not end');
  const timers: { headers?: NodeJS.Timeout; idle?: NodeJS.Timeout; stall?: NodeJS.Timeout } = {};
  let closed = false;
  const follow = (): void => { controller.abort(outer.reason); };
  if (outer.aborted) follow();
  else outer.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    sending() { timers.headers ??= limit(deadlines.headersMs, 'no answer'); },
    headersCame() {
      clearTimeout(timers.headers);
      timers.idle ??= limit(deadlines.idleMs, 'the connection is silent: no byte came');
      timers.stall ??= limit(deadlines.stallMs, 'the reply stands still: nothing new came');
    },
    // `refresh` would wake a cleared timer up again.
    bytesCame() { if (!closed) timers.idle?.refresh(); },
    eventCame() { if (!closed) timers.stall?.refresh(); },
    close() {
      closed = true;
      for (const timer of [total, ...Object.values(timers)]) clearTimeout(timer);
      outer.removeEventListener('abort', follow);
      controller.abort(new Error('the attempt is over'));
    },
  };
}

/** `90 s`, `5 min`: a time for people, rounded. */
export function inWords(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
