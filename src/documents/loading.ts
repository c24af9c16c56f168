import type { BlobHash, MediaPart } from '#domain/content.ts';
import type { LoadOptions } from '#domain/documents.ts';
import type { Capabilities } from '#domain/model.ts';
import type { BlobPort } from '#domain/ports.ts';
import type { FileTouch } from '#domain/tool.ts';
import type { Loaded } from '#domain/world.ts';
import { sha256 } from '#lib/hash.ts';
import { oneLine } from '#lib/names.ts';
import { count } from '#lib/text.ts';
import type { Scale } from './images.ts';
import type { PdfReader } from './pdf-reader.ts';

/** Files up to this size are kept, so that a later change can be told as a diff. */
const KEPT_BYTES = 1024 * 1024;

export interface LoadTools {
  readonly blobs: BlobPort;
  /** What the model takes now. */
  readonly capabilities: () => Capabilities;
  readonly scale: Scale;
  readonly pdf: PdfReader;
}

/** One file on its way. */
export interface Loading {
  readonly path: string;
  readonly label: string;
  readonly options: LoadOptions;
  readonly tools: LoadTools;
  readonly signal: AbortSignal;
}

/** Nothing of the file is given, and why, in one line. */
export function left(label: string, why: string): Loaded {
  return { parts: [], files: [], notes: [`${oneLine(label)}: ${why}`] };
}

/** What the model knows of a file by this look. */
export function touch({ path, tools }: Loading, bytes: Uint8Array, how: 'mention' | 'partial'): FileTouch {
  const kept = bytes.length <= KEPT_BYTES && tools.blobs.put(bytes) !== undefined;
  return { path, hash: sha256(bytes) as BlobHash, how, kept };
}

export interface Media extends Pick<MediaPart, 'mime' | 'width' | 'height' | 'pages'> {
  readonly bytes: Uint8Array;
  /** What the header says of it: its kind first, then sizes. */
  readonly facts: readonly string[];
  /** Its name, where it is not that of the file. */
  readonly name?: string;
  readonly how: 'mention' | 'partial';
}

/** A header line with the facts, and the media itself. `raw` are the bytes of the file that it is made of. */
export function shownMedia(loading: Loading, raw: Uint8Array, { bytes, facts, name, how, ...media }: Media): Loaded {
  const { label, tools } = loading;
  const blob = tools.blobs.put(bytes);
  if (blob === undefined) return left(label, `left out, its ${count(bytes.length, 'byte')} could not be kept`);
  const header = `File "${oneLine(label)}": ${[...facts, count(raw.length, 'byte')].join(', ')}`;
  return {
    parts: [{ type: 'text', text: header }, { type: 'media', ...media, blob, name: oneLine(name ?? label) }],
    files: [touch(loading, raw, how)],
    notes: [],
  };
}
