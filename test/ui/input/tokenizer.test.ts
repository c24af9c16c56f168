import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InputEvent } from '#ui/contract.ts';
import { key } from '#ui/key-codes.ts';
import { createTokenizer } from '#ui/tokenizer.ts';

function read(...chunks: (string | Uint8Array)[]): InputEvent[] {
  const tokenizer = createTokenizer();
  return [...chunks.flatMap((chunk) => tokenizer.push(chunk)), ...tokenizer.flush()];
}

/** Events as one reads them: `ctrl+a`, `"x"` for what is written, `paste(…)`. */
function say(events: readonly InputEvent[]): string {
  return events.map((event) => {
    if (event.type === 'paste') return `paste(${event.text})`;
    if (event.type === 'focus') return event.focused ? 'focus' : 'blur';
    const held = `${event.ctrl ? 'ctrl+' : ''}${event.alt ? 'alt+' : ''}${event.shift ? 'shift+' : ''}`;
    return event.text === '' || held !== '' ? held + event.name : JSON.stringify(event.text);
  }).join(' ');
}

describe('the tokenizer', () => {
  it.each([
    ['plain text', 'aß日😀', '"a" "ß" "日" "😀"'],
    ['Enter and Ctrl-J', '\r\n', 'enter ctrl+j'],
    ['text and Enter in one read', 'ab\r', '"a" "b" enter'],
    ['Backspace and Ctrl-H', '\x7f\b', 'backspace backspace'],
    ['Delete', '\x1b[3~', 'delete'],
    ['control letters', '\x01\x03\x1a\x1f\x00', 'ctrl+a ctrl+c ctrl+z ctrl+_ ctrl+space'],
    ['Tab and Shift-Tab', '\t\x1b[Z', 'tab shift+tab'],
    ['arrows', '\x1b[A\x1b[B\x1b[C\x1b[D', 'up down right left'],
    ['arrows in application mode', '\x1bOA\x1bOD', 'up left'],
    ['arrows with something held', '\x1b[1;5C\x1b[1;3D\x1b[1;2A\x1b[1;6B', 'ctrl+right alt+left shift+up ctrl+shift+down'],
    ['arrows behind an ESC', '\x1b\x1b[D', 'alt+left'],
    ['Home and End in every dialect', '\x1b[H\x1b[F\x1bOH\x1bOF\x1b[1~\x1b[4~\x1b[7~\x1b[8~', 'home end home end home end home end'],
    ['function keys', '\x1bOP\x1b[15~\x1b[24~\x1b[[A\x1b[1;2S', 'f1 f5 f12 f1 shift+f4'],
    ['a lone ESC', '\x1b', 'escape'],
    ['ESC twice', '\x1b\x1b', 'escape escape'],
    ['Alt and a letter', '\x1bb\x1bB', 'alt+b alt+shift+b'],
    ['Alt-Enter', '\x1b\r', 'alt+enter'],
    ['Alt-Backspace', '\x1b\x7f', 'alt+backspace'],
    ['Alt with a letter that begins strings', '\x1bP', 'alt+shift+p'],
    ['kitty: Escape', '\x1b[27u', 'escape'],
    ['kitty: Ctrl-C', '\x1b[99;5u', 'ctrl+c'],
    ['kitty: Shift-Enter', '\x1b[13;2u', 'shift+enter'],
    ['kitty: the colon form', '\x1b[13:2u\x1b[97:65;2:1u\x1b[97;5:3u', 'enter "A"'],
    ['kitty: release of an arrow', '\x1b[1;1:3A', ''],
    ['kitty: caps and num lock', '\x1b[97;197u', 'ctrl+a'],
    ['kitty: keypad', '\x1b[57400u\x1b[57414u\x1b[57417u', '"1" enter left'],
    ['kitty: super belongs to the desktop', '\x1b[99;9u', ''],
    ['kitty: a key without a name', '\x1b[57358u', ''],
    ['modifyOtherKeys', '\x1b[27;2;13~\x1b[27;5;105~\x1b[27;2;65~', 'shift+enter ctrl+i "A"'],
    ['focus', '\x1b[I\x1b[O', 'focus blur'],
    ['SGR mouse', 'a\x1b[<0;12;5Mb\x1b[<0;12;5m', '"a" "b"'],
    ['the old mouse report', '\x1b[M !!x', '"x"'],
    ['device attributes', '\x1b[?62;4c\x1b[>1;10;0c', ''],
    ['cursor reports', '\x1b[12;40R', ''],
    ['mode and kitty reports', '\x1b[?2026;2$y\x1b[?1u', ''],
    ['window reports', '\x1b[8;24;80t', ''],
    ['an OSC reply with BEL', '\x1b]11;rgb:0000/0000/0000\x07x', '"x"'],
    ['an OSC reply with ST', '\x1b]11;rgb:0000/0000/0000\x1b\\x', '"x"'],
    ['a title report', '\x1b]lrm -rf /\x1b\\x', '"x"'],
    ['DCS and APC replies', '\x1bP>|xterm(388)\x1b\\\x1b_Gi=1;OK\x1b\\x', '"x"'],
    ['Enter ends a string that nobody ended', '\x1b]0;abc\rx', 'enter "x"'],
    ['8-bit controls', '\u009bA\u009d0;t\u009cx', 'up "x"'],
    ['broken sequences', '\x1b[1;\x03x', 'ctrl+c "x"'],
    ['a paste', '\x1b[200~a\r\nb\rc\x1b[1m\x1b[201~d', 'paste(a\nb\nc\x1b[1m) "d"'],
    ['Enter after a paste', '\x1b[200~a\x1b[201~\r', 'paste(a) enter'],
    ['a paste with a marker inside', '\x1b[200~a\x1b[200~b\x1b[201~', 'paste(a\x1b[200~b)'],
    ['an empty paste', '\x1b[200~\x1b[201~', 'paste()'],
    ['an end marker without a start', '\x1b[201~x', '"x"'],
  ])('makes out %s, also cut at every byte', (_, input, expected) => {
    expect(say(read(input))).toBe(expected);
    const bytes = Buffer.from(input);
    for (let cut = 1; cut < bytes.length; cut += 1) expect(say(read(bytes.subarray(0, cut), bytes.subarray(cut)))).toBe(expected);
    expect(say(read(...[...bytes].map((byte) => Uint8Array.of(byte))))).toBe(expected);
  });

  it('waits for the rest of a sequence, then takes what cannot go on as a key', () => {
    const tokenizer = createTokenizer();
    expect(tokenizer.push('\x1b')).toEqual([]);
    expect(tokenizer.waiting()).toBe('escape');
    expect(tokenizer.flush()).toEqual([key('escape')]);
    tokenizer.push('\x1b[1;');
    expect(tokenizer.flush()).toEqual([]);
    expect(tokenizer.push('5A')).toEqual([key('up', { ctrl: true })]);
    expect(tokenizer.waiting()).toBe('nothing');
  });
  it('ends a paste whose end never came', () => {
    const tokenizer = createTokenizer();
    tokenizer.push('\x1b[200~half');
    expect([tokenizer.waiting(), tokenizer.flush()]).toEqual(['paste', []]);
    expect(tokenizer.endPaste()).toEqual([{ type: 'paste', text: 'half' }]);
    expect(say(tokenizer.push('x'))).toBe('"x"');
  });
  it('takes a megabyte of paste in small reads', () => {
    const tokenizer = createTokenizer();
    const events = [...tokenizer.push('\x1b[200~')];
    for (let index = 0; index < 1024; index += 1) events.push(...tokenizer.push('0123456789abcde\r'.repeat(64)));
    events.push(...tokenizer.push('\x1b[201~'));
    expect(events).toEqual([{ type: 'paste', text: '0123456789abcde\n'.repeat(64 * 1024) }]);
  });

  const pieces = fc.array(fc.oneof(
    fc.string({ unit: 'binary', maxLength: 4 }),
    fc.constantFrom('\x1b', '\x1b[', '\x1bO', '\x1b]', '\x1bP', '[', 'A', '1;5', '200~', '\x1b[200~', '\x1b[201~', '~', 'u', '\x1b\\', '\x07', '\r', '😀', '\u009b', '<0;1;1M'),
  ), { maxLength: 12 }).map((parts) => parts.join(''));
  it('gives the same events wherever the bytes are cut', () => {
    fc.assert(fc.property(pieces, fc.array(fc.nat(200), { maxLength: 8 }), (input, cuts) => {
      const bytes = Buffer.from(input);
      const at = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length].sort((a, b) => a - b);
      const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
      expect(say(read(...chunks))).toBe(say(read(bytes)));
    }), { numRuns: 500 });
  });
  it('never writes a control character', () => {
    fc.assert(fc.property(pieces, (input) => {
      for (const event of read(Buffer.from(input))) if (event.type === 'key') expect(event.text).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
    }), { numRuns: 500 });
  });
});
