import type { Answer } from '#domain/ports.ts';
import type { InputEvent, ScreenEvent } from './contract.ts';
import { type ChoiceDialog, drawChoice, openChoice, pressChoice, reachOf } from './dialog-choice.ts';
import { drawSecret, pressSecret, type SecretDialog } from './dialog-secret.ts';
import type { KeyTable } from './keys.ts';
import type { Pen } from './pen.ts';
import { drawPicker, type PickerDialog, pressPicker } from './picker.ts';

/** What stands above the composer and has the keyboard until it is answered. */
export type Dialog = ChoiceDialog | SecretDialog | PickerDialog;

/** What a dialog came to: for the controller's method of the same name. */
export type Outcome =
  | { readonly type: 'answer'; readonly id: number; readonly answer: Answer }
  | { readonly type: 'pick'; readonly id: number; readonly item: string | undefined }
  | { readonly type: 'secret'; readonly id: number; readonly text: string | undefined };

export function openDialog(event: Extract<ScreenEvent, { type: 'ask' | 'pick' | 'secret' }>): Dialog {
  switch (event.type) {
    case 'ask': return openChoice(event.id, event.question);
    case 'pick': return { type: 'picker', id: event.id, picker: event.picker, filter: '', at: 0 };
    default: return { type: 'secret', id: event.id, title: event.title, hint: event.hint, text: '' };
  }
}

/** What a dialog is pressed in: `rows` and `pen` are those it is drawn with, they decide how far it scrolls. */
export interface Around {
  readonly keys: KeyTable;
  readonly rows: number;
  readonly pen: Pen;
}

/** The dialog after a key, or what it came to. */
export function pressDialog(dialog: Dialog, event: InputEvent, { keys, rows, pen }: Around): { readonly dialog: Dialog } | { readonly outcome: Outcome } {
  switch (dialog.type) {
    case 'choice': {
      const next = pressChoice(dialog, event, keys, reachOf(dialog, rows, pen));
      return 'kind' in next ? { outcome: { type: 'answer', id: dialog.id, answer: next } } : { dialog: next };
    }
    case 'picker': {
      const next = pressPicker(dialog, event, keys);
      return 'taken' in next ? { outcome: { type: 'pick', id: dialog.id, item: next.taken } } : { dialog: next };
    }
    default: {
      const next = pressSecret(dialog, event, keys);
      return 'given' in next ? { outcome: { type: 'secret', id: dialog.id, text: next.given } } : { dialog: next };
    }
  }
}

/** At most `rows` lines. */
export function drawDialog(dialog: Dialog, rows: number, pen: Pen): readonly string[] {
  switch (dialog.type) {
    case 'choice': return drawChoice(dialog, rows, pen);
    case 'picker': return drawPicker(dialog, rows, pen);
    default: return drawSecret(dialog, rows, pen);
  }
}
