import { sanitise } from '#lib/terminal.ts';
import type { InputEvent } from './contract.ts';
import type { KeyTable } from './keys.ts';
import { wrapProse } from './lines.ts';
import type { Pen } from './pen.ts';
import { typeInto } from './typing.ts';

/** One line of secret text: what is typed is never shown. */
export interface SecretDialog {
  readonly type: 'secret';
  readonly id: number;
  readonly title: string;
  readonly hint: string;
  readonly text: string;
}

/** The dialog after a key, or what was given: undefined when it was left. */
export function pressSecret(dialog: SecretDialog, event: InputEvent, keys: KeyTable): SecretDialog | { readonly given: string | undefined } {
  const action = event.type === 'key' ? keys.action('dialog', event) : undefined;
  if (action === 'cancel') return { given: undefined };
  if (action === 'confirm') return dialog.text.trim() === '' ? dialog : { given: dialog.text.trim() };
  return { ...dialog, text: typeInto(dialog.text, event) ?? dialog.text };
}

export function drawSecret({ title, hint, text }: SecretDialog, rows: number, { theme, columns }: Pen): readonly string[] {
  const dots = '•'.repeat(Math.min(text.length, columns - 4));
  return [
    theme('accent', '─'.repeat(columns)),
    ...wrapProse(theme('strong', sanitise(title, { newlines: false })), columns),
    ...wrapProse(theme('dim', sanitise(hint)), columns),
    `${theme('accent', '›')} ${dots}▏`,
    ...wrapProse(theme('dim', 'Enter takes it · Esc leaves'), columns),
  ].slice(-rows);
}
