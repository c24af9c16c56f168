import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { StatusLineSetting } from '#domain/settings.ts';
import { createStatusLine, type StatusLineOptions } from '#main/status-line/command.ts';
import { tempFolder } from '../support/temp.ts';

interface Rig {
  readonly cwd: string;
  readonly shown: readonly (string | undefined)[];
  readonly faults: readonly string[];
  set(command: string | undefined, more?: Partial<StatusLineSetting>): void;
  touch(): void;
  close(): void;
}

function rig(command: string | undefined, more: Partial<StatusLineSetting> = {}, options: Partial<StatusLineOptions> = {}): Rig {
  const cwd = tempFolder();
  const shown: (string | undefined)[] = [];
  const faults: string[] = [];
  const settingOf = (text: string | undefined, extra: Partial<StatusLineSetting>): StatusLineSetting | undefined => (text === undefined ? undefined : { command: text, padding: 0, scope: 'user', file: '/s.json', ...extra });
  let setting = settingOf(command, more);
  const line = createStatusLine({
    setting: () => setting, input: () => Promise.resolve({ model: { display_name: 'M' } }), due: () => undefined,
    place: () => ({ cwd, env: { PATH: process.env['PATH'] ?? '' }, shell: '/bin/bash' }), size: () => ({ columns: 71, rows: 19 }),
    show: (output) => { shown.push(output); }, onFault: (message) => { faults.push(message); }, ...options,
  });
  onTestFinished(() => { line.close(); });
  return { cwd, shown, faults, set: (text, extra = {}) => { setting = settingOf(text, extra); }, touch: () => { line.touch(); }, close: () => { line.close(); } };
}

const until = (what: () => boolean) => expect.poll(what, { timeout: 20_000, interval: 10 }).toBe(true);

describe('the status line command', () => {
  it('is given the JSON, its folder and the size of the window, and what it writes is shown', async () => {
    const { shown, cwd } = rig('cat; pwd; echo "$COLUMNS $LINES"');
    await until(() => shown.length === 1);
    expect(shown).toEqual([`{"model":{"display_name":"M"}}\n${cwd}\n71 19\n`]);
  });

  it('need not read its input, and what it writes is moved in by its padding', async () => {
    const { shown, faults } = rig('printf "a\\n\\nb\\n"', { padding: 2 });
    await until(() => shown.length === 1);
    expect(shown).toEqual(['  a\n\n  b\n']);
    expect(faults).toEqual([]);
  });

  it('runs once for a burst of news', async () => {
    const { shown, touch, cwd } = rig('echo x >> runs; wc -l < runs');
    await until(() => shown.length === 1);
    for (let i = 0; i < 20; i += 1) touch();
    await until(() => shown.length === 2);
    expect(readFileSync(join(cwd, 'runs'), 'utf8')).toBe('x\nx\n');
  });

  it('gives way to a newer run, with all that it started', async () => {
    const { shown, set, touch, cwd } = rig('echo $$ > pid; sleep 30 | sleep 30; echo old; touch late');
    await until(() => existsSync(join(cwd, 'pid')) && readFileSync(join(cwd, 'pid'), 'utf8').endsWith('\n'));
    const group = Number(readFileSync(join(cwd, 'pid'), 'utf8'));
    set('echo new');
    touch();
    await until(() => shown.length > 0);
    expect(shown).toEqual(['new\n']);
    await until(() => !lives(group));
  });

  it('is asked again every so many seconds where that is wanted', async () => {
    const { shown } = rig('date +%N', { refreshSeconds: 0.05 });
    await until(() => shown.length > 2);
  });

  it('is asked again when the cache goes cold', async () => {
    let asked = 0;
    const { shown } = rig('date +%N', {}, { due: () => Date.now() + ((asked += 1) === 1 ? 100 : -100) });
    await until(() => shown.length === 2 && asked === 2);
  });

  it.each([
    ['exit 3', 'failed (exit code 3): exit 3'],
    ['echo "no such\nthing" >&2; false', 'failed (exit code 1, no such thing): echo "no such thing" >&2; false'],
    ['kill -9 $$', 'failed (SIGKILL): kill -9 $$'],
  ])('%j fails, which is said once', async (command, problem) => {
    const { shown, faults, touch } = rig(command);
    await until(() => shown.length === 1);
    touch();
    await until(() => shown.length === 2);
    expect(shown).toEqual([undefined, undefined]);
    expect(faults).toEqual([`the status line command ${problem}`]);
  });

  it('that hangs is ended', async () => {
    const { shown, faults } = rig('sleep 60; echo x', {}, { limitMs: 150 });
    await until(() => shown.length === 1);
    expect(shown).toEqual([undefined]);
    expect(faults).toEqual(['the status line command had no answer within 0.15 s: sleep 60; echo x']);
  });

  it('may leave something running in the background, which is not waited for and ends with the program', async () => {
    const { shown, cwd, close } = rig('sleep 60 & echo $! > pid; echo now');
    await until(() => shown.length === 1);
    expect(shown).toEqual(['now\n']);
    const pid = Number(readFileSync(join(cwd, 'pid'), 'utf8'));
    expect(lives(pid)).toBe(true);
    close();
    await until(() => !lives(pid));
  });

  it('that floods costs no memory', async () => {
    const { shown } = rig('head -c 3000000 /dev/zero | tr "\\0" x');
    await until(() => shown.length === 1);
    expect(shown[0]).toHaveLength(64 * 1024);
  });

  it('that writes nothing, or is none, leaves the program its own bar', async () => {
    const { shown, faults, set, touch } = rig('printf "\\n \\n"');
    await until(() => shown.length === 1);
    set(undefined);
    touch();
    await until(() => shown.length === 2);
    expect(shown).toEqual([undefined, undefined]);
    expect(faults).toEqual([]);
  });

  it('whose folder is gone says so', async () => {
    const { shown, faults } = rig('echo x', {}, { place: () => ({ cwd: '/nowhere/at/all', env: {}, shell: '/bin/bash' }) });
    await until(() => shown.length === 1);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(/^the status line command cannot be started /);
  });
});

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
