const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** No grapheme that people write is longer than this many UTF-16 units; longer runs of marks are cut between units. */
const LONGEST_GRAPHEME = 64;

/** Replaces lone surrogates by U+FFFD: the API refuses a body that holds one. */
export function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}

/** The longest beginning of `text` that takes at most `limit` bytes as UTF-8 and splits no grapheme. */
export function cutToBytes(text: string, limit: number): string {
  if (text.length * 3 <= limit || Buffer.byteLength(text) <= limit) return text;
  const bytes = Buffer.from(text.slice(0, limit));
  let end = Math.min(limit, bytes.length);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return dropBrokenGrapheme(text, bytes.subarray(0, end).toString('utf8').length);
}

/** The longest beginning of `text` that has at most `limit` UTF-16 units and splits no grapheme. */
export function cutToLength(text: string, limit: number): string {
  return text.length <= limit ? text : dropBrokenGrapheme(text, limit);
}

/** A command or a text of somebody's for people to read, on one line and otherwise as it stands: of more than `most` UTF-16 units both ends. Whatever shows it makes it fit for the terminal. */
export function bothEnds(text: string, most: number): string {
  const line = text.trim().replaceAll(/\s*\n\s*/g, ' ␊ ');
  if (line.length <= most) return line;
  const half = Math.floor(most / 2);
  return `${cutToLength(line, half)}…${wellFormed(line.slice(-half))}`;
}

function dropBrokenGrapheme(text: string, end: number): string {
  const from = startOfFlags(text, Math.max(0, end - LONGEST_GRAPHEME));
  let last = end;
  for (const { index, segment } of graphemes.segment(text.slice(from, end + LONGEST_GRAPHEME))) {
    const start = from + index;
    if (start >= end) break;
    last = start + segment.length <= end ? end : start;
  }
  return wellFormed(text.slice(0, last));
}

/** Flags are pairs of letters: a run of them is read from its beginning, or the pairs would be torn. */
function startOfFlags(text: string, at: number): number {
  let start = at;
  if (start > 0 && start < text.length && /[\uDC00-\uDFFF]/.test(text[start] ?? '')) start -= 1;
  while (start >= 2 && /^\p{RI}$/u.test(text.slice(start - 2, start))) start -= 2;
  return start;
}

/** `1 file`, `2 files`: a count with its noun. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}
