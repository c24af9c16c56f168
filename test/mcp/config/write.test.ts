import { fork } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Json } from '#lib/brand.ts';
import { headersFrom } from '#mcp/config/headers-helper.ts';
import type { Launch } from '#mcp/config/launch.ts';
import { addServer, namesIn, removeServer, type WriteTarget } from '#mcp/config/write.ts';
import { bundleProgram } from '../../support/bundle.ts';
import { isAlive, until } from '../../support/product.ts';
import { tempFolder } from '../../support/temp.ts';

const parsed = (file: string): Json => JSON.parse(readFileSync(file, 'utf8')) as Json;

describe('servers are written down', () => {
  it('at the top of our own file and under a project, and taken away again', async () => {
    const folder = tempFolder();
    const user: WriteTarget = { file: join(folder, 'home/mcp.json'), mode: 0o600 };
    const local: WriteTarget = { ...user, under: '/proj' };
    await addServer(user, 'a', { command: 'x' });
    await addServer(local, 'a', { command: 'y' });
    await addServer(local, '__proto__', { command: 'z' });
    expect(statSync(user.file).mode & 0o777).toBe(0o600);
    expect(namesIn(local)).toEqual(['a', '__proto__']);
    await expect(addServer(user, 'a', { command: 'other' })).rejects.toThrow('already');
    expect(await removeServer(local, 'a')).toBe(true);
    expect(await removeServer(local, 'a')).toBe(false);
    expect(namesIn(user)).toEqual(['a']);
    expect(await removeServer({ file: join(folder, 'nowhere.json'), mode: 0o600 }, 'a')).toBe(false);
    expect(existsSync(join(folder, 'nowhere.json'))).toBe(false);
  });

  it('keeps what else stands in the file', async () => {
    const file = join(tempFolder({ '.mcp.json': '{"note":"ours","mcpServers":{"b":{"command":"x","custom":[1]}}}' }), '.mcp.json');
    await addServer({ file, mode: 0o644 }, 'a', { command: 'y' });
    expect(parsed(file)).toEqual({ note: 'ours', mcpServers: { b: { command: 'x', custom: [1] }, a: { command: 'y' } } });
    expect(statSync(file).mode & 0o777).toBe(0o644);
  });

  it.each(['{"mcpServers":', '[]', '{"mcpServers":[]}', ''])('leaves a file of %j as it is', async (text) => {
    const file = join(tempFolder({ 'mcp.json': text }), 'mcp.json');
    await expect(addServer({ file, mode: 0o600 }, 'a', { command: 'x' })).rejects.toThrow(/left as it (is|was)/);
    await expect(removeServer({ file, mode: 0o600 }, 'a')).rejects.toThrow(/left as it (is|was)/);
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(existsSync(`${file}.lock`)).toBe(false);
  });

  it('says where it cannot write', async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'mcp.json'));
    await expect(addServer({ file: join(folder, 'mcp.json'), mode: 0o600 }, 'a', { command: 'x' })).rejects.toThrow(/mcp\.json cannot be (read|written)/);
  });

  it('loses nothing when several processes write at once', async () => {
    const folder = tempFolder();
    const file = join(folder, 'mcp.json');
    const program = await bundleProgram(new URL('writer.ts', import.meta.url), join(folder, 'writer.mjs'));
    const ends = await Promise.all(['a', 'b', 'c'].map((name) => new Promise<number | null>((resolve) => { fork(program, [file, name, '8'], { stdio: 'inherit', execArgv: ['--import', 'data:text/javascript,globalThis.__filename="writer"'] }).on('exit', resolve); })));
    expect(ends).toEqual([0, 0, 0]);
    expect(namesIn({ file, mode: 0o600 }).toSorted()).toEqual(['a', 'b', 'c'].flatMap((name) => Array.from({ length: 8 }, (_, i) => `${name}${i}`)).toSorted());
  });
});

describe('a headersHelper', () => {
  const launch = (cwd: string): Launch => ({ config: { type: 'http', url: 'https://x.test/mcp', headers: {} }, env: { PATH: process.env['PATH'] ?? '', SECRET: 's' }, cwd, notes: [] });
  const run = (command: string, cwd = tempFolder(), more: { readonly signal?: AbortSignal; readonly limitMs?: number } = {}) => headersFrom(command, { launch: launch(cwd), name: 'srv', signal: more.signal ?? new AbortController().signal, limitMs: more.limitMs ?? 10_000 });

  it('gives headers, in the folder and the environment of its server', async () => {
    const cwd = tempFolder({ 'h.json': '{"X-Key":"k"}' });
    expect(await run('cat h.json', cwd)).toEqual({ 'X-Key': 'k' });
    expect(await run('echo "{\\"A\\":\\"$SECRET $CLAUDE_CODE_MCP_SERVER_NAME $CLAUDE_CODE_MCP_SERVER_URL\\"}"')).toEqual({ A: 's srv https://x.test/mcp' });
  });

  it.each([
    ['echo hello', 'JSON object'], ['echo \'{"a":1}\'', 'JSON object'], ['printf %s \'{"a":"b\\r\\nc"}\'', 'cannot be sent'], ['exit 3', 'code 3'], ['kill -9 $$', 'signal'], ['head -c 100000 /dev/zero', 'more than'], ['nosuchprogram-x', 'code 127'],
  ])('that says %j is one line', async (command, why) => {
    await expect(run(command)).rejects.toThrow(why);
  });

  it('never tells what was printed', async () => {
    await expect(run('echo top-secret')).rejects.not.toThrow('top-secret');
  });

  it('ends in time, with all that it started', async () => {
    const cwd = tempFolder();
    await expect(run('sleep 60 & echo $! > pid; wait', cwd, { limitMs: 300 })).rejects.toThrow('no answer within');
    const pid = Number(readFileSync(join(cwd, 'pid'), 'utf8'));
    await until(() => !isAlive(pid));
    const stop = new AbortController();
    const ended = run('sleep 60', cwd, { signal: stop.signal });
    stop.abort();
    await expect(ended).rejects.toThrow('interrupted');
  });
});

it('a file that another process is replacing is never taken for an empty one', async () => {
  const folder = tempFolder();
  const file = join(folder, 'mcp.json');
  writeFileSync(file, '{"mcpServers":{"old":{"command":"x"}}}');
  await Promise.all(Array.from({ length: 10 }, (_, i) => addServer({ file, mode: 0o600 }, `n${i}`, { command: 'x' })));
  expect(namesIn({ file, mode: 0o600 })).toHaveLength(11);
});
