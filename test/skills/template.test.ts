import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fill, type Given, piecesOf, wordsOf } from '#skills/template.ts';

const given = (args: string, more: Partial<Given> = {}): Given => ({ args, names: [], values: {}, ...more });
const filled = (body: string, args: string, more: Partial<Given> = {}): string => fill(piecesOf(body), given(args, more)).map((piece) => (piece.type === 'text' ? piece.text : `«${piece.command}»`)).join('');

describe('arguments', () => {
  it.each([
    ['Fix $ARGUMENTS now', '12 fast', 'Fix 12 fast now'],
    ['Fix $0, then $1.', '12 "two words"', 'Fix 12, then two words.'],
    ['Fix $ARGUMENTS[1] and $ARGUMENTS[0]', 'a b', 'Fix b and a'],
    ['Fix $5', 'a', 'Fix '],
    ['It costs $5.00 or $100 of $HOME', 'x', 'It costs $5.00 or $100 of $HOME\n\nARGUMENTS: x'],
    ['No place', 'for this', 'No place\n\nARGUMENTS: for this'],
    ['No place', '', 'No place'],
    ['$ARGUMENTSX stays', '', '$ARGUMENTSX stays'],
    ['$$0', 'a', '$a'],
  ])('%j with %j is %j', (body, args, expected) => { expect(filled(body, args)).toBe(expected); });

  it('have names where the front matter gives them', () => {
    expect(filled('$file-name in $file, not $filet, $line-', 'a.ts 7', { names: ['file', 'line'] })).toBe('a.ts-name in a.ts, not $filet, 7-');
    expect(filled('$file-name', 'a.ts b.ts', { names: ['file', 'file-name'] })).toBe('b.ts');
  });

  it('are put in once: what one holds is neither a placeholder nor a command', () => {
    expect(filled('A $0 $1', '"$1 !`rm -rf x` ${CLAUDE_SESSION_ID}" b', { values: { CLAUDE_SESSION_ID: 's' } })).toBe('A $1 !`rm -rf x` ${CLAUDE_SESSION_ID} b');
    expect(piecesOf('!`echo $0`')).toEqual([{ type: 'command', command: 'echo $0' }]);
  });

  it('that are missing leave a command as it is: $1 may be the shell\'s own', () => {
    expect(filled('!`git log | awk \'{print $1}\'`', '')).toBe('«git log | awk \'{print $1}\'»');
    expect(filled('!`git show $0`', 'HEAD')).toBe('«git show HEAD»');
  });

  it('put values in for names in braces, and leave others as they are', () => {
    expect(filled('${CLAUDE_SKILL_DIR}/a ${OTHER} ${constructor}', '', { values: { CLAUDE_SKILL_DIR: '/s' } })).toBe('/s/a ${OTHER} ${constructor}');
  });

  it.each([
    ['a  b\tc', ['a', 'b', 'c']], ['"a b" c', ['a b', 'c']], ["'a \"b' c", ['a "b', 'c']], ['a\\ b', ['a b']], ['""', ['']],
    ["don't stop", ["don't", 'stop']], ['"never closed here', ['never closed here']], ['', []], ['\\', ['\\']], ['"a\\"b"', ['a"b']],
  ])('%j are the words %j', (args, words) => { expect(wordsOf(args)).toEqual(words); });
});

describe('commands', () => {
  it('stand at the start or after white space, or in a fence that says so', () => {
    expect(piecesOf('Status: !`git status`\n!`a` x!`b` `!`c`` !`` end')).toEqual([
      { type: 'text', text: 'Status: ' }, { type: 'command', command: 'git status' }, { type: 'text', text: '\n' }, { type: 'command', command: 'a' }, { type: 'text', text: ' x!`b` `!`c`` !`` end' },
    ]);
    expect(piecesOf('a\n```!\ngit log\ngit diff\n```\nb\n```sh\nls\n```')).toEqual([
      { type: 'text', text: 'a\n' }, { type: 'command', command: 'git log\ngit diff' }, { type: 'text', text: '\nb\n```sh\nls\n```' },
    ]);
  });

  it('of a fence that is never closed are text', () => {
    expect(piecesOf('```!\nrm -rf x\n```!\n')).toEqual([{ type: 'text', text: '```!\nrm -rf x\n```!\n' }]);
  });

  it('take time in proportion to the text, whatever it is', () => {
    const hostile = `${'```!\n'.repeat(50_000)}${'!`'.repeat(50_000)}`;
    expect(piecesOf(hostile).length).toBeGreaterThan(0);
  });

  it('a text without them is one piece, byte for byte', () => {
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom('a', '`', '!', '\n', ' ', '$', '0', '{', '}') }), (text) => {
      const pieces = piecesOf(text);
      const back = pieces.map((piece) => (piece.type === 'text' ? piece.text : '')).join('');
      if (pieces.every(({ type }) => type === 'text') && !text.includes('!')) expect(back).toBe(text);
      expect(fill(pieces, given('')).length).toBe(pieces.length);
    }));
  });
});
