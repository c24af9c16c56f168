import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { type CommandRun, createGroups, runCommand } from '#hooks/command.ts';
import { tempFolder } from '../support/temp.ts';

const never = new AbortController().signal;

function run(command: string, more: Partial<CommandRun> = {}) {
  const groups = createGroups();
  onTestFinished(() => { groups.end(); });
  return runCommand({ command, shell: ['/bin/sh', '-c'], cwd: tempFolder(), env: { PATH: process.env['PATH'] ?? '' }, input: '{"a":1}', timeoutMs: 10_000, signal: never, ...more }, groups);
}

async function gone(file: string): Promise<boolean> {
  const pid = Number(readFileSync(file, 'utf8'));
  for (let tries = 0; tries < 60; tries += 1) {
    try {
      process.kill(pid, 0);
    } catch {
      return true;
    }
    await pause(50);
  }
  return false;
}

it('a hook reads JSON and answers on both streams and by its exit code', async () => {
  expect(await run('cat; echo err >&2; exit 2')).toEqual({ kind: 'done', exitCode: 2, stdout: '{"a":1}\n', stderr: 'err\n' });
});

it('one that does not read its input, or reads no end of it, does no harm', async () => {
  expect(await run('exit 0', { input: 'x'.repeat(1_000_000) })).toMatchObject({ kind: 'done', exitCode: 0 });
});

it('with arguments it is a program, without a shell', async () => {
  expect(await run('printf', { args: ['%s|', '$HOME', 'a b', "it's"] })).toMatchObject({ stdout: "$HOME|a b|it's|" });
  expect(await run('no-such-program-here', { args: [] })).toMatchObject({ kind: 'failed', problem: expect.stringContaining('ENOENT') });
});

it('it has no terminal', async () => {
  expect(await run('(exec </dev/tty) 2>/dev/null && echo has || echo none')).toMatchObject({ stdout: 'none\n' });
});

it('at its time-out it is ended with all that it started, whatever it ignores', async () => {
  const folder = tempFolder();
  const pid = join(folder, 'pid');
  const ran = await run(`trap '' TERM; (trap '' TERM; sleep 60) & echo $! > ${pid}; echo half; sleep 60`, { timeoutMs: 300 });
  expect(ran).toMatchObject({ kind: 'timedOut', stdout: 'half\n' });
  expect(await gone(pid)).toBe(true);
});

it('an interrupt ends it at once', async () => {
  const folder = tempFolder();
  const stop = new AbortController();
  const running = run(`echo $$ > ${join(folder, 'pid')}; sleep 60`, { signal: stop.signal });
  while (!existsSync(join(folder, 'pid')) || !readFileSync(join(folder, 'pid'), 'utf8').endsWith('\n')) await pause(10);
  stop.abort();
  expect(await running).toMatchObject({ kind: 'cancelled' });
  expect(await gone(join(folder, 'pid'))).toBe(true);
});

it('what it leaves in the background is not waited for', async () => {
  expect(await run('sleep 5 & echo done')).toMatchObject({ kind: 'done', exitCode: 0, stdout: 'done\n' });
});

it('megabytes are cut, and a character is never torn', async () => {
  const { stdout } = await run('head -c 3000000 /dev/zero | tr "\\0" x; exit 0');
  expect(stdout.length).toBe(1024 * 1024);
  expect((await run('printf "\\303"; sleep 0.05; printf "\\244"')).stdout).toBe('ä');
});

it('one that a signal ends has failed', async () => {
  expect(await run('kill -9 $$')).toMatchObject({ kind: 'failed', problem: 'ended by SIGKILL' });
});
