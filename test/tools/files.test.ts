import { execFileSync, spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { chmodSync, linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, symlinkSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { defuse } from '#lib/defuse.ts';
import type { BlobHash } from '#domain/content.ts';
import { sha256 } from '#lib/hash.ts';
import { openHouse, textOf, type House } from './support.ts';

function put(house: House, path: string, content: string | Uint8Array): string {
  const file = join(house.root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

describe('Read', () => {
  test('numbers lines, hides BOM and carriage returns, and says what it knows of the file', async () => {
    const house = openHouse();
    const file = put(house, 'src/a.ts', '\ufeffone\r\ntwo\r\n');
    const outcome = await house.call('Read', { file_path: 'src/a.ts' });
    expect(textOf(outcome)).toBe('     1\tone\n     2\ttwo');
    expect(outcome.result.card).toMatchObject({ title: 'Read src/a.ts', detail: '2 lines' });
    expect(outcome.result.files).toEqual([{ path: file, hash: sha256(readFileSync(file)), how: 'read', kept: true }]);
    expect(house.context.blobs.get(sha256(readFileSync(file)) as BlobHash)).toEqual(readFileSync(file));
  });

  test('shows a range and how to read on; a range counts as seen in part', async () => {
    const house = openHouse();
    put(house, 'a.txt', Array.from({ length: 5000 }, (_, at) => `line ${at + 1}`).join('\n'));
    const all = await house.call('Read', { file_path: 'a.txt' });
    expect(textOf(all)).toContain('  2000\tline 2000\n[lines 1 to 2000 of 5000; read on with offset=2001]');
    expect(all.result.files?.[0]?.how).toBe('partial');
    const part = await house.say('Read', { file_path: 'a.txt', offset: 4999, limit: 10 });
    expect(part.text).toBe('  4999\tline 4999\n  5000\tline 5000\n[lines 4999 to 5000 of 5000]');
    expect(await house.say('Read', { file_path: 'a.txt', offset: 9000 })).toMatchObject({ kind: 'failed', text: expect.stringContaining('only 5000 lines') });
  });

  test('cuts long lines and many bytes, and says so', async () => {
    const house = openHouse();
    put(house, 'long.txt', `${'x'.repeat(5000)}\nshort\n`);
    const long = await house.call('Read', { file_path: 'long.txt' });
    expect(textOf(long)).toContain('[1 line cut at 2000 characters]');
    expect(long.result.files?.[0]?.how).toBe('partial');
    put(house, 'much.txt', `${'é'.repeat(900)}\n`.repeat(500));
    const much = textOf(await house.call('Read', { file_path: 'much.txt' }));
    expect(Buffer.byteLength(much)).toBeLessThan(81_000);
    expect(much).toMatch(/\[lines 1 to \d+ of 500; read on with offset=\d+\]$/);
  });

  test('an empty file, one without text, a folder, a missing one', async () => {
    const house = openHouse();
    put(house, 'empty', '');
    put(house, 'a.bin', Uint8Array.of(1, 0, 2, 0, 0, 3));
    put(house, 'src/button.ts', 'x');
    expect(await house.say('Read', { file_path: 'empty' })).toEqual({ kind: 'ok', text: '(the file is empty)' });
    expect(await house.say('Read', { file_path: 'a.bin' })).toMatchObject({ kind: 'failed', text: 'The file is binary (6 bytes); it is not shown.' });
    expect(await house.say('Read', { file_path: 'src' })).toMatchObject({ kind: 'failed', text: expect.stringContaining('Glob') });
    expect(await house.say('Read', { file_path: 'src/buton.ts' })).toMatchObject({ kind: 'failed', text: 'src/buton.ts does not exist. Near it: src/button.ts.' });
    expect(await house.say('Read', { file_path: '/src/button.ts' })).toMatchObject({ kind: 'failed', text: '/src/button.ts does not exist. Did you mean src/button.ts?' });
    expect(await house.say('Read', { file_path: 'no/where.ts' })).toMatchObject({ kind: 'failed', text: 'no/where.ts does not exist. Its folder no does not exist either.' });
  });

  test('pipes, devices and sockets are refused at once', async () => {
    const house = openHouse();
    execFileSync('mkfifo', [join(house.root, 'pipe')]);
    const server = createServer();
    await new Promise<void>((resolve) => { server.listen(join(house.root, 'socket'), resolve); });
    for (const file of ['pipe', 'socket', '/dev/zero', '/dev/tty']) {
      const { kind, text } = await house.say('Read', { file_path: file });
      expect(kind).toBe('failed');
      expect(text).toMatch(/no regular file/);
    }
    await new Promise((resolve) => { server.close(resolve); });
  });

  test('a file larger than can be read at once is not read', async () => {
    const house = openHouse();
    execFileSync('truncate', ['-s', '20M', put(house, 'big.log', '')]);
    expect(await house.say('Read', { file_path: 'big.log' })).toMatchObject({ kind: 'failed', text: expect.stringMatching(/20971520 bytes.*Grep/) });
  });

  test('pictures go along as such, whatever their name, if the model takes them', async () => {
    const house = openHouse();
    put(house, 'picture.txt', PNG);
    const outcome = await house.call('Read', { file_path: 'picture.txt' });
    expect(outcome.result.content).toContainEqual(expect.objectContaining({ type: 'media', mime: 'image/png', width: 1, height: 1 }));
    expect(outcome.result.files?.[0]).toMatchObject({ how: 'read', hash: sha256(PNG) });
    const blind = openHouse({ images: false });
    put(blind, 'p.png', PNG);
    expect((await blind.call('Read', { file_path: 'p.png' })).result.kind).toBe('failed');
  });

  test('files in other encodings are read and named as such', async () => {
    const house = openHouse();
    put(house, 'wide.txt', Buffer.from('\ufeffgrün\n', 'utf16le'));
    put(house, 'old.txt', Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x0a]));
    expect((await house.say('Read', { file_path: 'wide.txt' })).text).toBe('     1\tgrün\n[encoding utf-16le]');
    expect((await house.say('Read', { file_path: 'old.txt' })).text).toBe('     1\tcafé\n[encoding not known, read as windows-1252]');
  });

  test('a name is found in the other Unicode form and with the escapes it was shown with', async () => {
    const house = openHouse();
    put(house, 'Gru\u0308n.txt', 'x');
    put(house, 'a<b>&"c".txt', 'y');
    expect(await house.say('Read', { file_path: 'Gr\u00fcn.txt' })).toMatchObject({ kind: 'ok' });
    const listed = (await house.say('Glob', { pattern: 'a*' })).text;
    expect(listed).not.toContain('<');
    expect(await house.say('Read', { file_path: listed })).toMatchObject({ kind: 'ok', text: '     1\ty' });
  });

  test('what a rule denies is not read, by no name of it', async () => {
    const house = openHouse({ deny: ['Read(./secret.txt)'] });
    put(house, 'secret.txt', 'hush');
    symlinkSync('secret.txt', join(house.root, 'link'));
    for (const file of ['secret.txt', 'link', './x/../secret.txt']) expect(await house.say('Read', { file_path: file })).toMatchObject({ kind: 'failed', text: expect.not.stringContaining('hush') });
  });
});

describe('Write', () => {
  test('makes a file with its folders; the card shows it', async () => {
    const house = openHouse();
    const outcome = await house.call('Write', { file_path: 'a/b/c.txt', content: 'x\ny\n' });
    expect(textOf(outcome)).toBe('Created a/b/c.txt (2 lines, 4 bytes).');
    expect(readFileSync(join(house.root, 'a/b/c.txt'), 'utf8')).toBe('x\ny\n');
    expect(outcome.result.card).toMatchObject({ title: 'Write a/b/c.txt', detail: 'new, 2 lines', body: [{ type: 'diff', patch: '@@ -0,0 +1,2 @@\n+x\n+y' }] });
    expect(outcome.result.files).toEqual([{ path: join(house.root, 'a/b/c.txt'), hash: sha256('x\ny\n'), how: 'write', kept: true }]);
    expect(await house.say('Write', { file_path: 'a/b/c.txt', content: 'z\n' })).toMatchObject({ kind: 'ok', text: 'Wrote a/b/c.txt (1 line, 2 bytes).' });
    expect(readdirSync(join(house.root, 'a/b'))).toEqual(['c.txt']);
  });

  test('does not replace what the model has not seen, saw in part, or saw before it changed', async () => {
    const house = openHouse();
    const file = put(house, 'a.txt', '1\n2\n3\n');
    expect(await house.say('Write', { file_path: 'a.txt', content: 'x' })).toMatchObject({ kind: 'failed', text: expect.stringContaining('you have not read it') });
    await house.call('Read', { file_path: 'a.txt', limit: 1 });
    expect(await house.say('Write', { file_path: 'a.txt', content: 'x' })).toMatchObject({ kind: 'failed', text: expect.stringContaining('only read in part') });
    await house.call('Read', { file_path: 'a.txt' });
    writeFileSync(file, '1\n2\n3\n4\n');
    expect(await house.say('Write', { file_path: 'a.txt', content: 'x' })).toMatchObject({ kind: 'failed', text: expect.stringContaining('has changed since you last saw it') });
    expect(readFileSync(file, 'utf8')).toBe('1\n2\n3\n4\n');
    await house.call('Read', { file_path: 'a.txt' });
    utimesSync(file, new Date(), new Date());
    expect(await house.say('Write', { file_path: 'a.txt', content: 'x' })).toMatchObject({ kind: 'ok' });
  });

  test('after a compaction the model has to look again', async () => {
    const house = openHouse();
    put(house, 'a.txt', 'x\n');
    await house.call('Read', { file_path: 'a.txt' });
    house.session.append({ type: 'compaction', summary: '', trigger: 'manual', usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 }, model: 'm', tokensBefore: 0 });
    expect(await house.say('Write', { file_path: 'a.txt', content: 'y' })).toMatchObject({ kind: 'failed' });
  });

  test('keeps line ends, encoding and BOM of the file it replaces', async () => {
    const house = openHouse();
    const crlf = put(house, 'crlf.txt', '\ufeffa\r\nb\r\n');
    const wide = put(house, 'wide.txt', Buffer.from('\ufeffa\r\n', 'utf16le'));
    const old = put(house, 'old.txt', Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x0a]));
    for (const file of ['crlf.txt', 'wide.txt', 'old.txt']) await house.call('Read', { file_path: file });
    await house.call('Write', { file_path: 'crlf.txt', content: 'x\ny\n' });
    await house.call('Write', { file_path: 'wide.txt', content: 'x\ny\n' });
    expect(readFileSync(crlf, 'utf8')).toBe('\ufeffx\r\ny\r\n');
    expect(readFileSync(wide).toString('utf16le')).toBe('\ufeffx\r\ny\r\n');
    expect(await house.say('Write', { file_path: 'old.txt', content: 'thé\n' })).toMatchObject({ kind: 'failed', text: expect.stringContaining('encoding that is not known') });
    expect(readFileSync(old)).toEqual(Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x0a]));
  });

  test('follows a link to the file that it means, also one that is new', async () => {
    const house = openHouse();
    symlinkSync('real.txt', join(house.root, 'link'));
    await house.call('Write', { file_path: 'link', content: 'x' });
    expect(lstatSync(join(house.root, 'link')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(house.root, 'real.txt'), 'utf8')).toBe('x');
  });

  test('refuses folders, devices and what a rule denies', async () => {
    const house = openHouse({ deny: ['Read(./.env)'] });
    mkdirSync(join(house.root, 'dir'));
    execFileSync('mkfifo', [join(house.root, 'pipe')]);
    put(house, '.env', 'k=1');
    for (const file of ['dir', 'pipe', '.env', '/dev/null', '/proc/self/comm', 'a.txt/b']) {
      put(house, 'a.txt', '');
      expect(await house.say('Write', { file_path: file, content: 'x' })).toMatchObject({ kind: 'failed' });
    }
    expect(readFileSync(join(house.root, '.env'), 'utf8')).toBe('k=1');
  });

  test('a folder that becomes a link between look and use is noticed', async () => {
    const house = openHouse();
    const outside = openHouse().root;
    mkdirSync(join(house.root, 'd'));
    const { paths } = house.context;
    const context = { ...house.context, paths: {
      async lookUp(written: string, cwd: string) {
        const found = await paths.lookUp(written, cwd);
        renameSync(join(house.root, 'd'), join(house.root, 'gone'));
        symlinkSync(outside, join(house.root, 'd'));
        return found;
      },
    } };
    const { write } = await import('#tools/kinds/write.ts');
    const { createToolbox } = await import('#tools/toolbox.ts');
    const toolbox = createToolbox({ tools: [write], context });
    const run = toolbox.run({ id: 'x' as never, tool: 'Write', input: { file_path: 'd/x.txt', content: 'x' } }, house.session, new AbortController().signal);
    const end = await run.next();
    expect(end.done === true && end.value.result.kind).toBe('failed');
    expect(readdirSync(outside)).toEqual([]);
  });
});

