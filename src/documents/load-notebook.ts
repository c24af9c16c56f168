import type { DecodedText } from '#lib/decode.ts';
import type { Part } from '#domain/content.ts';
import type { Loaded } from '#domain/world.ts';
import { oneLine } from '#lib/names.ts';
import { count, cutToBytes, wellFormed } from '#lib/text.ts';
import { decide } from './decide.ts';
import { textEnvelope } from './envelope.ts';
import { fits, sizeOf } from './images.ts';
import { left, type Loading, touch } from './loading.ts';
import { type NotebookCell, type NotebookOutput, parseNotebook } from './notebook.ts';

/** Bytes of text that the outputs of one cell take. */
const OUTPUT_BYTES = 4 * 1024;
/** Pictures in outputs that one look shows. */
const MOST_PICTURES = 8;
const MIME = 'text/x-notebook';

export function isNotebookName(name: string): boolean {
  return /\.ipynb$/i.test(name);
}

/** What is shown of a notebook so far. */
interface Shown {
  readonly texts: string[];
  readonly pictures: Part[];
  /** Something of these cells was left out. */
  cut: boolean;
}

/**
 * A notebook as its cells, numbered, with their outputs cut and pictures beside; a range of lines means cells. What is no
 * notebook is loaded as the text that it is, with a note.
 */
export async function loadNotebook(loading: Loading, bytes: Uint8Array, { text }: DecodedText, asText: () => Loaded): Promise<Loaded> {
  const { label, options } = loading;
  const notebook = parseNotebook(text);
  if (typeof notebook === 'string') {
    const loaded = asText();
    return { ...loaded, notes: [...loaded.notes, `${oneLine(label)}: ${notebook}; shown as plain text`] };
  }
  const { cells, format, language } = notebook;
  const { from, to } = options.lines ?? { from: 1, to: cells.length };
  if (from > Math.max(1, cells.length)) return left(label, `has only ${count(cells.length, 'cell')}, nothing to show from cell ${from}`);
  const wanted = cells.slice(from - 1, to);
  const shown = showCells(wanted, loading);
  const last = from + shown.texts.length - 1;
  const whole = shown.texts.length === cells.length && !shown.cut;
  const rest = last < Math.min(to, cells.length) ? `shown: cells ${from}-${last} of ${cells.length}; read on with Read from cell ${last + 1} (offset=${last + 1})` : undefined;
  const range = wanted.length === cells.length ? count(cells.length, 'cell') : `${from === to ? `cell ${from}` : `cells ${from}-${Math.min(to, cells.length)}`} of ${cells.length}`;
  const header = `Notebook "${oneLine(label)}": ${[range, format, ...(language === undefined ? [] : [oneLine(language, 40)]), count(bytes.length, 'byte')].join(', ')}`;
  return {
    parts: [{ type: 'text', text: [header, textEnvelope(label, MIME, shown.texts.join('\n\n')), ...(rest === undefined ? [] : [`[${rest}]`])].join('\n') }, ...shown.pictures],
    files: [touch(loading, bytes, whole ? 'mention' : 'partial')],
    notes: rest === undefined ? [] : [`${oneLine(label)}: ${rest}`],
  };
}

/** As many cells as fit; of a first one that does not fit, as much as does. */
function showCells(cells: readonly NotebookCell[], loading: Loading): Shown {
  const shown: Shown = { texts: [], pictures: [], cut: false };
  let room = loading.options.limitBytes;
  for (const cell of cells) {
    const { text, pictures, cut } = showCell(cell, loading, MOST_PICTURES - shown.pictures.length);
    const bytes = Buffer.byteLength(text);
    if (bytes > room && shown.texts.length > 0) break;
    const fitting = cutToBytes(text, room);
    shown.texts.push(fitting.length === text.length ? text : `${fitting}\n[cell ${cell.number} is too long and was cut: ${Buffer.byteLength(fitting)} of ${count(bytes, 'byte')} shown]`);
    shown.pictures.push(...pictures);
    shown.cut ||= cut || fitting.length < text.length;
    room = Math.max(0, room - bytes - 2);
  }
  return shown;
}

interface Piece {
  readonly text: string;
  readonly pictures: readonly Part[];
  readonly cut: boolean;
}

function showCell(cell: NotebookCell, loading: Loading, picturesLeft: number): Piece {
  const facts = [oneLine(cell.kind, 20), ...(cell.id === undefined ? [] : [`id ${oneLine(cell.id, 64)}`]), ...(cell.run === undefined ? [] : [`run ${cell.run}`])];
  const pieces: Piece[] = [{ text: `[cell ${cell.number}: ${facts.join(', ')}]\n${wellFormed(cell.source)}`, pictures: [], cut: false }];
  let room = OUTPUT_BYTES;
  let pictures = picturesLeft;
  cell.outputs.forEach((output, at) => {
    const piece = showOutput(output, { loading, name: `${loading.label} cell ${cell.number} output ${at + 1}`, room, picture: pictures > 0 });
    pieces.push(piece);
    room = Math.max(0, room - Buffer.byteLength(piece.text));
    pictures -= piece.pictures.length;
  });
  return { text: pieces.map(({ text }) => text.trimEnd()).join('\n'), pictures: pieces.flatMap((piece) => piece.pictures), cut: pieces.some(({ cut }) => cut) };
}

interface OutputPlace {
  readonly loading: Loading;
  readonly name: string;
  readonly room: number;
  /** Whether one more picture may be shown. */
  readonly picture: boolean;
}

function showOutput({ name, text, picture }: NotebookOutput, place: OutputPlace): Piece {
  const short = inTheMiddle(wellFormed(text), place.room);
  const head = `[${oneLine(name, 20)}]`;
  if (picture === undefined) return { text: short === '' ? `${head} (empty)` : `${head}\n${short}`, pictures: [], cut: short.length < text.length };
  const part = place.picture ? picturePart(picture, place) : undefined;
  const said = part === undefined ? `${picture.mime}, ${count(picture.bytes.length, 'byte')}, not shown` : `${picture.mime}, shown as "${oneLine(place.name)}"`;
  return { text: `${head} ${said}${short === '' ? '' : `\n${short}`}`, pictures: part === undefined ? [] : [part], cut: part === undefined };
}

function picturePart({ mime, bytes }: NonNullable<NotebookOutput['picture']>, { loading, name }: OutputPlace): Part | undefined {
  const size = sizeOf(bytes, mime);
  if (size === undefined || !fits({ mime, bytes, ...size })) return undefined;
  if (decide({ name, mime, inlineData: bytes }, loading.tools.capabilities()).strategy === 'drop') return undefined;
  const blob = loading.tools.blobs.put(bytes);
  return blob === undefined ? undefined : { type: 'media', mime, blob, name: oneLine(name), ...size };
}

/** A text that is too long without its middle: of an output the beginning and the end say most. */
function inTheMiddle(text: string, room: number): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= room) return text;
  const head = cutToBytes(text, Math.floor(room * 0.7));
  // From the end: cut on lines where there are some, so that no grapheme is split.
  const tail = text.slice(Math.max(head.length, text.length - Math.floor(room * 0.3)));
  const end = tail.includes('\n') ? tail.slice(tail.indexOf('\n') + 1) : '';
  return `${head}\n[… ${count(bytes - Buffer.byteLength(head) - Buffer.byteLength(end), 'byte')} of output left out …]\n${end}`;
}
