import { isUtf8 } from 'node:buffer';

/** Controls, formats, line ends, lone surrogates and whatever draws nothing; and what markup is made of. */
const ESCAPED = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800<>&]/u;

/**
 * A file name as one line for prompt, header and screen. Controls, unseen characters, lone surrogates, `<`, `>` and `&`
 * become `\u{HEX}`; a quote and a backslash get a backslash before them. More than `max` characters are shown as the
 * first and the last `max / 2` with `…` between; no escape is cut in two.
 */
export function oneLine(name: string, max = 200): string {
  // Of a name of megabytes only the ends are looked at: each character is shown as one at least.
  const ends = name.length > 4 * max ? name.slice(0, 2 * max) + name.slice(-2 * max) : name;
  const shown = Array.from(ends, escape);
  if (lengthOf(shown) <= max) return shown.join('');
  const half = Math.floor(max / 2);
  return `${take(shown, half).join('')}…${take(shown.toReversed(), half).toReversed().join('')}`;
}

function escape(character: string): string {
  if (ESCAPED.test(character)) return `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`;
  return character === '"' || character === '\\' ? `\\${character}` : character;
}

/** Names in one line, of very many only the first ones and how many more there are. */
export function firstNames(names: readonly string[], most = 60): string {
  return [...names.slice(0, most), ...(names.length > most ? [`and ${names.length - most} more`] : [])].join(', ');
}

/** In characters, not UTF-16 units; an escape is plain ASCII. */
function lengthOf(shown: readonly string[]): number {
  return shown.reduce((sum, piece) => sum + charactersOf(piece), 0);
}

function charactersOf(piece: string): number {
  return piece.startsWith('\\') ? piece.length : 1;
}

function take(shown: readonly string[], limit: number): string[] {
  let length = 0;
  let end = 0;
  for (; end < shown.length; end += 1) {
    length += charactersOf(shown[end] ?? '');
    if (length > limit) break;
  }
  return shown.slice(0, end);
}

const FIRST_ESCAPE = 0xdc00;

/**
 * A file name from the bytes that the file system gave. A byte that is not part of valid UTF-8 becomes the lone surrogate
 * U+DC80 + (byte − 0x80), so that {@link nameToBytes} gives the same bytes again.
 */
export function nameFromBytes(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isUtf8(buffer)) return buffer.toString('utf8');
  let name = '';
  for (let at = 0; at < buffer.length;) {
    const length = sequenceLength(buffer, at);
    name += length === 0 ? String.fromCharCode(FIRST_ESCAPE + (buffer[at] ?? 0)) : buffer.toString('utf8', at, at + length);
    at += Math.max(1, length);
  }
  return name;
}

/** How many bytes the valid UTF-8 sequence at `at` has; 0 where there is none. */
function sequenceLength(buffer: Buffer, at: number): number {
  const first = buffer[at] ?? 0;
  const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return isUtf8(buffer.subarray(at, at + length)) && at + length <= buffer.length ? length : 0;
}

const ESCAPED_BYTE = /[\udc80-\udcff]/u;

/** The bytes of a name that {@link nameFromBytes} gave; undefined when the string holds a surrogate that stands for no byte. */
export function nameToBytes(name: string): Buffer | undefined {
  if (name.isWellFormed()) return Buffer.from(name);
  const pieces: Buffer[] = [];
  for (const character of name) {
    if (character.isWellFormed()) pieces.push(Buffer.from(character));
    else if (ESCAPED_BYTE.test(character)) pieces.push(Buffer.from([character.charCodeAt(0) - FIRST_ESCAPE]));
    else return undefined;
  }
  return Buffer.concat(pieces);
}

/** A path as `node:fs` takes it: the string itself, or its bytes where the string cannot say them. */
export function fsPath(path: string): string | Buffer {
  return path.isWellFormed() ? path : nameToBytes(path) ?? path;
}
