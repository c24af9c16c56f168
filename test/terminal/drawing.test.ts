import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { bundleProgram } from '../support/bundle.ts';
import { openVirtualTerminal, type VirtualTerminal } from '../support/virtual-terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'drawing-'));
const program = join(folder, 'drawing.mjs');
const open: VirtualTerminal[] = [];
beforeAll(async () => { await bundleProgram(new URL('programs/drawing.tsx', import.meta.url), program); });
afterEach(async () => { for (const terminal of open.splice(0)) await terminal.close(); });
afterAll(() => { rmSync(folder, { recursive: true, force: true }); });

/** The program below two lines of a shell's. */
async function run(columns = 80, rows = 24): Promise<VirtualTerminal> {
  const terminal = openVirtualTerminal({ command: '/bin/bash', args: ['-c', `echo shell 1; echo shell 2; exec '${process.execPath}' '${program}'`], columns, rows });
  open.push(terminal);
  await terminal.waitFor('status');
  return terminal;
}

function counted(terminal: VirtualTerminal, pattern: RegExp): string[] {
  return terminal.lines().filter((line) => pattern.test(line));
}

function expectOneFrame(terminal: VirtualTerminal): void {
  expect(counted(terminal, /^─+$/)).toHaveLength(2);
  expect(counted(terminal, /^>/)).toHaveLength(1);
  expect(counted(terminal, /^status$/)).toHaveLength(1);
  expect(counted(terminal, /^shell/)).toEqual(['shell 1', 'shell 2']);
  expect(terminal.raw()).not.toMatch(/\x1b\[[23]J/);
}

it('leaves one frame and all history after any change of size', async () => {
  const terminal = await run();
  terminal.type('++hello');
  await terminal.waitFor('> hello');
  for (const columns of [60, 100, 40, 80, 23, 120, 80]) {
    terminal.resize(columns, 24);
    await terminal.waitFor((screen) => screen.filter((line) => line.startsWith('─')).join(' ') === `${'─'.repeat(columns)} ${'─'.repeat(columns)}`);
    expectOneFrame(terminal);
    expect(counted(terminal, /^history/)).toEqual(['history 0', 'history 1']);
  }
});

it('leaves one frame after a window is dragged through many sizes while text streams', async () => {
  const terminal = await run();
  terminal.type('+t');
  for (let columns = 80; columns >= 40; columns -= 4) {
    terminal.resize(columns, 24);
    await new Promise((resolve) => { setTimeout(resolve, 15); });
  }
  await terminal.waitFor(/^─{40}$/m);
  await terminal.waitFor('delta 299');
  terminal.type('c');
  await terminal.waitFor((screen) => !screen.some((line) => line.startsWith('delta')));
  await terminal.settled();
  expect(counted(terminal, /^history|^streamed/)).toEqual(['history 0', 'streamed']);
  expect([counted(terminal, /^>/).length, terminal.lines()]).toEqual([1, terminal.lines()]);
  expect(terminal.raw()).not.toMatch(/\x1b\[[23]J/);
});

it('shows the end of a frame that is taller than the window, wipes no scrollback and prints each line once', async () => {
  const terminal = await run(80, 20);
  terminal.type('+g');
  await terminal.waitFor('live 9');
  terminal.type('gg');
  await terminal.waitFor('live 29');
  expect(terminal.screen().at(-1)).toBe('status');
  terminal.type('+t');
  await terminal.waitFor('delta 299');
  terminal.type('c');
  await terminal.waitFor((screen) => !screen.some((line) => line.startsWith('delta')));
  await terminal.settled();
  expectOneFrame(terminal);
  expect(counted(terminal, /^history|^streamed/)).toEqual(['history 0', 'history 1', 'streamed']);
});

it('shows the end of a frame when the window becomes lower than it', async () => {
  const terminal = await run(80, 30);
  terminal.type('+gg');
  await terminal.waitFor('live 19');
  terminal.resize(80, 12);
  await terminal.waitFor((screen) => screen.length === 12 && screen[11] === 'status');
  await terminal.settled();
  terminal.resize(80, 30);
  await terminal.waitFor((screen) => screen.length === 30 && screen.includes('live 0'));
  terminal.type('c');
  await terminal.waitFor((screen) => !screen.includes('live 0'));
  expect(terminal.raw()).not.toMatch(/\x1b\[[23]J/);
  expect(counted(terminal, /^shell|^history/)).toEqual(['shell 1', 'shell 2', 'history 0']);
});

it('puts the real cursor where one types, also when only the cursor moves, over wide characters and through prints', async () => {
  const terminal = await run();
  expect(terminal.cursor().column).toBe(2);
  terminal.type('a日本');
  await terminal.waitFor('> a日本');
  await expect.poll(() => terminal.cursor().column).toBe(7);
  terminal.type('\x1b[D');
  await expect.poll(() => terminal.cursor().column).toBe(5);
  terminal.type('+');
  await terminal.waitFor('history 0');
  await terminal.settled();
  const { column, row } = terminal.cursor();
  expect([column, terminal.screen()[row]]).toEqual([5, '> a日本']);
  terminal.type('\n');
  await expect.poll(() => terminal.cursor()).toEqual({ column: 2, row: row + 1 });
});

it('writes only what changed: a key costs some bytes, not a frame', async () => {
  const terminal = await run();
  terminal.type('gg');
  await terminal.waitFor('live 19');
  await terminal.settled();
  const before = terminal.raw().length;
  terminal.type('x');
  await terminal.waitFor('> x');
  expect(terminal.raw().length - before).toBeLessThan(120);
});

it('writes nothing at rest', async () => {
  const terminal = await run();
  await terminal.settled();
  const before = terminal.raw().length;
  await new Promise((resolve) => { setTimeout(resolve, 500); });
  expect(terminal.raw().length).toBe(before);
});

it('leaves the last frame and the cursor below it', async () => {
  const terminal = await run();
  terminal.type('q');
  await terminal.ended;
  expectOneFrame(terminal);
  expect(terminal.cursor()).toEqual({ column: 0, row: terminal.screen().indexOf('status') + 1 });
});
