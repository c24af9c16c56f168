import type { ComposerEffect, ComposerEvent, ComposerState, ComposerWorld } from './composer-state.ts';
import { blankComposer, reduce } from './composer-state.ts';
import type { Controller, InputEvent, ViewAction } from './contract.ts';
import type { Measure } from './editor-layout.ts';
import type { KeyTable } from './keys.ts';

/** What the composer can bring about outside of itself. */
export type ComposerDoors = Pick<Controller, 'submit' | 'interrupt' | 'cycleMode' | 'takeBack' | 'completeFile' | 'completeCommand' | 'exit'> & {
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
  /** From now on these do what it wants. */
  connect(doors: ComposerDoors): void;
  measureWith(measure: Measure): void;
  /** No timer is left. */
  close(): void;
}

/** Columns before the text (the prompt's mark), and one kept free behind it. */
export const PROMPT_COLUMNS = 2;

export function createComposer(options: { readonly keys: KeyTable; readonly columns: number; readonly measure: Measure; readonly doors?: ComposerDoors }): Composer {
  let state: ComposerState = blankComposer;
  let { columns, measure, doors } = options;
  let timer: NodeJS.Timeout | undefined;
  const listeners = new Set<() => void>();

  const send = (event: ComposerEvent): void => {
    const world: ComposerWorld = { keys: options.keys, columns: Math.max(4, columns - PROMPT_COLUMNS), measure, now: performance.now() };
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
    } else if (doors !== undefined) bringAbout(effect, doors, send);
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
    },
    measureWith: (to) => { measure = to; },
    close: () => { clearTimeout(timer); },
  };
}

function bringAbout(effect: Exclude<ComposerEffect, { readonly type: 'expire' }>, doors: ComposerDoors, send: (event: ComposerEvent) => void): void {
  switch (effect.type) {
    case 'submit': doors.submit(effect.text); return;
    case 'exit': doors.exit(); return;
    case 'cycleMode': doors.cycleMode(); return;
    case 'view': doors.view(effect.action); return;
    case 'interrupt':
      if (!doors.interrupt()) send({ type: 'busy', busy: false });
      return;
    case 'takeBack': {
      const text = doors.takeBack();
      send(text === undefined ? { type: 'older' } : { type: 'draft', text });
      return;
    }
    case 'openEditor':
      void doors.openEditor(effect.text).then((text) => {
        if (text !== undefined) send({ type: 'edited', text });
      });
      return;
    case 'complete': {
      const { request } = effect;
      const asked = effect.kind === 'file' ? doors.completeFile(effect.query)
        : doors.completeCommand(effect.query).then((items) => ({ items, more: false }));
      // Without an answer there is no menu; whoever was asked reports its own trouble.
      asked.catch(() => ({ items: [], more: false })).then(({ items, more }) => { send({ type: 'completions', request, items, more }); }, () => undefined);
    }
  }
}
