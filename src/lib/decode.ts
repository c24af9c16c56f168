import { isUtf8 } from 'node:buffer';

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** `text` never begins with the byte order mark; `bom` says that there was one. `guessed`: nothing in the bytes names the encoding. */
export interface DecodedText {
  readonly kind: 'text';
  readonly text: string;
  readonly encoding: Encoding;
  readonly bom: boolean;
  readonly guessed: boolean;
}

export type Decoded = DecodedText | { readonly kind: 'binary' };

const BINARY: Decoded = { kind: 'binary' };
const UTF8_BOM = Uint8Array.of(0xef, 0xbb, 0xbf);

/**
 * Bytes as text: by byte order mark, else strict UTF-8, else UTF-16 without a mark where every other byte of plain
 * letters is zero, else Windows-1252. Other bytes with a zero, or with many control characters, are binary.
 * Whatever is text comes back byte for byte from {@link encode}.
 */
export function decode(bytes: Uint8Array): Decoded {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (startsWith(buffer, UTF8_BOM)) return decodeMarkedUtf8(buffer);
  const order = byteOrder(buffer);
  if (order !== undefined) return decodeUtf16(buffer.subarray(2), order, true);
  if (!buffer.includes(0)) {
    if (isUtf8(buffer)) return { kind: 'text', text: buffer.toString('utf8'), encoding: 'utf-8', bom: false, guessed: false };
    return looksBinary(buffer) ? BINARY : { kind: 'text', text: fromWindows1252(buffer), encoding: 'windows-1252', bom: false, guessed: true };
  }
  const guess = guessUtf16(buffer);
  return guess === undefined ? BINARY : decodeUtf16(buffer, guess, false);
}

/** The bytes of `text`; undefined when the encoding has no bytes for some character of it. */
export function encode(text: string, encoding: Encoding, bom: boolean): Uint8Array | undefined {
  switch (encoding) {
    case 'utf-8': return text.isWellFormed() ? Buffer.from(bom ? `\ufeff${text}` : text) : undefined;
    case 'utf-16le': return Buffer.from(bom ? `\ufeff${text}` : text, 'utf16le');
    case 'utf-16be': return Buffer.from(bom ? `\ufeff${text}` : text, 'utf16le').swap16();
    case 'windows-1252': return toWindows1252(text);
  }
}

function startsWith(buffer: Buffer, mark: Uint8Array): boolean {
  return buffer.length >= mark.length && mark.every((byte, at) => buffer[at] === byte);
}

function decodeMarkedUtf8(buffer: Buffer): Decoded {
  const body = buffer.subarray(UTF8_BOM.length);
  return isUtf8(body) && !body.includes(0) ? { kind: 'text', text: body.toString('utf8'), encoding: 'utf-8', bom: true, guessed: false } : BINARY;
}

function byteOrder(buffer: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  if (startsWith(buffer, Uint8Array.of(0xff, 0xfe, 0, 0)) && buffer.length % 4 === 0) return undefined;
  if (startsWith(buffer, Uint8Array.of(0xff, 0xfe))) return 'utf-16le';
  return startsWith(buffer, Uint8Array.of(0xfe, 0xff)) ? 'utf-16be' : undefined;
}

function decodeUtf16(body: Buffer, encoding: 'utf-16le' | 'utf-16be', bom: boolean): Decoded {
  if (body.length % 2 !== 0) return BINARY;
  const text = (encoding === 'utf-16le' ? body : Buffer.from(body).swap16()).toString('utf16le');
  return text.includes('\0') ? BINARY : { kind: 'text', text, encoding, bom, guessed: !bom };
}

/** Plain letters in UTF-16 have a zero as every other byte; nothing else that has zeros looks like that. */
function guessUtf16(buffer: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  if (buffer.length < 8 || buffer.length % 2 !== 0) return undefined;
  const zeros = [0, 0];
  const seen = buffer.subarray(0, 64 * 1024);
  for (const [at, byte] of seen.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const many = seen.length * 0.35;
  const encoding = odd > many && even === 0 ? 'utf-16le' : even > many && odd === 0 ? 'utf-16be' : undefined;
  if (encoding === undefined) return undefined;
  const letters = seen.filter((byte) => byte !== 0);
  return looksBinary(letters) ? undefined : encoding;
}

/** More than one byte in fifty is a control character that text has no use for. Compressed data have one in ten. */
function looksBinary(bytes: Uint8Array): boolean {
  const seen = bytes.subarray(0, 64 * 1024);
  let controls = 0;
  for (const byte of seen) if (byte === 0x7f || (byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte !== 0x1b)) controls += 1;
  return controls * 50 > seen.length;
}

/** Bytes 0x80 to 0x9F; the five that have no character stand for the control character of the same number. */
const HIGH = '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178';

function fromWindows1252(buffer: Buffer): string {
  return buffer.toString('latin1').replace(/[\x80-\x9f]/g, (control) => HIGH[control.charCodeAt(0) - 0x80] ?? control);
}

function toWindows1252(text: string): Uint8Array | undefined {
  const bytes = Buffer.alloc(text.length);
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const high = HIGH.indexOf(text.charAt(at));
    if (high !== -1) bytes[at] = 0x80 + high;
    else if (code < 0x80 || (code >= 0xa0 && code <= 0xff)) bytes[at] = code;
    else return undefined;
  }
  return bytes;
}
