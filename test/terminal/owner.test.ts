import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bundleProgram } from '../support/bundle.ts';
import { openVirtualTerminal, type VirtualTerminal } from '../support/virtual-terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'owner-'));
const program = join(folder, 'owner.mjs');
const open: VirtualTerminal[] = [];
beforeAll(async () => { await bundleProgram(new URL('programs/owner.ts', import.meta.url), program); });
afterEach(async () => {
  rmSync(`${program}.last`, { force: true });
  for (const terminal of open.splice(0)) await terminal.close(); });
afterAll(() => { rmSync(folder, { recursive: true, force: true, maxRetries: 5 }); });

/** Runs the program in a shell that tells the terminal's settings before and after, and the exit code. */
function run(way: string, env: Record<string, string> = {}): VirtualTerminal {
  const script = `stty -g > '${folder}/before'; '${process.execPath}' '${program}' ${way}; code=$?; stty -g > '${folder}/after'; echo "code $code"`;
  const terminal = openVirtualTerminal({ command: '/bin/bash', args: ['-c', script], env });
  open.push(terminal);
  return terminal;
}

function expectRestored(terminal: VirtualTerminal): void {
  execFileSync('cmp', [join(folder, 'before'), join(folder, 'after')]);
  const raw = terminal.raw();
  for (const mode of ['?2004', '?1004']) expect(raw.lastIndexOf(`\x1b[${mode}l`)).toBeGreaterThan(raw.lastIndexOf(`\x1b[${mode}h`));
  expect(raw.lastIndexOf('\x1b[<u')).toBeGreaterThan(raw.lastIndexOf('\x1b[>1u'));
  expect(raw.lastIndexOf('\x1b[?25h')).toBeGreaterThan(raw.lastIndexOf('\x1b[?25l'));
  // Undone in reverse order of set-up.
  const end = raw.slice(raw.lastIndexOf('\x1b[?1004l'));
  expect(end.indexOf('\x1b[<u')).toBeLessThan(end.indexOf('\x1b[?2004l'));
}

/** The process that the shell runs. */
function child(terminal: VirtualTerminal): number {
  return Number(execFileSync('ps', ['-o', 'pid=', '--ppid', String(terminal.pid)], { encoding: 'utf8' }).trim().split('\n')[0]);
}

describe('every way out gives the terminal back', () => {
  it.each([
    ['exit', 7, ''], ['close', 0, 'after'], ['leave', 3, 'said at the end'],
    ['throw', 1, 'pinion: unexpected error: boom with more'], ['reject', 1, 'pinion: unexpected error: late boom'],
  ])('%s', async (way, code, line) => {
    const terminal = run(way);
    await terminal.waitFor('frame end');
    terminal.type('\x04');
    await terminal.waitFor(`code ${code}`);
    await terminal.ended;
    expectRestored(terminal);
    const lines = terminal.screen().filter((text) => text !== '');
    expect(lines).toEqual(['frame top', 'heard:', 'frame end', ...(line === '' ? [] : [line]), `code ${code}`]);
  });
  it.each([['SIGINT', 130], ['SIGTERM', 143], ['SIGHUP', 129], ['SIGQUIT', 131]] as const)('%s', async (signal, code) => {
    const terminal = run('exit');
    await terminal.waitFor('frame end');
    process.kill(child(terminal), signal);
    await terminal.waitFor(`code ${code}`);
    await terminal.ended;
    expectRestored(terminal);
    expect(existsSync(`${program}.last`)).toBe(true);
  });
  it('ends when the terminal itself is gone', async () => {
    const terminal = run('exit');
    await terminal.waitFor('frame end');
    const pid = child(terminal);
    await terminal.close();
    await expect.poll(() => existsSync(`/proc/${pid}`), { timeout: 5000 }).toBe(false);
  });
});

describe('while the terminal is open', () => {
  it('hears keys, pastes and the window', async () => {
    const terminal = run('exit');
    await terminal.waitFor('frame end');
    terminal.type('a\x1b[A');
    await terminal.waitFor('heard: a up');
    terminal.type('\x1b[200~one\rtwo\x1b[201~');
    await terminal.waitFor(/a up paste\(one/);
    terminal.type('\x1b');
    await terminal.waitFor('escape');
  });
  it('stops on Ctrl-Z under a shell with jobs, and goes on with fg, screen and modes anew', async () => {
    const terminal = openVirtualTerminal({ command: '/bin/bash', args: ['--norc', '-i'], env: { PS1: 'sh> ' } });
    open.push(terminal);
    await terminal.waitFor('sh>');
    terminal.type(`'${process.execPath}' '${program}' exit\r`);
    await terminal.waitFor('frame end');
    terminal.type('\x1a');
    await terminal.waitFor('Stopped');
    terminal.type('stty -a | grep -o " icanon"\r');
    await terminal.waitFor(/^ icanon/m);
    terminal.type('fg\r');
    await terminal.waitFor('frame end');
    terminal.type('x');
    await terminal.waitFor('heard: x');
    terminal.type('\x04');
    await terminal.waitFor((screen) => screen.filter((line) => line.startsWith('sh>')).length === 4);
    terminal.type('stty -a | grep -o " icanon"; echo done\r');
    await terminal.waitFor(/^ icanon\ndone/m);
  });
  it('stops itself where nobody watches the group, saying how it goes on, and sets modes anew when another hand stopped it', async () => {
    const terminal = openVirtualTerminal({ command: process.execPath, args: [program, 'exit'] });
    open.push(terminal);
    await terminal.waitFor('frame end');
    terminal.type('\x1a');
    await terminal.waitFor(`kill -CONT ${terminal.pid}`);
    process.kill(terminal.pid, 'SIGCONT');
    await terminal.waitFor('frame end');
    const before = terminal.raw().split('\x1b[?2004h').length;
    process.kill(terminal.pid, 'SIGSTOP');
    process.kill(terminal.pid, 'SIGCONT');
    await expect.poll(() => terminal.raw().split('\x1b[?2004h').length).toBe(before + 1);
    terminal.type('y');
    await terminal.waitFor('heard: y');
    expect(terminal.screen().filter((line) => line === 'frame top')).toHaveLength(1);
  });
  it('lends the terminal to an editor and takes it back', async () => {
    const editor = join(folder, 'editor');
    writeFileSync(editor, '#!/bin/bash\nstty -a | grep -o " icanon" > "$0.mode"\nread -p "type: " word < /dev/tty\nprintf "%s %s\\n" "$(cat "$2")" "$word" > "$2"\n');
    chmodSync(editor, 0o755);
    const terminal = run('exit', { VISUAL: `'${editor}' --wait` });
    await terminal.waitFor('frame end');
    terminal.type('\x07');
    await terminal.waitFor('type:');
    terminal.type('after\r');
    await terminal.waitFor('heard: {"ok":true,"text":"before after"}');
    expect(execFileSync('cat', [`${editor}.mode`], { encoding: 'utf8' })).toBe(' icanon\n');
    terminal.type('z');
    await terminal.waitFor('"} z');
  });
  it('says in one line what is wrong with an editor', async () => {
    const terminal = run('exit', { VISUAL: '', EDITOR: 'no-such-editor' });
    await terminal.waitFor('frame end');
    terminal.type('\x07');
    await terminal.waitFor('(EDITOR): not found;');
  });
});
