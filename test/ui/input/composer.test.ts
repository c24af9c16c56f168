import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { width } from '#lib/terminal.ts';
import { composerLines } from '#ui/composer-lines.ts';
import { blankComposer, type ComposerEffect, type ComposerEvent, type ComposerState, reduce } from '#ui/composer-state.ts';
import { takeCursorMark } from '#ui/cursor-mark.ts';
import { keyTable } from '#ui/keys.ts';
import { themeOf } from '#ui/theme.ts';
import { createTokenizer } from '#ui/tokenizer.ts';

const keys = keyTable();

/** A composer that is typed at as in a terminal, and what it wanted. */
function sit(start: Partial<ComposerState> = {}) {
  let state: ComposerState = { ...blankComposer, ...start };
  let now = 1000;
  const wanted: ComposerEffect[] = [];
  const send = (event: ComposerEvent): void => {
    const next = reduce(state, event, { keys, columns: 40, measure: width, now });
    state = next.state;
    wanted.push(...next.effects);
  };
  return {
    type(input: string): void {
      const tokenizer = createTokenizer();
      for (const event of [...tokenizer.push(input), ...tokenizer.flush()]) send({ type: 'input', event });
    },
    send,
    wait(ms: number): void { now += ms; },
    get state() { return state; },
    /** The text with `|` at the cursor. */
    get text() { return `${state.editor.text.slice(0, state.editor.cursor)}|${state.editor.text.slice(state.editor.cursor)}`; },
    /** What was wanted since the last look, in short. */
    get wanted() {
      return wanted.splice(0).filter((effect) => effect.type !== 'expire').map((effect) =>
        (effect.type === 'submit' || effect.type === 'openEditor' ? `${effect.type} ${effect.text}` : effect.type === 'view' ? effect.action
          : effect.type === 'complete' ? `${effect.kind} ${effect.query}` : effect.type));
    },
    offer(...items: string[]): void {
      send({ type: 'completions', request: state.request, items: items.map((insert) => ({ insert, label: insert, more: insert.endsWith('/') })), more: false });
    },
    draw(columns = 40, rows = 24): string[] {
      return [...composerLines(state, { columns, rows, theme: themeOf('plain', {}), measure: width, keys })];
    },
  };
}

describe('keys for what is under way', () => {
  it('sends to the background while something runs; else Ctrl-B goes left, as it does when nothing could go there', () => {
    const composer = sit();
    composer.type('ab\x02');
    expect([composer.text, composer.wanted]).toEqual(['a|b', []]);
    composer.send({ type: 'busy', busy: true });
    composer.type('\x02');
    expect([composer.text, composer.wanted]).toEqual(['a|b', ['background']]);
    composer.send({ type: 'left' });
    expect(composer.text).toBe('|ab');
  });
  it('lists what waits with Alt-Up, in a draft too', () => {
    const composer = sit();
    composer.type('ab\x1b[1;3A');
    expect([composer.text, composer.wanted]).toEqual(['ab|', ['queue']]);
  });
});

describe('sending', () => {
  it('sends what was written, trimmed, and keeps it in history', () => {
    const composer = sit();
    composer.type(' hello \r');
    expect(composer.wanted).toEqual(['submit hello']);
    expect(composer.text).toBe('|');
    composer.type('\x1b[A');
    expect(composer.text).toBe('hello|');
  });
  it('sends nothing that is blank', () => {
    const composer = sit();
    composer.type('  \r');
    expect(composer.wanted).toEqual([]);
  });
  it.each([['Ctrl-J', '\n'], ['Alt-Enter', '\x1b\r'], ['Shift-Enter', '\x1b[13;2u'], ['backslash and Enter', '\\\r']])('writes a new line with %s', (_, keys) => {
    const composer = sit();
    composer.type(`a${keys}b`);
    expect([composer.text, composer.wanted]).toEqual(['a\nb|', []]);
  });
  it('sends folded pastes whole', () => {
    const composer = sit();
    const long = 'line\n'.repeat(20);
    composer.type(`see \x1b[200~${long}\x1b[201~ please`);
    expect(composer.draw()[1]).toContain('see [Pasted text #1 +20 lines] please');
    composer.type('\r');
    expect(composer.wanted).toEqual([`submit see ${long} please`]);
  });
  it('sends ! and / lines as they are', () => {
    const composer = sit();
    composer.type('!ls -la\r');
    composer.type('/pin a.ts\r');
    expect(composer.wanted.filter((one) => one.startsWith('submit'))).toEqual(['submit !ls -la', 'submit /pin a.ts']);
  });
});

