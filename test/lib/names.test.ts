import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fsPath, nameFromBytes, nameToBytes, oneLine } from '#lib/names.ts';
import { readCases } from '../support/cases.ts';

interface NameCase { readonly id: string; readonly name?: string; readonly bytes_b64?: string; readonly display: string }
const { names } = readCases('filenames') as { readonly names: readonly NameCase[] };
const { cases } = readCases('envelope-injection') as { readonly cases: readonly { readonly id: string; readonly name?: string; readonly display_name?: string }[] };

describe('a name on one line', () => {
  it.each(names.map((known) => [known.id, known] as const))('%s', (_, known) => {
    expect(oneLine(known.name ?? nameFromBytes(Buffer.from(known.bytes_b64 ?? '', 'base64')))).toBe(known.display);
  });
  it.each(cases.filter(({ name }) => name !== undefined).map((known) => [known.id, known.name ?? '', known.display_name] as const))('%s', (_, name, display) => {
    expect(oneLine(name)).toBe(display);
  });
  it('cuts no escape in two', () => {
    expect(oneLine('\u0001'.repeat(10), 12)).toBe('\\u{1}…\\u{1}');
  });
  it('looks at the ends of a name of megabytes only', () => {
    const name = `${'<'.repeat(300)}${'ab'.repeat(3_000_000)}\u{1F600}`;
    expect(oneLine(name, 20)).toBe(`${'\\u{3C}'.repeat(1)}…${'ba'.repeat(4)}b\u{1F600}`);
    for (const length of [79, 80, 81, 82, 200]) expect(oneLine('x'.repeat(length), 20)).toBe(`${'x'.repeat(10)}…${'x'.repeat(10)}`);
  });
  it('holds no control character and keeps to its length', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (name) => {
      const line = oneLine(name);
      expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
      expect(Array.from(line).length).toBeLessThanOrEqual(201);
    }));
  });
});

describe('names that are not UTF-8', () => {
  it('come back byte for byte', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      expect(nameToBytes(nameFromBytes(bytes))).toEqual(Buffer.from(bytes));
    }));
  });
  it('are given to the file system as bytes, others as they are', () => {
    expect(fsPath('/a/é')).toBe('/a/é');
    expect(fsPath(`/a/${nameFromBytes(Uint8Array.of(0xff))}`)).toEqual(Buffer.from([0x2f, 0x61, 0x2f, 0xff]));
    expect(nameToBytes('\ud800')).toBeUndefined();
  });
});
