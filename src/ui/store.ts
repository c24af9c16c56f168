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

/** Draws soon; what comes in meanwhile is drawn with it. No timer runs while nothing is to be drawn. */
export interface Frames {
  /** As soon as what has been read is worked off: for what a person did. */
  promptly(): void;
  /** Within the frame's time: for what comes in by itself. */
  soon(): void;
  stop(): void;
}

/** `draw` is called once for everything that came within `ms` milliseconds. */
export function createFrames(draw: () => void, ms: number): Frames {
  let timer: NodeJS.Timeout | undefined;
  let immediate: NodeJS.Immediate | undefined;
  const stop = (): void => {
    clearTimeout(timer);
    clearImmediate(immediate);
    timer = undefined;
    immediate = undefined;
  };
  const run = (): void => {
    stop();
    draw();
  };
  return {
    promptly: () => { immediate ??= setImmediate(run); },
    soon: () => { timer ??= setTimeout(run, ms); },
    stop,
  };
}
