import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Json } from '#lib/brand.ts';
import { sha256 } from '#lib/hash.ts';
import type { Call, CallId } from '#domain/tool.ts';
import { tools } from '#tools/kinds/list.ts';
import { createToolbox } from '#tools/toolbox.ts';
import { finish, openHouse, textOf } from './support.ts';

const NOTEBOOK = `${JSON.stringify({ cells: [{ cell_type: 'code', id: 'a', metadata: {}, outputs: [], execution_count: null, source: ['x = 1'] }], metadata: {}, nbformat: 4, nbformat_minor: 5 }, null, 1)}\n`;

/** Files that the model has read; a call of which the user makes `text`. */
async function house(files: Readonly<Record<string, string | Uint8Array>>, deny: readonly string[] = []) {
  const made = openHouse({ deny });
  for (const [name, contents] of Object.entries(files)) {
    writeFileSync(join(made.root, name), contents);
    if (deny.length === 0) await made.call('Read', { file_path: name });
  }
  const at = (name: string): string => join(made.root, name);
  const callOf = (tool: string, input: Json): Call => ({ id: 'toolu_x' as CallId, tool, input });
  return {
    ...made, at, raw: (name: string) => readFileSync(at(name)),
    propose: (tool: string, input: Json) => made.toolbox.propose(callOf(tool, input), made.session),
    async amended(tool: string, input: Json, text: string, meanwhile: () => void = () => undefined) {
      const call = callOf(tool, input);
      const proposed = await made.toolbox.propose(call, made.session);
      if (proposed === undefined) throw new Error('nothing is proposed');
      meanwhile();
      const toolbox = createToolbox({ tools, context: made.context, amended: () => ({ proposed, text }) });
      const outcome = await finish(toolbox.run(call, made.session, new AbortController().signal));
      return { kind: outcome.result.kind, text: textOf(outcome), files: outcome.result.files, card: outcome.result.card };
    },
  };
}

describe('the file that a call would leave', () => {
  it('is known of Edit, Write and NotebookEdit, with what stands there now', async () => {
    const { propose, at } = await house({ 'a.txt': 'one\ntwo\n', 'n.ipynb': NOTEBOOK });
    expect(await propose('Edit', { file_path: 'a.txt', old_string: 'two', new_string: '2' })).toEqual({ path: at('a.txt'), hash: sha256('one\ntwo\n'), after: 'one\n2\n' });
    expect(await propose('Write', { file_path: 'a.txt', content: 'x\n' })).toEqual({ path: at('a.txt'), hash: sha256('one\ntwo\n'), after: 'x\n' });
    expect(await propose('Write', { file_path: 'new/b.txt', content: 'x' })).toEqual({ path: at('new/b.txt'), hash: undefined, after: 'x' });
    expect((await propose('NotebookEdit', { notebook_path: 'n.ipynb', cell_id: 'a', new_source: 'x = 2' }))?.after).toContain('"x = 2"');
  });

  it('is nothing of a call that would fail, changes nothing, or is no change of a text', async () => {
    const { propose } = await house({ 'a.txt': 'one\none\n' });
    for (const [tool, input] of [
      ['Edit', { file_path: 'a.txt', old_string: 'gone', new_string: 'x' }], ['Edit', { file_path: 'a.txt', old_string: 'one', new_string: 'x' }], ['Edit', { file_path: 'a.txt', old_string: 'one', new_string: 'one' }],
      ['Edit', { file_path: 7 }], ['Write', { file_path: 'a.txt', content: 'one\none\n' }], ['Bash', { command: 'ls' }], ['Nope', {}],
    ] as const) expect(await propose(tool, input as Json)).toBeUndefined();
    await expect(propose('Edit', { file_path: 'missing', old_string: 'a', new_string: 'b' })).rejects.toThrow();
  });

  it('is nothing of a file that was not read, or that a rule keeps from being read', async () => {
    const { propose, root } = await house({ '.env': 'KEY=1\n' }, ['Read(.env)']);
    expect(await propose('Edit', { file_path: '.env', old_string: '1', new_string: '2' })).toBeUndefined();
    writeFileSync(join(root, 'unread'), 'x\n');
    expect(await propose('Write', { file_path: 'unread', content: 'y\n' })).toBeUndefined();
  });
});

describe('what the user made of it', () => {
  const EDIT = { file_path: 'a.txt', old_string: 'two', new_string: '2' };

  it('is written, and the model is told how it differs', async () => {
    const { amended, raw } = await house({ 'a.txt': 'one\ntwo\n' });
    const { kind, text, files, card } = await amended('Edit', EDIT, 'one\nZWEI\n');
    expect(raw('a.txt').toString()).toBe('one\nZWEI\n');
    expect(kind).toBe('ok');
    expect(text).toBe('The user changed this change before they agreed to it. a.txt was written as they want it. How it differs from what you proposed:\n@@ -1,2 +1,2 @@\n one\n-2\n+ZWEI');
    expect(files).toMatchObject([{ how: 'write', hash: sha256('one\nZWEI\n') }]);
    expect(card).toMatchObject({ title: 'Edit a.txt', detail: '+1 −1, changed by you' });
  });

  it('keeps the encoding of the file, and is refused where that cannot hold it', async () => {
    const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('one\ntwo\n', 'utf16le')]);
    const { amended, raw } = await house({ 'a.txt': utf16 });
    await amended('Edit', EDIT, 'one\nß\n');
    expect(raw('a.txt')).toEqual(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('one\nß\n', 'utf16le')]));
  });

  it('is not written over what somebody else wrote meanwhile; an editor that wrote it itself did nothing wrong', async () => {
    const { amended, raw, at } = await house({ 'a.txt': 'one\ntwo\n' });
    expect(await amended('Edit', EDIT, 'mine\n', () => { writeFileSync(at('a.txt'), 'theirs\n'); })).toMatchObject({ kind: 'failed' });
    expect(raw('a.txt').toString()).toBe('theirs\n');
    writeFileSync(at('a.txt'), 'one\ntwo\n');
    expect(await amended('Edit', EDIT, 'mine\n', () => { writeFileSync(at('a.txt'), 'mine\n'); })).toMatchObject({ kind: 'ok', files: [{ hash: sha256('mine\n') }] });
  });

  it('that differs much is not told line by line, and counts as not known', async () => {
    const { amended } = await house({ 'a.txt': 'one\ntwo\n' });
    const { text, files } = await amended('Edit', EDIT, Array.from({ length: 3000 }, (_, i) => `line ${i}\n`).join(''));
    expect(text).toContain('It has 3000 lines now and differs much from what you proposed; Read it before you rely on it.');
    expect(files).toMatchObject([{ how: 'heard' }]);
  });

  it('of a new file is written where it was to be', async () => {
    const { amended, raw } = await house({});
    expect((await amended('Write', { file_path: 'deep/new.txt', content: 'a\n' }, 'b\n')).kind).toBe('ok');
    expect(raw('deep/new.txt').toString()).toBe('b\n');
  });
});
