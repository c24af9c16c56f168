import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decode, encode } from '#lib/decode.ts';

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

describe('decoding', () => {
  it('takes UTF-8, with and without a mark', () => {
    expect(decode(Buffer.from('naïve\r\n'))).toEqual({ kind: 'text', text: 'naïve\r\n', encoding: 'utf-8', bom: false, guessed: false });
    expect(decode(Buffer.from('\ufeffnaïve'))).toEqual({ kind: 'text', text: 'naïve', encoding: 'utf-8', bom: true, guessed: false });
    expect(decode(bytes())).toEqual({ kind: 'text', text: '', encoding: 'utf-8', bom: false, guessed: false });
  });
  it('takes UTF-16 by its mark, and plain letters without one', () => {
    expect(decode(bytes(0xff, 0xfe, 0x61, 0, 0x3d, 0xd8, 0, 0xde))).toEqual({ kind: 'text', text: 'a😀', encoding: 'utf-16le', bom: true, guessed: false });
    expect(decode(bytes(0xfe, 0xff, 0, 0x61))).toEqual({ kind: 'text', text: 'a', encoding: 'utf-16be', bom: true, guessed: false });
    expect(decode(Buffer.from('hello\r\n', 'utf16le'))).toEqual({ kind: 'text', text: 'hello\r\n', encoding: 'utf-16le', bom: false, guessed: true });
    expect(decode(Buffer.from('hello\n', 'utf16le').swap16())).toMatchObject({ text: 'hello\n', encoding: 'utf-16be' });
  });
  it('takes old one-byte text as Windows-1252 without losing a byte', () => {
    expect(decode(bytes(0x63, 0x61, 0x66, 0xe9, 0x80))).toEqual({ kind: 'text', text: 'café€', encoding: 'windows-1252', bom: false, guessed: true });
    const all = Uint8Array.from({ length: 128 }, (_, at) => at + 128);
    const decoded = decode(all);
    expect(decoded.kind === 'text' && encode(decoded.text, decoded.encoding, decoded.bom)).toEqual(Buffer.from(all));
  });
  it('calls bytes binary that are', () => {
    for (const data of [
      bytes(0, 1, 2, 0x62), bytes(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d), bytes(0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0),
      bytes(0xff, 0xfe, 0, 0, 0x61, 0, 0, 0), bytes(0xff, 0xfe, 0x61), bytes(0xef, 0xbb, 0xbf, 0xff), bytes(0x1f, 0x8b, 8, 1, 2, 3, 0xff, 0xfe, 0xfd, 5, 6, 0x11),
      Buffer.from('abc\0def'),
    ]) expect(decode(data)).toEqual({ kind: 'binary' });
  });
});

describe('encoding', () => {
  it('says when a character has no bytes', () => {
    expect(encode('日本', 'windows-1252', false)).toBeUndefined();
    expect(encode('a\ud800', 'utf-8', false)).toBeUndefined();
    expect(encode('a€', 'windows-1252', false)).toEqual(Buffer.from([0x61, 0x80]));
  });
  it('gives the bytes again that were decoded', () => {
    const data = fc.oneof(
      fc.uint8Array({ maxLength: 64 }), fc.string({ unit: 'binary' }).map((text) => new Uint8Array(Buffer.from(text))),
      fc.string().map((text) => new Uint8Array(Buffer.from(`\ufeff${text}`, 'utf16le'))), fc.uint8Array({ min: 32, maxLength: 64 }),
      fc.uint8Array({ maxLength: 64 }).map((tail) => Uint8Array.of(0xff, 0xfe, ...tail)), fc.uint8Array({ maxLength: 64 }).map((tail) => Uint8Array.of(0xfe, 0xff, ...tail)),
    );
    fc.assert(fc.property(data, (given) => {
      const decoded = decode(given);
      if (decoded.kind === 'text') expect(encode(decoded.text, decoded.encoding, decoded.bom)).toEqual(Buffer.from(given));
    }), { numRuns: 2000 });
  });
  it('gives the text again that was encoded', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.boolean(), (text, bom) => {
      fc.pre(!text.includes('\0') && !text.startsWith('\ufeff'));
      const encoded = encode(text, 'utf-8', bom);
      expect(encoded === undefined ? undefined : decode(encoded)).toMatchObject({ text, bom });
    }));
  });
});
