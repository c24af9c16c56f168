import type { Part } from '#domain/content.ts';
import type { Loaded } from '#domain/world.ts';
import { messageOf } from '#lib/errors.ts';
import { oneLine } from '#lib/names.ts';
import { bytes as size } from '#lib/numbers.ts';
import { count, cutToBytes, wellFormed } from '#lib/text.ts';
import { BYTES_PER_TOKEN } from './limits.ts';
import { recordOf } from './lists.ts';

/** What turns foreign content into parts for the model. */
export interface ContentDoors {
  /** Text from outside in a tag that it cannot close. */
  readonly envelope: (name: string, mime: string, body: string) => string;
  /** Pictures and PDFs by their bytes; notes where nothing can be shown. */
  readonly media: (label: string, bytes: Uint8Array, signal: AbortSignal) => Promise<Loaded>;
  /** Keeps a text in a file that may be read, and gives its path; undefined where it cannot be kept. */
  readonly keep: (text: string) => string | undefined;
}

export interface Content {
  readonly parts: readonly Part[];
  readonly notes: readonly string[];
}

const MOST_MEDIA = 10;
const MOST_MEDIA_BYTES = 12 * 1024 * 1024;
const LONGEST_URI = 300;

type Piece = { readonly text: string } | { readonly label: string; readonly bytes: Uint8Array } | { readonly note: string };

/**
 * The content of a result: text, pictures, embedded resources, links. Its text is given or its structured content, never both.
 * Text beyond `limitTokens` goes into a file; what cannot be shown is a note.
 */
export async function contentOf(result: unknown, label: string, limitTokens: number, doors: ContentDoors, signal: AbortSignal): Promise<Content> {
  const { content, structuredContent } = recordOf(result);
  const pieces = (Array.isArray(content) ? content : []).map((block) => pieceOf(recordOf(block), label, doors));
  const structured = structuredContent === undefined || structuredContent === null || pieces.some((piece) => !('note' in piece)) ? [] : [{ text: JSON.stringify(structuredContent) }];
  return assemble([...pieces, ...structured], limitTokens, doors, signal);
}

async function assemble(pieces: readonly Piece[], limitTokens: number, doors: ContentDoors, signal: AbortSignal): Promise<Content> {
  const parts: Part[] = [];
  const notes: string[] = [];
  let media = 0;
  for (const piece of pieces) {
    if ('note' in piece) notes.push(piece.note);
    else if ('text' in piece) parts.push({ type: 'text', text: wellFormed(piece.text) });
    else if ((media += 1) > MOST_MEDIA) notes.push(`${piece.label}: left out, a result shows ${MOST_MEDIA} at most`);
    else {
      const loaded = await doors.media(piece.label, piece.bytes, signal).catch((error: unknown): Loaded => ({ parts: [], files: [], notes: [`${oneLine(piece.label)}: ${messageOf(error)}`] }));
      parts.push(...loaded.parts);
      notes.push(...loaded.notes);
    }
  }
  return { parts: cutTexts(parts, limitTokens * BYTES_PER_TOKEN, notes, doors), notes };
}

function cutTexts(parts: readonly Part[], limit: number, notes: string[], { keep }: ContentDoors): readonly Part[] {
  const total = parts.reduce((sum, part) => sum + (part.type === 'text' ? Buffer.byteLength(part.text) : 0), 0);
  if (total <= limit) return parts;
  const path = keep(parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n'));
  let room = limit;
  const shown = parts.flatMap((part): readonly Part[] => {
    if (part.type !== 'text') return [part];
    const text = cutToBytes(part.text, room);
    room -= Buffer.byteLength(text);
    return text === '' ? [] : [{ type: 'text', text }];
  });
  notes.push(`shown: the first ${count(limit - room, 'byte')} of ${total} (about ${Math.round(total / BYTES_PER_TOKEN)} tokens)${path === undefined ? '' : `; all of it is in ${path}, to be read with Read`}`);
  return shown;
}

function pieceOf(block: Readonly<Record<string, unknown>>, label: string, doors: ContentDoors): Piece {
  const { type, text, data, mimeType, uri } = block;
  switch (type) {
    case 'text': return typeof text === 'string' ? { text } : { note: 'a text without words was left out' };
    case 'image': return bytesOf(data, `${label}: picture`);
    case 'audio': return { note: `audio (${oneLine(String(mimeType), 60)}) was left out: it cannot be shown` };
    case 'resource': return resourcePiece(recordOf(block['resource']), label, doors);
    case 'resource_link': return { text: `Resource: ${oneLine(String(uri), LONGEST_URI)}${['name', 'description'].map((key) => (typeof block[key] === 'string' ? ` (${oneLine(block[key], 200)})` : '')).join('')}` };
    default: return { note: `content of the kind ${oneLine(String(type), 60)} was left out: it cannot be shown` };
  }
}

/** Text of a resource in its envelope, other bytes as media. */
export function resourcePiece({ uri, text, blob, mimeType }: Readonly<Record<string, unknown>>, label: string, { envelope }: Pick<ContentDoors, 'envelope'>): Piece {
  const name = typeof uri === 'string' ? uri.slice(0, 2048) : '';
  const mime = typeof mimeType === 'string' && /^[\w.+-]+\/[\w.+-]+$/.test(mimeType) ? mimeType.slice(0, 100) : 'text/plain';
  if (typeof text === 'string') return { text: text === '' ? `Resource "${oneLine(name, LONGEST_URI)}": empty` : `Resource "${oneLine(name, LONGEST_URI)}" (${mime}, ${count(Buffer.byteLength(text), 'byte')}), from ${oneLine(label)}\n${envelope(name, mime, text)}` };
  return blob === undefined ? { note: `resource ${oneLine(name, LONGEST_URI)}: it has no content` } : bytesOf(blob, name === '' ? label : name);
}

const BASE64 = /^[A-Za-z0-9+/_=\s-]*$/;

function bytesOf(data: unknown, label: string): Piece {
  if (typeof data !== 'string' || data === '') return { note: `${oneLine(label)}: it holds no bytes` };
  if (data.length * 0.75 > MOST_MEDIA_BYTES) return { note: `${oneLine(label)}: left out, ${size(Math.round(data.length * 0.75))} are more than ${size(MOST_MEDIA_BYTES)}` };
  if (!BASE64.test(data)) return { note: `${oneLine(label)}: left out, it is no base64` };
  const bytes = Buffer.from(data, 'base64');
  return bytes.length === 0 ? { note: `${oneLine(label)}: it holds no bytes` } : { label, bytes };
}
