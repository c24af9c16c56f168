import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Entry, EntryBody } from '#domain/entry.ts';
import { decodeEntry } from '#session/decode.ts';
import { openWriter, readLog } from '#session/file.ts';
import { homeOf, sessionFolder } from '#session/home.ts';
import { listSessions, newestSession } from '#session/list.ts';
import { newSession, resumeSession, sessionFile } from '#session/open.ts';
import { tempFolder } from '../support/temp.ts';

const place = (folder: string, cwd = '/some/where') => ({ home: homeOf({ PINION_HOME: folder }), cwd, branch: 'main' });
const prompt = (text: string): EntryBody => ({ type: 'prompt', text });
const texts = (entries: readonly Entry[]): string[] => entries.flatMap((entry) => (entry.type === 'prompt' ? [entry.text] : []));

describe('a session log', () => {
  it('leaves no file behind when nothing was said', () => {
    const at = place(tempFolder());
    const { file, close } = newSession(at);
    close();
    expect(existsSync(file)).toBe(false);
  });

  it('is read back as it was written, and goes on with new ids', () => {
    const at = place(tempFolder());
    const first = newSession(at);
    first.session.append(prompt('one'));
    first.session.append({ type: 'mode', mode: 'plan' });
    first.close();
    const again = resumeSession(first.file, at);
    expect(again.notices).toEqual([]);
    expect(again.session.id).toBe(first.session.id);
    expect(again.session.log).toEqual(first.session.log);
    const three = again.session.append(prompt('three'));
    expect(again.session.log.map(({ id }) => id)).toEqual([...new Set(again.session.log.map(({ id }) => id))].sort());
    again.close();
    expect(readLog(first.file).entries.at(-1)).toEqual(three);
    expect(statSync(first.file).mode & 0o777).toBe(0o600);
  });

  it('says which version it is, and is not opened by an older program', () => {
    const at = place(tempFolder());
    const { session, file, close } = newSession(at);
    session.append(prompt('x'));
    close();
    const [head = ''] = readFileSync(file, 'utf8').split('\n');
    expect(JSON.parse(head)).toMatchObject({ type: 'session', version: 1, cwd: '/some/where', branch: 'main' });
    writeFileSync(file, readFileSync(file, 'utf8').replace('"version":1', '"version":2'));
    expect(() => resumeSession(file, at)).toThrow(/newer version/);
  });

  it('loses no more than a torn line, and does not join the next one to it', () => {
    const at = place(tempFolder());
    const { session, file, close } = newSession(at);
    session.append(prompt('kept'));
    close();
    appendFileSync(file, '{"id":"000002","at":"2026-01-01T00:00:00.000Z","type":"prom');
    const again = resumeSession(file, at);
    expect(again.notices.join()).toContain('1 line');
    again.session.append(prompt('after'));
    again.close();
    expect(texts(readLog(file).entries)).toEqual(['kept', 'after']);
  });

  it('skips mangled lines in the middle, runs of NUL and doubled records, and counts what it skipped', () => {
    const at = place(tempFolder());
    const { session, file, close } = newSession(at);
    for (const text of ['a', 'b', 'c']) session.append(prompt(text));
    close();
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    writeFileSync(file, [lines[0], lines[1], `${lines[2]?.slice(0, 30)}{`, '\0'.repeat(700) + lines[3], lines[3], '{"id":"9","at":"x","type":"__proto__"}', '[]', ''].join('\n'));
    const { entries, skipped } = readLog(file);
    expect(texts(entries)).toEqual(['a', 'c']);
    expect(skipped).toBe(3);
  });

  it('survives any damage of its bytes', () => {
    const folder = tempFolder();
    const at = place(folder);
    const { session, file, close } = newSession(at);
    for (let i = 0; i < 6; i += 1) session.append(prompt(`words ${i}`));
    close();
    const whole = readFileSync(file);
    const broken = join(folder, 'broken.jsonl');
    fc.assert(fc.property(fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { maxLength: 8 }), fc.nat(whole.length), (flips, cut) => {
      const bytes = Buffer.from(whole);
      for (const [at, value] of flips) bytes[at] = value;
      writeFileSync(broken, bytes.subarray(0, bytes.length - (cut % 40)));
      try {
        const { entries } = readLog(broken);
        for (const entry of entries) expect(decodeEntry(JSON.stringify(entry))).toEqual(entry);
      } catch (error) {
        expect(String(error)).toContain('newer version');
      }
    }), { numRuns: 300 });
  });

  it('is branched off, and says so, while another process holds it', async () => {
    const at = place(tempFolder());
    const first = newSession(at);
    first.session.append(prompt('shared'));
    const other = resumeSession(first.file, at);
    expect(other.notices.join()).toContain('open in another process');
    expect(other.file).not.toBe(first.file);
    other.session.append(prompt('mine'));
    first.session.append(prompt('theirs'));
    other.close();
    first.close();
    expect(texts(readLog(first.file).entries)).toEqual(['shared', 'theirs']);
    expect(texts(readLog(other.file).entries)).toEqual(['shared', 'mine']);
    expect(readLog(other.file).head?.forkOf).toBe(first.session.id);
  });

  it('takes over the lock of a process that was killed', async () => {
    const at = place(tempFolder());
    const first = newSession(at);
    first.session.append(prompt('x'));
    first.close();
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    await new Promise((resolve) => { child.once('spawn', resolve); });
    const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
    const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    const { hostname } = await import('node:os');
    writeFileSync(`${first.file}.lock`, JSON.stringify({ pid: child.pid, host: hostname(), started }));
    const held = resumeSession(first.file, at);
    expect(held.file).not.toBe(first.file);
    held.close();
    child.kill('SIGKILL');
    await new Promise((resolve) => { child.once('exit', resolve); });
    const again = resumeSession(first.file, at);
    expect(again.file).toBe(first.file);
    expect(again.notices).toEqual([]);
    again.close();
    expect(existsSync(`${first.file}.lock`)).toBe(false);
  });
});

