import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { project } from '#loop/project.ts';
import { readLog } from '#session/file.ts';
import { historyFaults } from '../support/messages-server/history.ts';
import { call, say, think } from '../support/messages-server/reply.ts';
import { expectValid, last, only, PINION, type Product, product, serve, until, wordsOf } from '../support/product.ts';
import { tempFolder } from '../support/temp.ts';
import { openVirtualTerminal } from '../support/virtual-terminal.ts';

const BYPASS = ['--permission-mode', 'bypassPermissions'];
const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const FILES = { 'a.txt': 'one\ntwo\n', 'shot.png': PIXEL };
const NO_BLOBS = { put: () => undefined, get: () => undefined };

/** A session with all that a turn leaves: thinking, calls, results, a pin, a picture. */
async function held(): Promise<Product & { readonly file: string; readonly server: Awaited<ReturnType<typeof serve>> }> {
  const work = [{ content: [think('Hm.'), call('Read', { file_path: 'a.txt' }), call('Bash', { command: 'echo ran' }), call('TodoWrite', { todos: [{ content: 'x', status: 'pending' }] })] }, { content: [think('So.'), { type: 'text' as const, text: 'Worked.' }] }];
  const server = await serve((request, index) => (wordsOf(request).includes('go on please') ? say('All is well.') : work[index] ?? say('More.')));
  const place = product(FILES, server);
  expect((await place.run(['-p', 'the first words @shot.png', '--pin', 'a.txt', ...BYPASS])).code).toBe(0);
  return { ...place, server, file: only(place.logs()) };
}

async function expectGoesOn({ run, server }: Awaited<ReturnType<typeof held>>, refusals = 0): Promise<string> {
  const { code, stdout, stderr } = await run(['-c', '-p', 'go on please', ...BYPASS]);
  expect([code, stdout]).toEqual([0, 'All is well.\n']);
  expect(stderr).toMatch(/^(?:pinion: [^\n]+\n)*$/);
  expect(server.all.filter(({ refusal }) => refusal !== undefined).map(({ refusal }) => refusal?.message)).toEqual(Array.from({ length: refusals }, () => expect.stringContaining('`signature` in `thinking`') as string));
  expect(server.requests.flatMap(({ body }) => historyFaults(body))).toEqual([]);
  return stderr;
}

