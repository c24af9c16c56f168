import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { width } from '#lib/terminal.ts';
import { cursorAt, layOut, moveRow } from '#ui/editor-layout.ts';
import * as edit from '#ui/editor.ts';
import { EMPTY, type Editor, cleared, expand, insert, paste, setText } from '#ui/editor.ts';

/** A text with `|` where the cursor stands. */
function at(marked: string): Editor {
  return { ...EMPTY, text: marked.replace('|', ''), cursor: marked.indexOf('|') };
}
function show(editor: Editor): string {
  return `${editor.text.slice(0, editor.cursor)}|${editor.text.slice(editor.cursor)}`;
}

describe('motion and cutting', () => {
  it.each([
    ['left over a family', edit.left, 'a👩‍👩‍👧|b', 'a|👩‍👩‍👧b'],
    ['right over a flag', edit.right, '|🇩🇪🇫🇷', '🇩🇪|🇫🇷'],
    ['right over an accent', edit.right, '|e\u0301x', 'e\u0301|x'],
    ['right over a line feed', edit.right, 'a|\nb', 'a\n|b'],
    ['word back', edit.wordLeft, 'one two.x |', 'one two.|x '],
    ['word on', edit.wordRight, '|  one two', '  one| two'],
    ['word on over other scripts', edit.wordRight, '|größe 日本', 'größe| 日本'],
    ['line start', edit.lineStart, 'a\nbc|d', 'a\n|bcd'],
    ['line end', edit.lineEnd, 'a|b\nc', 'ab|\nc'],
    ['delete a grapheme back', edit.deleteLeft, 'a👍🏽|', 'a|'],
    ['delete forward', edit.deleteRight, '|e\u0301x', '|x'],
    ['cut to the end', edit.killToEnd, 'a|bc\nd', 'a|\nd'],
    ['cut the line feed at the end', edit.killToEnd, 'a|\nd', 'a|d'],
    ['cut to the start', edit.killToStart, 'x\nab|c', 'x\n|c'],
    ['cut a word up to a space', edit.killWordLeft, 'see src/a.ts |', 'see |'],
    ['cut a word up to a sign', edit.killPartLeft, 'see src/a.ts|', 'see src/a.|'],
    ['cut the word after', edit.killWordRight, '|one two', '| two'],
    ['nothing to the left of the start', edit.deleteLeft, '|a', '|a'],
  ])('%s', (_, act, before, after) => { expect(show(act(at(before)))).toBe(after); });

  it('joins cuts in a row, and yanks them, then older ones', () => {
    const cut = edit.killWordLeft(edit.killWordLeft(at('one two three|')));
    expect(cut.kills).toEqual(['two three']);
    const again = edit.killToEnd(edit.lineStart(cut));
    expect(again.kills).toEqual(['one ', 'two three']);
    const yanked = edit.yank(again);
    expect(show(yanked)).toBe('one |');
    expect(show(edit.yankOlder(yanked))).toBe('two three|');
    expect(show(edit.yankOlder(edit.yankOlder(yanked)))).toBe('one |');
    expect(show(edit.yankOlder(edit.left(yanked)))).toBe('one| ');
    expect(show(edit.undo(edit.yankOlder(yanked)))).toBe('|');
  });
  it('undoes typing word by word, and everything else step by step', () => {
    let editor = EMPTY;
    for (const character of 'one two') editor = insert(editor, character);
    editor = edit.killWordLeft(editor);
    expect(show(editor)).toBe('one |');
    editor = edit.undo(editor);
    expect(show(editor)).toBe('one two|');
    editor = edit.undo(editor);
    expect(show(editor)).toBe('one |');
    editor = edit.undo(edit.undo(editor));
    expect(show(editor)).toBe('|');
  });
});

describe('pastes', () => {
  const long = Array.from({ length: 12 }, (_, index) => `line ${index}`).join('\n');
  it('stay text while they are small', () => {
    expect(paste(EMPTY, 'a\r\nb\rc').text).toBe('a\nb\nc');
  });
  it('become one unit when they are large, and expand on the way out', () => {
    const editor = insert(paste(insert(EMPTY, 'see '), long), '!');
    expect(layOut(editor, 80, width).map((row) => row.shown)).toEqual(['see [Pasted text #1 +12 lines]!']);
    expect(expand(editor)).toBe(`see ${long}!`);
    expect(edit.left(edit.left(editor)).cursor).toBe(4);
    expect(edit.deleteLeft(edit.left(editor)).text).toBe('see !');
    expect(layOut(paste(EMPTY, 'x'.repeat(900)), 80, width)[0]?.shown).toBe('[Pasted text #1 900 characters]');
  });
  it('keep their numbers apart, and survive a cut and a clear', () => {
    const two = paste(paste(EMPTY, long), `${long}\n`);
    expect(layOut(two, 80, width)[0]?.shown).toBe('[Pasted text #1 +12 lines][Pasted text #2 +12 lines]');
    const again = edit.yank(cleared(edit.killToStart(two)));
    expect(expand(again)).toBe(`${long}${long}\n`);
    expect(cleared(two).chips.size).toBe(0);
  });
  it('take no character of their text for a chip', () => {
    expect(insert(EMPTY, '\u{100001}').text).toBe('\ufffd');
    expect(expand(setText(paste(EMPTY, long), 'a\u{100001}'))).toBe('a\ufffd');
  });
  it('take a megabyte at once', () => {
    const editor = paste(EMPTY, 'some words in a line\n'.repeat(50_000));
    expect(layOut(editor, 80, width).length).toBe(1);
  });
});

