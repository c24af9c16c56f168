import { sanitise, truncateTo, width } from '#lib/terminal.ts';
import { count } from '#lib/text.ts';
import type { InputEvent, Picker } from './contract.ts';
import type { KeyTable } from './keys.ts';
import { clip, pad, wrapProse } from './lines.ts';
import type { Pen } from './pen.ts';
import type { Theme } from './theme.ts';
import { typeInto } from './typing.ts';

/** A list to choose from, narrowed by what is typed. */
export interface PickerDialog {
  readonly type: 'picker';
  readonly id: number;
  readonly picker: Picker;
  readonly filter: string;
  /** Index in the narrowed list. */
  readonly at: number;
}

/** The list begins at the item that is in effect already, where there is one. */
export function openPicker(id: number, picker: Picker): PickerDialog {
  return { type: 'picker', id, picker, filter: '', at: Math.max(0, picker.items.findIndex((item) => item.id === picker.now)) };
}

type Item = Picker['items'][number];

const PAGE = 8;
/** So few items have room for their details below them in a narrow window. */
const FEW = 4;

/** Items that hold every word of the filter, in their own order. */
export function narrowed({ picker, filter }: PickerDialog): readonly Item[] {
  const words = filter.toLowerCase().split(/\s+/).filter((word) => word !== '');
  if (words.length === 0) return picker.items;
  return picker.items.filter(({ label, detail }) => {
    const text = `${label} ${detail ?? ''}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** The picker after a key, or what was taken: undefined when it was left. */
export function pressPicker(dialog: PickerDialog, event: InputEvent, keys: KeyTable): PickerDialog | { readonly taken: string | undefined } {
  const items = narrowed(dialog);
  const last = Math.max(0, items.length - 1);
  const move = (to: number): PickerDialog => ({ ...dialog, at: Math.min(last, Math.max(0, to)) });
  switch (event.type === 'key' ? keys.action('list', event) : undefined) {
    case 'cancel': return dialog.filter === '' ? { taken: undefined } : { ...dialog, filter: '', at: 0 };
    case 'choose': { const item = items[dialog.at]; return item === undefined ? dialog : { taken: item.id }; }
    case 'up': return move(dialog.at === 0 ? last : dialog.at - 1);
    case 'down': return move(dialog.at === last ? 0 : dialog.at + 1);
    case 'pageUp': return move(dialog.at - PAGE);
    case 'pageDown': return move(dialog.at + PAGE);
    case 'first': return move(0);
    case 'last': return move(last);
    default: {
      const filter = typeInto(dialog.filter, event);
      return filter === undefined || filter === dialog.filter ? dialog : { ...dialog, filter, at: 0 };
    }
  }
}

function marked(label: string, chosen: boolean, theme: Theme): string {
  return `${chosen ? theme('accent', '›') : ' '} ${chosen ? theme('selected', label) : label}`;
}

/** Labels give way to details down to about half of the columns. */
function labelColumns(labels: readonly string[], details: readonly string[], columns: number): number {
  const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map((text) => width(text)));
  return Math.min(widest(labels), Math.max(Math.floor(columns * 0.45), columns - 4 - widest(details)));
}

export function drawPicker(dialog: PickerDialog, rows: number, { theme, columns }: Pen): readonly string[] {
  const items = narrowed(dialog);
  const long = dialog.picker.items.length > PAGE;
  const filter = dialog.filter === '' ? theme('dim', long ? 'type to narrow' : '') : `${sanitise(dialog.filter, { newlines: false })}▏`;
  const head = [
    theme('accent', '─'.repeat(columns)),
    ...wrapProse(`${theme('strong', sanitise(dialog.picker.title, { newlines: false }))}  ${filter}`.trimEnd(), columns),
  ];
  const hint = clip(theme('dim', `${long || dialog.filter !== '' ? `${count(items.length, 'item')} · ` : ''}Enter takes · Esc ${dialog.filter === '' ? 'leaves' : 'clears'}`), columns);
  const room = Math.max(1, rows - head.length - 1);
  const from = Math.max(0, Math.min(dialog.at - Math.floor(room / 2), items.length - room));
  const labels = items.map(({ label }) => sanitise(label, { newlines: false, tabs: 4 }));
  const details = items.map(({ detail = '' }) => sanitise(detail, { newlines: false, tabs: 4 }));
  const side = labelColumns(labels, details, columns);
  const fits = labels.every((label, i) => width(label) + width(details[i] ?? '') + 4 <= columns);
  const stacked = fits || items.length > FEW || labels.some((label) => width(label) + 2 > columns) ? [] : items.flatMap((_, i) => [
    clip(marked(labels[i] ?? '', i === dialog.at, theme), columns), ...wrapProse(details[i] ?? '', columns - 4).filter((line) => line !== '').map((line) => theme('dim', `    ${line}`)),
  ]);
  const lines = stacked.length > 0 && stacked.length <= room ? stacked : items.slice(from, from + room).map((item, index) => {
    const chosen = from + index === dialog.at;
    const label = pad(truncateTo(labels[from + index] ?? '', side), side);
    const detail = item.detail === undefined ? '' : theme('dim', `  ${details[from + index] ?? ''}`);
    return clip(`${marked(label, chosen, theme)}${detail}`, columns).trimEnd();
  });
  const none = items.length === 0 ? [theme('dim', dialog.picker.items.length === 0 ? '  nothing to choose from' : '  nothing fits')] : [];
  return [...head, ...lines, ...none, hint].slice(0, Math.max(1, rows));
}
