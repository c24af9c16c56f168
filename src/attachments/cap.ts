import { count, cutToBytes } from '#lib/text.ts';
import type { Part } from '#domain/content.ts';

/** UTF-8 bytes that one token is taken to be: few enough that the cap holds for code and for scripts of three bytes a sign. */
const BYTES_PER_TOKEN = 3;

export interface Capped {
  readonly parts: readonly Part[];
  /** What was left out, one line; undefined when everything fits. */
  readonly leftOut?: string;
}

/**
 * Cuts what a source says to about so many tokens, before it is wrapped, and says in its last line what was left out.
 * `text` cuts inside a part, between graphemes; `parts` leaves out whole parts, for those that hold an envelope which a cut
 * would leave open. Media are weighed elsewhere and stay.
 */
export function cap(parts: readonly Part[], tokens: number, how: 'text' | 'parts'): Capped {
  const limit = tokens * BYTES_PER_TOKEN;
  const total = parts.reduce((sum, part) => sum + bytesOf(part), 0);
  if (total <= limit) return { parts };
  const kept: Part[] = [];
  let left = limit;
  let dropped = 0;
  for (const part of parts) {
    const bytes = bytesOf(part);
    if (part.type === 'media' || bytes <= left) {
      kept.push(part);
      left -= bytes;
    } else if (how === 'parts') {
      dropped += 1;
    } else {
      kept.push({ type: 'text', text: cutToBytes(part.text, left) });
      left = 0;
    }
  }
  const shown = kept.reduce((sum, part) => sum + bytesOf(part), 0);
  const leftOut = how === 'parts' ? `${count(dropped, 'part')} left out: over the limit of ${limit} bytes` : `cut: ${shown} of ${total} bytes shown`;
  return { parts: [...kept.filter((part) => part.type === 'media' || part.text !== ''), { type: 'text', text: `[${leftOut}]` }], leftOut };
}

function bytesOf(part: Part): number {
  return part.type === 'text' ? Buffer.byteLength(part.text) : 0;
}
