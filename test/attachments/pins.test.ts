import { execFile } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { CommandRunner } from '#attachments/pin-commands.ts';
import source from '#attachments/sources/pins.ts';
import { sha256 } from '#lib/hash.ts';
import type { BlobHash } from '#domain/content.ts';
import type { PinLookup, PinOptions } from '#domain/command.ts';
import { NO_USAGE } from '#domain/content.ts';
import { answer, memoryBlobs, memorySession, prompt } from '../support/logs.ts';
import { tempFolder } from '../support/temp.ts';
import { ask, bench, textOf, type Bench } from './world.ts';

const PLAIN: PinOptions = { snapshot: false, pathOnly: false, whole: false };
const lines = (n: number): string => Array.from({ length: n }, (_, i) => `line ${i + 1}`).join('\n') + '\n';

async function pin({ session, pins }: Bench, text: string, options: Partial<PinOptions> = {}): Promise<Extract<PinLookup, { ok: true }>> {
  const found = await pins.lookUp(text, { ...PLAIN, ...options });
  if (!found.ok) throw new Error(found.message);
  session.append(found.entry);
  return found;
}
const refusal = async ({ pins }: Bench, text: string, options: Partial<PinOptions> = {}): Promise<string> => {
  const found = await pins.lookUp(text, { ...PLAIN, ...options });
  return found.ok ? `pinned ${found.id}` : found.message;
};
const say = async (at: Bench): Promise<string | undefined> => textOf(await ask(source, at.session, { pins: at.pins, blobs: at.blobs }));
const compact = (at: Bench): void => { at.session.append({ type: 'compaction', summary: 's', trigger: 'auto', usage: NO_USAGE, model: 'm', tokensBefore: 1 }); };

