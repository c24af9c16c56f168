import { EventEmitter } from 'node:events';
import xterm from '@xterm/headless';
import { describe, expect, it } from 'vitest';
import { width } from '#lib/terminal.ts';
import { cursorMark, takeCursorMark } from '#ui/cursor-mark.ts';
import type { CursorReflow } from '#ui/frame.ts';
import { createStdout, type Stdout } from '#ui/stdout.ts';

/** Our stdout over an emulated terminal of 40 × 10. */
function open(reflow: () => Promise<CursorReflow | undefined> = () => Promise.resolve('follows')) {
  const terminal = new xterm.Terminal({ cols: 40, rows: 10, allowProposedApi: true });
  const target = Object.assign(new EventEmitter(), {
    columns: 40, rows: 10,
    write(bytes: string) { terminal.write(bytes); return true; },
  });
  const bytes: string[] = [];
  const screen = createStdout({ target, measure: width, reflow, record: (part) => { bytes.push(part); } });
  return {
    screen, target, bytes,
    async lines(): Promise<string[]> {
      await new Promise<void>((resolve) => { terminal.write('', resolve); });
      const all = Array.from({ length: terminal.buffer.active.length }, (_, index) => terminal.buffer.active.getLine(index)?.translateToString(true) ?? '');
      return all.filter((line) => line !== '');
    },
  };
}

/** What ink writes for a frame of so many lines before, and text that scrolls away. */
function ink(screen: Stdout, linesBefore: number, frame: string, above = ''): void {
  const erase = `${'\x1b[2K\x1b[1A'.repeat(Math.max(0, linesBefore))}\x1b[2K\x1b[G`;
  screen.write('\x1b[?2026h');
  if (above === '') screen.write(`${linesBefore < 0 ? '' : erase}${frame}\n`);
  else {
    screen.write(erase);
    screen.write(above);
    screen.write(`${frame}\n`);
  }
  screen.write('\x1b[?2026l');
}

const task = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });

describe('our stdout', () => {
  it('puts what scrolls away above the frame and writes one synchronised piece', async () => {
    const { screen, lines, bytes } = open();
    ink(screen, -1, 'frame');
    await task();
    ink(screen, 1, 'frame two', 'first\nsecond\n');
    await task();
    expect(await lines()).toEqual(['first', 'second', 'frame two']);
    expect(bytes).toHaveLength(2);
    for (const part of bytes) expect(part).toMatch(/^\x1b\[\?2026h\x1b\[\?25l[^]*\x1b\[\?2026l$/);
  });
  it('writes nothing when nothing changed, and only the changed line otherwise', async () => {
    const { screen, lines, bytes } = open();
    ink(screen, -1, 'one\ntwo\nthree');
    await task();
    ink(screen, 3, 'one\ntwo\nthree');
    await task();
    expect(bytes).toHaveLength(1);
    ink(screen, 3, 'one\n2\nthree');
    await task();
    expect(bytes[1]).not.toMatch(/one|three/);
    expect(await lines()).toEqual(['one', '2', 'three']);
  });
  it('takes an early frame away when ink\'s first one comes', async () => {
    const { screen, lines } = open();
    screen.draw(`early ${cursorMark(3)}`);
    ink(screen, -1, 'frame\nof ink');
    await task();
    expect(await lines()).toEqual(['frame', 'of ink']);
  });
  it('shows the last of several frames of one task, and all that was printed', async () => {
    const { screen, lines } = open();
    ink(screen, -1, 'a');
    ink(screen, 1, 'b', 'printed\n');
    ink(screen, 1, 'c');
    await task();
    expect(await lines()).toEqual(['printed', 'c']);
  });
  it('keeps back everything while the terminal is lent, and shows it once afterwards', async () => {
    const { screen, lines } = open();
    ink(screen, -1, 'frame');
    await task();
    screen.release();
    expect(await lines()).toEqual([]);
    ink(screen, 1, 'frame', 'while away\n');
    await task();
    ink(screen, 1, 'later', 'more\n');
    await task();
    expect(await lines()).toEqual([]);
    screen.reclaim();
    await task();
    expect(await lines()).toEqual(['while away', 'more', 'later']);
  });
  it('lets bells and titles through, and ink\'s cursor not', async () => {
    const { screen, bytes } = open();
    screen.write('\x07');
    screen.write('\x1b]2;title\x07');
    screen.write('\x1b[?25l');
    await task();
    expect(bytes).toEqual(['\x07', '\x1b]2;title\x07']);
  });
  it('leaves the frame at the end, once, and drops what ink still writes', async () => {
    const { screen, lines, bytes } = open();
    ink(screen, -1, 'frame');
    screen.finish();
    screen.finish();
    const count = bytes.length;
    ink(screen, 1, 'too late');
    await task();
    expect([await lines(), bytes.length]).toEqual([['frame'], count]);
    expect(bytes.at(-1)).toContain('\x1b[?25h');
  });
  it('asks a terminal again that gave no answer in time, and no more once it is known', async () => {
    const answers: (CursorReflow | undefined)[] = [undefined, 'drifts', 'follows'];
    const { screen, target } = open(() => Promise.resolve(answers.shift()));
    ink(screen, -1, 'frame');
    await task();
    for (const columns of [30, 20, 10]) {
      target.columns = columns;
      target.emit('resize');
      await expect.poll(() => screen.window.columns).toBe(columns);
    }
    expect(answers).toEqual(['follows']);
    screen.finish();
  });
  it('calls back for each write', async () => {
    const { screen } = open();
    await new Promise<void>((resolve) => { screen.write('', () => { resolve(); }); });
    screen.finish();
    await new Promise<void>((resolve) => { screen.write('x', () => { resolve(); }); });
  });
});

it('the cursor\'s mark takes no column and comes out again', () => {
  const line = `> ${cursorMark(137)}text`;
  expect(width(line)).toBe(6);
  expect(takeCursorMark(line)).toEqual({ line: '> text', column: 137 });
  expect(takeCursorMark('plain')).toEqual({ line: 'plain', column: undefined });
});
