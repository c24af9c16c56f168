import { appendFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startEditor, type EditorOptions } from '../support/editor.ts';
import { eventually } from '../support/eventually.ts';
import { ideBench, type IdeBench, SIGNAL } from './support.ts';

const LAMP = 'one\ntwo\nthree\nfour\n';
const wish = { asked: false, auto: true };

async function connected(more: Partial<EditorOptions> = {}, bench: IdeBench = ideBench({ 'lamp.ts': LAMP, '.env': 'SECRET=1\n' }, ['Read(.env)'])) {
  const editor = await startEditor({ locks: bench.locks, folders: [bench.work], ...more });
  await bench.ide.begin(wish);
  return { ...bench, editor, lamp: join(bench.work, 'lamp.ts') };
}

describe('connecting', () => {
  it('greets as the protocol wants it, with the token of the lock file', async () => {
    const { editor, ide, said } = await connected();
    expect(ide.name()).toBe('Neovim');
    expect(said).toEqual(['Connected to Neovim.']);
    await eventually(() => { expect(editor.methods.slice(0, 3)).toEqual(['initialize', 'notifications/initialized', 'ide_connected']); });
    expect(editor.refused).toEqual([]);
  });

  it('does without a sub-protocol where the server knows none', async () => {
    const { ide } = await connected({ protocol: false });
    expect(ide.name()).toBe('Neovim');
  });

  it('a wrong token is one line, and nothing else was said to the server', async () => {
    const { editor, ide, said } = await connected({ lock: { authToken: 'not-the-right-one' } });
    expect(ide.name()).toBeUndefined();
    expect(said).toEqual([`Neovim (port ${editor.port}) could not be connected: Unexpected server response: 401.`]);
    expect(editor.methods).toEqual([]);
  });

  it('what listens on the port of a lock file and is no editor gets a handshake, and that is all', async () => {
    const { ide, locks, work, said } = ideBench();
    let heard = '';
    const server = createServer((socket) => { socket.on('data', (data) => { heard += data.toString(); socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi'); }); });
    await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
    onTestFinished(() => { server.close(); });
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await startEditor({ locks, folders: ['/'] }).then((editor) => { editor.close(); });
    writeFileSync(join(locks, `${port}.lock`), JSON.stringify({ pid: process.pid, workspaceFolders: [work], authToken: 'x'.repeat(32) }), { mode: 0o600 });
    await ide.begin(wish);
    expect(ide.name()).toBeUndefined();
    expect(said[0]).toMatch(/^an editor \(port \d+\) could not be connected: Unexpected server response: 200\.$/);
    expect(heard.match(/GET /g)).toHaveLength(1);
    expect(heard.toLowerCase()).not.toContain('origin:');
  });

  it('offers what fits, unasked, and connects to it only when wished for', async () => {
    const { ide, locks, work, said } = ideBench();
    await ide.begin({ asked: false, auto: false });
    expect(said).toEqual([]);
    const one = await startEditor({ locks, folders: [work], name: 'VS Code' });
    await ide.begin({ asked: false, auto: false });
    await startEditor({ locks, folders: ['/'], name: 'Emacs' });
    await ide.begin({ asked: false, auto: false });
    expect(said).toEqual(['/ide connects to VS Code.', '/ide connects to an editor; 2 run for this folder.']);
    expect(one.connected()).toBe(0);
    await ide.begin({ asked: true, auto: false });
    expect(said.at(-1)).toBe('Connected to VS Code; another editor runs for this folder (/ide).');
    expect(ide.name()).toBe('VS Code');
  });

  it('the editor in whose terminal it runs comes first, whatever its folder', async () => {
    const { ide, locks, work } = ideBench();
    await startEditor({ locks, folders: [work], name: 'VS Code' });
    const emacs = await startEditor({ locks, folders: ['/elsewhere'], name: 'Emacs' });
    await ide.begin({ asked: false, auto: false, port: emacs.port });
    expect(ide.name()).toBe('Emacs');
  });

  it('asked for where there is none says so', async () => {
    const { ide, said } = ideBench();
    await ide.begin({ asked: true, auto: false });
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(/^--ide: no editor/);
  });

  it('wished for before it is there, it is connected when it comes; not after the user has decided otherwise', async () => {
    const [waiting, decided] = [ideBench(), ideBench()];
    await waiting.ide.begin(wish);
    await decided.ide.begin(wish);
    decided.ide.disconnect();
    await startEditor({ locks: waiting.locks, folders: [waiting.work] });
    await startEditor({ locks: decided.locks, folders: [decided.work] });
    await eventually(() => { expect(waiting.said).toEqual(['Connected to Neovim.']); });
    expect(decided.ide.name()).toBeUndefined();
  });

  it('another editor in place of the one that is connected; off; on again', async () => {
    const { ide, editor, locks, work } = await connected();
    const other = await startEditor({ locks, folders: [work], name: 'Emacs' });
    expect(await ide.connect(other.port)).toEqual({ done: 'Connected to Emacs.' });
    await eventually(() => { expect(editor.connected()).toBe(0); });
    expect(ide.disconnect()).toBe('Emacs');
    expect(ide.name()).toBeUndefined();
    expect(ide.disconnect()).toBeUndefined();
    expect(await ide.connect(1)).toEqual({ problem: 'There is no editor on port 1.' });
    expect(await ide.connect(editor.port)).toEqual({ done: 'Connected to Neovim.' });
  });

  it('says that the editor went, and connects again when it comes back', async () => {
    const { ide, editor, said, locks, work } = await connected();
    editor.close();
    await eventually(() => { expect(ide.name()).toBeUndefined(); });
    expect(said.at(-1)).toBe('Neovim is not connected any more: it closed the connection.');
    await startEditor({ locks, folders: [work] });
    await eventually(() => { expect(said.at(-1)).toBe('Connected to Neovim again.'); });
    expect(ide.name()).toBe('Neovim');
  });
});

describe('what an editor says by itself', () => {
  it('a selection is known with its lines, and the file that is open', async () => {
    const { editor, ide, lamp, work } = await connected();
    editor.select(lamp, 2, 3, 'two\nthree');
    await eventually(async () => {
      expect(await ide.selection(SIGNAL)).toEqual({ path: lamp, label: 'lamp.ts', fromLine: 2, toLine: 3, text: 'two\nthree', saved: true });
    });
    expect(await ide.openFile(SIGNAL)).toEqual({ path: lamp, label: 'lamp.ts' });
    editor.select(lamp);
    await eventually(async () => { expect(await ide.selection(SIGNAL)).toBeUndefined(); });
    expect(await ide.openFile(SIGNAL)).toEqual({ path: lamp, label: 'lamp.ts' });
    editor.select(join(work, 'gone.ts'));
    await eventually(async () => { expect(await ide.openFile(SIGNAL)).toBeUndefined(); });
  });

  it('is asked for when it has not said it', async () => {
    const bench = ideBench({ 'lamp.ts': LAMP });
    const { ide } = await connected({ tools: { getCurrentSelection: () => [JSON.stringify({ success: true, text: 'two', filePath: join(bench.work, 'lamp.ts'), selection: { start: { line: 1, character: 0 }, end: { line: 1, character: 3 } } })] } }, bench);
    await eventually(async () => { expect(await ide.selection(SIGNAL)).toMatchObject({ fromLine: 2, toLine: 2, text: 'two' }); });
  });

  it('whole lines that end at the beginning of the next do not count that one', async () => {
    const { editor, ide, lamp } = await connected();
    editor.select(lamp, 2, 3, 'two\nthree\n');
    await eventually(async () => { expect(await ide.selection(SIGNAL)).toMatchObject({ fromLine: 2, toLine: 3 }); });
  });

  it.each([['.env', 'SECRET=1'], ['../outside.txt', 'x'], ['/etc/passwd', 'root']])('nothing of %s, which may not be read or lies outside', async (name, text) => {
    const { editor, ide, work } = await connected();
    editor.select(join(name.startsWith('/') ? '' : work, name), 1, 1, text);
    await eventually(() => { expect(editor.methods).toContain('tools/call'); });
    await new Promise((resolve) => { setTimeout(resolve, 50); });
    expect(await ide.selection(SIGNAL)).toBeUndefined();
    expect(await ide.openFile(SIGNAL)).toBeUndefined();
  });

  it('a selection in a file that has changed since is told only if the editor says it again', async () => {
    const { editor, ide, lamp } = await connected();
    editor.select(lamp, 2, 2, 'two');
    await eventually(async () => { expect(await ide.selection(SIGNAL)).toMatchObject({ saved: true }); });
    writeFileSync(lamp, 'zero\none\ntwo\nthree\n');
    expect(await ide.selection(SIGNAL)).toMatchObject({ text: 'two', saved: false });
    const hanging = await connected({ tools: { getCurrentSelection: 'hang' } });
    hanging.editor.select(hanging.lamp, 2, 2, 'two');
    await eventually(async () => { expect(await hanging.ide.selection(SIGNAL)).toMatchObject({ saved: true }); });
    appendFileSync(hanging.lamp, 'five\n');
    expect(await hanging.ide.selection(SIGNAL)).toMatchObject({ saved: true });
    writeFileSync(hanging.lamp, 'zero\none\ntwo\nthree\n');
    expect(await hanging.ide.selection(SIGNAL)).toBeUndefined();
  });

  it('nothing is left of it when the editor is gone', async () => {
    const { editor, ide, lamp } = await connected();
    editor.select(lamp, 2, 2, 'two');
    await eventually(async () => { expect(await ide.selection(SIGNAL)).toBeDefined(); });
    editor.close();
    await eventually(() => { expect(ide.name()).toBeUndefined(); });
    expect(await ide.selection(SIGNAL)).toBeUndefined();
    expect(await ide.openFile(SIGNAL)).toBeUndefined();
  });

  it('mentions have lines from 1, and paths from the editor\'s own folder', async () => {
    const { editor, mentions, lamp, work } = await connected();
    editor.mention(lamp, 10, 20);
    editor.mention('lamp.ts');
    await eventually(() => { expect(mentions).toEqual([`${lamp}#10-20`, join(work, 'lamp.ts')]); });
  });

  it('tells of a change once', async () => {
    const { editor, lamp, changes } = await connected();
    await eventually(() => { expect(editor.calls).toHaveLength(1); });
    const before = changes();
    for (let i = 0; i < 10; i += 1) editor.select(lamp, 2, 2, 'two');
    await eventually(() => { expect(changes()).toBe(before + 1); });
  });
});

describe('an editor that misbehaves costs its own words only', () => {
  it('never greets', async () => {
    const { ide, locks, work } = ideBench();
    await startEditor({ locks, folders: [work], methods: { initialize: 'hang' } });
    const beginning = ide.begin(wish);
    await new Promise((resolve) => { setTimeout(resolve, 100); });
    expect(ide.name()).toBeUndefined();
    expect(await ide.selection(SIGNAL)).toBeUndefined();
    ide.close();
    await beginning;
  });

  it('sends what is no message, deep ones and odd ones, and is still heard', async () => {
    const { editor, ide, lamp } = await connected();
    for (const frame of ['', '{', 'null', '[]', '7', '{"jsonrpc":"2.0","id":{},"result":1}', '['.repeat(100_000), Buffer.from([0, 1, 2])]) editor.raw(frame);
    for (const params of [{}, { text: 7 }, { text: 'x', filePath: 'relative', selection: {} }, { text: 'x', filePath: `${lamp}\0`, selection: { start: { line: -1 }, end: { line: 1e99 } } }]) editor.notify('selection_changed', params);
    editor.notify('no_such_thing', { a: 1 });
    editor.notify('at_mentioned', { filePath: 7 });
    editor.select(lamp, 1, 1, 'one');
    await eventually(async () => { expect(await ide.selection(SIGNAL)).toMatchObject({ text: 'one' }); });
  });

  it('is left when it sends nothing but garbage', async () => {
    const { editor, ide, said } = await connected();
    for (let i = 0; i < 30; i += 1) editor.raw('garbage');
    await eventually(() => { expect(ide.name()).toBeUndefined(); });
    expect(said.at(-1)).toBe('Neovim is not connected any more: it sends what is no message.');
  });

  it('is left before it has sent a hundred megabytes in one frame', async () => {
    const { editor, ide, said } = await connected();
    editor.announce(100 * 1024 * 1024);
    await eventually(() => { expect(ide.name()).toBeUndefined(); });
    expect(said.at(-1)).toMatch(/^Neovim is not connected any more: Max payload size exceeded/);
  });

  it('is left when it floods', async () => {
    const { editor, ide, said } = await connected();
    // Too large to be read, so that even a busy machine counts them all within a second or two.
    const frame = Buffer.alloc(12 * 1024 * 1024, 0x20);
    for (let i = 0; i < 6; i += 1) editor.raw(frame);
    await eventually(() => { expect(ide.name()).toBeUndefined(); });
    expect(said.at(-1)).toBe('Neovim is not connected any more: it sends too much.');
  });

  it('answers with megabytes: a selection is cut, a path that long is none', async () => {
    const { editor, ide, lamp } = await connected();
    writeFileSync(lamp, `${'x'.repeat(900_000)}\n`);
    editor.select(lamp, 1, 1, 'x'.repeat(900_000));
    await eventually(async () => { expect((await ide.selection(SIGNAL))?.text).toHaveLength(64 * 1024); });
    editor.select(`/${'y'.repeat(10_000)}`, 1, 1, 'y');
    await eventually(async () => { expect(await ide.openFile(SIGNAL)).toBeUndefined(); });
  });

  it('refuses to open a file: one line', async () => {
    const { ide, lamp } = await connected({ tools: { openFile: 'no\nwindow' } });
    expect(await ide.open(lamp, SIGNAL)).toBe('no\\u{A}window');
    expect(await (await connected()).ide.open(lamp, SIGNAL)).toBeUndefined();
  });
});
