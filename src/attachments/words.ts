import { lineDiff } from '#lib/line-diff.ts';
import { oneLine } from '#lib/names.ts';
import { cutToLength } from '#lib/text.ts';
import type { TodoItem } from '#domain/attachment.ts';
import type { BlobHash, Part } from '#domain/content.ts';
import type { BlobPort } from '#domain/ports.ts';

const LONGEST_PATH = 4096;

/** A path on one line, whole unless it is longer than a file system takes: the model must be able to open it. */
export function pathLine(path: string): string {
  return oneLine(cutToLength(path, LONGEST_PATH), LONGEST_PATH);
}

/** A path as snapshots hold it: no longer than a file system takes. */
export function keptPath(path: string): string {
  return path.slice(0, LONGEST_PATH);
}

/** A text that was said whole once and is told of by its changes since. Kept as a blob, so that a later process can compare. */
export function keepText(blobs: BlobPort, text: string): BlobHash | null {
  return blobs.put(Buffer.from(text))?.hash ?? null;
}

export function keptText(blobs: BlobPort, hash: BlobHash | null): string | undefined {
  const bytes = hash === null ? undefined : blobs.get(hash);
  return bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8');
}

/**
 * How a text changed: as a diff, or whole where the diff would be more than half of it. Undefined when it did not. Of a
 * document the diff is that of its body, numbered as its lines are in the file (`firstLine` of the body).
 */
export function changeOf(what: string, before: string, after: string, firstLine = 1): string | undefined {
  if (before === after) return undefined;
  const [old, body] = [bodyOf(before), bodyOf(after)];
  // That neither ends in a line feed is no news, and a diff would say so twice.
  const end = old.endsWith('\n') || body.endsWith('\n') ? '' : '\n';
  const diff = lineDiff(`${old}${end}`, `${body}${end}`, firstLine);
  return diff === undefined || diff.patch === '' || diff.patch.length * 2 > body.length ? `${what} changed and now reads:\n${after}` : `${what} changed:\n${diff.patch}`;
}

/** What stands in a document's envelope; any other text as it is. */
export function bodyOf(text: string): string {
  return /^[^\n]*\n<(?<tag>document-[a-z0-9-]+)>\n(?<body>.*)\n<\/\k<tag>>/s.exec(text)?.groups?.['body'] ?? text;
}

/** Parts with neighbouring texts joined by a blank line, so that a moment's block reads as one text. */
export function joined(parts: readonly Part[]): readonly Part[] {
  const out: Part[] = [];
  for (const part of parts) {
    const last = out.at(-1);
    if (part.type === 'text' && last?.type === 'text') out[out.length - 1] = { type: 'text', text: `${last.text}\n\n${part.text}` };
    else out.push(part);
  }
  return out;
}

/** Notes that the words do not hold already: a cut is told at the place of the cut as well. */
export function unsaid(notes: readonly string[], parts: readonly Part[]): readonly string[] {
  return notes.filter((note) => !parts.some((part) => part.type === 'text' && part.text.includes(note.slice(note.indexOf(': ') + 2))));
}

/** What is said of a pinned file that the model has in view as an instruction file already. */
export function inViewAsInstructions(label: string): string {
  return `Pinned: ${oneLine(label)} (in view as an instruction file)`;
}

const MARKS = { open: ' ', active: '~', done: 'x' } as const;

/** One item of the list, on one line. `unconfirmed`: it was under way before a summary replaced the work on it. */
export function todoLine(item: TodoItem, unconfirmed = false): string {
  const doubt = unconfirmed && item.state === 'active' ? ' (was under way before the summary; unconfirmed)' : '';
  return `${item.id}. [${MARKS[item.state]}] ${item.text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')}${item.by === 'user' ? ' (user\'s)' : ''}${doubt}`;
}
