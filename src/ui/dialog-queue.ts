import { sanitise } from '#lib/terminal.ts';
import { count } from '#lib/text.ts';
import type { InputEvent, QueueChoice, Waiting } from './contract.ts';
import type { KeyTable } from './keys.ts';
import { clip } from './lines.ts';
import type { Pen } from './pen.ts';

/** The lines that wait to be sent: one is taken back to be edited, or removed. */
export interface QueueDialog {
  readonly type: 'queue';
  readonly id: number;
  readonly items: readonly Waiting[];
  readonly at: number;
}

/** The newest is meant most often. */
export function openQueue(id: number, items: readonly Waiting[]): QueueDialog {
  return { type: 'queue', id, items, at: Math.max(0, items.length - 1) };
}

/** Only what waits still can be chosen. */
export function stillWaiting(dialog: QueueDialog, ids: ReadonlySet<string>): QueueDialog {
  const items = dialog.items.filter(({ id }) => ids.has(id));
  if (items.length === dialog.items.length) return dialog;
  const here = items.findIndex(({ id }) => id === dialog.items[dialog.at]?.id);
  return { ...dialog, items, at: here === -1 ? Math.max(0, Math.min(dialog.at, items.length - 1)) : here };
}

/** The dialog after a key, or what was chosen: undefined when it was left. */
export function pressQueue(dialog: QueueDialog, event: InputEvent, keys: KeyTable): QueueDialog | { readonly choice: QueueChoice | undefined } {
  if (event.type !== 'key') return dialog;
  const { items, at } = dialog;
  const item = items[at];
  const last = Math.max(0, items.length - 1);
  const plain = !event.ctrl && !event.alt;
  if (plain && (event.name === 'd' || event.name === 'delete' || event.name === 'backspace')) return item === undefined ? dialog : { choice: { id: item.id, how: 'remove' } };
  switch (keys.action('list', event)) {
    case 'cancel': return { choice: undefined };
    case 'choose': return { choice: item === undefined ? undefined : { id: item.id, how: 'edit' } };
    case 'up': return { ...dialog, at: at === 0 ? last : at - 1 };
    case 'down': return { ...dialog, at: at === last ? 0 : at + 1 };
    case 'first': case 'pageUp': return { ...dialog, at: 0 };
    case 'last': case 'pageDown': return { ...dialog, at: last };
    default: return dialog;
  }
}

export function drawQueue({ items, at }: QueueDialog, rows: number, { theme, columns }: Pen): readonly string[] {
  const head = [theme('accent', '─'.repeat(columns)), clip(theme('strong', items.length === 0 ? 'Nothing waits any more' : `${count(items.length, 'line')} to be sent`), columns)];
  const hint = clip(theme('dim', items.length === 0 ? 'Esc leaves' : 'Enter edits · d removes · Esc leaves'), columns);
  const room = Math.max(1, rows - head.length - 1);
  const from = Math.max(0, Math.min(at - Math.floor(room / 2), items.length - room));
  const lines = items.slice(from, from + room).map(({ text }, index) => {
    const here = from + index === at;
    const words = clip(sanitise(text, { newlines: false, tabs: 4 }), columns - 2);
    return `${here ? theme('accent', '›') : ' '} ${here ? theme('selected', words) : words}`;
  });
  return [...head, ...lines, hint].slice(0, Math.max(1, rows));
}