describe('a pinned file', () => {
  it('is said whole once, then as a diff, then not at all', async () => {
    const root = tempFolder({ 'src/a.ts': lines(40) });
    const at = bench(root);
    expect((await pin(at, 'src/a.ts')).id).toBe('file:src/a.ts');
    expect(await say(at)).toContain('line 40');
    expect(await say(at)).toBeUndefined();
    writeFileSync(join(root, 'src/a.ts'), lines(40).replace('line 20', 'line twenty'));
    const diff = await say(at);
    expect(diff).toContain('@@ -17,7 +17,7 @@\n line 17\n line 18\n line 19\n-line 20\n+line twenty');
    expect(diff).not.toContain('line 40');
    expect(await say(at)).toBeUndefined();
  });
  it('is said whole again when the diff would be more than half of it', async () => {
    const root = tempFolder({ 'a.txt': lines(10) });
    const at = bench(root);
    await pin(at, 'a.txt');
    await say(at);
    writeFileSync(join(root, 'a.txt'), 'all new\n'.repeat(3));
    expect(await say(at)).toContain('now reads:\nFile "a.txt": 3 lines');
  });
  it('says nothing of a change beyond the cut', async () => {
    const root = tempFolder({ 'a.txt': 'x\n'.repeat(5000) });
    const at = bench(root);
    expect((await pin(at, 'a.txt')).note).toContain('8192 of 10000 bytes');
    const first = await say(at);
    expect(first).toContain('8192 of 10000 bytes');
    expect(first?.match(/10000 bytes\)/g)).toHaveLength(1);
    writeFileSync(join(root, 'a.txt'), `${'x\n'.repeat(5000)}more\n`);
    expect(await say(at)).toBeUndefined();
    writeFileSync(join(root, 'a.txt'), `y\n${'x\n'.repeat(4999)}`);
    expect(await say(at)).toContain('+y');
  });
  it('is not cut when it is pinned whole', async () => {
    const at = bench(tempFolder({ 'a.txt': lines(2000) }));
    expect((await pin(at, 'a.txt', { whole: true })).note).toBeUndefined();
    expect(await say(at)).toContain('line 2000\n');
  });
  it('is told once when it goes, and again when it is back', async () => {
    const root = tempFolder({ 'a.txt': 'one\n' });
    const at = bench(root);
    await pin(at, 'a.txt');
    await say(at);
    rmSync(join(root, 'a.txt'));
    expect(await say(at)).toBe('Pinned: a.txt (no such file)');
    expect(await say(at)).toBeUndefined();
    writeFileSync(join(root, 'a.txt'), 'two\n');
    expect(await say(at)).toContain('two');
  });
  it('is whole again after a compaction, and picks up after a resume', async () => {
    const root = tempFolder({ 'a.txt': lines(30) });
    const at = bench(root);
    await pin(at, 'a.txt');
    await say(at);
    const resumed = bench(root, { session: memorySession(JSON.parse(JSON.stringify(at.session.log)) as typeof at.session.log), blobs: at.blobs });
    expect(await say(resumed)).toBeUndefined();
    writeFileSync(join(root, 'a.txt'), `${lines(30)}end\n`);
    expect(await say(resumed)).toContain('+end');
    compact(resumed);
    expect(await say(resumed)).toMatch(/^Pinned by the user.*line 1\n.*end\n/s);
  });
  it('is whole when the text that was said is no longer kept', async () => {
    const root = tempFolder({ 'a.txt': lines(30) });
    const at = bench(root);
    await pin(at, 'a.txt');
    await say(at);
    writeFileSync(join(root, 'a.txt'), `${lines(30)}end\n`);
    const swept = bench(root, { session: at.session, blobs: memoryBlobs() });
    expect(await say(swept)).toContain('line 1\n');
  });
  it('records its bytes as known, and only when they were said', async () => {
    const root = tempFolder({ 'a.txt': 'one\n', 'b.txt': 'b\n' });
    const at = bench(root);
    await pin(at, 'a.txt');
    await pin(at, 'b.txt');
    const first = await ask(source, at.session, { pins: at.pins, blobs: at.blobs });
    expect(first?.files).toMatchObject([{ path: join(root, 'a.txt'), how: 'pin', hash: sha256('one\n') }, { path: join(root, 'b.txt'), how: 'pin' }]);
    writeFileSync(join(root, 'b.txt'), 'bb\n');
    expect((await ask(source, at.session, { pins: at.pins, blobs: at.blobs }))?.files?.map(({ path }) => path)).toEqual([join(root, 'b.txt')]);
  });
  it('says nothing of what our own tools wrote, and the next change by others against that', async () => {
    const root = tempFolder({ 'a.txt': lines(30) });
    const at = bench(root);
    await pin(at, 'a.txt');
    await say(at);
    const written = `${lines(30)}ours\n`;
    writeFileSync(join(root, 'a.txt'), written);
    at.session.append({ type: 'toolResult', callId: 'c' as never, tool: 'Edit', result: { kind: 'ok', content: [], card: { title: '', body: [] }, files: [{ path: join(root, 'a.txt'), hash: sha256(written) as BlobHash, how: 'write', kept: false }] } });
    expect(await say(at)).toBe('');
    expect(await say(at)).toBeUndefined();
    writeFileSync(join(root, 'a.txt'), `${written}theirs\n`);
    const told = await say(at);
    expect(told).toContain('+theirs');
    expect(told).not.toContain('+ours');
  });
  it('says nothing of a state that the model has read since, and that a file is back all the same', async () => {
    const root = tempFolder({ 'a.txt': lines(30) });
    const file = join(root, 'a.txt');
    const at = bench(root);
    await pin(at, 'a.txt');
    await say(at);
    const read = (text: string): void => {
      at.session.append({ type: 'toolResult', callId: 'c' as never, tool: 'Read', result: { kind: 'ok', content: [], card: { title: '', body: [] }, files: [{ path: file, hash: sha256(text) as BlobHash, how: 'read', kept: false }] } });
    };
    writeFileSync(file, `${lines(30)}theirs\n`);
    read(`${lines(30)}theirs\n`);
    expect(await say(at)).toBe('');
    rmSync(file);
    expect(await say(at)).toContain('no such file');
    writeFileSync(file, `${lines(30)}theirs\n`);
    expect(await say(at)).toContain('line 30');
    expect(await say(at)).toBeUndefined();
  });
  it('says nothing of a file that grew beyond the cut only', async () => {
    const long = (end: string): string => `${'a line of thirty bytes or so..\n'.repeat(264)}${end}`;
    const root = tempFolder({ 'a.txt': long(`${'x'.repeat(300)}\n`) });
    const at = bench(root);
    await pin(at, 'a.txt');
    expect(await say(at)).toContain('read on with Read');
    writeFileSync(join(root, 'a.txt'), long(`${'y'.repeat(300)}\nmore\n`));
    expect(await say(at)).toBeUndefined();
  });
  it('gives a picture as media, whole, when it changes too', async () => {
    const png = (width: number): Buffer => Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), Buffer.from([0, 0, 0, width, 0, 0, 0, 1, 8, 2, 0, 0, 0]), Buffer.alloc(4)]);
    const root = tempFolder({ 'p.png': png(1) });
    const at = bench(root);
    await pin(at, 'p.png');
    expect(await say(at)).toContain('<p.png>');
    expect(await say(at)).toBeUndefined();
    writeFileSync(join(root, 'p.png'), png(2));
    expect(await say(at)).toContain('<p.png>');
  });
  it('names an empty file', async () => {
    const at = bench(tempFolder({ 'a.txt': '' }));
    await pin(at, 'a.txt');
    expect(await say(at)).toContain('File "a.txt" is empty.');
  });
});

