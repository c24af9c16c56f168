import type { InputEvent, KeyEvent } from './contract.ts';

/** How long a burst may pause and still be one paste, in ms. */
const BURST_MS = 10;
/** More plain characters in one read than anyone types: taken as one paste, not as so many keys. */
const BURST_LENGTH = 64;

/** Stands between tokenizer and screen. */
export interface BurstGuard {
  /** The events of one read. */
  take(events: readonly InputEvent[]): void;
  /** Whatever waits is dropped, and no timer is left. */
  close(): void;
}

/**
 * Terminals without bracketed paste send pasted lines as keys: a burst of text with an Enter inside becomes one paste, so
 * that no line of it is submitted. An Enter at a burst's very end is pressed, not pasted.
 */
export function createBurstGuard(emit: (event: InputEvent) => void): BurstGuard {
  let timer: NodeJS.Timeout | undefined;
  let text = '';
  let heldEnter: KeyEvent | undefined;

  const settle = (): void => {
    clearTimeout(timer);
    const [paste, enter] = [text, heldEnter];
    text = '';
    heldEnter = undefined;
    if (paste !== '') emit({ type: 'paste', text: paste });
    if (enter !== undefined) emit(enter);
  };
  return {
    take(events) {
      const split = splitBurst(events, text !== '' || heldEnter !== undefined);
      if (split === undefined) {
        settle();
        events.forEach(emit);
        return;
      }
      if (split.text === '') split.typed.forEach(emit);
      else text += (heldEnter === undefined ? '' : '\n') + split.text;
      heldEnter = split.enter;
      clearTimeout(timer);
      if (split.after.length === 0) timer = setTimeout(settle, BURST_MS);
      else {
        settle();
        split.after.forEach(emit);
      }
    },
    close() {
      clearTimeout(timer);
      text = '';
      heldEnter = undefined;
    },
  };
}

interface Split {
  /** Plain keys before an Enter that ends the read: emitted at once. */
  readonly typed: readonly InputEvent[];
  /** Text of a burst. */
  readonly text: string;
  /** The Enter at the end: held for a moment, for more may follow. */
  readonly enter: KeyEvent | undefined;
  /** What stands behind the burst and is none of it. */
  readonly after: readonly InputEvent[];
}

/** What in one read's events is a burst; undefined when they are keys as people press them. */
function splitBurst(events: readonly InputEvent[], running: boolean): Split | undefined {
  const end = events.findIndex((event) => plain(event) === undefined);
  const run = end === -1 ? events : events.slice(0, end);
  if (run.length < (running ? 1 : 2)) return undefined;
  const last = run.at(-1);
  const enter = last?.type === 'key' && last.name === 'enter' ? last : undefined;
  const body = enter === undefined ? run : run.slice(0, -1);
  const after = end === -1 ? [] : events.slice(end);
  if (!running && body.length <= BURST_LENGTH && !body.some((event) => plain(event) === '\n')) {
    return enter === undefined ? undefined : { typed: body, text: '', enter, after };
  }
  return { typed: [], text: body.map(plain).join(''), enter, after };
}

/** What an event writes when it is part of a paste. */
function plain(event: InputEvent): string | undefined {
  if (event.type !== 'key' || event.alt || event.shift) return undefined;
  if (event.text !== '') return event.text;
  if (event.name === 'enter' && !event.ctrl) return '\n';
  if (event.name === 'tab' && !event.ctrl) return '\t';
  return event.name === 'j' && event.ctrl ? '\n' : undefined;
}
