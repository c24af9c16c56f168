import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { editBytes } from '#tools/edit-file.ts';
import { applyEdit } from '#tools/matching.ts';
import list from '../cases/edit-cases.json' with { type: 'json' };

interface Case {
  readonly id: string;
  readonly kind: string;
  readonly before?: string;
  readonly before_b64?: string;
  readonly edit: { readonly old: string; readonly new: string; readonly replace_all: boolean };
  readonly expected: { readonly ok?: boolean; readonly count?: number; readonly after?: string; readonly after_b64?: string; readonly error?: string; readonly lines?: readonly number[] };
}

const cases = (list.cases as readonly Case[]).filter(({ kind }) => kind !== 'fs' && kind !== 'stale');

describe('the case list', () => {
  test('has its 62 cases', () => {
    expect(list.cases).toHaveLength(62);
  });

  test.each(cases)('$id $kind', ({ before, before_b64: base64, edit, expected }) => {
    const bytes = base64 === undefined ? Buffer.from(before ?? '') : Buffer.from(base64, 'base64');
    const result = editBytes(bytes, { old: edit.old, new: edit.new, all: edit.replace_all }, 'all');
    if (expected.error !== undefined) {
      expect(result).toMatchObject({ ok: false, error: expected.error });
      if (expected.lines !== undefined) expect(applyEdit(bytes.toString(), { old: edit.old, new: edit.new, all: edit.replace_all })).toMatchObject({ lines: expected.lines });
      return;
    }
    const after = expected.after_b64 === undefined ? Buffer.from(expected.after ?? '') : Buffer.from(expected.after_b64, 'base64');
    expect(result.ok).toBe(true);
    if (!result.ok) return;
    expect(Buffer.from(result.bytes).toString('base64')).toBe(after.toString('base64'));
    expect(result.edited.changes).toHaveLength(expected.count ?? 1);
  });
});

const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
const word = fc.string({ unit: fc.constantFrom('a', 'b', '"', '\u201c', ' ', '\t', '-', '\u2013', 'é', '😀', '{', '$', '\\'), maxLength: 6 });
const mixed = fc.array(fc.tuple(word, lineEnd), { maxLength: 12 }).map((lines) => lines.map(([text, end]) => text + end).join(''));
const needle = '§§needle§§';

describe('properties', () => {
  test('nothing outside the place changes, whatever stands around it and whatever is written', () => {
    fc.assert(fc.property(mixed, mixed, word, (before, after, text) => {
      const result = applyEdit(before + needle + after, { old: needle, new: text, all: false });
      expect(result).toMatchObject({ ok: true, text: before + text + after });
    }), { numRuns: 1000 });
  });

  test('an old text that is found only by line ends or look-alikes leaves the rest alone too', () => {
    fc.assert(fc.property(mixed, mixed, lineEnd, (before, after, end) => {
      const file = `${before}\u00a7 \u201cx\u201d${end}y \u00a7${after}`;
      const result = applyEdit(file, { old: '\u00a7 "x"\ny \u00a7', new: '\u00a7 "x"\nz \u00a7', all: false });
      expect(result).toMatchObject({ ok: true, text: file.replace('y \u00a7', 'z \u00a7') });
    }), { numRuns: 500 });
  });

  test('an edit and its inverse give the first text back', () => {
    const uniform = fc.tuple(fc.array(word, { minLength: 1, maxLength: 12 }), fc.constantFrom('\n', '\r\n')).map(([lines, end]) => lines.join(end));
    fc.assert(fc.property(uniform, uniform, fc.array(word, { maxLength: 3 }), (before, after, lines) => {
      const text = `${before}${needle}${after}`;
      const wanted = `<<${lines.join('\n')}>>`;
      const once = applyEdit(text, { old: needle, new: wanted, all: false });
      expect(once.ok).toBe(true);
      if (!once.ok) return;
      expect(applyEdit(once.text, { old: wanted, new: needle, all: false })).toMatchObject({ ok: true, text });
    }), { numRuns: 500 });
  });

  test('replace_all replaces every exact place that does not overlap another, from the left', () => {
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 30 }), fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 3 }), (text, old) => {
      const expected = text.split(old).length - 1;
      const result = applyEdit(text, { old, new: 'X', all: true });
      if (expected === 0) expect(result).toMatchObject({ ok: false, error: 'not_found' });
      else expect(result).toMatchObject({ ok: true, text: text.replaceAll(old, 'X') });
    }), { numRuns: 500 });
  });

  test('bytes of UTF-16 files stay UTF-16', () => {
    const bytes = Buffer.from('\ufeffa\r\nb\r\n', 'utf16le');
    const result = editBytes(bytes, { old: 'a\nb', new: 'x\ny', all: false }, 'all');
    expect(result.ok && Buffer.from(result.bytes).toString('utf16le')).toBe('\ufeffx\r\ny\r\n');
  });
});

describe('places', () => {
  test('a place never begins or ends inside of CRLF', () => {
    expect(applyEdit('a\r\nb\r\n', { old: '\nb', new: '', all: false })).toMatchObject({ ok: true, text: 'a\r\n' });
    expect(applyEdit('a\r\nb\r\n', { old: 'a\r', new: 'x', all: false })).toMatchObject({ ok: true, text: 'xb\r\n', how: 'lineEnds' });
  });

  test('a twin that only looks alike is named and left', () => {
    expect(applyEdit('x = "a"\ny\nx = \u201ca\u201d\n', { old: 'x = "a"', new: 'x = "b"', all: false })).toMatchObject({ how: 'exact', twins: [3] });
  });

  test('several changed words between look-alike quotes keep all quotes', () => {
    expect(applyEdit('\u201cone\u201d and \u201ctwo\u201d', { old: '"one" and "two"', new: '"uno" and "due"', all: false })).toMatchObject({ text: '\u201cuno\u201d and \u201cdue\u201d' });
  });

  test('a no-break space is found by a plain one and kept', () => {
    expect(applyEdit('10\u00a0km far', { old: '10 km far', new: '10 km near', all: false })).toMatchObject({ text: '10\u00a0km near' });
  });

  test('blanks at the end of old text only count as such at the end of a line', () => {
    expect(applyEdit('foobar', { old: 'foo\u00a0', new: 'x', all: false })).toMatchObject({ ok: false });
  });

  test('replace_all knows no limit, and many places are found fast in a large text', () => {
    const large = 'some line\n'.repeat(200_000);
    const all = applyEdit(large, { old: 'some', new: 'any\nother', all: true });
    expect(all.ok && all.changes.length).toBe(200_000);
    expect(applyEdit(large, { old: 'some', new: 'x', all: false })).toMatchObject({ ok: false, error: 'ambiguous' });
  });

  test('replace_all never goes by look-alikes', () => {
    expect(applyEdit('\u201ca\u201d \u201ca\u201d', { old: '"a"', new: 'b', all: true })).toMatchObject({ ok: false, error: 'ambiguous' });
  });
});
