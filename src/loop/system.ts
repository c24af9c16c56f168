import type { TextBlock } from '#domain/content.ts';
import text from './system.md';

/** The system prompt, or what the user has put in its place, with the user's own addition as a block behind it. The same bytes in every session: what changes is told by reminders. */
export function systemBlocks(append?: string, instead?: string): TextBlock[] {
  const own: TextBlock = { type: 'text', text: instead === undefined || instead.trim() === '' ? text.trim() : instead.trim() };
  return append === undefined || append.trim() === '' ? [own] : [own, { type: 'text', text: append.trim() }];
}
