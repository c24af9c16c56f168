import { EventEmitter } from 'node:events';
import headless from '@xterm/headless';
import { describe, expect, it, onTestFinished } from 'vitest';
import { width } from '#lib/terminal.ts';
import { createComposer } from '#ui/composer-store.ts';
import type { Controller, InputEvent, KeyEvent } from '#ui/contract.ts';
import { keyTable } from '#ui/keys.ts';
import { startScreen } from '#ui/start.tsx';
import { createStdout } from '#ui/stdout.ts';
import { themeOf } from '#ui/theme.ts';
import { assistant, createLog, text } from './entries.ts';

const key = (name: string, more: Partial<KeyEvent> = {}): KeyEvent => ({ type: 'key', name, ctrl: false, alt: false, shift: false, text: name.length === 1 ? name : '', ...more });

function setUp(columns = 60, rows = 20) {
  const terminal = new headless.Terminal({ cols: columns, rows, scrollback: 5000, allowProposedApi: true });
  let bytes = '';
  const target = Object.assign(new EventEmitter(), { columns, rows, write(chunk: string, done?: () => void) { bytes += chunk; terminal.write(chunk, done); return true; } });
  const stdout = createStdout({ target, measure: width });
  const told: string[] = [];
  const controller: Controller = {
    submit: (words) => { told.push(words); }, background: () => false, interrupt: () => false, cycleMode: () => undefined, takeBack: () => undefined, answer: () => undefined, pick: () => undefined, secret: () => undefined, queue: () => false, chosen: () => undefined, edited: () => undefined,
    completeFile: () => Promise.resolve({ items: [], more: false }), completeCommand: () => Promise.resolve([]), history: () => Promise.resolve([]), exit: () => undefined,
  };
  const keys = keyTable();
  let leave = (): void => undefined;
  let press: (event: InputEvent) => void = () => undefined;
  const screen = startScreen({
    controller, keys, theme: themeOf('plain', {}), composer: createComposer({ keys, columns, measure: width }), env: {},
    terminal: { screen: stdout, listen: (listener) => { press = listener; }, suspend: () => undefined, beforeLeaving: (task) => { leave = task; }, lend: () => Promise.reject(new Error('in use')) },
  });
  onTestFinished(async () => { await screen.stop(); stdout.finish(); terminal.dispose(); });
  return {
    screen, told, stdout,
    leave: () => { leave(); },
    press: (event: InputEvent) => { press(event); },
    wait: (ms = 120) => new Promise((resolve) => { setTimeout(resolve, ms); }),
    resize(to: { columns: number; rows: number }) {
      terminal.resize(to.columns, to.rows);
      Object.assign(target, to);
      target.emit('resize');
    },
    async lines(): Promise<readonly string[]> {
      await new Promise<void>((resolve) => { terminal.write('', resolve); });
      const { active } = terminal.buffer;
      return Array.from({ length: active.length }, (_, y) => active.getLine(y)?.translateToString(true) ?? '');
    },
    bytes: () => bytes,
    cursor: () => ({ x: terminal.buffer.active.cursorX, line: terminal.buffer.active.baseY + terminal.buffer.active.cursorY }),
  };
}

describe('the screen in a terminal', () => {
  it('prints finished lines once, keeps the rest below, and leaves nothing of it at the end', async () => {
    const { screen, press, lines, wait, bytes, cursor } = setUp();
    const words = Array.from({ length: 100 }, (_, i) => `para ${i} a\npara ${i} b.`).join('\n\n');
    screen.dispatch({ type: 'busy', since: Date.now() });
    for (const [index, part] of (words.match(/[^]{1,60}/g) ?? []).entries()) {
      screen.dispatch({ type: 'textDelta', text: part });
      if (index % 4 === 0) {
        press(key('k'));
        await wait(20);
      }
    }
    screen.dispatch({ type: 'entry', entry: createLog()(assistant([text(words)])) });
    screen.dispatch({ type: 'idle' });
    await wait();
    const all = await lines();
    for (let i = 0; i < 100; i += 1) expect(all.filter((line) => line.includes(`para ${i} a`)), `para ${i}`).toHaveLength(1);
    expect(all.filter((line) => /^─+$/.test(line))).toHaveLength(2);
    const at = all.findIndex((line) => line.startsWith('> k'));
    expect(cursor()).toEqual({ x: all[at]?.length, line: at });
    expect(bytes()).not.toMatch(/\u001B\[[23]J/);
    await screen.stop();
    const rest = (await lines()).filter((line) => line !== '');
    expect(rest.at(-1)).toContain('para 99');
  });

  it('draws anew for another width, old lines as they were', async () => {
    const { screen, lines, wait, resize, press } = setUp(80, 20);
    screen.dispatch({ type: 'card', card: { title: 'Pinion', body: [{ type: 'text', text: 'a banner' }] } });
    press(key('h'));
    await wait();
    for (const columns of [60, 40, 100, 30, 80]) {
      resize({ columns, rows: 20 });
      await wait();
      const all = await lines();
      expect(all.filter((line) => line.includes('> h'))).toHaveLength(1);
      // xterm.js moves the cursor by rows that broke below it too, so a row of the old frame may stay.
      expect(all.filter((line) => /^─+$/.test(line)).map((line) => line.length).slice(-2)).toEqual([columns - 1, columns - 1]);
      expect(all.filter((line) => line.includes('a banner'))).toHaveLength(1);
    }
  });

  it('writes nothing at rest', async () => {
    const { bytes, wait, screen } = setUp();
    screen.dispatch({ type: 'busy', since: 0 });
    await wait(200);
    screen.dispatch({ type: 'idle' });
    await wait(200);
    const before = bytes().length;
    await wait(300);
    expect(bytes().length).toBe(before);
  });

  it('prints what is left when it must go at once', async () => {
    const { screen, lines, leave, stdout } = setUp();
    screen.dispatch({ type: 'entry', entry: createLog()({ type: 'notice', level: 'info', text: 'last words' }) });
    leave();
    stdout.finish();
    expect((await lines()).filter((line) => line !== '')).toEqual(['ℹ last words']);
  });

  it('says why a text could not be edited', async () => {
    const { press, lines, wait } = setUp();
    press(key('g', { ctrl: true }));
    await wait();
    expect(await lines()).toContain('▲ not edited: in use');
  });
});
