import type { Answer } from '#domain/ports.ts';
import { drawChoice, reachOf } from './choice-lines.ts';
import type { InputEvent, QueueChoice, ScreenEvent } from './contract.ts';
import { type ChoiceDialog, openChoice, pressChoice } from './dialog-choice.ts';
import { openQuestions, pressQuestions, type QuestionsDialog } from './dialog-questions.ts';
import { drawQueue, openQueue, pressQueue, type QueueDialog } from './dialog-queue.ts';
import { drawSecret, pressSecret, type SecretDialog } from './dialog-secret.ts';
import type { KeyTable } from './keys.ts';
import type { Pen } from './pen.ts';
import { drawPicker, openPicker, type PickerDialog, pressPicker } from './picker.ts';
import { drawQuestions, sightOf } from './questions-lines.ts';

/** What stands above the composer and has the keyboard until it is answered. */
export type Dialog = ChoiceDialog | QuestionsDialog | SecretDialog | PickerDialog | QueueDialog;

/** What brings a dialog onto the screen. */
export type DialogEvent = Extract<ScreenEvent, { readonly type: 'ask' | 'pick' | 'secret' | 'queue' }>;

/** What a dialog came to: for the controller's method of the same name (`chosen` for the queue). */
export type Outcome =
  | { readonly type: 'answer'; readonly id: number; readonly answer: Answer }
  | { readonly type: 'pick'; readonly id: number; readonly item: string | undefined }
  | { readonly type: 'secret'; readonly id: number; readonly text: string | undefined }
  | { readonly type: 'queue'; readonly id: number; readonly choice: QueueChoice | undefined };

export function isDialogEvent(event: { readonly type: string }): event is DialogEvent {
  return event.type === 'ask' || event.type === 'pick' || event.type === 'secret' || event.type === 'queue';
}

export function openDialog(event: DialogEvent): Dialog {
  switch (event.type) {
    case 'ask': return event.question.kind === 'choices' ? openQuestions(event.id, event.question) : openChoice(event.id, event.question);
    case 'pick': return openPicker(event.id, event.picker);
    case 'queue': return openQueue(event.id, event.items);
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
    case 'questions': {
      const next = pressQuestions(dialog, event, keys, sightOf(dialog, rows, pen));
      return 'kind' in next ? { outcome: { type: 'answer', id: dialog.id, answer: next } } : { dialog: next };
    }
    case 'picker': {
      const next = pressPicker(dialog, event, keys);
      return 'taken' in next ? { outcome: { type: 'pick', id: dialog.id, item: next.taken } } : { dialog: next };
    }
    case 'queue': {
      const next = pressQueue(dialog, event, keys);
      return 'choice' in next ? { outcome: { type: 'queue', id: dialog.id, choice: next.choice } } : { dialog: next };
    }
    default: {
      const next = pressSecret(dialog, event, keys);
      return 'given' in next ? { outcome: { type: 'secret', id: dialog.id, text: next.given } } : { dialog: next };
    }
  }
}

/** At most `rows` lines, a rule first. */
export function drawDialog(dialog: Dialog, rows: number, pen: Pen): readonly string[] {
  switch (dialog.type) {
    case 'choice': return drawChoice(dialog, rows, pen);
    case 'questions': return drawQuestions(dialog, rows, pen);
    case 'picker': return drawPicker(dialog, rows, pen);
    case 'queue': return drawQueue(dialog, rows, pen);
    default: return drawSecret(dialog, rows, pen);
  }
}
