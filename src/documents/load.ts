import type { BlobHash, ImageType } from '#domain/content.ts';
import type { DocumentPort } from '#domain/documents.ts';
import type { Capabilities } from '#domain/model.ts';
import type { BlobPort } from '#domain/ports.ts';
import type { FileTouch } from '#domain/tool.ts';
import type { Loaded } from '#domain/world.ts';
import { decode } from '#lib/decode.ts';
import type { DecodedText } from '#lib/decode.ts';
import { messageOf } from '#lib/errors.ts';
import { oneLine } from '#lib/names.ts';
import { count, cutToBytes, wellFormed } from '#lib/text.ts';
import { decide } from './decide.ts';
import { loadDirectory } from './directory.ts';
import { cutNote, documentText } from './envelope.ts';
import type { TextDocument } from './envelope.ts';
import { fits, scaleWithSharp, sizeOf } from './images.ts';
import type { Picture, Scale } from './images.ts';
import { isNotebookName, loadNotebook } from './load-notebook.ts';
import { loadPdf } from './load-pdf.ts';
import { left, type Loading, shownMedia, touch } from './loading.ts';
import { mediaTypeOf, mimeOf } from './mime.ts';
import { createPdfReader, type PdfReader } from './pdf-reader.ts';
import { MEDIA_LIMIT, mostOf, readSafely } from './read.ts';
import type { FileRead } from './read.ts';

interface Options {
  readonly blobs: BlobPort;
  /** What the model takes now. */
  readonly capabilities: () => Capabilities;
  readonly scale?: Scale;
  readonly pdf?: PdfReader;
}

/**
 * Loads files, and the names in directories, for the model. `load` wants an absolute, real path; `files` names the file with `how: 'mention'` when the
 * model was given all of it and `'partial'` when it was given some lines, and is empty when it was given none of its bytes.
 */
