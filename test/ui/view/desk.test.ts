import { describe, expect, it, onTestFinished } from 'vitest';
import type { Entry } from '#domain/entry.ts';
import type { Answer } from '#domain/ports.ts';
import { width } from '#lib/terminal.ts';
import { createComposer } from '#ui/composer-store.ts';
import type { Controller, KeyEvent, ScreenEvent } from '#ui/contract.ts';
import { takeCursorMark } from '#ui/cursor-mark.ts';
import { Desk } from '#ui/desk.ts';
import { createHighlighter } from '#ui/highlight.ts';
import { keyTable } from '#ui/keys.ts';
import { themeOf } from '#ui/theme.ts';
import { assistant, callId, card, createLog, text } from './entries.ts';

const key = (name: string, more: Partial<KeyEvent> = {}): KeyEvent => ({ type: 'key', name, ctrl: false, alt: false, shift: false, text: name.length === 1 ? name : name === 'space' ? ' ' : '', ...more });

interface Told { readonly told: string[]; desk: Desk; look(): string; wait(ms?: number): Promise<void>; type(words: string): void; clock: { now: number } }

function setUp(size = { columns: 61, rows: 24 }, before = ''): Told {
  const told: string[] = [];
  const clock = { now: 10_000 };
  const controller: Controller = {
    submit: (words) => { told.push(`submit ${words}`); },
    background: () => { told.push('background'); return true; }, interrupt: () => { told.push('interrupt'); return true; },
    cycleMode: () => { told.push('mode'); },
    takeBack: () => 'taken back',
    answer: (id, answer: Answer) => { told.push(`answer ${id} ${JSON.stringify(answer)}`); },
    pick: (id, item) => { told.push(`pick ${id} ${item}`); },
    queue: () => { told.push('queue'); return true; },
    chosen: (id, choice) => { told.push(`chosen ${id} ${JSON.stringify(choice)}`); },
    edited: (id, problem) => { told.push(`edited ${id} ${problem}`); },
    secret: (id, words) => { told.push(`secret ${id} ${words}`); },
    completeFile: () => Promise.resolve({ items: [], more: false }),
    completeCommand: () => Promise.resolve([{ insert: '/help', label: '/help' }]),
    history: () => Promise.resolve(['older line']),
    exit: () => { told.push('exit'); },
  };
  const keys = keyTable();
  const composer = createComposer({ keys, columns: size.columns, measure: width });
  for (const letter of before) composer.input(key(letter));
  const desk = new Desk({
    controller, composer, keys, theme: themeOf('plain', {}), highlight: createHighlighter(), measure: width, size: () => size, now: () => clock.now,
    suspend: () => { told.push('suspend'); }, redraw: () => { told.push('redraw'); }, openFile: (file) => Promise.resolve(file === '/missing' ? 'no editor' : undefined), openEditor: (words) => Promise.resolve(`${words} edited`),
  });
  onTestFinished(() => { desk.close(); composer.close(); });
  return {
    told, desk, clock,
    look: () => {
      const { printed, above, composer, below } = desk.pictures.get();
      return [...printed.map(({ text }) => text), ...above, ...composer.map((line) => takeCursorMark(line).line), ...below].join('\n');
    },
    wait: (ms = 60) => new Promise((resolve) => { setTimeout(resolve, ms); }),
    type: (words) => { for (const letter of words.split('')) desk.input(key(letter === ' ' ? 'space' : letter)); },
  };
}

const ask = (id: number): ScreenEvent => ({ type: 'ask', id, question: { kind: 'permission', call: { id: callId('c'), tool: 'Bash', input: {} }, card: card('Bash ls', 'ls'), reason: 'runs', rules: [], keep: 'session' } });

