import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { bundleProgram } from '../support/bundle.ts';
import { openVirtualTerminal, type VirtualTerminal } from '../support/virtual-terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'early-'));
const program = join(folder, 'early.mjs');
const open: VirtualTerminal[] = [];
beforeAll(async () => { await bundleProgram(new URL('programs/early.tsx', import.meta.url), program); });
afterEach(async () => { for (const terminal of open.splice(0)) await terminal.close(); });
afterAll(() => { rmSync(folder, { recursive: true, force: true, maxRetries: 5 }); });

function run(ms: number, env: Record<string, string> = {}): VirtualTerminal {
  const terminal = openVirtualTerminal({ command: '/bin/bash', args: ['-c', `echo shell; '${process.execPath}' '${program}' ${ms}; echo "code $?"; stty -a | grep -o " icanon"`], env });
  open.push(terminal);
  return terminal;
}

it('takes keys before the screen is there, and goes on with text and cursor when it comes', async () => {
  const terminal = run(1500);
  await terminal.waitFor('> Ask');
  terminal.type('hello wörld 日本\x1b[D');
  await terminal.waitFor('> hello wörld 日本');
  expect(terminal.screen().join('\n')).not.toContain('ready');
  await terminal.waitFor('ready');
  terminal.type('!');
  await terminal.waitFor('> hello wörld 日!本');
  await terminal.settled();
  expect(terminal.cursor()).toEqual({ column: 2 + 'hello wörld 日!'.length + 1, row: 2 });
  expect(terminal.lines().filter((line) => line.startsWith('─'))).toHaveLength(2);
  expect(terminal.screen()[0]).toBe('shell');
});

it('keeps what was sent meanwhile, shows it, and sends it once, in order', async () => {
  const terminal = run(1500);
  await terminal.waitFor('> Ask');
  terminal.type('one\r');
  await terminal.waitFor(/^> one$/m);
  terminal.type('\x1b[Ztwo');
  terminal.type('\x1b\rlines\r');
  await terminal.waitFor(/^> two$/m);
  terminal.type('draft');
  await terminal.waitFor('ready');
  await terminal.waitFor('sent: two');
  expect(terminal.screen().slice(0, 8)).toEqual(['shell', 'sent: one', 'mode', 'sent: two', 'lines', '─'.repeat(80), '> draft', '─'.repeat(80)]);
});

it('sends what was typed and entered before it was there at all', async () => {
  const terminal = openVirtualTerminal({ command: '/bin/bash', args: ['-c', `echo now; sleep 1; '${process.execPath}' '${program}' 300`] });
  open.push(terminal);
  await terminal.waitFor('now');
  terminal.type('wörds\r');
  await terminal.waitFor('sent: wörds');
  expect(terminal.screen()).toContain('> Ask, or / for commands, @ for files, ! for the shell, ? for keys');
});

it('asks for completions once there is somebody to ask', async () => {
  const terminal = run(1200);
  await terminal.waitFor('> Ask');
  terminal.type('@abc');
  await terminal.waitFor('› abc.ts');
});

it('can be left before the screen is there', async () => {
  const terminal = run(20_000);
  await terminal.waitFor('> Ask');
  terminal.type('\x03\x03');
  await terminal.waitFor('code 0');
  await terminal.waitFor(' icanon');
});

it('keeps one frame through changes of size before the screen is there', async () => {
  const terminal = run(20_000, { NO_COLOR: '1' });
  await terminal.waitFor('> Ask');
  for (const columns of [50, 100, 30]) {
    terminal.resize(columns, 24);
    await terminal.waitFor((screen) => screen.filter((line) => line.startsWith('─')).join(' ') === `${'─'.repeat(columns)} ${'─'.repeat(columns)}`);
  }
  expect(terminal.screen()[0]).toBe('shell');
  expect(terminal.raw()).not.toMatch(/\x1b\[[0-9;]+m/);
});

it('loads nothing heavy for the first frame', async () => {
  const { metafile } = await build({
    entryPoints: [fileURLToPath(new URL('../../src/ui/early.ts', import.meta.url))], bundle: true, splitting: true, format: 'esm', platform: 'node',
    minify: true, write: false, metafile: true, outdir: folder, logLevel: 'error',
  });
  const [first] = Object.values(metafile.outputs).filter((output) => output.entryPoint !== undefined);
  const inputs = Object.keys(first?.inputs ?? {});
  expect(inputs.filter((path) => path.includes('node_modules'))).toEqual([]);
  expect(first?.bytes).toBeLessThan(60_000);
});
