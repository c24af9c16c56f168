import * as edit from './editor.ts';
import type { Editor } from './editor.ts';

/** Actions that do nothing but edit: what each makes of the text. */
export const editing = {
  undo: edit.undo,
  lineStart: edit.lineStart,
  lineEnd: edit.lineEnd,
  wordLeft: edit.wordLeft,
  wordRight: edit.wordRight,
  killToEnd: edit.killToEnd,
  killToStart: edit.killToStart,
  killWordLeft: edit.killWordLeft,
  killPartLeft: edit.killPartLeft,
  killWordRight: edit.killWordRight,
  yank: edit.yank,
  yankOlder: edit.yankOlder,
  left: edit.left,
  right: edit.right,
  textStart: edit.textStart,
  textEnd: edit.textEnd,
  deleteLeft: edit.deleteLeft,
  deleteRight: edit.deleteRight,
} as const satisfies Readonly<Record<string, (editor: Editor) => Editor>>;