describe('a log that was damaged', () => {
  it('is read without a crash and makes a sound request, whatever was done to it', async () => {
    const { file } = await held();
    const bytes = readFileSync(file);
    const copy = join(tempFolder(), 'log.jsonl');
    const change = fc.oneof(
      fc.record({ kind: fc.constant('flip' as const), at: fc.nat(bytes.length - 1), by: fc.integer({ min: 1, max: 255 }) }),
      fc.record({ kind: fc.constant('cut' as const), at: fc.nat(bytes.length - 1), by: fc.nat(4096) }),
      fc.record({ kind: fc.constant('zeros' as const), at: fc.nat(bytes.length - 1), by: fc.nat(4096) }),
      fc.record({ kind: fc.constant('twice' as const), at: fc.nat(bytes.length - 1), by: fc.nat(4096) }),
    );
    fc.assert(fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
      const damaged = changes.reduce((now, { kind, at, by }) => {
        const [head, middle, tail] = [now.subarray(0, at), now.subarray(at, at + by), now.subarray(at + by)];
        if (kind === 'flip') return Buffer.concat([head, Buffer.from([(now[at] ?? 0) ^ by]), now.subarray(at + 1)]);
        return Buffer.concat(kind === 'cut' ? [head, tail] : kind === 'zeros' ? [head, Buffer.alloc(middle.length), tail] : [head, middle, middle, tail]);
      }, Buffer.from(bytes));
      writeFileSync(copy, damaged);
      const { model, messages, system, tools } = project(readLog(copy).entries, NO_BLOBS);
      expect(messages.length === 0 ? [] : historyFaults({ model, messages, system, tools, max_tokens: 1 })).toEqual([]);
    }), { numRuns: 150 });
  });

  it('by hand, in every way at once, costs the damaged lines and is said', async () => {
    const place = await held();
    const deep = '['.repeat(100_000);
    const assistant = (content: string): string => `{"id":"000900","at":"2026-01-01T00:00:00Z","type":"assistant","model":"m","stop":"tool_use","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"cacheWrite1h":0},"content":[${content}]}`;
    const lines = [
      `{"id":"000901","at":"x","type":"prompt","text":"${'y'.repeat(20 * 1024 * 1024)}`, deep, assistant(`{"type":"tool_use","id":"t","name":"Read","input":{"a":${deep}${']'.repeat(100_000)}}}`),
      assistant('null'), assistant('{"type":"tool_use"}'), assistant('{"type":"tool_use","id":7,"name":{},"input":"x"}').replace('000900', '000910'), assistant('{"type":"text","text":5}').replace('000900', '000911'), assistant('{"type":"thinking"}').replace('000900', '000912'),
      '{"__proto__":{"polluted":true},"id":"000913","at":"2026-01-01T00:00:00Z","type":"notice","text":"x","level":"info"}', '{"id":"000914","at":"never","type":"command","line":"/x","card":{"title":"t","body":[{"type":"table"}]}}', '{"id":"000925","at":"2026-01-01T00:00:00Z","type":"command","line":"/x","card":{"title":"t","body":[{"type":"list","items":[1]}]}}', '{"id":"000926","at":"2026-01-01T00:00:00Z","type":"command","line":"/x","card":{"title":"t","body":[{"type":"odd"}]}}',
      '{"id":"000915","at":"2026-01-01T00:00:00Z","type":"reminder","source":"pins","form":"delta","moment":"prompt","parts":[],"snapshot":{"pins":7}}', '{"id":"000916","at":"2026-01-01T00:00:00Z","type":"reminder","source":"todos","form":"full","moment":"prompt","parts":[],"snapshot":[[[]]]}',
      '{"id":"000917","at":"2026-01-01T00:00:00Z","type":"reminder","source":"changed_files","form":"full","moment":"step","parts":[],"snapshot":null}', '{"id":"000918","at":"2026-01-01T00:00:00Z","type":"attach","by":"user","attachment":{"kind":"file","id":"file:x","form":"odd","target":{"type":"path","path":"\\u0000"}}}',
      '{"id":"000919","at":"2026-01-01T00:00:00Z","type":"compaction","summary":"s","trigger":"odd","openPrompt":"nowhere","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"cacheWrite1h":0},"model":"m","tokensBefore":"many"}',
      '{"id":"000920","at":"2026-01-01T00:00:00Z","type":"rewind","to":"nowhere"}', '{"id":"000921","at":"2026-01-01T00:00:00Z","type":"cwd","path":"/nowhere/at/all"}', '{"id":"000922","at":"2026-01-01T00:00:00Z","type":"toolResult","callId":"nobody","tool":"Read","result":{"kind":"ok","content":[],"card":{"title":"t","body":[]}}}',
      '{"id":"000923","at":"2026-01-01T00:00:00Z","type":"exclude","target":"nowhere","what":"media"}', '\ufeff{}', 'null', '[]', '"x"', '1e999', '\u0000\u0000\u0000', '{"type":"session","version":1}',
    ];
    appendFileSync(place.file, `${lines.join('\n')}\n`);
    expect(await expectGoesOn(place)).toMatch(/\d+ lines of this session's log could not be read and were left out/);
    const { stdout, code } = await place.run(['-c', '-p', '/context']);
    expect([code, stdout.length > 0]).toEqual([0, true]);
    const terminal = openVirtualTerminal({ command: process.execPath, args: [PINION, '-c'], cwd: place.cwd, env: place.env });
    onTestFinished(() => terminal.close());
    await terminal.waitFor('could not be read');
    terminal.type('still there?\r');
    await terminal.waitFor('All is well.');
    expect(terminal.lines().join('\n')).not.toMatch(/internal error|TypeError|undefined/);
  });

  it('whose pictures are gone or were changed still makes a valid request', async () => {
    const place = await held();
    const blobs = readdirSync(join(place.home, 'blobs'), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    const shot = createHash('sha256').update(PIXEL).digest('hex');
    for (const blob of blobs) writeFileSync(blob, 'something else');
    expect(blobs.some((blob) => blob.endsWith(shot))).toBe(true);
    // What was said before is no longer what the thinking is bound to: it is asked for once more without.
    expect(await expectGoesOn(place, 1)).toContain('thinking no longer fits');
    rmSync(join(place.home, 'blobs'), { recursive: true });
    await expectGoesOn(place, 1);
    expect(last(place.server.requests).raw).not.toContain('"type":"image"');
  });
});

