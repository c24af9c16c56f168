import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { CallId } from '#domain/tool.ts';
import { runShell, type ShellRequest } from '#tools/shell/run.ts';
import { finish, openHouse, textOf } from './support.ts';

const never = new AbortController().signal;

function shell(command: string, more: Partial<ShellRequest> = {}): ReturnType<typeof runShell> {
  return runShell({ command, cwd: tmpdir(), env: { PATH: process.env['PATH'] ?? '' }, shell: '/bin/bash', timeoutMs: 60_000, signal: never, mostOutput: 30_000, ...more });
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

async function until(what: () => boolean): Promise<void> {
  for (let tries = 0; tries < 400 && !what(); tries += 1) await pause(50);
  expect(what()).toBe(true);
}

describe('runShell', () => {
  test.each(['/bin/bash', '/bin/sh'])('%s: output of both streams in order, exit code, no input, no terminal', async (program) => {
    const result = await shell('echo one; echo two >&2; echo three; cat; (echo x >/dev/tty) 2>/dev/null || echo no tty; exit 3', { shell: program });
    expect(result).toMatchObject({ how: 'exited', output: 'one\ntwo\nthree\nno tty\n', exitCode: 3, endedBy: null, running: [] });
  });

  test('what is wrong with the command itself is output too', async () => {
    const result = await shell('if then');
    expect(result.exitCode).toBe(2);
    expect(result.output).toContain('syntax error');
  });

  test('the environment is the one given, and the guards win', async () => {
    const { output } = await shell('echo "$A $GIT_EDITOR $GIT_TERMINAL_PROMPT $PAGER $PINION ${CI-unset}"', { env: { PATH: process.env['PATH'] ?? '', A: 'a', GIT_EDITOR: 'vim' } });
    expect(output).toBe('a true 0 cat 1 unset\n');
  });

  test('B-06: much on one stream before anything on the other', async () => {
    const { output, bytes } = await shell('head -c 5000000 /dev/zero | tr "\\0" "x" >&2; echo end');
    expect(bytes).toBe(5_000_004);
    expect(output.length).toBeLessThan(30_200);
    expect(output).toMatch(/^x{10000}\n\[… shown the first 10000 and the last \d+ of 5000004 characters/);
    expect(output).toMatch(/xend\n$/);
  });

  test('B-01, B-05: a child in the background, with the pipes or in a session of its own, does not hold the result', async () => {
    const begin = Date.now();
    const plain = await shell('sleep 61 & echo done');
    expect(plain).toMatchObject({ how: 'exited', exitCode: 0, output: 'done\n' });
    expect(plain.running).toEqual([expect.stringMatching(/^\d+ \(sleep\)$/)]);
    const apart = await shell('setsid sleep 61 & echo $!');
    expect(Date.now() - begin).toBeLessThan(15_000);
    for (const pid of [Number.parseInt(plain.running[0] ?? '', 10), Number(apart.output)]) process.kill(pid);
  });

  test('what runs in the background may go on writing', async () => {
    const house = openHouse();
    const file = join(house.root, 'alive');
    await shell(`(sleep 0.4; echo late; echo late >&2; echo alive >'${file}') & echo done`);
    await until(() => existsSync(file));
  });

  test('B-02, B-04: the time-out ends children, those that ignore TERM and those in a session of their own', async () => {
    const result = await shell('echo $$; setsid sleep 63 & echo $!; (trap "" TERM; sleep 64) & echo $!; sleep 65', { timeoutMs: 300 });
    expect(result.how).toBe('timedOut');
    expect(result.exitCode).toBeNull();
    const pids = result.output.trim().split('\n').map(Number);
    expect(pids).toHaveLength(3);
    await until(() => !pids.some(lives));
  });

  test('an interrupt answers at once with what there is; the end of the command goes on', async () => {
    const stop = new AbortController();
    const running = shell('trap "" TERM; echo $$; sleep 66; sleep 66', { signal: stop.signal });
    await pause(400);
    const begin = Date.now();
    stop.abort();
    const result = await running;
    expect(Date.now() - begin).toBeLessThan(5000);
    expect(result.how).toBe('interrupted');
    const pid = Number(result.output);
    await until(() => !lives(pid));
  });

  test('a shell that a signal ended, one that is not there, a folder that is not there', async () => {
    expect(await shell('kill -SEGV $$')).toMatchObject({ how: 'exited', exitCode: null, endedBy: 'SIGSEGV' });
    expect(await shell('true', { shell: '/no/such/shell' })).toMatchObject({ how: 'notStarted' });
    expect(await shell('true', { cwd: '/no/such/folder' })).toMatchObject({ how: 'notStarted' });
    expect(await shell(`true ${'x'.repeat(4_000_000)}`)).toMatchObject({ how: 'notStarted' });
    expect(await shell('a\0b')).toMatchObject({ how: 'notStarted' });
  });

  test('it knows where the shell was, also after exit and with odd names', async () => {
    const house = openHouse();
    const odd = join(house.root, "a 'b\" $c");
    mkdirSync(odd);
    expect((await shell('cd "$A"; exit 1', { env: { A: odd } })).cwd).toBe(odd);
    expect((await shell('cd /; set -C; set -e; false')).cwd).toBe('/');
  });

  test('the last lines are told while it runs', async () => {
    const told: string[] = [];
    await shell('echo a; sleep 0.3; echo b; sleep 0.3', { onProgress: (tail) => { told.push(tail); } });
    expect(told).toContain('a');
    expect(told.at(-1)).toBe('a\nb');
  });

  test('no files are left in the folder for temporary ones', async () => {
    const house = openHouse();
    const began = Date.now();
    await shell(`TMPDIR=${house.root} true`);
    // Other tests run beside this one: theirs are there for a moment too.
    const made = readdirSync(tmpdir()).filter((name) => name.startsWith('pinion-shell-')).map((name) => join(tmpdir(), name));
    const fresh = made.filter((path) => (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= began);
    await expect.poll(() => fresh.filter((path) => existsSync(path)), { timeout: 10_000 }).toEqual([]);
  });
});

describe('Bash', () => {
  test('says output and exit code; failures have a bad card', async () => {
    const house = openHouse();
    expect(await house.say('Bash', { command: 'echo hi', description: 'Greets' })).toEqual({ kind: 'ok', text: 'hi' });
    const failed = await house.call('Bash', { command: 'echo no; exit 4' });
    expect(failed.result).toMatchObject({ kind: 'failed', card: { title: 'Bash echo no; exit 4', detail: 'exit code 4', tone: 'bad', body: [{ type: 'code', text: 'no' }] } });
    expect(textOf(failed)).toBe('no\n[exit code 4]');
    expect(textOf(await house.call('Bash', { command: 'true' }))).toBe('');
  });

  test('B-15, B-16: cd is kept within the workspace, undone outside, and said', async () => {
    const house = openHouse();
    mkdirSync(join(house.root, 'sub'));
    const moved = await house.call('Bash', { command: 'cd sub && pwd' });
    expect(moved.entries).toEqual([{ type: 'cwd', path: join(house.root, 'sub') }]);
    expect(textOf(moved)).toBe(`${join(house.root, 'sub')}\n[the working directory is now ${join(house.root, 'sub')}]`);
    expect(textOf(await house.call('Bash', { command: 'pwd' }))).toBe(join(house.root, 'sub'));
    const out = await house.call('Bash', { command: 'cd /usr && pwd' });
    expect(textOf(out)).toBe(`/usr\n[the working directory stays ${join(house.root, 'sub')}: /usr is outside of the workspace]`);
    expect(out.entries ?? []).toEqual([]);
    writeFileSync(join(house.root, 'sub/x.txt'), 'here');
    expect((await house.say('Read', { file_path: 'x.txt' })).text).toContain('here');
  });

  test('B-14: a working directory that is gone is given up for the workspace, and said', async () => {
    const house = openHouse();
    mkdirSync(join(house.root, 'sub'));
    await house.call('Bash', { command: 'cd sub' });
    rmSync(join(house.root, 'sub'), { recursive: true });
    const outcome = await house.call('Bash', { command: 'pwd' });
    expect(textOf(outcome)).toBe(`${house.root}\n[the working directory ${join(house.root, 'sub')} is gone; the command ran in ${house.root}]`);
    expect(outcome.entries).toEqual([{ type: 'cwd', path: house.root }]);
  });

  test('a link that leads out of the workspace is outside', async () => {
    const house = openHouse();
    symlinkSync(realpathSync(tmpdir()), join(house.root, 'link'));
    expect((await house.call('Bash', { command: 'cd link' })).entries ?? []).toEqual([]);
  });

  test('the time-out is told, with the output so far', async () => {
    const outcome = await openHouse().call('Bash', { command: 'echo so far; sleep 67', timeout: 300 });
    expect(outcome.result).toMatchObject({ kind: 'failed', card: { detail: 'ended at its time-out of 0.3 s' } });
    expect(textOf(outcome)).toBe('so far\n[ended at its time-out of 0.3 s]');
  });

  test('an interrupt keeps the output so far', async () => {
    const house = openHouse();
    const stop = new AbortController();
    const running = house.call('Bash', { command: 'echo so far; sleep 68' }, stop.signal);
    await pause(500);
    stop.abort();
    const outcome = await running;
    expect(outcome.result.kind).toBe('interrupted');
    expect(textOf(outcome)).toContain('so far');
  });

  test('B-17: commands of one session run one after another, also when asked for at once', async () => {
    const house = openHouse();
    const one = house.call('Bash', { command: 'sleep 0.3; echo 1 >>log' });
    const two = house.call('Bash', { command: 'echo 2 >>log' });
    const stop = new AbortController();
    const three = house.call('Bash', { command: 'echo 3 >>log' }, stop.signal);
    stop.abort();
    expect((await three).result.kind).toBe('interrupted');
    await Promise.all([one, two]);
    expect(readFileSync(join(house.root, 'log'), 'utf8')).toBe('1\n2\n');
  });

  test('progress comes while it runs', async () => {
    const house = openHouse();
    const told: string[] = [];
    const run = house.toolbox.run({ id: 'toolu_1' as CallId, tool: 'Bash', input: { command: 'echo a; sleep 0.4' } }, house.session, never);
    await finish(run, (text) => { told.push(text); });
    expect(told).toContain('a');
  });

  test('settings of time and length come from the environment, up to their limits', async () => {
    const house = openHouse({ env: { BASH_DEFAULT_TIMEOUT_MS: '300', BASH_MAX_OUTPUT_LENGTH: '300' } });
    expect((await house.say('Bash', { command: 'seq 1000' })).text.length).toBeLessThan(600);
    expect((await house.say('Bash', { command: 'sleep 69' })).text).toContain('time-out of 0.3 s');
  });

  test('a long command is in the card as a whole', async () => {
    const house = openHouse();
    const command = 'echo one\necho two';
    const card = await house.toolbox.preview({ id: 'x' as CallId, tool: 'Bash', input: { command } }, house.session);
    expect(card).toEqual({ title: 'Bash echo one …', body: [{ type: 'code', text: command, language: 'bash' }] });
  });
});
