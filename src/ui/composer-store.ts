import type { ComposerEffect, ComposerEvent, ComposerState, ComposerWorld } from './composer-state.ts';
import { blankComposer, reduce } from './composer-state.ts';
import type { Controller, InputEvent, ViewAction } from './contract.ts';
import type { Measure } from './editor-layout.ts';
import type { KeyTable } from './keys.ts';

/** What the composer can bring about outside of itself. */
export type ComposerDoors = Pick<Controller, 'submit' | 'interrupt' | 'cycleMode' | 'takeBack' | 'queue' | 'background' | 'completeFile' | 'completeCommand' | 'exit'> & {
  view(action: ViewAction): void;
  /** Text out to an editor and back; undefined when it was left as it is. Never rejects. */
  openEditor(text: string): Promise<string | undefined>;
};

/** The composer as React and the keyboard see it: a state to subscribe to, and one way in. */
export interface Composer {
  get(): ComposerState;
  subscribe(listener: () => void): () => void;
  input(event: InputEvent): void;
  send(event: Exclude<ComposerEvent, { readonly type: 'input' | 'expired' | 'completions' }>): void;
  /** The window changed: columns of the whole window. */
  resize(columns: number): void;
  /** From now on these do what it wants; what was wanted before and had no door is done first, in order, once this task is over. */
  connect(doors: ComposerDoors): void;
  /** What was sent and waits for a door. */
  waiting(): readonly string[];
  measureWith(measure: Measure): void;
  /** Other bindings, once the settings are read. */
  bind(keys: KeyTable): void;
  /** No timer is left. */
  close(): void;
}

/** Columns before the text (the prompt's mark), and one kept free behind it. */
export const PROMPT_COLUMNS = 2;

/** Without all doors, what has none waits for {@link Composer.connect}. */
export function createComposer(options: { readonly keys: KeyTable; readonly columns: number; readonly measure: Measure; readonly doors?: Partial<ComposerDoors> }): Composer {
  let state: ComposerState = blankComposer;
  let { columns, measure, keys, doors } = options;
  let timer: NodeJS.Timeout | undefined;
  let asking: NodeJS.Timeout | undefined;
  let held: BroughtAbout[] = [];
  const listeners = new Set<() => void>();

  const send = (event: ComposerEvent): void => {
    const world: ComposerWorld = { keys, columns: Math.max(4, columns - PROMPT_COLUMNS), measure, now: performance.now() };
    const next = reduce(state, event, world);
    if (next.state !== state) {
      state = next.state;
      for (const listener of listeners) listener();
    }
    for (const effect of next.effects) act(effect);
  };
  const act = (effect: ComposerEffect): void => {
    if (effect.type === 'expire') {
      clearTimeout(timer);
      timer = setTimeout(send, effect.ms, { type: 'expired' });
    } else if (effect.type === 'complete' && effect.afterMs !== undefined) {
      clearTimeout(asking);
      const { afterMs: _, ...due } = effect;
      asking = setTimeout(() => { if (state.request === due.request) act(due); }, effect.afterMs);
    } else if (!bringAbout(effect, doors ?? {}, send)) held.push(effect);
  };
  return {
    get: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => { listeners.delete(listener); };
    },
    input: (event) => { send({ type: 'input', event }); },
    send,
    resize: (to) => { columns = to; },
    connect(to) {
      doors = to;
      send({ type: 'refresh' });
      queueMicrotask(() => {
        const due = held;
        held = [];
        for (const effect of due) act(effect);
      });
    },
    waiting: () => held.flatMap((effect) => (effect.type === 'submit' ? [effect.text] : [])),
    measureWith: (to) => { measure = to; },
    bind: (to) => { keys = to; },
    close() {
      clearTimeout(timer);
      clearTimeout(asking);
    },
  };
}

type BroughtAbout = Exclude<ComposerEffect, { readonly type: 'expire' }>;

/** False when there is no door for it yet. */
function bringAbout(effect: BroughtAbout, doors: Partial<ComposerDoors>, send: (event: ComposerEvent) => void): boolean {
  switch (effect.type) {
    case 'submit': return through(doors.submit?.bind(doors), effect.text);
    case 'exit': return through(doors.exit?.bind(doors));
    case 'cycleMode': return through(doors.cycleMode?.bind(doors));
    case 'view': return through(doors.view?.bind(doors), effect.action);
    case 'interrupt':
      if (doors.interrupt?.() !== true) send({ type: 'busy', busy: false });
      return true;
    case 'takeBack': {
      const text = doors.takeBack?.();
      send(text === undefined ? { type: 'older' } : { type: 'draft', text });
      return true;
    }
    case 'queue':
      doors.queue?.();
      return true;
    case 'background':
      if (doors.background?.() !== true) send({ type: 'left' });
      return true;
    case 'openEditor':
      void doors.openEditor?.(effect.text).then((text) => {
        if (text !== undefined) send({ type: 'edited', text });
      });
      return true;
    case 'complete': {
      const { request } = effect;
      const asked = effect.kind === 'file' ? doors.completeFile?.(effect.query)
        : doors.completeCommand?.(effect.query).then((items) => ({ items, more: false }));
      // Without an answer there is no menu; whoever was asked reports its own trouble. Without a door it is asked again later.
      asked?.catch(() => ({ items: [], more: false })).then(({ items, more }) => { send({ type: 'completions', request, items, more }); }, () => undefined);
      return true;
    }
  }
}

function through<A extends readonly unknown[]>(door: ((...given: A) => void) | undefined, ...given: A): boolean {
  door?.(...given);
  return door !== undefined;
}