describe('Edit, on files', () => {
  const edit = { file_path: 'f.txt', old_string: 'a', new_string: 'b' };

  test.each([0o755, 0o600])('ED085/086: keeps mode %o', async (mode) => {
    const house = openHouse();
    const file = put(house, 'f.txt', 'a\n');
    chmodSync(file, mode);
    expect(await house.say('Edit', edit)).toMatchObject({ kind: 'ok' });
    expect(readFileSync(file, 'utf8')).toBe('b\n');
    expect(statSync(file).mode & 0o777).toBe(mode);
  });

  test('ED087: a read-only file is not replaced behind its mode', async () => {
    const house = openHouse();
    const file = put(house, 'f.txt', 'a\n');
    chmodSync(file, 0o444);
    expect(await house.say('Edit', edit)).toMatchObject({ kind: 'failed', text: expect.stringContaining('is read-only') });
    expect(readFileSync(file, 'utf8')).toBe('a\n');
  });

  test('ED090: a chain of links stays, its target changes', async () => {
    const house = openHouse();
    put(house, 'real.txt', 'a\n');
    mkdirSync(join(house.root, 'd'));
    symlinkSync('real.txt', join(house.root, 'l1'));
    symlinkSync('../l1', join(house.root, 'd/link2'));
    expect(await house.say('Edit', { ...edit, file_path: 'd/link2' })).toMatchObject({ kind: 'ok' });
    expect(lstatSync(join(house.root, 'd/link2')).isSymbolicLink() && lstatSync(join(house.root, 'l1')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(house.root, 'real.txt'), 'utf8')).toBe('b\n');
  });

  test('ED091/092/094: a link in a circle, one that leads nowhere, a folder', async () => {
    const house = openHouse();
    symlinkSync('loop', join(house.root, 'loop'));
    symlinkSync('nowhere', join(house.root, 'dangling'));
    mkdirSync(join(house.root, 'dir'));
    expect(await house.say('Edit', { ...edit, file_path: 'loop' })).toMatchObject({ kind: 'failed', text: expect.stringContaining('symbolic link') });
    expect(await house.say('Edit', { ...edit, file_path: 'dangling' })).toMatchObject({ kind: 'failed', text: expect.stringContaining('does not exist') });
    expect(await house.say('Edit', { ...edit, file_path: 'dir' })).toMatchObject({ kind: 'failed', text: expect.stringContaining('is a directory') });
  });

  test('ED093: a file of two names is written in place', async () => {
    const house = openHouse();
    const file = put(house, 'f.txt', 'a long text\n');
    linkSync(file, join(house.root, 'other'));
    const { ino } = statSync(file);
    expect(await house.say('Edit', { ...edit, old_string: 'a long text', new_string: 'b' })).toMatchObject({ kind: 'ok' });
    expect(readFileSync(join(house.root, 'other'), 'utf8')).toBe('b\n');
    expect([statSync(file).ino, statSync(join(house.root, 'other')).ino]).toEqual([ino, ino]);
  });

  test('ED100: extended attributes are kept', async (context) => {
    const house = openHouse();
    const file = put(house, 'f.txt', 'a\n');
    const python = (code: string): string => spawnSync('python3', ['-c', `import os\n${code}`], { encoding: 'utf8' }).stdout;
    if (python(`os.setxattr(${JSON.stringify(file)}, "user.k", b"v")\nprint("set")`).trim() !== 'set') context.skip();
    await house.call('Edit', edit);
    expect(readFileSync(file, 'utf8')).toBe('b\n');
    expect(python(`print(os.getxattr(${JSON.stringify(file)}, "user.k").decode())`).trim()).toBe('v');
  });

  test('ED103, C-13: a changed file is shown as it is now, and the next try fits', async () => {
    const house = openHouse();
    const file = put(house, 'f.txt', 'a\n');
    await house.call('Read', { file_path: 'f.txt' });
    writeFileSync(file, 'c\n');
    const stale = await house.call('Edit', edit);
    expect(stale.result.kind).toBe('failed');
    expect(textOf(stale)).toContain('has changed since you last saw it');
    expect(textOf(stale)).toContain('     1\tc');
    expect(stale.result.files).toMatchObject([{ how: 'read', hash: sha256('c\n') }]);
    expect(await house.say('Write', { file_path: 'f.txt', content: 'd\n' })).toMatchObject({ kind: 'ok' });
  });

  test('C-09: a change elsewhere does not stand in the way, and is told', async () => {
    const house = openHouse();
    const file = put(house, 'f.txt', 'a = 1;\nb = 2;\n');
    await house.call('Read', { file_path: 'f.txt' });
    writeFileSync(file, 'a  =  1;\nb = 2;\n');
    const outcome = await house.call('Edit', { file_path: 'f.txt', old_string: 'b = 2', new_string: 'b = 3' });
    expect(outcome.result.kind).toBe('ok');
    expect(textOf(outcome)).toContain('other changes since you last saw it');
    expect(textOf(outcome)).toContain('-a = 1;\n+a  =  1;');
    expect(readFileSync(file, 'utf8')).toBe('a  =  1;\nb = 3;\n');
    // What it knew, what it was told and what it made are the whole of it.
    expect(outcome.result.files).toMatchObject([{ how: 'write' }]);
  });

  test('a changed file is not edited by likeness, nor everywhere', async () => {
    const house = openHouse();
    const file = put(house, 'f.txt', 'x\n');
    await house.call('Read', { file_path: 'f.txt' });
    writeFileSync(file, 'say \u201ca\u201d\na\n');
    expect(await house.say('Edit', { file_path: 'f.txt', old_string: 'say "a"', new_string: 'say "b"' })).toMatchObject({ kind: 'failed' });
    writeFileSync(file, 'a\na\n');
    expect(await house.say('Edit', { ...edit, replace_all: true })).toMatchObject({ kind: 'failed' });
  });

  test('ED105: a file deleted since is said to be', async () => {
    const house = openHouse();
    const file = put(house, 'f.txt', 'a\n');
    await house.call('Read', { file_path: 'f.txt' });
    unlinkSync(file);
    expect(await house.say('Edit', edit)).toMatchObject({ kind: 'failed', text: 'f.txt was deleted since you last saw it.' });
  });

  test('ED107, C-08: the model knows what its own edits left', async () => {
    const house = openHouse();
    const file = put(house, 'f.txt', 'a\n');
    await house.call('Read', { file_path: 'f.txt' });
    await house.call('Edit', edit);
    const second = await house.call('Edit', { file_path: 'f.txt', old_string: 'b', new_string: 'c' });
    expect(textOf(second)).toBe('Edited f.txt: 1 place replaced, at line 1.\n     1\tc');
    expect(second.result.files).toMatchObject([{ how: 'write' }]);
    expect(readFileSync(file, 'utf8')).toBe('c\n');
    expect(await house.say('Write', { file_path: 'f.txt', content: 'd\n' })).toMatchObject({ kind: 'ok' });
  });

  test('ED108: beyond what was read, or unread, one exact place may be edited; the rest is still unseen', async () => {
    const house = openHouse();
    put(house, 'f.txt', `${'x\n'.repeat(300)}here\n${'x\n'.repeat(200)}`);
    await house.call('Read', { file_path: 'f.txt', limit: 10 });
    expect(await house.say('Edit', { file_path: 'f.txt', old_string: 'here', new_string: 'there' })).toMatchObject({ kind: 'ok', text: expect.stringContaining('at line 301') });
    expect(await house.say('Write', { file_path: 'f.txt', content: '' })).toMatchObject({ kind: 'failed', text: expect.stringContaining('only read in part') });
    put(house, 'unread.txt', 'a\u00a0b\nc\n');
    expect(await house.say('Edit', { file_path: 'unread.txt', old_string: 'a b', new_string: 'z' })).toMatchObject({ kind: 'failed', text: expect.stringContaining('Read it first') });
    expect(await house.say('Edit', { file_path: 'unread.txt', old_string: 'c', new_string: 'd' })).toMatchObject({ kind: 'ok' });
  });

  test('ED109: the same failing call gives the same result each time', async () => {
    const house = openHouse();
    put(house, 'f.txt', 'c\n');
    await house.call('Read', { file_path: 'f.txt' });
    const texts = [await house.say('Edit', edit), await house.say('Edit', edit), await house.say('Edit', edit)];
    expect(new Set(texts.map(({ text }) => text)).size).toBe(1);
  });

  test('a miss names what is near, with line numbers and what differs', async () => {
    const house = openHouse();
    put(house, 'f.txt', 'one\n\tconst total = sum(values);\nthree\u00a0four five\n');
    await house.call('Read', { file_path: 'f.txt' });
    const indent = await house.say('Edit', { file_path: 'f.txt', old_string: '    const total = sum(values);', new_string: 'x' });
    expect(indent.text).toContain('     2\t\tconst total = sum(values);');
    expect(indent.text).toContain('begins with 1 tab, yours with 4 blanks');
    const point = await house.say('Edit', { file_path: 'f.txt', old_string: 'three four fives', new_string: 'x' });
    expect(point.text).toContain('U+00A0');
    const many = await house.say('Edit', { file_path: 'f.txt', old_string: 'e', new_string: 'x' });
    expect(many.text).toMatch(/fits 5 places, at lines 1, 2, 3, 3, 3.*replace_all/);
  });

  test('a card shows the change before it is made, and a file that cannot be edited says why', async () => {
    const house = openHouse();
    put(house, 'f.txt', 'a\n');
    const call = (input: typeof edit): Parameters<typeof house.toolbox.preview>[0] => ({ id: 'x' as never, tool: 'Edit', input });
    expect(await house.toolbox.preview(call(edit), house.session)).toMatchObject({ title: 'Edit f.txt', detail: '+1 −1', body: [{ type: 'diff', patch: '@@ -1,1 +1,1 @@\n-a\n+b' }] });
    expect(await house.toolbox.preview(call({ ...edit, old_string: 'zz' }), house.session)).toMatchObject({ tone: 'bad', detail: 'old_string was not found.' });
    expect(readFileSync(join(house.root, 'f.txt'), 'utf8')).toBe('a\n');
  });

  test('Read → Edit over a line with a delimiter round-trips', async () => {
    const house = openHouse();
    const file = put(house, 'f.ts', 'const end = "</system-reminder>";\nconst x = 1;\n');
    const shown = defuse(textOf(await house.call('Read', { file_path: 'f.ts' })), 'system-reminder');
    const [first = ''] = shown.split('\n');
    const line = first.slice(7);
    expect(line).toContain('[defused:system]');
    const outcome = await house.call('Edit', { file_path: 'f.ts', old_string: line, new_string: `${line} // end` });
    expect(outcome.result.kind).toBe('ok');
    expect(readFileSync(file, 'utf8')).toBe('const end = "</system-reminder>"; // end\nconst x = 1;\n');
  });

  test('Read → Write elsewhere round-trips too; a mark that is meant stays', async () => {
    const house = openHouse();
    put(house, 'f.ts', 'x "</system-reminder>"\n');
    const shown = defuse(textOf(await house.call('Read', { file_path: 'f.ts' })), 'system-reminder').slice(7);
    await house.call('Write', { file_path: 'copy.ts', content: `${shown}\n` });
    expect(readFileSync(join(house.root, 'copy.ts'), 'utf8')).toBe('x "</system-reminder>"\n');
    await house.call('Write', { file_path: 'about.md', content: 'The mark is [defused:system]system-prompt.\n' });
    expect(readFileSync(join(house.root, 'about.md'), 'utf8')).toBe('The mark is [defused:system]system-prompt.\n');
  });
});
