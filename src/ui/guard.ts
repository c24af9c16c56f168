import type { InputEvent } from './contract.ts';

/** Where a key goes that is pressed while a dialog is open. */
export interface DialogGuard {
  /** A key went to the composer, with no dialog open. */
  typed(): void;
  /** A dialog has come up. `question`: nobody asked for it; `typing`: there is a draft under the fingers. */
  opened(question: boolean, typing: boolean): void;
  /** The next one stands in the place of the dialog that was just answered. */
  followed(): void;
  /** Whether keys still go on to the composer, and it is to be seen. */
  holds(): boolean;
  take(event: InputEvent): void;
  /** No timer is left; what waited is dropped. */
  close(): void;
}

export interface GuardOptions {
  /** Milliseconds, on any clock that only goes forward. */
  readonly now: () => number;
  readonly toComposer: (event: InputEvent) => void;
  readonly toDialog: (event: InputEvent) => void;
}

/** A question that comes up while someone types waits for this pause before keys are taken for an answer. */
const PAUSE_MS = 400;
/** So soon nobody answers a question that has just come up: a letter may be the first of a word. */
const SURPRISE_MS = 300;
/** An Enter so soon behind an answer belongs to it. */
const STRAY_MS = 200;
/** How long such a letter waits for the next one of its word. */
const WORD_MS = 120;

/** Keeps what is being typed from being taken for the answer to a question that came up meanwhile. */
export function createGuard({ now, toComposer, toDialog }: GuardOptions): DialogGuard {
  let typing = false;
  let lastKey = Number.NEGATIVE_INFINITY;
  let openedAt = Number.NEGATIVE_INFINITY;
  let followedAt = Number.NEGATIVE_INFINITY;
  let waiting: InputEvent | undefined;
  let timer: NodeJS.Timeout | undefined;

  const answer = (event: InputEvent): void => {
    typing = false;
    openedAt = Number.NEGATIVE_INFINITY;
    toDialog(event);
  };
  const release = (): InputEvent | undefined => {
    clearTimeout(timer);
    const held = waiting;
    waiting = undefined;
    return held;
  };
  return {
    typed() { lastKey = now(); },
    opened(question, draft) {
      typing = draft && now() - lastKey < PAUSE_MS;
      openedAt = question ? now() : Number.NEGATIVE_INFINITY;
    },
    followed() {
      openedAt = now();
      followedAt = openedAt;
    },
    holds: () => typing,
    take(event) {
      const at = now();
      const pause = at - lastKey;
      lastKey = at;
      if (typing && pause < PAUSE_MS) return toComposer(event);
      const held = release();
      if (held !== undefined && writes(event)) {
        typing = true;
        toComposer(held);
        return toComposer(event);
      }
      if (held !== undefined) {
        answer(held);
        return toDialog(event);
      }
      // The Enter of "y, Enter" was meant for the question before.
      const stray = event.type === 'key' && event.name === 'enter' && at - followedAt < STRAY_MS;
      followedAt = Number.NEGATIVE_INFINITY;
      if (stray) return undefined;
      if (!writes(event) || at - openedAt >= SURPRISE_MS) return answer(event);
      waiting = event;
      timer = setTimeout(() => {
        const due = release();
        if (due !== undefined) answer(due);
      }, WORD_MS);
      return undefined;
    },
    close() { release(); },
  };
}

function writes(event: InputEvent): boolean {
  return event.type === 'key' && !event.ctrl && !event.alt && event.text.length > 0 && event.text !== '\n' && event.text !== '\t';
}