describe('stopping and leaving', () => {
  it('Ctrl-C interrupts, then clears, then leaves within a second', () => {
    const composer = sit({ busy: true });
    composer.type('draft\x03');
    expect([composer.wanted, composer.text]).toEqual([['interrupt'], 'draft|']);
    composer.send({ type: 'busy', busy: false });
    composer.type('\x03');
    expect([composer.wanted, composer.text]).toEqual([[], '|']);
    expect(composer.draw().at(-1)).toBe('  Ctrl-C again to leave');
    composer.wait(900);
    composer.type('\x03');
    expect(composer.wanted).toEqual(['exit']);
  });
  it('a second Ctrl-C that is late, or after another key, is a first one', () => {
    const composer = sit();
    composer.type('\x03');
    composer.wait(1100);
    composer.type('\x03x\x7f\x03');
    expect(composer.wanted).toEqual([]);
    composer.send({ type: 'expired' });
    expect(composer.draw()).toHaveLength(3);
  });
  it('Ctrl-D deletes in a text, and leaves on the second press in an empty one', () => {
    const composer = sit();
    composer.type('ab\x01\x04');
    expect(composer.text).toBe('|b');
    composer.type('\x04\x04');
    expect(composer.wanted).toEqual([]);
    composer.wait(700);
    composer.type('\x04');
    expect(composer.wanted).toEqual(['exit']);
  });
  it('Esc interrupts; twice it clears the draft, which history keeps', () => {
    const composer = sit({ busy: true });
    composer.type('draft\x1b');
    expect(composer.wanted).toEqual(['interrupt']);
    composer.send({ type: 'busy', busy: false });
    composer.type('\x1b');
    expect(composer.text).toBe('draft|');
    composer.type('\x1b');
    expect(composer.text).toBe('|');
    composer.type('\x1b[A');
    expect(composer.text).toBe('draft|');
  });
});

describe('history', () => {
  const history = ['first', 'second\nof two', 'third'];
  it('is walked with Up and Down, cursor first, and the draft comes back', () => {
    const composer = sit({ history });
    composer.type('dra\nft\x1b[A');
    expect(composer.text).toBe('dr|a\nft');
    composer.type('\x1b[A\x1b[A');
    expect(composer.text).toBe('second\nof two|');
    composer.type('\x1b[A\x1b[A');
    expect(composer.text).toBe('first|');
    composer.type('\x1b[A');
    expect(composer.text).toBe('first|');
    composer.type('\x0e\x0e\x0e');
    expect(composer.text).toBe('dr|a\nft');
  });
  it('that arrives late stands before what was sent meanwhile', () => {
    const composer = sit();
    composer.type('now\r\x1b[A');
    composer.send({ type: 'history', lines: ['old'] });
    composer.type('\x1b[A');
    expect(composer.text).toBe('old|');
    composer.type('\x1b[B');
    expect(composer.text).toBe('now|');
  });
  it('opens no menu for a command that was recalled', () => {
    const composer = sit({ history: ['/pin x', '/help'] });
    composer.type('\x1b[A');
    expect(composer.wanted).toEqual([]);
    composer.type('\x1b[A');
    expect(composer.text).toBe('/pin x|');
  });
  it('Up takes back what is queued while the model works, else goes to older input', () => {
    const composer = sit({ busy: true, history });
    composer.type('x\x1b[A');
    expect(composer.wanted).toEqual(['takeBack']);
    composer.send({ type: 'draft', text: 'queued' });
    expect(composer.text).toBe('queued\nx|');
    composer.send({ type: 'older' });
    expect(composer.text).toBe('third|');
  });
});

