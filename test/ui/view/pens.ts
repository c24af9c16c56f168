import type { Pen } from '#ui/markdown.ts';
import { createHighlighter } from '#ui/highlight.ts';
import { themeOf } from '#ui/theme.ts';

/** A pen without colours, so that frames can be read. */
export function plainPen(columns: number): Pen {
  return { columns, theme: themeOf('plain', {}), highlight: createHighlighter() };
}

/** A pen with colours, its grammars loaded. */
export async function colourPen(columns: number): Promise<Pen> {
  const highlight = createHighlighter();
  await highlight.load();
  return { columns, theme: themeOf('dark', {}), highlight };
}

export const withoutColours = (text: string): string => text.replace(/\u001B\[[\d;]*m/g, '');
