/** The smallest store that React can subscribe to: see `useSyncExternalStore`. */
export interface Store<S> {
  get(): S;
  set(next: S): void;
  subscribe(listener: () => void): () => void;
}

export function createStore<S>(initial: S): Store<S> {
  let state = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => state,
    set(next) {
      if (Object.is(next, state)) return;
      state = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => { listeners.delete(listener); };
    },
  };
}

/** Draws at once, or soon: what comes in meanwhile is drawn with it. No timer runs while nothing is to be drawn. */
export interface Frames {
  now(): void;
  soon(): void;
  stop(): void;
}

/** `draw` is called at most once within `ms` milliseconds for everything that may wait. */
export function createFrames(draw: () => void, ms: number): Frames {
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const now = (): void => {
    stop();
    draw();
  };
  return { now, soon: () => { timer ??= setTimeout(now, ms); }, stop };
}