describe('a word from elsewhere', () => {
  it.each([['', '@a |'], ['see', 'see @a |'], ['see ', 'see @a |'], ['see\x1b[D', 'se @a |e'], ['see now\x1b[D\x1b[D\x1b[D\x1b[D', 'see @a| now']])('goes where the cursor is, apart from its neighbours (%j)', (typed, text) => {
    const composer = sit();
    composer.type(typed);
    composer.send({ type: 'insert', text: '@a' });
    expect(composer.text).toBe(text);
  });
});

describe('the search through history', () => {
  const history = ['git push', 'ls', 'git status', 'ls', 'make'];
  it('finds as one types, goes on, edits, runs and cancels', () => {
    const composer = sit({ history });
    composer.type('draft\x12gi');
    expect(composer.draw().slice(1)).toEqual(['> git status', '─'.repeat(40), expect.stringContaining('search:')]);
    composer.type('\x12');
    expect(composer.draw()[1]).toBe('> git push');
    composer.type('\x12');
    expect(composer.draw()[1]).toBe('> git push');
    composer.type('\x13');
    expect(composer.draw()[1]).toBe('> git status');
    composer.type('\t');
    expect(composer.text).toBe('git status|');
    composer.type('\x12PUSH\r');
    expect(composer.wanted).toEqual(['submit git push']);
    composer.type('keep\x12ls\x03');
    expect([composer.text, composer.wanted]).toEqual(['keep|', []]);
  });
  it('says when nothing fits, and finds again when the query is shortened', () => {
    const composer = sit({ history });
    composer.type('\x12lsx');
    expect(composer.draw().at(-1)).toContain('nothing fits:');
    composer.type('\x7f');
    expect(composer.draw()[1]).toBe('> ls');
    composer.type('\x1b');
    expect(composer.text).toBe('ls|');
  });
});

