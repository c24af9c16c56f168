import type { TextBlock } from '#domain/content.ts';
import text from './system.md';

/** The system prompt, with the user's own addition as a block behind it. The same bytes in every session: what changes is told by reminders. */
export function systemBlocks(append?: string): TextBlock[] {
  const own: TextBlock = { type: 'text', text: text.trim() };
  return append === undefined || append.trim() === '' ? [own] : [own, { type: 'text', text: append.trim() }];
}