describe('the desk', () => {
  it('sends keys to the composer, and what it wants to the controller', async () => {
    const { desk, told, type, look, wait } = setUp();
    type('hello');
    await wait();
    expect(look()).toContain('> hello');
    desk.input(key('enter'));
    desk.input(key('tab', { shift: true }));
    expect(told).toEqual(['submit hello', 'mode']);
    desk.dispatch({ type: 'busy', since: 10_000 });
    desk.input(key('escape'));
    expect(told.at(-1)).toBe('interrupt');
    desk.input(key('up'));
    await wait();
    expect(look()).toContain('> taken back');
    expect(look()).toContain('Working…');
  });

  it('gives the keyboard to a dialog and takes it back when it is answered', async () => {
    const { desk, told, type, look, wait, clock } = setUp();
    desk.dispatch(ask(3));
    desk.dispatch(ask(4));
    await wait();
    expect(look()).toContain('? Bash ls');
    expect(look()).not.toContain('> Ask, or /');
    clock.now += 500;
    desk.input(key('1'));
    clock.now += 500;
    desk.input(key('2'));
    type('other way');
    desk.input(key('enter'));
    expect(told).toEqual(['answer 3 {"kind":"yes"}', 'answer 4 {"kind":"no","instead":"other way"}']);
    await wait();
    expect(look()).toContain('> Ask, or /');
    desk.dispatch({ type: 'pick', id: 5, picker: { title: 'Models', items: [{ id: 'm1', label: 'one' }, { id: 'm2', label: 'two' }] } });
    type('two');
    desk.input(key('enter'));
    desk.dispatch({ type: 'secret', id: 6, title: 'Key', hint: '' });
    type('sk');
    desk.input(key('enter'));
    expect(told.slice(2)).toEqual(['pick 5 m2', 'secret 6 sk']);
  });

  it('does not take what someone is typing for an answer', async () => {
    const { desk, told, type, look, wait, clock } = setUp();
    type('do');
    desk.dispatch(ask(3));
    type(' 1 thing');
    await wait();
    expect(told).toEqual([]);
    expect(look()).toContain('> do 1 thing');
    expect(look()).toContain('? Bash ls');
    clock.now += 500;
    desk.input(key('1'));
    expect(told).toEqual(['answer 3 {"kind":"yes"}']);
    await wait();
    expect(look()).toContain('> do 1 thing');
  });

  it('nor a word that begins just as a question comes up', async () => {
    const { desk, told, type, look, wait, clock } = setUp();
    desk.dispatch(ask(3));
    clock.now += 100;
    type('no');
    await wait();
    expect(told).toEqual([]);
    expect(look()).toContain('> no');
    expect(look()).toContain('? Bash ls');
    clock.now += 500;
    desk.input(key('1'));
    expect(told).toEqual(['answer 3 {"kind":"yes"}']);
  });

  it('takes a single key for an answer all the same, a moment later; and other keys at once', async () => {
    const { desk, told, wait } = setUp();
    desk.dispatch(ask(3));
    desk.input(key('1'));
    expect(told).toEqual([]);
    await wait(200);
    expect(told).toEqual(['answer 3 {"kind":"yes"}']);
    desk.dispatch(ask(4));
    desk.input(key('escape'));
    expect(told.at(-1)).toBe('answer 4 {"kind":"no"}');
  });

  it('does not take the Enter behind an answer for the answer to the next question', async () => {
    const { desk, told, clock } = setUp();
    desk.dispatch(ask(3));
    desk.dispatch(ask(4));
    clock.now += 500;
    desk.input(key('y'));
    desk.input(key('enter'));
    expect(told).toEqual(['answer 3 {"kind":"yes"}']);
    clock.now += 500;
    desk.input(key('enter'));
    expect(told).toEqual(['answer 3 {"kind":"yes"}', 'answer 4 {"kind":"yes"}']);
  });

  it('opens files in the editor, lists what waits, and sends what runs to the background', async () => {
    const { desk, told, wait, look, type } = setUp();
    desk.dispatch({ type: 'edit', id: 9, file: '/notes.md' });
    desk.dispatch({ type: 'edit', id: 10, file: '/missing' });
    await wait();
    expect(told.splice(0)).toEqual(['edited 9 undefined', 'edited 10 no editor']);
    desk.input(key('up', { alt: true }));
    expect(told.splice(0)).toEqual(['queue']);
    type('draft');
    desk.dispatch({ type: 'busy', since: 0 });
    desk.dispatch({ type: 'entry', entry: { type: 'queued', text: 'words', id: 'e1', at: '' } as unknown as Entry });
    desk.dispatch({ type: 'held', lines: [{ id: 'h1', text: '/clear' }] });
    desk.dispatch({ type: 'queue', id: 11, items: [{ id: 'e1', text: 'words' }, { id: 'h1', text: '/clear' }] });
    await wait(500);
    expect(look()).toContain('2 lines to be sent\n  words\n› /clear\n');
    desk.dispatch({ type: 'held', lines: [] });
    await wait();
    expect(look()).toContain('1 line to be sent\n› words\n');
    desk.input(key('d'));
    await wait();
    expect(told).toEqual(['chosen 11 {"id":"e1","how":"remove"}']);
    expect(look()).toContain('> draft');
    desk.input(key('b', { ctrl: true, text: '' }));
    expect(told.at(-1)).toBe('background');
  });

  it('nor what was being typed before the screen was there', async () => {
    const { desk, told, look, wait, clock } = setUp(undefined, '/help');
    desk.dispatch(ask(3));
    clock.now += 100;
    desk.input(key('enter'));
    await wait();
    expect(told).toEqual(['submit /help']);
    expect(look()).toContain('? Bash ls');
  });

  it('leaves a question that was settled elsewhere', async () => {
    const { desk, type, told } = setUp();
    desk.dispatch(ask(3));
    desk.dispatch({ type: 'settled', id: 3 });
    type('1');
    desk.input(key('enter'));
    expect(told).toEqual(['submit 1']);
  });

  it('toggles the view, also in a dialog', async () => {
    const { desk, look, wait, told } = setUp();
    const log = createLog();
    desk.dispatch({ type: 'entry', entry: log({ type: 'attach', by: 'user', attachment: { kind: 'todo', id: 'todo:list', items: [{ id: 1, text: 'to do', state: 'open', by: 'user' }] } }) });
    await wait();
    expect(look()).toContain('☐ to do');
    desk.input(key('t', { ctrl: true }));
    await wait();
    expect(look()).not.toContain('☐ to do');
    desk.dispatch(ask(3));
    desk.input(key('t', { ctrl: true }));
    desk.input(key('l', { ctrl: true }));
    desk.input(key('z', { ctrl: true }));
    desk.input(key('escape'));
    await wait();
    expect(look()).toContain('☐ to do');
    expect(told).toEqual(['redraw', 'suspend', 'answer 3 {"kind":"no"}']);
  });

  it('prints an answer once, whatever comes between, and is always lower than the window', async () => {
    for (const rows of [3, 6, 12, 24]) {
      const { desk, look, wait, type } = setUp({ columns: 41, rows });
      const words = Array.from({ length: 60 }, (_, i) => `paragraph ${i} end`).join('\n\n');
      desk.dispatch({ type: 'busy', since: 0 });
      for (const [index, part] of (words.match(/[^]{1,40}/g) ?? []).entries()) {
        desk.dispatch({ type: 'textDelta', text: part });
        if (index % 5 === 0) {
          type('x');
          await wait(30);
        }
        const { above, composer, below } = desk.pictures.get();
        expect(above.length + composer.length + below.length).toBeLessThan(rows);
      }
      desk.dispatch({ type: 'entry', entry: createLog()(assistant([text(words)])) });
      desk.dispatch({ type: 'idle' });
      await wait();
      for (let i = 0; i < 60; i += 1) expect(look().split(`paragraph ${i} end`)).toHaveLength(2);
      desk.close();
    }
  });

  it('prints a long session in portions, with its colours', async () => {
    const { desk, look, wait } = setUp();
    const log = createLog();
    desk.dispatch({ type: 'replay', entries: Array.from({ length: 130 }, (_, i) => log({ type: 'prompt', text: `prompt ${i}.` })) });
    await wait(400);
    for (let i = 0; i < 130; i += 1) expect(look()).toContain(`prompt ${i}.`);
  });

  it('prints what came just before a new session as well', async () => {
    const { desk, look, wait } = setUp();
    desk.dispatch({ type: 'entry', entry: createLog()({ type: 'shell', command: 'make', output: 'made', exitCode: 0 }) });
    desk.dispatch({ type: 'replay', entries: [] });
    await wait();
    expect(look()).toContain('! make\n  made');
  });

  it('rests when nothing is under way', async () => {
    const { desk, wait } = setUp();
    desk.dispatch({ type: 'busy', since: 0 });
    desk.dispatch({ type: 'idle' });
    await wait(150);
    let pictures = 0;
    const leave = desk.pictures.subscribe(() => { pictures += 1; });
    await wait(300);
    leave();
    expect(pictures).toBe(0);
  });

  it('turns its spinner while something is', async () => {
    const { desk, wait } = setUp();
    desk.dispatch({ type: 'busy', since: 0 });
    await wait(60);
    let pictures = 0;
    const leave = desk.pictures.subscribe(() => { pictures += 1; });
    await wait(400);
    leave();
    expect(pictures).toBeGreaterThanOrEqual(1);
    expect(pictures).toBeLessThanOrEqual(6);
  });

  it('brings drafts, the editor and history into the composer', async () => {
    const { desk, look, wait } = setUp();
    await wait();
    desk.input(key('up'));
    await wait();
    expect(look()).toContain('> older line');
    desk.input(key('g', { ctrl: true }));
    await wait();
    expect(look()).toContain('> older line edited');
    desk.dispatch({ type: 'draft', text: 'taken' });
    await wait();
    expect(look()).toContain('> taken\n  older line edited');
  });

  it('ends with everything printed and nothing below', async () => {
    const { desk, type } = setUp();
    const log = createLog();
    desk.dispatch({ type: 'busy', since: 0 });
    for (let i = 0; i < 120; i += 1) desk.dispatch({ type: 'entry', entry: log({ type: 'notice', level: 'info', text: `n${i}` }) });
    desk.dispatch({ type: 'textDelta', text: 'half' });
    desk.close();
    const { printed, above, composer, below } = desk.pictures.get();
    expect(printed).toHaveLength(122);
    expect([above, composer, below]).toEqual([[], [], []]);
    desk.dispatch({ type: 'idle' });
    type('x');
    expect(desk.pictures.get().printed).toBe(printed);
  });
});