describe('other pins', () => {
  it('lines: only a change in them is told', async () => {
    const root = tempFolder({ 'a.txt': lines(50) });
    const at = bench(root);
    expect((await pin(at, 'a.txt#10-12')).id).toBe('file:a.txt#10-12');
    const first = await say(at);
    expect(first).toContain('line 10\nline 11\nline 12');
    expect(first).not.toContain('line 13');
    writeFileSync(join(root, 'a.txt'), lines(50).replace('line 40', 'x'));
    expect(await say(at)).toBeUndefined();
    writeFileSync(join(root, 'a.txt'), lines(50).replace('line 11', 'x'));
    expect(await say(at)).toContain('x');
    await pin(at, 'a.txt#20-49');
    await say(at);
    writeFileSync(join(root, 'a.txt'), lines(50).replace('line 11', 'x').replace('line 30', 'y'));
    expect(await say(at)).toContain('@@ -27,7 +27,7 @@\n line 27\n line 28\n line 29\n-line 30\n+y');
  });
  it('a range may be written in several ways, and a file of that name comes first', async () => {
    const at = bench(tempFolder({ 'a.txt': lines(50), 'b#1-2': 'odd name\n' }));
    for (const text of ['a.txt#L10-L12', 'a.txt:10-12', 'a.txt#12-10', 'file:a.txt#10-12']) expect((await pin(at, text)).id).toBe('file:a.txt#10-12');
    expect((await pin(at, 'a.txt:7')).id).toBe('file:a.txt#7-7');
    expect((await pin(at, 'b#1-2')).id).toBe('file:b#1-2');
    expect((await pin(at, '"a.txt"')).id).toBe('file:a.txt');
  });
  it('a directory: its names, changes as a diff', async () => {
    const root = tempFolder(Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`docs/f${String(i).padStart(2, '0')}.md`, ''])));
    mkdirSync(join(root, 'docs/sub'));
    mkdirSync(join(root, 'docs/.git'));
    const at = bench(root);
    expect((await pin(at, 'docs')).id).toBe('file:docs/');
    const first = await say(at);
    expect(first).toContain('Directory "docs/" (101):\nf00.md');
    expect(first).toContain('\nsub/');
    expect(first).not.toContain('.git');
    writeFileSync(join(root, 'docs/new.md'), '');
    expect(await say(at)).toContain('+new.md');
  });
  it('a directory of very many names counts the rest', async () => {
    const root = tempFolder(Object.fromEntries(Array.from({ length: 1005 }, (_, i) => [`d/${i}`, ''])));
    const at = bench(root);
    await pin(at, 'd/');
    expect(await say(at)).toContain('[5 more names left out]');
  });
  it('a glob: the names that fit', async () => {
    let files = ['src/a.ts', 'src/b.js', 'src/c/d.ts'];
    const at = bench(tempFolder(), { files: () => Promise.resolve(files) });
    await pin(at, 'src/**/*.ts');
    expect(await say(at)).toContain('(2):\nsrc/a.ts\nsrc/c/d.ts');
    files = [...files, 'src/e.ts'];
    expect(await say(at)).toContain('src/e.ts');
  });
  it('a memory, named by its first words or as the user likes', async () => {
    const at = bench(tempFolder());
    expect((await pin(at, 'note Always run the linter before you commit anything')).id).toBe('memory:always-run-the-linter-before-you');
    expect((await pin(at, 'note Always run the linter before you push')).id).toBe('memory:always-run-the-linter-before-you-2');
    expect((await pin(at, 'memory:style two\nlines')).id).toBe('memory:style');
    expect((await pin(at, 'note 日本語')).id).toMatch(/^memory:[0-9a-f]{8}$/);
    expect(await say(at)).toContain('Memory "style":\ntwo\nlines');
    await pin(at, 'memory:style three');
    expect(await say(at)).toContain('three');
  });
  it('the path only says the path', async () => {
    const root = tempFolder({ 'a.txt': 'secret text\n' });
    const at = bench(root);
    await pin(at, 'a.txt', { pathOnly: true });
    expect(await say(at)).toContain('Pinned path: a.txt');
    writeFileSync(join(root, 'a.txt'), 'x\n');
    expect(await say(at)).toBeUndefined();
  });
  it('a snapshot stays what it was', async () => {
    const root = tempFolder({ 'a.txt': 'before\n' });
    const at = bench(root);
    await pin(at, 'a.txt', { snapshot: true });
    writeFileSync(join(root, 'a.txt'), 'after\n');
    expect(await say(at)).toContain('before');
    expect(await say(at)).toBeUndefined();
  });
  it('what was unpinned is said, the last one too', async () => {
    const at = bench(tempFolder({ 'a.txt': 'a\n', 'b.txt': 'b\n' }));
    await pin(at, 'a.txt');
    await pin(at, 'b.txt');
    await say(at);
    at.session.append({ type: 'detach', attachmentId: 'file:a.txt' });
    expect(await say(at)).toBe('No longer pinned: a.txt');
    at.session.append({ type: 'detach', attachmentId: 'file:b.txt' });
    expect(await say(at)).toBe('Nothing is pinned any more.');
    expect(await say(at)).toBeUndefined();
  });
});

