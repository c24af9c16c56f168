/** Thrown when a task had no answer within its limit. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/**
 * Runs a task under a time limit in milliseconds. Rejects with {@link DeadlineError} at the limit and with the outer
 * signal's reason when that aborts first; the task's own signal aborts in both cases.
 *
 * Not `AbortSignal.timeout`: its timer is unref'd, so a print-mode process would simply end.
 */
export async function withDeadline<T>(ms: number, outer: AbortSignal, task: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController();
  const timer = setTimeout(() => { limit.abort(new DeadlineError(`no answer within ${ms} ms`)); }, ms);
  const signal = AbortSignal.any([outer, limit.signal]);
  try {
    return await Promise.race([task(signal), whenAborted(signal)]);
  } finally {
    clearTimeout(timer);
  }
}

/** Rejects with the signal's reason once it aborts; never resolves. */
export function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (): void => { reject(signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason))); };
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail, { once: true });
  });
}
