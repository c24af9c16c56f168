import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { decode } from '#lib/decode.ts';
import { messageOf } from '#lib/errors.ts';
import { sha256 } from '#lib/hash.ts';
import { fsPath } from '#lib/names.ts';
import type { BlobHash } from '#domain/content.ts';
import { stripHidden } from './memory-text.ts';

/** A text with line feeds as line ends; `hash` is that of the raw bytes, `exact`: it says all of them as they are. */
export interface MemoryText {
  readonly text: string;
  readonly hash: BlobHash;
  readonly exact: boolean;
  /** Characters that nobody sees, taken out. */
  readonly removed: number;
  /** Milliseconds since the epoch. */
  readonly changedAtMs: number;
}

/** Reads a regular file by its real path; a text of one line says why there is none. The same object comes back until the file changes. */
export type MemoryTexts = (real: string) => Promise<MemoryText | string>;

/** A larger file is left out, with a note. */
const LARGEST_BYTES = 4 * 1024 * 1024;
/** Files up to this size are remembered, so many of them. */
const REMEMBERED_BYTES = 256 * 1024;
const MOST_REMEMBERED = 1500;
/** A file that was changed so shortly before it was read may be changed again without its time showing it. */
const SETTLED_MS = 2000;

/** Instruction files are looked at before every request: what did not change is not read again. */
export function createMemoryTexts(): MemoryTexts {
  const remembered = new Map<string, { readonly key: string; readonly text: MemoryText }>();
  return async (real) => {
    let handle;
    try {
      handle = await open(fsPath(real), constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
      const stats = await handle.stat();
      if (!stats.isFile()) return 'left out: it is no regular file';
      if (stats.size > LARGEST_BYTES) return `left out: larger than ${LARGEST_BYTES / 1024 / 1024} MiB`;
      const key = [stats.dev, stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join(' ');
      const known = remembered.get(real);
      if (known?.key === key) return known.text;
      const text = textOf(await handle.readFile(), stats.mtimeMs);
      remembered.delete(real);
      if (typeof text !== 'string' && stats.size <= REMEMBERED_BYTES && Date.now() - Math.max(stats.mtimeMs, stats.ctimeMs) > SETTLED_MS) remembered.set(real, { key, text });
      if (remembered.size > MOST_REMEMBERED) for (const [oldest] of remembered) { remembered.delete(oldest); break; }
      return text;
    } catch (error) {
      return `left out: it cannot be read (${codeOf(error)})`;
    } finally {
      await handle?.close();
    }
  };
}

function textOf(bytes: Buffer, changedAtMs: number): MemoryText | string {
  const decoded = decode(bytes);
  if (decoded.kind === 'binary') return 'left out: it is no text';
  const { text, removed } = stripHidden(decoded.text.replaceAll('\r\n', '\n'));
  return { text, removed, changedAtMs, hash: sha256(bytes) as BlobHash, exact: removed === 0 && !decoded.bom && decoded.encoding === 'utf-8' && text.length === decoded.text.length };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : messageOf(error);
}
