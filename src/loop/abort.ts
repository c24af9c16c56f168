/** What stands for the answer of a port that did not answer before the interrupt took effect. */
export const ABORTED: unique symbol = Symbol('aborted');

/** How long a port may take to wind up after an interrupt before the loop goes on without it, in milliseconds. */
export const GRACE_MS = 40;

export interface Patience {
  /** The work's result; {@link ABORTED} when the signal aborted and the time of grace (counted once for all works) is over, or the work rejected after the abort. */
  await<T>(work: Promise<T>): Promise<T | typeof ABORTED>;
}

/** Waits for ports, but after an abort of `signal` no longer than `ms` in all: an interrupt must work even if a port ignores it. */
export function patience(signal: AbortSignal, ms = 0): Patience {
  let end: number | undefined;
  const left = (): number => {
    end ??= performance.now() + ms;
    return Math.max(0, end - performance.now());
  };
  return {
    await<T>(work: Promise<T>) {
      return new Promise<T | typeof ABORTED>((resolve, reject) => {
        let timer: NodeJS.Timeout | undefined;
        const giveUp = (): void => { timer = setTimeout(() => { resolve(ABORTED); }, left()); };
        const tidy = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', giveUp);
        };
        work.then(
          (value) => { tidy(); resolve(value); },
          (reason: unknown) => {
            tidy();
            if (signal.aborted) resolve(ABORTED);
            else reject(reason instanceof Error ? reason : new Error(String(reason)));
          },
        );
        if (!signal.aborted) signal.addEventListener('abort', giveUp, { once: true });
        else if (left() > 0) giveUp();
        else resolve(ABORTED);
      });
    },
  };
}

/** Ends a generator that is no longer waited for; what it still does, and how it fails, is of no interest. */
export function abandon(work: AsyncGenerator<unknown, unknown>): void {
  const nobodyWaits = (): void => undefined;
  work.return(undefined).then(nobodyWaits, nobodyWaits);
}