describe('visual rows', () => {
  const rows = (text: string, columns: number): string[] => layOut(setText(EMPTY, text), columns, width).map((row) => row.shown);
  it('break behind spaces, else anywhere', () => {
    expect(rows('one two three', 9)).toEqual(['one two ', 'three']);
    expect(rows('abcdefghij', 5)).toEqual(['abcd', 'efgh', 'ij']);
    expect(rows('日本語文字', 6)).toEqual(['日本', '語文', '字']);
    expect(rows('a\n\nb', 10)).toEqual(['a', '', 'b']);
  });
  it('show tabs as spaces and controls as marks', () => {
    expect(rows('\ta\x1b[2J\u009bx\u202e', 40)).toEqual(['    a␛[2J<U+009B>x<U+202E>']);
  });
  it('find the cursor, at a wrap on the next row', () => {
    const editor = at('one two |three');
    expect(cursorAt(layOut(editor, 9, width), editor, width)).toEqual({ row: 1, column: 0 });
    const wide = at('日本|語');
    expect(cursorAt(layOut(wide, 9, width), wide, width)).toEqual({ row: 0, column: 4 });
  });
  it('are walked up and down with the column kept', () => {
    let editor: Editor | undefined = at('long line\nab\nanother|');
    editor = moveRow(editor, -1, 40, width);
    expect(editor === undefined ? '' : show(editor)).toBe('long line\nab|\nanother');
    editor = editor && moveRow(editor, -1, 40, width);
    expect(editor === undefined ? '' : show(editor)).toBe('long li|ne\nab\nanother');
    expect(editor && moveRow(editor, -1, 40, width)).toBeUndefined();
  });
});

describe('any sequence of edits', () => {
  const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
  const borders = (text: string): Set<number> => new Set([...Array.from(segmenter.segment(text), ({ index }) => index), text.length]);
  const pieces = fc.constantFrom('a', ' ', '\n', 'é', '\u0301', '日', '👩', '\u200d', '👧', '🇩', '🇪', '\ufe0f', '🏽', 'क', '्', 'ष', '\t', '\u0600', 'ᄀ', 'ᅡ', '.');
  const steps = fc.array(fc.oneof(
    fc.array(pieces, { minLength: 1, maxLength: 3 }).map((parts) => (editor: Editor) => insert(editor, parts.join(''))),
    fc.string({ unit: 'grapheme', maxLength: 5 }).map((text) => (editor: Editor) => paste(editor, text)),
    fc.constant((editor: Editor) => paste(editor, 'x\n'.repeat(5))),
    fc.constantFrom(edit.left, edit.right, edit.wordLeft, edit.wordRight, edit.lineStart, edit.lineEnd, edit.textStart, edit.deleteLeft, edit.deleteRight,
      edit.killToEnd, edit.killToStart, edit.killWordLeft, edit.killPartLeft, edit.killWordRight, edit.yank, edit.yankOlder, edit.undo),
    fc.tuple(fc.constantFrom(1 as const, -1 as const), fc.integer({ min: 4, max: 12 })).map(([by, columns]) => (editor: Editor) => moveRow(editor, by, columns, width) ?? editor),
  ), { maxLength: 40 });

  it('leaves the cursor on a grapheme border', () => {
    fc.assert(fc.property(steps, (acts) => {
      let editor = EMPTY;
      for (const act of acts) {
        editor = act(editor);
        expect(borders(editor.text).has(editor.cursor)).toBe(true);
      }
    }), { numRuns: 300 });
  });
  it('has rows that are the text and fit, and one place for the cursor', () => {
    fc.assert(fc.property(steps, fc.integer({ min: 8, max: 30 }), (acts, columns) => {
      const editor = acts.reduce((state, act) => act(state), EMPTY);
      const rows = layOut(editor, columns, width);
      expect(rows.map((row) => editor.text.slice(row.from, row.to) + (row.ends ? '\n' : '')).join('')).toBe(`${editor.text}\n`);
      for (const row of rows) expect(width(row.shown)).toBeLessThanOrEqual(columns);
      const { row, column } = cursorAt(rows, editor, width);
      expect(row).toBeLessThan(rows.length);
      expect(column).toBeLessThanOrEqual(columns);
    }), { numRuns: 200 });
  });
});