describe('a pin is refused', () => {
  it('in one line that says why', async () => {
    const root = tempFolder({ 'a.txt': 'a\n', '.env': 'KEY=1\n', 'p.png': Buffer.from('89504e470d0a1a0a0000000d494844520000000100000001080200000000000000', 'hex') });
    const at = bench(root, { denied: ['Read(.env)'] });
    expect(await refusal(at, '')).toMatch(/^What is to be pinned/);
    expect(await refusal(at, 'nope.txt')).toBe('No such file or folder: nope.txt');
    expect(await refusal(at, '.env')).toContain('denies reading');
    expect(await refusal(at, '!git status')).toBe('Commands cannot be pinned here.');
    expect(await refusal(at, '../*.ts')).toContain('leads out of it');
    expect(await refusal(at, 'a.txt', { snapshot: true, pathOnly: true })).toContain('exclude each other');
    expect(await refusal(at, 'p.png', { snapshot: true })).toContain('only text can');
    expect(await refusal(at, '/dev/null')).toContain('neither a file nor a folder');
  });
  it('later, when a rule comes to deny it or a link leads it astray', async () => {
    const outside = tempFolder({ 'secret.txt': 'secret\n' });
    const root = tempFolder({ 'a.txt': 'a\n' });
    const at = bench(root);
    await pin(at, 'a.txt');
    await say(at);
    const denied = bench(root, { session: at.session, blobs: at.blobs, denied: ['Read(a.txt)'] });
    expect(await say(denied)).toContain('denies reading');
    rmSync(join(root, 'a.txt'));
    symlinkSync(join(outside, 'secret.txt'), join(root, 'a.txt'));
    const said = await say(at);
    expect(said).toContain('leads out of the workspace');
    expect(said).not.toContain('secret\n');
  });
  it('not outside the workspace, but with a note', async () => {
    const outside = tempFolder({ 'o.txt': 'other\n' });
    const at = bench(tempFolder());
    expect((await pin(at, join(outside, 'o.txt'))).note).toContain('outside the workspace');
    expect(await say(at)).toContain('other');
  });
});