it('takes no head whose system text is none: every request is made of it', () => {
  const head = (block: unknown): string => JSON.stringify({ id: '1', at: 'x', type: 'head', model: 'm', tools: [], system: [block] });
  expect(decodeEntry(head({ type: 'text', text: 'a' }))).toBeDefined();
  expect(decodeEntry(head({ type: 'te', text: 'a' }))).toBeUndefined();
  expect(decodeEntry(head({ type: 'text' }))).toBeUndefined();
});

describe('a disk that takes no more', () => {
  it('is said', () => {
    const full = openWriter('/dev/full');
    expect(full.write('{"b":2}')).toContain('ENOSPC');
    full.close();
  });

  it('costs no whole record: the file is cut back, and what waited is written when there is room', () => {
    // A limit of the file's size makes a write fail half-way, as a full disk does; raising it is making room.
    const folder = tempFolder();
    buildSync({ entryPoints: [new URL('../../src/session/file.ts', import.meta.url).pathname], bundle: true, format: 'esm', platform: 'node', outfile: join(folder, 'file.mjs') });
    writeFileSync(join(folder, 'run.mjs'), `
      import { openWriter } from './file.mjs';
      import { execFileSync } from 'node:child_process';
      import { readFileSync } from 'node:fs';
      const writer = openWriter('log.jsonl');
      const line = (n) => JSON.stringify({ n, fill: 'x'.repeat(700) });
      const faults = [1, 2].map((n) => writer.write(line(n)));
      const whileFull = readFileSync('log.jsonl', 'utf8');
      execFileSync('prlimit', ['--fsize=unlimited', '--pid', String(process.pid)]);
      const after = writer.write(line(3));
      console.log(JSON.stringify({ faults: faults.map((fault) => fault ?? null), whole: whileFull.split('\\n').length - 1, torn: !whileFull.endsWith('\\n'), after: after ?? null, numbers: readFileSync('log.jsonl', 'utf8').trim().split('\\n').map((text) => JSON.parse(text).n) }));
    `);
    const { stdout, stderr } = spawnSync('bash', ['-c', 'ulimit -S -f 1; exec "$0" run.mjs', process.execPath], { cwd: folder, encoding: 'utf8' });
    expect(stderr).toBe('');
    const seen = JSON.parse(stdout) as { faults: (string | null)[] };
    expect(seen).toMatchObject({ whole: 1, torn: false, after: null, numbers: [1, 2, 3] });
    expect(seen.faults[0]).toBeNull();
    expect(seen.faults[1]).toMatch(/EFBIG|only \d+ of/);
  });
});