describe('completion', () => {
  it('asks at every change of the word, and takes only the newest answer', () => {
    const composer = sit();
    composer.type('see @sr');
    expect(composer.wanted).toEqual(['file ', 'file s', 'file sr']);
    composer.send({ type: 'completions', request: composer.state.request - 1, items: [{ insert: 'old', label: 'old' }], more: false });
    expect(composer.state.menu).toBeUndefined();
    composer.offer('src/a.ts', 'src/b.ts');
    expect(composer.draw().slice(3)).toEqual(['› src/a.ts', '  src/b.ts']);
    composer.type('\x1b[B\t');
    expect(composer.text).toBe('see @src/b.ts |');
  });
  it('goes on into a directory', () => {
    const composer = sit();
    composer.type('@s');
    composer.offer('src/');
    composer.type('\r');
    expect([composer.text, composer.wanted.at(-1)]).toEqual(['@src/|', 'file src/']);
  });
  it('Enter sends when the word is whole or its menu is out of date, else takes the item', () => {
    const composer = sit();
    composer.type('/he');
    composer.offer('/help', '/hello');
    composer.type('\r');
    expect(composer.text).toBe('/help |');
    composer.type('\r');
    expect(composer.wanted.at(-1)).toBe('submit /help');
    composer.type('@a.ts');
    composer.offer('a.ts', 'a.tsx');
    composer.type('\r');
    expect(composer.wanted.at(-1)).toBe('submit @a.ts');
    composer.type('@a');
    composer.offer('a.ts');
    composer.type('bc\r');
    expect(composer.wanted.at(-1)).toBe('submit @abc');
  });
  it('Enter sends a command whose argument was left out, unless an item was gone to', () => {
    const composer = sit();
    composer.type('/todo ');
    composer.offer('add', 'done');
    expect(composer.draw().slice(3)).toEqual(['  add', '  done']);
    composer.type('\r');
    expect(composer.wanted.at(-1)).toBe('submit /todo');
    composer.type('/todo ');
    composer.offer('add', 'done');
    composer.type('\x1b[A\r');
    expect(composer.text).toBe('/todo done |');
    composer.type('\x15/todo ');
    composer.offer('add', 'done');
    composer.type('\x1b[B\r');
    expect(composer.text).toBe('/todo add |');
    composer.type('\x15/todo ');
    composer.offer('add', 'done');
    composer.type('\t');
    expect(composer.text).toBe('/todo add |');
  });
  it('does not offer the directory that stands there already', () => {
    const composer = sit();
    composer.type('@src/');
    composer.offer('src/', 'src/a.ts');
    expect(composer.draw().slice(3)).toEqual(['› src/a.ts']);
    composer.offer('src/');
    expect(composer.state.menu).toBeUndefined();
  });
  it('asks again while files are being listed, and keeps the item that was gone to', () => {
    const composer = sit();
    const list = (more: boolean, ...items: string[]): void => {
      composer.send({ type: 'completions', request: composer.state.request, items: items.map((insert) => ({ insert, label: insert })), more });
    };
    composer.type('@a');
    expect(composer.wanted).toEqual(['file ', 'file a']);
    list(true);
    expect([composer.draw().slice(3), composer.wanted]).toEqual([['  still listing files'], ['file a']]);
    list(true, 'a1', 'a2');
    composer.type('\x1b[B');
    list(false, 'a0', 'a1', 'a2');
    expect([composer.draw().slice(3), composer.wanted]).toEqual([['  a0', '  a1', '› a2'], ['file a']]);
    composer.type('b');
    list(true, 'ab');
    composer.type('\x1b');
    list(false, 'ab');
    expect(composer.state.menu).toBeUndefined();
  });
  it('gives an item that stands alone the whole line', () => {
    const composer = sit();
    composer.type('/pi');
    composer.send({ type: 'completions', request: composer.state.request, items: [{ insert: '/pin', label: '/pin [<path> | <folder>/ | <glob>]', detail: 'what it does' }], more: false });
    expect(composer.draw().slice(3)).toEqual(['› /pin [<path> | <folder>/ | <glob>]']);
    expect(composer.draw(80).slice(3)).toEqual(['› /pin [<path> | <folder>/ | <glob>]  what it does']);
  });
  it('Tab before the answer takes the first item when it comes', () => {
    const composer = sit();
    composer.type('@re\t');
    composer.offer('readme.md');
    expect(composer.text).toBe('@readme.md |');
    composer.type('@re\tx');
    composer.offer('rex');
    expect(composer.text).toBe('@readme.md @rex|');
  });
  it('Esc closes the menu for this word only, without interrupting', () => {
    const composer = sit({ busy: true });
    composer.type('@a');
    composer.offer('a.ts');
    composer.type('\x1b');
    expect(composer.wanted).not.toContain('interrupt');
    composer.type('b');
    expect([composer.state.menu, composer.wanted]).toEqual([undefined, []]);
    composer.type(' @c');
    expect(composer.wanted).toEqual(['file ', 'file c']);
  });
  it('completes commands and their arguments, nothing in the shell or in an address', () => {
    const composer = sit();
    composer.type('/unpin fi');
    expect(composer.wanted.at(-1)).toBe('command /unpin fi');
    composer.offer('file:src/a.ts');
    composer.type('\t');
    expect(composer.text).toBe('/unpin file:src/a.ts |');
    const other = sit();
    other.type('!echo @x');
    other.type('\x15me@example.org');
    expect(other.wanted).toEqual([]);
  });
  it('takes a quoted name', () => {
    const composer = sit();
    composer.type('@"my fi');
    expect(composer.wanted.at(-1)).toBe('file my fi');
    composer.offer('"my file.txt"');
    composer.type('\t');
    expect(composer.text).toBe('@"my file.txt" |');
  });
  it('shows at most eight rows, what is chosen among them, and no control characters', () => {
    const composer = sit();
    composer.type('@x');
    composer.offer(...Array.from({ length: 30 }, (_, index) => `file ${index}`));
    composer.type('\x1b[A');
    const menu = composer.draw().slice(3);
    expect(menu).toHaveLength(8);
    expect(menu.slice(-2)).toEqual(['› file 29', '  30 of 30']);
    composer.offer('a\x1b]0;x\x07\nb');
    expect(composer.draw()[3]).toBe('› a␛]0;x␇␊b');
  });
});