it('three processes on one session write three sound logs, none of them a word of another', async () => {
  const place = await held();
  const before = readFileSync(place.file, 'utf8').split('\n').length;
  const all = await Promise.all(Array.from({ length: 3 }, (_, at) => place.run(['-c', '-p', `go on please, number ${at} ${'x'.repeat(50_000)}`])));
  expect(all.map(({ code, stdout }) => [code, stdout])).toEqual(all.map(() => [0, 'All is well.\n']));
  const logs = place.logs();
  const prompts = logs.map((file) => place.entries(file).filter((entry) => entry.type === 'prompt' && entry.text.startsWith('go on please')).map((entry) => (entry.type === 'prompt' ? entry.text.slice(0, 24) : '')));
  // One may find the session free again after another has ended; each prompt stands once in a log of somebody who had the lock.
  expect(new Set(prompts.flat()).size).toBe(3);
  expect(readFileSync(place.file, 'utf8').split('\n').length).toBeGreaterThan(before);
  expect(readdirSync(join(place.file, '..')).filter((name) => !name.endsWith('.jsonl'))).toEqual([]);
  expectValid(place.server);
}, 60_000);

it('a limit on the size of files costs what does not fit, is said, and leaves a log that is whole', async () => {
  const place = await held();
  const limited = spawn('/bin/bash', ['-c', `ulimit -f 24; exec "$0" "$@"`, process.execPath, PINION, '-c', '-p', `go on please ${'z'.repeat(40_000)}`], { cwd: place.cwd, env: { ...place.env, NODE_DISABLE_COMPILE_CACHE: '1' }, stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  limited.stdout.on('data', (words: Buffer) => { stdout += words.toString(); });
  limited.stderr.on('data', (words: Buffer) => { stderr += words.toString(); });
  const code = await new Promise((resolve) => { limited.on('close', resolve); });
  expect([code, stdout]).toEqual([0, 'All is well.\n']);
  expect(stderr).toMatch(/could not be saved: .+/);
  expect(readFileSync(place.file).at(-1)).toBe(10);
  expect(place.entries(place.file).length).toBeGreaterThan(5);
  expect(await expectGoesOn(place)).toBe('');
});

it('three hundred sessions, one of them of 200 MB, are listed at once and in little memory', async () => {
  const place = product(FILES, await serve([say('Hello.')]));
  await place.run(['-p', 'the newest words']);
  const folder = join(only(place.logs()), '..');
  for (let at = 0; at < 300; at += 1) {
    const id = randomUUID();
    const file = join(folder, `${id}.jsonl`);
    writeFileSync(file, `{"type":"session","version":1,"id":"${id}","cwd":"${place.cwd}","at":"2020-01-01T00:00:00Z","branch":"b\\u001b[31m"}\n{"id":"000001","at":"2020-01-01T00:00:00Z","type":"prompt","text":"session ${at} \\u001b]0;owned\\u0007"}\n`);
    if (at === 150) truncateSync(file, 200 * 1024 * 1024);
  }
  mkdirSync(join(folder, 'odd.jsonl'));
  const terminal = openVirtualTerminal({ command: process.execPath, args: [PINION, '-r'], cwd: place.cwd, columns: 80, rows: 24, env: place.env });
  onTestFinished(() => terminal.close());
  await terminal.waitFor('301 items', 5000);
  const peak = (): number => Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${terminal.pid}/status`, 'utf8'))?.[1]) / 1024;
  expect(peak()).toBeLessThan(200);
  expect(terminal.raw()).not.toMatch(/\u001b\]0|\u001b\[31m/);
  terminal.type('session 150');
  await terminal.waitFor('1 item');
  terminal.type('\r');
  await until(() => terminal.screen().some((line) => line.includes('session 150')) && !terminal.screen().some((line) => line.includes('1 item')));
  expect(peak()).toBeLessThan(700);
});