describe('the list of sessions', () => {
  it('puts this directory first, newest first, with first words, and leaves out what holds neither prompt nor pin', async () => {
    const home = tempFolder();
    const say = (cwd: string, text: string): string => {
      const { session, file, close } = newSession(place(home, cwd));
      session.append(prompt(text));
      close();
      return file;
    };
    const elsewhere = say('/other', 'elsewhere');
    const older = say('/some/where', 'older\n  words');
    const empty = newSession(place(home));
    empty.session.append({ type: 'mode', mode: 'plan' });
    empty.close();
    writeFileSync(join(sessionFolder(place(home).home, '/some/where'), 'junk.jsonl'), 'junk');
    const { utimesSync } = await import('node:fs');
    utimesSync(older, 1, 1);
    const newer = say('/some/where', 'newer');
    const options = newSession(place(home, '/other'));
    options.session.append({ type: 'option', name: 'budgetUsd', value: 5 });
    options.close();
    expect(await newestSession(place(home).home, '/other')).toMatchObject({ file: options.file, firstWords: '' });
    utimesSync(options.file, 1, 1);
    const list = await listSessions(place(home).home, '/some/where');
    expect(list.map(({ file }) => file)).toEqual([newer, older, elsewhere, options.file]);
    expect(list[1]).toMatchObject({ firstWords: 'older words', branch: 'main', cwd: '/some/where' });
    expect((await newestSession(place(home).home, '/some/where'))?.file).toBe(newer);
    expect(sessionFile(place(home), list[0]?.id ?? '')).toBe(newer);
    expect(sessionFile(place(home), list[2]?.id ?? '')).toBe(elsewhere);
    expect(sessionFile(place(home), 'unknown')).toBeUndefined();
    expect(sessionFile(place(home), '../../etc/passwd')).toBeUndefined();
  });
  it('is empty where there are none', async () => {
    expect(await listSessions(homeOf({ PINION_HOME: '/nowhere/at/all' }), '/x')).toEqual([]);
  });
  it('goes on with a session whose first line is damaged, and passes over none that is too new', async () => {
    const home = tempFolder();
    const { session, file, close } = newSession(place(home));
    session.append(prompt('words'));
    close();
    const lines = readFileSync(file, 'utf8').split('\n');
    writeFileSync(file, [lines[0]?.slice(0, 20), ...lines.slice(1)].join('\n'));
    expect(await newestSession(place(home).home, '/some/where')).toMatchObject({ file, id: session.id, firstWords: 'words' });
    writeFileSync(file, [lines[0]?.replace('"version":1', '"version":99'), ...lines.slice(1)].join('\n'));
    await expect(newestSession(place(home).home, '/some/where')).rejects.toThrow(/newer version/);
    expect(await listSessions(place(home).home, '/some/where')).toEqual([]);
  });
  it('names a session in which so far only a command was run', async () => {
    const home = tempFolder();
    const opened = newSession(place(home));
    opened.session.append({ type: 'shell', command: 'ls', output: 'a', exitCode: 0 });
    opened.close();
    expect((await newestSession(place(home).home, '/some/where'))?.file).toBe(opened.file);
  });
  it('names a session in which so far only something was pinned', async () => {
    const home = tempFolder();
    const { session, file, close } = newSession(place(home));
    session.append({ type: 'attach', by: 'user', attachment: { kind: 'memory', id: 'memory:a', slug: 'a', text: 'b' } });
    close();
    expect(await newestSession(place(home).home, '/some/where')).toMatchObject({ file, firstWords: '' });
  });
});

it('knows the folders of each platform', () => {
  expect(homeOf({ HOME: '/h' }, 'linux')).toMatchObject({ settings: '/h/.config/pinion/settings.json', sessions: '/h/.local/state/pinion/sessions' });
  expect(homeOf({ HOME: '/h', PINION_HOME: '/p' }, 'linux').sessions).toBe('/p/sessions');
  expect(homeOf({ HOME: '/h' }, 'darwin').trust).toBe('/h/Library/Application Support/pinion/trust.json');
  expect(sessionFolder(homeOf({ PINION_HOME: '/p' }), '/a b/ü')).toBe('/p/sessions/-a-b--');
});