describe('the rest', () => {
  it('passes on what concerns others', () => {
    const composer = sit();
    composer.type('\x1b[Z\x0f\x14\x0c\x1a\x07');
    expect(composer.wanted).toEqual(['cycleMode', 'toggleTranscript', 'toggleTodos', 'redraw', 'suspend', 'openEditor ']);
    composer.send({ type: 'edited', text: 'from outside\n' });
    expect(composer.text).toBe('from outside|');
  });
  it('? at an empty input shows the keys and writes nothing', () => {
    const composer = sit();
    composer.type('?');
    expect(composer.text).toBe('|');
    expect(composer.draw(100, 40).join('\n')).toContain('Ctrl-R');
    composer.type('a?');
    expect([composer.text, composer.state.help]).toEqual(['a?|', false]);
  });
  it('says how many keys it has no room for, and is short in a narrow window', () => {
    const composer = sit();
    composer.type('?');
    const help = composer.draw(80, 24).slice(3);
    expect(help.at(-1)).toMatch(/^ {2}… \d+ more: \/help lists all$/);
    expect(help.length - 1 + Number(/\d+/.exec(help.at(-1) ?? '')?.[0])).toBe(keys.help.length);
    expect(composer.draw(80, 60).slice(3)).toHaveLength(keys.help.length);
    expect(composer.draw(40, 24).join('\n')).toContain('  Ctrl-J     new line (also');
  });
  it('names the key that clears the draft as it is bound', () => {
    const composer = sit({ armed: { action: 'cancel', until: 2000 } });
    const look = { columns: 60, rows: 24, theme: themeOf('plain', {}), measure: width, keys: keyTable({ cancel: 'f3' }) };
    expect(composerLines(composer.state, look).at(-1)).toBe('  F3 again to clear the draft');
  });
});

describe('how it looks', () => {
  it('is a text between two rules, a hint where nothing is written', () => {
    const composer = sit();
    const [rule, line, end] = composer.draw(60);
    expect([rule, end]).toEqual(['─'.repeat(60), '─'.repeat(60)]);
    expect(takeCursorMark(line ?? '')).toEqual({ line: '> Ask, or / for commands, @ for files, ! for the shell, ? …', column: 2 });
  });
  it('fits any width and half the window, and marks one cursor', () => {
    const composer = sit();
    composer.type('日本語 and words that go on and on\n'.repeat(30));
    for (const [columns, rows] of [[20, 10], [40, 24], [80, 24], [200, 50]] as const) {
      const lines = composer.draw(columns, rows);
      for (const line of lines) expect(width(line)).toBeLessThanOrEqual(columns);
      expect(lines.length).toBeLessThanOrEqual(Math.floor(rows / 2) + 2);
      expect(lines.map((line) => takeCursorMark(line).column).filter((column) => column !== undefined)).toHaveLength(1);
    }
    composer.type('\x1b[1;5H');
    expect(composer.draw(40, 24)[1]).toContain('> ');
  });
  it('uses no colour where none is wanted', () => {
    const composer = sit();
    composer.type('!ls');
    expect(composer.draw().join('')).not.toContain('\x1b');
  });
});

it('takes any keys whatever, and always fits', () => {
  const pieces = fc.constantFrom('a', '日', ' ', '@', '/', '!', '?', '\r', '\n', '\t', '\x1b', '\x1b[A', '\x1b[B', '\x1b[D', '\x03', '\x04', '\x12', '\x0b', '\x17', '\x19', '\x1by', '\x1f', '\x7f',
    '\x1b[200~one\ntwo\nthree\nfour\x1b[201~', '\x1b[Z', '👩\u200d👧', '\u0301');
  const steps = fc.array(fc.oneof({ weight: 8, arbitrary: pieces }, { weight: 1, arbitrary: fc.constant('offer') }, { weight: 1, arbitrary: fc.constant('busy') }), { maxLength: 40 });
  fc.assert(fc.property(steps, fc.integer({ min: 12, max: 100 }), (inputs, columns) => {
    const composer = sit({ history: ['old one', 'new\none'] });
    for (const input of inputs) {
      if (input === 'offer') composer.offer('src/', 'a file.ts', '日本語');
      else if (input === 'busy') composer.send({ type: 'busy', busy: !composer.state.busy });
      else composer.type(input);
      const lines = composer.draw(columns, 24);
      for (const line of lines) expect(width(line)).toBeLessThanOrEqual(columns);
      expect(lines.filter((line) => takeCursorMark(line).column !== undefined)).toHaveLength(1);
    }
  }), { numRuns: 150 });
});