export function createDocuments({ blobs, capabilities, scale = scaleWithSharp, pdf = createPdfReader() }: Options): DocumentPort {
  const tools = { blobs, capabilities, scale, pdf };
  return {
    async load(path, label, options, signal) {
      try {
        const loading = { path, label, options, tools, signal };
        if (options.bytes !== undefined) return await loadWhole(loading, bufferOf(options.bytes));
        const { from, to } = options.lines ?? { from: 1, to: Number.POSITIVE_INFINITY };
        return await route(loading, await readSafely(path, { from, to, limitBytes: options.limitBytes, ...(isNotebookName(label) && { wholeBytes: MEDIA_LIMIT }) }, signal));
      } catch (error) {
        return left(label, messageOf(error));
      }
    },
  };
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

async function route(loading: Loading, read: FileRead): Promise<Loaded> {
  switch (read.kind) {
    case 'failed': return left(loading.label, read.why);
    case 'directory': return await loadDirectory(loading.path, loading.label, loading.options.limitBytes);
    case 'large': return loadLarge(loading, read);
    case 'whole': return await loadWhole(loading, read.bytes);
  }
}

async function loadWhole(loading: Loading, bytes: Buffer): Promise<Loaded> {
  const media = mediaTypeOf(bytes);
  if (media === 'application/pdf') return await loadPdf(loading, bytes);
  const decoded = decode(bytes);
  if (media !== undefined && (decoded.kind === 'binary' || decoded.guessed)) return await loadPicture(loading, media, bytes);
  if (decoded.kind === 'binary') return dropped(loading, mimeOf(loading.label, decoded), bytes.length);
  if (bytes.length === 0) return { parts: [], files: [touch(loading, bytes, 'mention')], notes: [`${oneLine(loading.label)} is empty`] };
  if (isNotebookName(loading.label)) return await loadNotebook(loading, bytes, decoded, () => loadText(loading, bytes, decoded));
  return loadText(loading, bytes, decoded);
}

function dropped({ label, tools }: Loading, mime: string, size: number): Loaded {
  const { reason } = decide({ name: label, mime }, tools.capabilities());
  return left(label, `left out, ${reason} (${count(size, 'byte')})`);
}

function loadText(loading: Loading, bytes: Buffer, decoded: DecodedText): Loaded {
  const { label, options } = loading;
  const text = wellFormed(decoded.text);
  const lines = linesIn(text);
  const from = options.lines?.from ?? 1;
  if (from > lines) return left(label, `has only ${count(lines, 'line')}, nothing to show from line ${from}`);
  const wanted = options.lines === undefined ? text : sliceLines(text, from, options.lines.to);
  const { text: fitting, cutInLine } = cut(wanted, options.limitBytes);
  const whole = fitting.length === text.length;
  const document: TextDocument = {
    label, mime: mimeOf(label, decoded), text: fitting, lines, bytes: bytes.length,
    ...(decoded.encoding === 'utf-8' ? {} : { encoding: decoded.guessed ? `taken for ${decoded.encoding}` : decoded.encoding }),
    ...(whole ? {} : { shown: { from, to: from + Math.max(1, linesIn(fitting)) - 1, cutInLine, more: fitting.length < wanted.length } }),
  };
  return shownText(document, [touch(loading, bytes, whole ? 'mention' : 'partial')]);
}

function shownText(document: TextDocument, files: readonly FileTouch[], ...notes: readonly string[]): Loaded {
  const cuts = document.shown?.more === true ? [`${oneLine(document.label)}: ${cutNote(document)}`] : [];
  return { parts: [{ type: 'text', text: documentText(document) }], files, notes: [...cuts, ...notes] };
}

function loadLarge(loading: Loading, read: Extract<FileRead, { kind: 'large' }>): Loaded {
  const { label, options, path } = loading;
  const media = mediaTypeOf(read.head);
  if (media !== undefined) return left(label, `left out, ${count(read.size, 'byte')} are more than the ${mostOf(media)} that a ${media} may have`);
  if (read.head.includes(0)) return dropped(loading, mimeOf(label, { kind: 'binary' }), read.size);
  const from = options.lines?.from ?? 1;
  const decoded = decode(dropHalfCharacter(read.piece));
  if (decoded.kind === 'binary') return dropped(loading, mimeOf(label, decoded), read.size);
  if (decoded.text === '') return left(label, `has only ${count(read.lines ?? 0, 'line')}, nothing to show from line ${from}`);
  const text = wellFormed(decoded.text);
  const { text: fitting, cutInLine } = cut(text, options.limitBytes);
  const to = from + Math.max(1, linesIn(fitting)) - 1;
  const more = fitting.length < text.length || read.piece.length > options.limitBytes;
  const document: TextDocument = { label, mime: mimeOf(label, decoded), text: fitting, lines: read.lines, bytes: read.size, shown: { from, to, cutInLine, more } };
  if (read.hash === undefined) return shownText(document, [], `${oneLine(label)}: too large to be watched for changes`);
  return shownText(document, [{ path, hash: read.hash as BlobHash, how: 'partial', kept: false }]);
}

/** A piece that was cut by bytes may end inside a UTF-8 sequence. */
function dropHalfCharacter(piece: Buffer): Buffer {
  let start = piece.length - 1;
  while (start > piece.length - 4 && start > 0 && ((piece[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  const first = piece[start] ?? 0;
  const needs = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return start + needs > piece.length ? piece.subarray(0, start) : piece;
}

async function loadPicture(loading: Loading, mime: ImageType, bytes: Buffer): Promise<Loaded> {
  const { label, tools } = loading;
  const { strategy, reason } = decide({ name: label, mime, inlineData: bytes }, tools.capabilities());
  if (strategy === 'drop') return left(label, `left out, ${reason}`);
  const size = sizeOf(bytes, mime);
  if (size === undefined) return left(label, `left out, the picture (${mime}) is damaged`);
  const picture: Picture = { mime, bytes, ...size };
  const pixels = `${size.width}×${size.height} pixels`;
  const sent = fits(picture) ? picture : await tools.scale(picture);
  if (sent === undefined) return left(label, `left out, the picture is too large (${pixels}, ${count(bytes.length, 'byte')}) and could not be scaled down here`);
  const scaled = sent === picture ? [] : [`scaled down to ${sent.width}×${sent.height}`];
  return shownMedia(loading, bytes, { mime: sent.mime, bytes: sent.bytes, facts: ['picture', pixels, ...scaled], width: sent.width, height: sent.height, how: 'mention' });
}

function linesIn(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return text === '' || text.endsWith('\n') ? lines : lines + 1;
}

/** Lines `from` to `to`, counted from 1, each with its line end. */
function sliceLines(text: string, from: number, to: number): string {
  const start = startOfLine(text, 0, from - 1);
  return text.slice(start, startOfLine(text, start, to - from + 1));
}

function startOfLine(text: string, at: number, ahead: number): number {
  let start = at;
  for (let line = 0; line < ahead; line += 1) {
    const end = text.indexOf('\n', start);
    if (end === -1) return text.length;
    start = end + 1;
  }
  return start;
}

/** As many whole lines as fit; of a first line that does not fit, as much as does. */
function cut(text: string, limitBytes: number): { readonly text: string; readonly cutInLine: boolean } {
  const fitting = cutToBytes(text, limitBytes);
  if (fitting.length === text.length) return { text, cutInLine: false };
  const lineEnd = fitting.lastIndexOf('\n');
  return lineEnd === -1 ? { text: fitting, cutInLine: true } : { text: fitting.slice(0, lineEnd + 1), cutInLine: false };
}