describe('a pinned command', () => {
  const shell = (cwd: string): { run: CommandRunner; ran: string[] } => {
    const ran: string[] = [];
    const run: CommandRunner = async (command, signal) => {
      ran.push(command);
      try {
        const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd, signal });
        return { output: stdout, exitCode: 0 };
      } catch (error) {
        if (typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'number' && 'stdout' in error) return { output: String(error.stdout), exitCode: error.code };
        throw error;
      }
    };
    return { run, ran };
  };
  it('runs once for each prompt and is told as a diff', async () => {
    const root = tempFolder({ log: lines(30) });
    const { run, ran } = shell(root);
    const at = bench(root, { run });
    expect((await pin(at, '!cat log')).id).toBe('file:!cat log');
    expect(ran).toEqual([]);
    at.session.append(prompt('one'));
    expect(await say(at)).toContain('Output of "cat log":\nline 1\n');
    at.session.append(answer('x'));
    expect(await say(at)).toBeUndefined();
    expect(ran).toHaveLength(1);
    writeFileSync(join(root, 'log'), `${lines(30)}new\n`);
    at.session.append(prompt('two'));
    expect(await say(at)).toContain('+new');
    expect(ran).toHaveLength(2);
  });
  it('does not run before the first prompt after a resume', async () => {
    const root = tempFolder({ log: 'old\n' });
    const first = bench(root, { run: shell(root).run });
    await pin(first, '!cat log');
    first.session.append(prompt('one'));
    await say(first);
    const { run, ran } = shell(root);
    const at = bench(root, { session: first.session, blobs: first.blobs, run });
    const [view] = await at.pins.views(new AbortController().signal);
    expect(view?.text).toContain('old');
    expect(await say(at)).toBeUndefined();
    expect(ran).toEqual([]);
    at.session.append(prompt('two'));
    await say(at);
    expect(ran).toEqual(['cat log']);
  });
  it('runs for the prompt at which the pins are first asked for', async () => {
    const root = tempFolder({ log: 'old\n' });
    const first = bench(root, { run: shell(root).run });
    await pin(first, '!cat log');
    first.session.append(prompt('one'));
    await say(first);
    first.session.append(answer('x'));
    first.session.append(prompt('two'));
    const { run, ran } = shell(root);
    await say(bench(root, { session: first.session, blobs: first.blobs, run }));
    expect(ran).toEqual(['cat log']);
  });
  it('keeps what it had when it fails, and says of when that is', async () => {
    const root = tempFolder({ log: 'good\n' });
    const { run } = shell(root);
    let broken = false;
    const at = bench(root, { run: (command, signal) => (broken ? Promise.reject(new Error('refused')) : run(command, signal)) });
    await pin(at, '!cat log');
    at.session.append(prompt('one'));
    await say(at);
    broken = true;
    at.session.append(prompt('two'));
    expect(await say(at)).toMatch(/^Pinned !cat log: not run: refused; the output is as of \d{4}-/);
    at.session.append(prompt('three'));
    expect(await say(at)).toBeUndefined();
    compact(at);
    expect(await say(at)).toMatch(/good.*as of/s);
  });
  it('shows the output of a failing command with its code, and cuts what is long', async () => {
    const root = tempFolder();
    const at = bench(root, { run: shell(root).run });
    await pin(at, '!echo broken; exit 3');
    await pin(at, '!yes | head -c 20000; printf "\\033[31mred"');
    at.session.append(prompt('one'));
    const said = await say(at);
    expect(said).toContain('broken\n[exit code 3]');
    expect(said).toContain('[cut: 8192 of 20003 bytes shown]');
  });
  it('can be frozen', async () => {
    const root = tempFolder({ log: 'now\n' });
    const at = bench(root, { run: shell(root).run });
    await pin(at, '!cat log', { snapshot: true });
    writeFileSync(join(root, 'log'), 'later\n');
    at.session.append(prompt('one'));
    expect(await say(at)).toContain('now');
  });
  it('that hangs costs itself only', async () => {
    const root = tempFolder({ 'a.txt': 'a\n' });
    const at = bench(root, { run: () => Promise.reject(new Error('nothing there')) });
    await pin(at, '!x');
    await pin(at, 'a.txt');
    at.session.append(prompt('one'));
    const said = await say(at);
    expect(said).toContain('Pinned: !x (not run: nothing there)');
    expect(said).toContain('a.txt');
  });
});

it('a pin survives a save by renaming', async () => {
  const root = tempFolder({ 'a.txt': lines(20) });
  const at = bench(root);
  await pin(at, 'a.txt');
  await say(at);
  writeFileSync(join(root, 'tmp'), `${lines(20)}x\n`);
  renameSync(join(root, 'tmp'), join(root, 'a.txt'));
  expect(await say(at)).toContain('+x');
});
