import { decode, type DecodedText, encode } from '#lib/decode.ts';
import { count } from '#lib/text.ts';
import { restoreWhereKnown } from './files/marks.ts';
import { linesOf, numbered } from './lines.ts';
import { applyEdit, type Change, type Edit, type Edited } from './matching.ts';
import { describeMiss } from './near.ts';

/** A file's bytes after an edit, or why there are none: a clause about the file for `binary` and `not_decodable`, else sentences. */
export type EditedFile =
  | { readonly ok: true; readonly bytes: Uint8Array; readonly before: string; readonly edited: Extract<Edited, { ok: true }> }
  | { readonly ok: false; readonly error: 'binary' | 'not_decodable' | 'not_found' | 'ambiguous' | 'cannot_encode' | 'not_allowed'; readonly message: string };

/** How exact the match must be: of a file that the model has not seen as it is now, only one certain place is changed. */
export type Trust = 'all' | 'oneExact';

export function editBytes(bytes: Uint8Array, asked: Edit, trust: Trust): EditedFile {
  const decoded = decode(bytes);
  if (decoded.kind === 'binary') return { ok: false, error: 'binary', message: 'is binary; it cannot be edited as text.' };
  const unknown = unknownEncoding(decoded, bytes);
  if (unknown !== undefined) return { ok: false, error: 'not_decodable', message: unknown };
  const { text } = decoded;
  const edit = { old: asked.old, new: restoreWhereKnown(asked.new, () => [text]), all: asked.all };
  const first = applyEdit(text, edit);
  const restored = restoreWhereKnown(asked.old, () => [text]);
  const edited = first.ok || restored === asked.old ? first : applyEdit(text, { ...edit, old: restored });
  if (!edited.ok) return { ok: false, error: edited.error, message: explain(text, restored, edited) };
  if (trust === 'oneExact' && (asked.all || edited.how === 'lookAlikes')) return { ok: false, error: 'not_allowed', message: '' };
  const encoded = encode(edited.text, decoded.encoding, decoded.bom);
  if (encoded === undefined) return { ok: false, error: 'cannot_encode', message: `new_string holds characters that ${decoded.encoding} cannot hold (half a character?).` };
  return { ok: true, bytes: encoded, before: text, edited };
}

/** An 8-bit text can be read by guess, but only the one who knows its encoding can write to it. */
function unknownEncoding({ encoding, guessed, bom, text }: DecodedText, bytes: Uint8Array): string | undefined {
  if (guessed && encoding === 'windows-1252') return 'is in an encoding that is not known (neither UTF-8 nor UTF-16); it was left as it is. Convert it first (iconv), or edit it with a program that knows the encoding.';
  const again = encode(text, encoding, bom);
  return again !== undefined && Buffer.compare(again, bytes) === 0 ? undefined : `cannot be read and written back as ${encoding} without loss; it was left as it is.`;
}

function explain(text: string, old: string, edited: Extract<Edited, { ok: false }>): string {
  if (edited.error === 'not_found') return `old_string was not found.${describeMiss(text, old)}`;
  const where = edited.lines.length > 20 ? `${edited.lines.slice(0, 20).join(', ')} and ${edited.lines.length - 20} more` : edited.lines.join(', ');
  const all = edited.how === 'lookAlikes' ? '' : ', or set replace_all';
  return `old_string fits ${edited.lines.length} places${edited.how === 'lookAlikes' ? ' (quotes, dashes and blanks taken alike)' : ''}, at lines ${where}. Add lines around it until it fits one${all}.`;
}

const AROUND = 2;
const MOST_SHOWN = 60;

/** The changed lines of the new text with their numbers, and a few around. */
export function changedLines(text: string, changes: readonly Change[]): string {
  const lines = linesOf(text);
  const starts = lineStarts(text);
  const ranges: { from: number; to: number }[] = [];
  let shift = 0;
  for (const change of changes) {
    const start = change.start + shift;
    shift += change.text.length - (change.end - change.start);
    const from = Math.max(1, lineOf(starts, start) - AROUND);
    const to = Math.min(lines.length, lineOf(starts, start + change.text.length) + AROUND);
    const last = ranges.at(-1);
    if (last !== undefined && from <= last.to + 1) last.to = Math.max(last.to, to);
    else ranges.push({ from, to });
  }
  let room = MOST_SHOWN;
  const shown: string[] = [];
  for (const { from, to } of ranges) {
    if (room <= 0) break;
    const end = Math.min(to, from + room - 1);
    shown.push(numbered(lines.slice(from - 1, end).map((line) => line.slice(0, 500)), from));
    room -= end - from + 1;
  }
  const all = ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  return shown.join('\n   ...\n') + (all > MOST_SHOWN ? `\n[shown ${MOST_SHOWN} of ${count(all, 'line')}]` : '');
}

/** Offsets at which lines begin, ascending. */
function lineStarts(text: string): number[] {
  const ends = text.includes('\n') ? /\n/g : /\r/g;
  return [0, ...[...text.matchAll(ends)].map(({ index }) => index + 1)];
}

function lineOf(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Number of the line in which each change begins, in the new text. */
export function linesChanged(text: string, changes: readonly Change[]): number[] {
  const starts = lineStarts(text);
  let shift = 0;
  return changes.map((change) => {
    const line = lineOf(starts, change.start + shift);
    shift += change.text.length - (change.end - change.start);
    return line;
  });
}
