import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bundleProgram } from '../support/bundle.ts';
import { openVirtualTerminal, type VirtualTerminal } from '../support/virtual-terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'view-'));
const program = join(folder, 'view.mjs');
const open: VirtualTerminal[] = [];
let runs = 0;
beforeAll(async () => { await bundleProgram(new URL('programs/view.ts', import.meta.url), program); });
afterEach(async () => { for (const terminal of open.splice(0)) await terminal.close(); });
afterAll(() => { rmSync(folder, { recursive: true, force: true, maxRetries: 5 }); });

interface Run { readonly terminal: VirtualTerminal; submitted(): readonly string[] }

/** The program below 30 lines of a shell's history, with the terminal's settings told before and after. */
async function run(columns = 80, rows = 24, env: Record<string, string> = {}): Promise<Run> {
  const record = join(folder, `record-${runs++}`);
  const script = `for i in $(seq 30); do echo "shell line $i."; done; stty -g > '${folder}/before'; '${process.execPath}' '${program}' '${record}'; stty -g > '${folder}/after'; echo "the shell again"`;
  const terminal = openVirtualTerminal({ command: '/bin/bash', args: ['-c', script], columns, rows, env });
  open.push(terminal);
  await terminal.waitFor('BANNER');
  return { terminal, submitted: () => readFileSync(record, 'utf8').trimEnd().split('\n') };
}

const count = (lines: readonly string[], what: string): number => lines.filter((line) => line.includes(what)).length;

