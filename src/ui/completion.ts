import type { Completion } from './contract.ts';
import { type Editor, replace } from './editor.ts';

/** The word that completion works on, as a range of the text up to the cursor. */
export interface Word {
  readonly kind: 'command' | 'file';
  readonly from: number;
  readonly to: number;
  /** What is asked: for a file what stands behind the `@`, for a command the whole line up to the cursor. */
  readonly query: string;
}

/** What is offered below the composer. */
export interface Menu {
  readonly word: Word;
  readonly items: readonly Completion[];
  /** Index of the item that Enter takes; -1 where none is to be taken unasked. */
  readonly selected: number;
  /** The index of files is still being made. */
  readonly more: boolean;
  /** The word was typed on since these items were made. */
  readonly stale: boolean;
}

/** An `@` at the start of a word, quoted or not, up to the cursor. */
const MENTION = /(?:^|[\s([{'`,;:])(@(?:"[^"\n]*|[^\s"]*))$/u;

/** What can be completed at the cursor; undefined where nothing can. */
export function wordAt(editor: Editor): Word | undefined {
  const { text, cursor } = editor;
  if (text.startsWith('!')) return undefined;
  const before = text.slice(text.lastIndexOf('\n', cursor - 1) + 1, cursor);
  const mention = MENTION.exec(before)?.[1];
  if (mention !== undefined) return { kind: 'file', from: cursor - mention.length, to: cursor, query: mention.slice(1).replace(/^"/, '') };
  if (!text.startsWith('/') || text.includes('\n')) return undefined;
  return { kind: 'command', from: before.search(/\S*$/), to: cursor, query: before };
}

/** A menu for a word. Where an argument may be left out, Enter sends the line as it stands unless an item was gone to. */
export function openMenu(word: Word, items: readonly Completion[], more: boolean): Menu {
  return { word, items, selected: word.kind === 'command' && word.from === word.to ? -1 : 0, more, stale: false };
}

/** Items without the directory that stands there already: to take it would change nothing. */
export function offered(items: readonly Completion[], word: Word, editor: Editor): readonly Completion[] {
  const written = editor.text.slice(word.from, word.to);
  return items.filter((item) => item.more !== true || insertion(word, item) !== written);
}

/** Whether the word is one of the items already. */
export function isWhole(menu: Menu, editor: Editor): boolean {
  const word = editor.text.slice(menu.word.from, menu.word.to);
  return menu.items.some((one) => insertion(menu.word, one).trimEnd() === word);
}

/** Puts an item in the word's place, with a space behind it unless completion goes on. */
export function accept(editor: Editor, word: Word, item: Completion): Editor {
  const text = insertion(word, item);
  const space = item.more === true || /\s$/.test(text) || /^\s/.test(editor.text.slice(word.to)) ? '' : ' ';
  return replace(editor, word.from, word.to, text + space);
}

function insertion(word: Word, item: Completion): string {
  if (word.kind === 'file') return item.insert.startsWith('@') ? item.insert : `@${item.insert}`;
  return word.from === 0 && !item.insert.startsWith('/') ? `/${item.insert}` : item.insert;
}

/** Another item, round and round. */
export function select(menu: Menu, by: 1 | -1): Menu {
  const { items, selected } = menu;
  const from = selected === -1 && by === -1 ? 0 : selected;
  return items.length === 0 ? menu : { ...menu, selected: (from + by + items.length) % items.length };
}
