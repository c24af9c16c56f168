import type { Writable } from 'node:stream';
import { wellFormed } from '#lib/text.ts';

/** What JSON leaves as it is, and a terminal or an editor would not take for print: DEL, 8-bit controls, what turns the writing direction, line separators. */
const UNPRINTED = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
/** How half a surrogate pair is written, which strict readers refuse. */
const HALF = /\\ud[89a-f]/;

/** A value as JSON on one line that is safe to print on a terminal and that every reader of JSON takes. */
export function jsonLine(value: unknown): string {
  const text = JSON.stringify(value);
  const whole = HALF.test(text) ? JSON.stringify(value, mended) : text;
  return whole.replaceAll(UNPRINTED, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function mended(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return wellFormed(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [wellFormed(key), each as unknown]));
}

/** JSON objects, one a line, to an output that may be slow. */
export interface Lines {
  /** Writes a line; lines are never torn nor mixed. */
  write(value: unknown): void;
  /** Resolves when the reader has taken enough for more: at once where it keeps up. */
  taken(): Promise<void>;
  /** From now on nothing is written: nobody reads. */
  close(): void;
}

/** The output's own errors are the caller's to hear; `close` ends all waiting. */
export function createLines(output: Writable): Lines {
  let closed = false;
  let waiting: Promise<void> | undefined;
  let go = (): void => undefined;
  return {
    write(value) {
      if (closed || output.write(`${jsonLine(value)}\n`)) return;
      waiting ??= new Promise((resolve) => {
        go = () => {
          output.off('drain', go);
          waiting = undefined;
          resolve();
        };
        output.on('drain', go);
      });
    },
    taken: () => waiting ?? Promise.resolve(),
    close() {
      closed = true;
      go();
    },
  };
}
