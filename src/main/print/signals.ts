/** An interrupt that a signal brings about. */
export interface Interrupt {
  readonly signal: AbortSignal;
  /** Interrupts without a signal. */
  abort(): void;
  /** The exit code of the signal that came. */
  code(): 130 | 143 | undefined;
  end(): void;
}

/** Aborts at the first SIGINT or SIGTERM; the second one ends the process. `also` is called at the first. */
export function untilSignal(also: () => void = () => undefined): Interrupt {
  const controller = new AbortController();
  let code: 130 | 143 | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    const now = signal === 'SIGINT' ? 130 : 143;
    if (code !== undefined) process.exit(now);
    code = now;
    controller.abort(new Error('interrupted'));
    also();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return {
    signal: controller.signal,
    abort: () => { controller.abort(new Error('interrupted')); },
    code: () => code,
    end: () => { process.off('SIGINT', stop).off('SIGTERM', stop); },
  };
}
