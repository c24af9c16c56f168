import { execFileSync, spawnSync } from 'node:child_process';
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
afterAll(() => { rmSync(folder, { recursive: true, force: true, maxRetries: 5 }); });

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

/** Whether the window shows a whole frame of so many columns and no part of another. */
function framed(columns: number): (screen: readonly string[]) => boolean {
  return (screen) => {
    const frame = screen.filter((line) => /^[─>]|^status$/.test(line)).map((line) => (line.startsWith('>') ? '>' : line));
    return frame.join(' ') === `${'─'.repeat(columns)} > ${'─'.repeat(columns)} status`;
  };
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
    await terminal.waitFor(framed(columns));
    expectOneFrame(terminal);
    expect(counted(terminal, /^history/)).toEqual(['history 0', 'history 1']);
  }
});

it('leaves one frame after a window is dragged through many sizes', async () => {
  const terminal = await run();
  terminal.type('+hello');
  await terminal.waitFor('> hello');
  for (let columns = 79; columns >= 40; columns -= 3) {
    terminal.resize(columns, 24);
    await new Promise((resolve) => { setTimeout(resolve, 15); });
  }
  await terminal.waitFor(framed(40));
  expectOneFrame(terminal);
  expect(counted(terminal, /^history/)).toEqual(['history 0']);
});

// In the pauses: what is on its way to a terminal while its size changes is drawn wrongly, and nothing can be done about it.
it('leaves one frame and all history when the size changes while text streams', async () => {
  const terminal = await run();
  terminal.type('+t');
  await terminal.waitFor('delta 3');
  for (const columns of [60, 100, 70, 40]) {
    await terminal.settled(120);
    terminal.resize(columns, 24);
    await terminal.waitFor(framed(columns));
  }
  await expect.poll(() => terminal.lines().includes('streamed'), { timeout: 20_000 }).toBe(true);
  terminal.type('c');
  await terminal.waitFor((screen) => !screen.some((line) => line.startsWith('delta')));
  await terminal.waitFor(framed(40));
  expectOneFrame(terminal);
  expect(counted(terminal, /^history|^streamed/)).toEqual(['history 0', 'streamed']);
});

const tmux = spawnSync('tmux', ['-V']).status === 0;
it.skipIf(!tmux)('leaves one frame in a terminal whose cursor follows its text', async () => {
  const socket = join(folder, 'tmux');
  const run = (...args: string[]): string => execFileSync('tmux', ['-S', socket, ...args], { encoding: 'utf8', env: { ...process.env, CI: undefined, TMUX: undefined } });
  const lines = (): string[] => run('capture-pane', '-p', '-S', '-').split('\n');
  const rules = (): string => lines().filter((line) => line.startsWith('─')).join(' ');
  run('-f', '/dev/null', 'new-session', '-d', '-x', '80', '-y', '24', `echo shell 1; echo shell 2; exec '${process.execPath}' '${program}'`);
  try {
    await expect.poll(rules, { timeout: 10_000 }).toBe(`${'─'.repeat(80)} ${'─'.repeat(80)}`);
    run('send-keys', '+'.repeat(30));
    await expect.poll(() => lines().join('\n'), { timeout: 10_000 }).toContain('history 29');
    run('send-keys', 'lines of many words will be broken as one makes windows narrow, and so will be here');
    await expect.poll(() => lines().join('\n'), { timeout: 10_000 }).toContain('so will');
    for (const columns of [60, 100, 40, 80]) {
      run('resize-window', '-x', String(columns), '-y', '24');
      const frame = (): string[] => lines().filter((line) => /^[─>]|^shell|^history|^status/.test(line)).map((line) => (line.startsWith('>') ? '>' : line));
      await expect.poll(frame, { timeout: 10_000 }).toEqual(['shell 1', 'shell 2', ...Array.from({ length: 30 }, (_, index) => `history ${index}`), '─'.repeat(columns), '>', '─'.repeat(columns), 'status']);
    }
  } finally {
    run('kill-server');
  }
});

it('shows the end of a frame that is taller than the window, wipes no scrollback and prints each line once', async () => {
  const terminal = await run(80, 20);
  terminal.type('+g');
  await terminal.waitFor('live 9');
  terminal.type('gg');
  await terminal.waitFor('live 29');
  expect(terminal.screen().at(-1)).toBe('status');
  terminal.type('+t');
  await expect.poll(() => terminal.lines().includes('streamed'), { timeout: 20_000 }).toBe(true);
  terminal.type('c');
  await terminal.waitFor((screen) => !screen.some((line) => /^live|^delta/.test(line)));
  await terminal.waitFor(framed(80));
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
