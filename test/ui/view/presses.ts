import type { InputEvent, KeyEvent } from '#ui/contract.ts';
import { type Dialog, type Outcome, pressDialog } from '#ui/dialog.ts';
import { keyTable } from '#ui/keys.ts';
import { plainPen } from './pens.ts';

export const key = (name: string, more: Partial<KeyEvent> = {}): KeyEvent => ({ type: 'key', name, ctrl: false, alt: false, shift: false, text: name.length === 1 ? name : name === 'space' ? ' ' : '', ...more });
export const typed = (words: string): readonly KeyEvent[] => words.split('').map((letter) => key(letter === ' ' ? 'space' : letter));

const keys = keyTable();

/** Presses keys in a dialog of so many rows and columns until it is settled. */
export function press(dialog: Dialog, events: readonly InputEvent[], rows = 14, columns = 60): Dialog | Outcome {
  let now = dialog;
  for (const event of events) {
    const next = pressDialog(now, event, { keys, rows, pen: plainPen(columns) });
    if ('outcome' in next) return next.outcome;
    now = next.dialog;
  }
  return now;
}
