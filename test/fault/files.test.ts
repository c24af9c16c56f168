import { execFileSync } from 'node:child_process';
import { chmodSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { call, say } from '../support/messages-server/reply.ts';
import { expectValid, last, type Product, product, resultIn, serve, wordsOf } from '../support/product.ts';

const BYPASS = ['--permission-mode', 'bypassPermissions'];
const PRELOAD = fileURLToPath(new URL('die-in-write.mjs', import.meta.url));
const OLD = `${'old line\n'.repeat(1000)}end\n`;

describe('a program that is killed while it writes a file', () => {
  async function killed(where: string, twin: boolean, words: string): Promise<Product & { readonly stderr: string }> {
    const server = await serve([{ content: [call('Read', { file_path: 'a.txt' })] }, { content: [call('Write', { file_path: 'a.txt', content: words })] }, say('Hello.'), say('Hello.')]);
    const place = product({ 'a.txt': OLD, 'd/x': '' }, server);
    chmodSync(join(place.cwd, 'a.txt'), 0o750);
    if (twin) linkSync(join(place.cwd, 'a.txt'), join(place.cwd, 'd/b.txt'));
    expect((await place.run(['-p', 'Write', ...BYPASS], { env: { NODE_OPTIONS: `--import ${PRELOAD}`, DIE_IN_WRITE: where } })).code).toBe(137);
    return { ...place, stderr: (await place.run(['-p', 'Hello'])).stderr };
  }

  it('beside it leaves the old bytes, and no temporary file after the next start', async () => {
    const { cwd, home, stderr } = await killed('temporary', false, 'new\n');
    expect([readFileSync(join(cwd, 'a.txt'), 'utf8'), statSync(join(cwd, 'a.txt')).mode & 0o777]).toEqual([OLD, 0o750]);
    expect([readdirSync(cwd).sort(), readdirSync(join(home, 'drafts')), stderr]).toEqual([['a.txt', 'd'], [], '']);
  });

  it.each([['half', 'new line\n'.repeat(1900)], ['half', 'new line\n'.repeat(500)], ['untrimmed', 'new\n']])('in place (%s) has the old bytes back after the next start, which says so', async (where, words) => {
    const { cwd, home, stderr } = await killed(where, true, words);
    for (const name of ['a.txt', 'd/b.txt']) expect(readFileSync(join(cwd, name), 'utf8')).toBe(OLD);
    expect(readdirSync(join(home, 'drafts'))).toEqual([]);
    expect(stderr).toMatch(/^pinion: [^\n]*a\.txt was being written[^\n]*old contents again\.\n$/);
  });

  it('leaves alone what somebody has written since', async () => {
    const server = await serve([{ content: [call('Read', { file_path: 'a.txt' })] }, { content: [call('Write', { file_path: 'a.txt', content: 'new\n'.repeat(1500) })] }, say('Hello.')]);
    const place = product({ 'a.txt': OLD }, server);
    linkSync(join(place.cwd, 'a.txt'), join(place.cwd, 'b.txt'));
    await place.run(['-p', 'Write', ...BYPASS], { env: { NODE_OPTIONS: `--import ${PRELOAD}`, DIE_IN_WRITE: 'half' } });
    writeFileSync(join(place.cwd, 'a.txt'), 'mine\n');
    expect((await place.run(['-p', 'Hello'])).stderr).toBe('');
    expect(readFileSync(join(place.cwd, 'b.txt'), 'utf8')).toBe('mine\n');
  });
});

it('odd files are told of, never waited for, and never take all memory', async () => {
  const names = ['pipe', 'zero', 'tty', '/proc/self/mem', 'huge.bin', 'folder', 'loop', 'gone'];
  const calls = [
    ...names.flatMap((name) => [call('Read', { file_path: name }), call('Edit', { file_path: name, old_string: 'a', new_string: 'b' }), call('Write', { file_path: name, content: 'x' }), call('Grep', { pattern: 'x', path: name })]),
    call('Grep', { pattern: 'needle', output_mode: 'content' }), call('Glob', { pattern: '**/*' }),
  ];
  const server = await serve([...calls.map((one) => ({ content: [one] })), say('Done.')]);
  const place = product({ 'a.txt': 'needle\n' }, server);
  const inside = (name: string): string => join(place.cwd, name);
  execFileSync('mkfifo', [inside('pipe')]);
  for (const [name, target] of [['zero', '/dev/zero'], ['tty', '/dev/tty'], ['loop', 'loop'], ['gone', 'nowhere/at/all']] as const) symlinkSync(target, inside(name));
  execFileSync('truncate', ['-s', '20G', inside('huge.bin')]);
  mkdirSync(inside('folder'));
  writeFileSync(Buffer.concat([Buffer.from(`${place.cwd}/`), Buffer.from([0xff, 0xfe]), Buffer.from('.txt')]), 'needle in an odd name\n');
  const { code, stdout, stderr } = await place.run(['-p', 'Look @pipe @zero @huge.bin @/dev/zero @loop', '--pin', 'huge.bin', '--output-format', 'json', ...BYPASS]);
  expect([code, resultIn(stdout).result]).toEqual([0, 'Done.']);
  expect(stderr).toMatch(/^(?:pinion: reminder [^\n]+\n)+$/);
  expectValid(server);
  const told = wordsOf(last(server.requests));
  expect(told).toContain('a.txt:1:needle');
  expect(told).toContain('needle in an odd name');
});

describe('a command of the model', () => {
  async function told(command: string, timeout = 1500): Promise<{ readonly words: string; readonly ms: number; readonly place: Product }> {
    const server = await serve([{ content: [call('Bash', { command, timeout })] }, say('Done.')]);
    const place = product({}, server);
    const from = Date.now();
    expect((await place.run(['-p', 'Run', ...BYPASS])).code).toBe(0);
    expectValid(server);
    return { words: wordsOf(last(server.requests)), ms: Date.now() - from, place };
  }
  const alive = (file: string): boolean => {
    try {
      return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${readFileSync(file, 'utf8').trim()}/stat`, 'utf8'));
    } catch {
      return false;
    }
  };

  it('that leaves a child behind does not hold the program', async () => {
    const { words, ms, place } = await told('sleep 30 & echo $! > child; echo begun', 20_000);
    expect(words).toMatch(/begun[\s\S]*still running in the background/);
    expect(ms).toBeLessThan(15_000);
    process.kill(Number(readFileSync(join(place.cwd, 'child'), 'utf8')), 'SIGKILL');
  });

  it('that will not end is ended with all that it began', async () => {
    const { words, place } = await told('trap "" TERM; (trap "" TERM; echo $BASHPID > one; while :; do sleep 0.1; done) & (setsid sh -c \'trap "" TERM; echo $$ > two; while :; do sleep 0.1; done\') & while :; do sleep 0.1; done');
    expect(words).toContain('time-out');
    for (const name of ['one', 'two']) expect(alive(join(place.cwd, name))).toBe(false);
  });

  it('may print for ever, and bytes that are no text, into little memory', async () => {
    const { words, place } = await told('grep VmHWM /proc/$PPID/status > before; yes | head -c 200M; yes | head -c 50M >&2; head -c 3M /dev/urandom; grep VmHWM /proc/$PPID/status > after', 60_000);
    expect(words).toMatch(/binary|shown the first/);
    const kilobytes = (name: string): number => Number(/(\d+) kB/.exec(readFileSync(join(place.cwd, name), 'utf8'))?.[1]);
    expect(kilobytes('after') - kilobytes('before')).toBeLessThan(120_000);
  });
});