async function end({ terminal }: Run): Promise<void> {
  terminal.type('/exit\r');
  await terminal.waitFor('the shell again');
  await terminal.ended;
  execFileSync('cmp', [join(folder, 'before'), join(folder, 'after')]);
  expect(terminal.raw()).not.toMatch(/\u001B\[[23]J/);
  const lines = terminal.lines();
  for (let i = 1; i <= 30; i += 1) expect(count(lines, `shell line ${i}.`)).toBe(1);
  expect(count(lines, 'BANNER of the program')).toBe(1);
  expect(lines.filter((line) => /^─+$/.test(line))).toEqual([]);
}

describe('the screen in a real terminal', () => {
  it('streams an answer of 400 lines, each once in the terminal, and takes 500 keys in order meanwhile', async () => {
    const it = await run();
    const { terminal } = it;
    terminal.type('paragraphs\r');
    await terminal.waitFor(() => count(terminal.lines(), 'P3 begins') > 0);
    const keys = Array.from({ length: 500 }, (_, i) => String.fromCharCode(97 + (i * 7) % 26)).join('');
    for (const key of keys.split('')) {
      terminal.type(key);
      await new Promise((resolve) => { setTimeout(resolve, 2); });
    }
    terminal.type('\r');
    await terminal.waitFor('P199 ends', 30_000);
    await terminal.settled(300);
    await end(it);
    expect(it.submitted()).toEqual(['paragraphs', keys, '/exit']);
    const lines = terminal.lines();
    for (let i = 0; i < 200; i += 1) expect(count(lines, `P${i} begins here P${i} ends here.`), `P${i}`).toBe(1);
  });

  it('prints a list and a listing of 400 lines once, in order', async () => {
    const it = await run(60, 20);
    for (const [kind, line] of [['list', (i: number) => `L${i} item`], ['code', (i: number) => `const c${i}x = ${i};`]] as const) {
      it.terminal.type(`${kind}\r`);
      await it.terminal.waitFor(line(399), 30_000);
      await it.terminal.settled();
      const lines = it.terminal.lines();
      const at = Array.from({ length: 400 }, (_, i) => lines.findIndex((text) => text.includes(line(i))));
      expect(at.every((y, i) => y > (at[i - 1] ?? 0))).toBe(true);
      for (let i = 0; i < 400; i += 1) expect(count(lines, line(i)), line(i)).toBe(1);
    }
    await end(it);
  });

  it('asks, picks and takes a secret by keys alone', async () => {
    const it = await run();
    const { terminal } = it;
    terminal.type('ask\r');
    await terminal.waitFor('3 no, and tell it what to do instead');
    expect(terminal.screen().join('\n')).toContain('$0');
    terminal.type('\u001B[6~');
    await terminal.waitFor('lines 9–');
    terminal.type('3use pnpm\r');
    await terminal.waitFor('answer {"kind":"no","instead":"use pnpm"}');
    terminal.type('pick\r');
    await terminal.waitFor('Sessions');
    terminal.type('39\r');
    await terminal.waitFor('picked s39');
    terminal.type('secret\r');
    await terminal.waitFor('API key');
    terminal.type('\u001B[200~sk-hidden\u001B[201~\r');
    await terminal.waitFor('secret of 9');
    expect(terminal.raw()).not.toContain('sk-hidden');
    terminal.type('ask\r');
    await terminal.waitFor('3 no, and tell it what to do instead');
    terminal.type('\u001B');
    await terminal.waitFor('answer {"kind":"no"}');
    await end(it);
  });

  it.each([[80, 24], [40, 12]])('lays a plan before the person, in %i by %i', async (columns, rows) => {
    const it = await run(columns, rows);
    const { terminal } = it;
    terminal.type('plan\r');
    await terminal.waitFor('4 no, keep planning');
    expect(terminal.screen().join('\n')).toMatch(rows < 20 ? /\? The plan: go ahead with it\?\n {2}# Light the lamp/ : /\? The plan: go ahead with it\?\n {2}\/p\/plans\/lamp\.md\n {2}# Light the lamp/);
    terminal.type('\u001B[F');
    await terminal.waitFor('40. do thing 40');
    terminal.type('4');
    await terminal.waitFor('Enter sends it');
    terminal.type('smaller steps');
    await terminal.waitFor('smaller steps');
    terminal.type('\r');
    await terminal.waitFor('"instead":"smaller');
    terminal.type('plan\r');
    await terminal.waitFor('4 no, keep planning');
    terminal.type('3');
    await terminal.waitFor('"mode":"auto"');
    await end(it);
    expect(it.submitted()).toEqual(['plan', 'answer {"kind":"no","instead":"smaller steps"}', 'plan', 'answer {"kind":"approved","mode":"auto"}', '/exit']);
  });

  it.each([[80, 24], [40, 10]])('asks questions of two sub-agents one after the other, and keeps a draft, in %i by %i', async (columns, rows) => {
    const it = await run(columns, rows);
    const { terminal } = it;
    terminal.type('choices\r');
    await terminal.waitFor('explore asks:');
    await terminal.waitFor('1 more waits');
    terminal.type('\u001B[B');
    await terminal.waitFor('› 2 own');
    terminal.type('\r');
    await terminal.waitFor('Which parts?');
    terminal.type(' \u001B[B\u001B[B ');
    await terminal.waitFor(/› 3 ☑ c/);
    terminal.type('\r');
    await terminal.waitFor('Send these answers?');
    terminal.type('\r');
    await terminal.waitFor('plan asks:');
    terminal.type('\u001B[B\u001B[B');
    await terminal.waitFor('› 3 something else');
    terminal.type('\r');
    await terminal.waitFor('back to the list');
    terminal.type('a third one');
    await terminal.waitFor('a third one');
    terminal.type('\u001B');
    await terminal.waitFor((screen) => !screen.join('\n').includes('a third one'));
    terminal.type('\u001B');
    await terminal.waitFor('{"kind":"no"}');
    await end(it);
    expect(it.submitted()).toEqual(['choices', 'answer {"kind":"chosen","answers":[["own"],["a","c"]]}', 'answer {"kind":"no"}', '/exit']);
  });

  it.each([[80, 24], [40, 24]])('shows three sub-agents at work in lines that do not jump, then their cards, in %i by %i', async (columns, rows) => {
    const it = await run(columns, rows);
    const { terminal } = it;
    terminal.type('agents\r');
    const places = new Map<string, number>();
    await terminal.waitFor((screen) => {
      const at = screen.flatMap((line, y) => (line.startsWith('○ Task explore') ? [y - screen.findIndex((one) => one.startsWith('> '))] : []));
      if (at.length === 3) places.set(at.join(' '), (places.get(at.join(' ')) ?? 0) + 1);
      return screen.some((line) => line.includes('10 steps'));
    });
    // What was seen once may be a frame that was still being written.
    expect([...places.values()].filter((times) => times > 1).length).toBeLessThanOrEqual(1);
    expect(places.size).toBeGreaterThan(0);
    expect(count(terminal.screen(), '⎿ 10 steps')).toBeGreaterThan(0);
    await terminal.waitFor('found c');
    await end(it);
    for (const id of ['a', 'b', 'c']) expect(count(terminal.lines(), `found ${id}`)).toBe(1);
  });

  it('gives a file to the editor and takes the screen back', async () => {
    const editor = join(folder, 'editor');
    writeFileSync(editor, '#!/bin/sh\necho "in the editor"; printf "edited" > "$1"\n', { mode: 0o755 });
    const it = await run(80, 24, { VISUAL: editor });
    it.terminal.type('edit\r');
    await it.terminal.waitFor('edited undefined');
    await it.terminal.waitFor('> Ask, or');
    await end(it);
    expect(it.terminal.raw()).toContain('in the editor');
    const without = await run(80, 24, { VISUAL: '/no/such/editor' });
    without.terminal.type('edit\r');
    await without.terminal.waitFor('edited editor "/no/such/editor" (VISUAL): not found; set VISUAL to an editor');
    await end(without);
  });

  it('lists what waits: removes a line, takes another back to be edited', async () => {
    const it = await run(60, 20);
    const { terminal } = it;
    terminal.type('queue\r');
    await terminal.waitFor('⧗ /clear');
    expect(terminal.screen().find((line) => line.includes('⧗ third'))?.endsWith('…')).toBe(true);
    terminal.type('a draft');
    await terminal.waitFor('> a draft');
    terminal.type('\u001B[1;3A');
    await terminal.waitFor('4 lines to be sent');
    terminal.type('\u001B[H\u001B[B');
    await terminal.waitFor('› second words');
    terminal.type('d');
    await terminal.waitFor('chosen remove');
    await terminal.waitFor('> a draft');
    expect(terminal.screen().filter((line) => line.includes('⧗ second'))).toEqual([]);
    terminal.type('\u001B[1;3A');
    await terminal.waitFor('3 lines to be sent');
    terminal.type('\u001B[H\r');
    await terminal.waitFor(/> taken e\d+\n {2}a draft/);
    terminal.type('\u0003');
    await terminal.waitFor('> Ask, or');
    await end(it);
  });

  it('shows a tool at work, then its card, and opens it with Ctrl-O', async () => {
    const it = await run();
    const { terminal } = it;
    terminal.type('tool\r');
    await terminal.waitFor('⎿ half done');
    await terminal.waitFor('… +31 lines (Ctrl-O expands)');
    terminal.type('\u000F');
    await terminal.waitFor('step 20');
    await end(it);
  });

  it('interrupts with Esc and goes on', async () => {
    const it = await run();
    const { terminal } = it;
    terminal.type('paragraphs\r');
    await terminal.waitFor(() => count(terminal.lines(), 'P9 ends') > 0);
    terminal.type('\u001B');
    await terminal.waitFor('⎿ interrupted');
    await terminal.settled();
    expect(count(terminal.lines(), 'P150')).toBe(0);
    terminal.type('tool\r');
    await terminal.waitFor('step 38');
    await end(it);
  });

  it('follows a window that grows while an answer streams, and narrows after it: nothing is lost or doubled', async () => {
    const it = await run(80, 20);
    const { terminal } = it;
    terminal.type('paragraphs\r');
    for (const [columns, rows] of [[100, 20], [100, 24], [120, 40]] as const) {
      await new Promise((resolve) => { setTimeout(resolve, 150); });
      terminal.resize(columns, rows);
    }
    await terminal.waitFor('P199 ends', 30_000);
    await terminal.settled(300);
    expect(terminal.screen().filter((line) => /^─+$/.test(line)).map((line) => line.length)).toEqual([119, 119]);
    const lines = terminal.lines();
    for (let i = 0; i < 200; i += 1) expect(count(lines, `P${i} begins here P${i} ends here.`), `P${i}`).toBe(1);
    for (const columns of [70, 50, 90]) {
      terminal.resize(columns, 40);
      await terminal.waitFor((screen) => screen.filter((line) => /^─+$/.test(line)).map((line) => line.length).join(' ') === `${columns - 1} ${columns - 1}`);
    }
    await end(it);
  });

  it('is whole in a window of 40 by 10, and without colours', async () => {
    const it = await run(40, 10, { NO_COLOR: '1' });
    const { terminal } = it;
    terminal.type('ask\r');
    await terminal.waitFor('3 no, and tell it what to do');
    for (const line of terminal.screen()) expect(line.length).toBeLessThanOrEqual(40);
    terminal.type('1');
    await terminal.waitFor('answer {"kind":"yes"}');
    terminal.type('code\r');
    await terminal.waitFor('const c399x', 30_000);
    await end(it);
    expect(terminal.raw()).not.toMatch(/\u001B\[[\d;]*m/);
  });

  it('writes nothing at rest', async () => {
    const it = await run();
    const { terminal } = it;
    terminal.type('tool\r');
    await terminal.waitFor('… +31 lines');
    await terminal.settled(300);
    const before = terminal.raw().length;
    await new Promise((resolve) => { setTimeout(resolve, 1000); });
    expect(terminal.raw().length).toBe(before);
    await end(it);
  });
});
