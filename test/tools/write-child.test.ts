import { spawnSync, type SpawnSyncOptions } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** Writing under conditions that only a process of its own can have: another user, a full disk, a sudden end. */
let base = '';
let script = '';

beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'pinion-write-'));
  chmodSync(base, 0o755);
  script = join(base, 'write.mjs');
  buildSync({
    stdin: {
      resolveDir: process.cwd(), loader: 'ts', contents: `
        import { readRegular } from '#tools/files/open.ts';
        import { writeRegular } from '#tools/files/write.ts';
        const [, , real = '', text = '', times = '1'] = process.argv;
        try {
          await writeRegular({ real, bytes: Buffer.from(text.repeat(Number(times))), before: await readRegular(real), signal: new AbortController().signal });
          process.stdout.write('ok');
        } catch (error) {
          process.stdout.write(error.why ?? String(error));
        }`,
    },
    outfile: script, bundle: true, platform: 'node', format: 'esm', target: 'node20', logLevel: 'error',
  });
});

afterAll(() => { rmSync(base, { recursive: true, force: true, maxRetries: 5 }); });

let folders = 0;

function folder(content: string, mode: number): { readonly dir: string; readonly file: string } {
  folders += 1;
  const dir = join(base, `d${folders}`);
  mkdirSync(dir);
  const file = join(dir, 'f.txt');
  writeFileSync(file, content);
  chmodSync(file, mode);
  return { dir, file };
}

function write(file: string, text: string, options: SpawnSyncOptions = {}): string {
  return spawnSync(process.execPath, [script, file, text], { ...options, encoding: 'utf8' }).stdout;
}

/** Root may do everything; who is root runs these as nobody. */
const asNobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

describe('ED097: in a folder that takes no new file', () => {
  test('a file that may be written is written in place', () => {
    const { dir, file } = folder('a\n', 0o666);
    chmodSync(dir, 0o555);
    expect(write(file, 'b\n', asNobody)).toBe('ok');
    expect(readFileSync(file, 'utf8')).toBe('b\n');
    expect(readdirSync(dir)).toEqual(['f.txt']);
    chmodSync(dir, 0o755);
  });

  test('a file of somebody else is left alone', () => {
    if (process.getuid?.() !== 0) return;
    const { dir, file } = folder('a\n', 0o644);
    expect(write(file, 'b\n', asNobody)).toBe('cannotWrite');
    expect(readFileSync(file, 'utf8')).toBe('a\n');
    expect(readdirSync(dir)).toEqual(['f.txt']);
  });
});

test('ED098: a full disk leaves the file as it was, and nothing beside it', (context) => {
  const { dir } = folder('', 0o644);
  const inside = (prepare: string, times: number): string[] => {
    const shell = `mount -t tmpfs -o size=64k none ${dir} && ${prepare} && ${process.execPath} ${script} ${dir}/g.txt x ${times}; echo; cat ${dir}/g.txt; ls -A ${dir}`;
    return spawnSync('unshare', ['-Urm', 'sh', '-c', shell], { encoding: 'utf8' }).stdout?.trim().split('\n') ?? [];
  };
  const room = inside(`echo a >${dir}/g.txt`, 10);
  if (room[0] !== 'ok') context.skip();
  expect(inside(`echo a >${dir}/g.txt`, 100_000)).toEqual(['diskFull', 'a', 'g.txt']);
  expect(inside(`echo a >${dir}/g.txt && ln ${dir}/g.txt ${dir}/h.txt`, 100_000)).toEqual(['diskFull', 'a', 'g.txt', 'h.txt']);
});

test.each(['fsync', 'fchmod', 'rename'])('AT-E02: killed at %s, the file has its old bytes or its new ones', (call) => {
  const { file } = folder('old\n', 0o755);
  const killed = spawnSync('strace', ['-f', '-qq', '-o', '/dev/null', '-e', `trace=${call}`, '-e', `inject=${call}:signal=SIGKILL:when=1`, process.execPath, script, file, 'new\n'], { encoding: 'utf8' });
  expect(['old\n', 'new\n']).toContain(readFileSync(file, 'utf8'));
  expect(statSync(file).mode & 0o777).toBe(0o755);
  if (killed.error === undefined) expect(killed.stdout).toBe('');
});
