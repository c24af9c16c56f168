import type { Pen } from '#ui/pen.ts';
import { createHighlighter } from '#ui/highlight.ts';
import { keyTable } from '#ui/keys.ts';
import { themeOf } from '#ui/theme.ts';

/** A pen without colours, so that frames can be read. */
export function plainPen(columns: number): Pen {
  return { columns, theme: themeOf('plain', {}), highlight: createHighlighter(), keys: keyTable() };
}

/** A pen with colours, its grammars loaded. */
export async function colourPen(columns: number): Promise<Pen> {
  const highlight = createHighlighter();
  await highlight.load();
  return { columns, theme: themeOf('dark', {}), highlight, keys: keyTable() };
}

export const withoutColours = (text: string): string => text.replace(/\u001B\[[\d;]*m/g, '');
