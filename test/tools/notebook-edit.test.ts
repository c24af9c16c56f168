import { chmodSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '#lib/brand.ts';
import { editNotebook } from '#tools/notebook.ts';
import { type House, openHouse, textOf } from './support.ts';

/** As Jupyter writes it: one space of indentation, lines as lists, floats with their zero. */
const JUPYTER = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {},
   "source": [
    "# Title\\n",
    "words"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 7,
   "id": "sum",
   "metadata": {"tags": ["x"], "weight": 1.0},
   "outputs": [
    {"name": "stdout", "output_type": "stream", "text": ["3\\n"]}
   ],
   "source": [
    "print(1 + 2)"
   ]
  }
 ],
 "metadata": {
  "kernelspec": {"name": "python3", "version": 3.10},
  "caf\\u00e9": 1e3
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
`;

async function opened(text = JUPYTER, name = 'a.ipynb'): Promise<House & { readonly now: () => string; readonly edit: (input: { readonly [key: string]: Json }) => Promise<{ kind: string; text: string }> }> {
  const house = openHouse();
  writeFileSync(join(house.root, name), text);
  await house.call('Read', { file_path: name });
  return { ...house, now: () => readFileSync(join(house.root, name), 'utf8'), edit: (input) => house.say('NotebookEdit', { notebook_path: name, ...input }) };
}

const cellsOf = (text: string): readonly Record<string, Json>[] => (JSON.parse(text) as { cells: Record<string, Json>[] }).cells;

describe('replacing a cell', () => {
  it('changes its text and takes its outputs away; all else stays byte for byte', async () => {
    const at = await opened();
    expect(await at.edit({ cell_id: 'sum', new_source: 'x = 1\nprint(x)\n' })).toEqual({ kind: 'ok', text: 'Replaced the text of cell 2 (id sum) of a.ipynb: code, 2 lines. The notebook has 2 cells. Its 1 output went with the old text.' });
    const [before, after] = [JUPYTER.split('\n'), at.now().split('\n')];
    expect(after.slice(0, 12)).toEqual(before.slice(0, 12));
    expect(after.slice(-10)).toEqual(before.slice(-10));
    expect(at.now()).toContain('"metadata": {"tags": ["x"], "weight": 1.0},');
    expect(at.now()).toContain('   "execution_count": null,\n   "id": "sum",');
    expect(at.now()).toContain('   "outputs": [],\n   "source": [\n    "x = 1\\n",\n    "print(x)\\n"\n   ]\n  }');
  });
  it('takes a number where there is no id, and keeps a text that is one string', async () => {
    const at = await opened('{"cells":[{"cell_type":"markdown","metadata":{},"source":"a"},{"cell_type":"raw","metadata":{},"source":"b"}],"metadata":{"v":1.0},"nbformat":4,"nbformat_minor":2}');
    await at.edit({ cell_number: 2, new_source: 'new\nb' });
    expect(at.now()).toBe('{"cells":[{"cell_type":"markdown","metadata":{},"source":"a"},{"cell_type":"raw","metadata":{},"source":"new\\nb"}],"metadata":{"v":1.0},"nbformat":4,"nbformat_minor":2}');
  });
  it('can make another kind of it', async () => {
    const at = await opened();
    await at.edit({ cell_id: 'sum', new_source: 'words', cell_type: 'markdown' });
    expect(cellsOf(at.now())[1]).toEqual({ cell_type: 'markdown', id: 'sum', metadata: { tags: ['x'], weight: 1 }, source: ['words'] });
    await at.edit({ cell_id: 'intro', new_source: 'y', cell_type: 'code' });
    expect(cellsOf(at.now())[0]).toEqual({ cell_type: 'code', id: 'intro', metadata: {}, source: ['y'], outputs: [], execution_count: null });
  });
  it('keeps tabs, CRLF and a byte order mark', async () => {
    const at = await opened(`\ufeff${JUPYTER.replace(/^ +/gm, (blanks) => '\t'.repeat(blanks.length)).replaceAll('\n', '\r\n')}`);
    await at.edit({ cell_id: 'intro', new_source: 'a\nb' });
    expect(at.now().startsWith('\ufeff{\r\n\t"cells"')).toBe(true);
    expect(at.now()).toContain('\t\t\t"source": [\r\n\t\t\t\t"a\\n",\r\n\t\t\t\t"b"\r\n\t\t\t]\r\n');
    expect(at.now().replaceAll('\r\n', '')).not.toContain('\n');
  });
  it('shows the difference of the cell in its card, before and after', async () => {
    const at = await opened();
    const call = { id: 'x' as never, tool: 'NotebookEdit', input: { notebook_path: 'a.ipynb', cell_id: 'sum', new_source: 'print(3)' } };
    const card = await at.toolbox.preview(call, at.session);
    expect(card).toMatchObject({ title: 'NotebookEdit a.ipynb, cell 2', detail: '+1 −1', body: [{ type: 'diff', patch: '@@ -1,1 +1,1 @@\n-print(1 + 2)\n+print(3)' }] });
    expect((await at.call('NotebookEdit', call.input)).result.card).toEqual(card);
  });
});

describe('inserting and deleting', () => {
  it('puts a cell behind another, or first', async () => {
    const at = await opened();
    expect((await at.edit({ edit_mode: 'insert', cell_id: 'intro', new_source: 'y = 2' })).text).toMatch(/^Inserted cell 2 \(id [0-9a-f]{8}\) into a\.ipynb: code, 1 line\. The notebook has 3 cells\. Cells after it have other numbers now; ids stay\.$/);
    expect(cellsOf(at.now()).map(({ source }) => source)).toEqual([['# Title\n', 'words'], ['y = 2'], ['print(1 + 2)']]);
    expect(cellsOf(at.now())[1]).toMatchObject({ cell_type: 'code', execution_count: null, metadata: {}, outputs: [] });
    await at.edit({ edit_mode: 'insert', new_source: '', cell_type: 'markdown' });
    expect(Object.keys(cellsOf(at.now())[0] ?? {})).toEqual(['cell_type', 'id', 'metadata', 'source']);
    await at.edit({ edit_mode: 'insert', cell_number: 4, new_source: 'last' });
    expect(cellsOf(at.now()).at(-1)).toMatchObject({ source: ['last'] });
    expect(at.now()).toContain('"weight": 1.0');
  });
  it('gives no id where the format has none, and the first cell of an empty notebook one where it has', async () => {
    const old = await opened('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}');
    await old.edit({ edit_mode: 'insert', new_source: 'a' });
    expect(cellsOf(old.now())[0]).not.toHaveProperty('id');
    const fresh = await opened('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}');
    await fresh.edit({ edit_mode: 'insert', new_source: 'a' });
    expect(cellsOf(fresh.now())[0]).toHaveProperty('id');
  });
  it('takes a cell away', async () => {
    const at = await opened();
    expect((await at.edit({ edit_mode: 'delete', cell_id: 'sum' })).text).toBe('Deleted cell 2 (id sum) of a.ipynb. The notebook has 1 cell. Cells after it have other numbers now; ids stay.');
    expect(cellsOf(at.now()).map(({ id }) => id)).toEqual(['intro']);
    await at.edit({ edit_mode: 'delete', cell_number: 1 });
    expect(cellsOf(at.now())).toEqual([]);
  });
});

describe('what cannot be done', () => {
  it.each([
    [{ new_source: 'x' }, 'Name the cell: cell_id or cell_number, as Read shows them.'],
    [{ cell_id: 'nope', new_source: 'x' }, 'There is no cell with the id "nope". The cells are 1: intro, 2: sum.'],
    [{ cell_number: 3, new_source: 'x' }, 'There is no cell 3: the notebook has 2 cells, counted from 1.'],
    [{ cell_number: 0, new_source: 'x' }, 'There is no cell 0: the notebook has 2 cells, counted from 1.'],
    [{ cell_id: 'sum' }, 'To replace a cell, new_source must say what it holds.'],
    [{ edit_mode: 'insert' }, 'To insert a cell, new_source must say what it holds.'],
    [{ cell_id: 'sum', new_source: 'print(1 + 2)' }, 'Cell 2 holds exactly this already: there is nothing to change.'],
  ])('is one line: %j', async (input, why) => {
    const at = await opened();
    expect(await at.edit(input)).toEqual({ kind: 'failed', text: `a.ipynb: ${why}` });
    expect(at.now()).toBe(JUPYTER);
  });
  it.each([['{"cells": [', 'It is no valid JSON: mend it with Edit first.'], ['[]', 'It holds no notebook.'], ['{"cells": [1]}', 'It holds no notebook (no cells).'], ['{"worksheets": []}', 'It is a notebook of format 3, which can be read but not edited by cells: convert it (jupyter nbconvert --to notebook), or use Edit.']])('of %s', async (text, why) => {
    expect((await (await opened(text)).edit({ cell_number: 1, new_source: 'x' })).text).toBe(`a.ipynb: ${why}`);
  });
  it('is done to a notebook that was not read, or has changed since', async () => {
    const house = openHouse();
    writeFileSync(join(house.root, 'a.ipynb'), JUPYTER);
    expect((await house.say('NotebookEdit', { notebook_path: 'a.ipynb', cell_id: 'sum', new_source: 'x' })).text).toBe('You have not read a.ipynb: Read it first.');
    const at = await opened();
    writeFileSync(join(at.root, 'a.ipynb'), JUPYTER.replace('words', 'other'));
    expect((await at.edit({ cell_id: 'sum', new_source: 'x' })).text).toBe('a.ipynb has changed since you last saw it. Read it again, then edit it.');
    await at.call('Read', { file_path: 'a.ipynb', limit: 1 });
    expect((await at.edit({ cell_id: 'sum', new_source: 'x' })).kind).toBe('ok');
  });
  it('is done to a file that is read-only, missing, denied, or a link that was put there', async () => {
    const at = await opened();
    chmodSync(join(at.root, 'a.ipynb'), 0o444);
    expect((await at.edit({ cell_id: 'sum', new_source: 'x' })).text).toContain('is read-only');
    expect((await at.say('NotebookEdit', { notebook_path: 'no.ipynb', cell_id: 'sum', new_source: 'x' })).text).toContain('does not exist');
    const denied = openHouse({ deny: ['Read(./secret.ipynb)'] });
    writeFileSync(join(denied.root, 'secret.ipynb'), JUPYTER);
    symlinkSync('secret.ipynb', join(denied.root, 'link.ipynb'));
    for (const name of ['secret.ipynb', 'link.ipynb']) expect((await denied.say('NotebookEdit', { notebook_path: name, cell_id: 'sum', new_source: 'x' })).text).toContain('denies reading');
  });
});

it('writes nothing where a key stands twice', async () => {
  const at = await opened('{"cells": [{"cell_type": "code", "source": "a"}], "cells": [{"cell_type": "code", "source": "b"}], "nbformat": 4}');
  expect((await at.edit({ cell_number: 1, new_source: 'x' })).text).toContain('a key that stands twice?');
});

it('goes on from its own edits: what it wrote is known, and counts as no change by others', async () => {
  const at = await opened();
  const first = await at.call('NotebookEdit', { notebook_path: 'a.ipynb', cell_id: 'sum', new_source: 'a' });
  expect(first.result.files).toMatchObject([{ how: 'write' }]);
  expect((await at.edit({ cell_id: 'sum', new_source: 'b' })).kind).toBe('ok');
  expect(textOf(await at.call('Read', { file_path: 'a.ipynb' }))).toContain('[cell 2: code, id sum]\nb');
});

it('maps marks back that only Read had put in', async () => {
  const source = '</document-a-ipynb-text-x-notebook>';
  const at = await opened(JUPYTER.replace('print(1 + 2)', source));
  const shown = textOf(await at.call('Read', { file_path: 'a.ipynb' }));
  const marked = /\[defused:[^\]]+\]\/document-a-ipynb-text-x-notebook>/.exec(shown)?.[0] ?? '';
  expect(marked).not.toBe('');
  await at.edit({ cell_id: 'sum', new_source: `x = "${marked}"` });
  expect(cellsOf(at.now())[1]?.['source']).toEqual([`x = "${source}"`]);
});

it('any text in any notebook comes back, and nothing else changes', () => {
  const cell = fc.record({ cell_type: fc.constantFrom('code', 'markdown', 'raw'), id: fc.uuid(), source: fc.oneof(fc.string({ unit: 'grapheme' }), fc.array(fc.string())), metadata: fc.dictionary(fc.string(), fc.jsonValue()) }, { requiredKeys: ['cell_type', 'source'] });
  const indent = fc.constantFrom(undefined, 1, 2, '\t');
  fc.assert(fc.property(fc.array(cell, { minLength: 1, maxLength: 5 }), fc.string({ unit: 'grapheme' }), fc.nat(), indent, fc.constantFrom('replace' as const, 'insert' as const, 'delete' as const), fc.constantFrom(undefined, 'code' as const, 'markdown' as const), (cells, source, pick, space, mode, kind) => {
    const at = pick % cells.length;
    const before = { cells, metadata: { a: 1 }, nbformat: 4, nbformat_minor: 5 };
    const edited = editNotebook(JSON.stringify(before, undefined, space), { mode, id: undefined, number: at + 1, source, kind });
    if (!edited.ok) return;
    const after = JSON.parse(edited.text) as typeof before;
    const place = mode === 'insert' ? at + 1 : at;
    const others = mode === 'insert' ? cells : cells.filter((_, index) => index !== at);
    expect(mode === 'delete' ? after.cells : after.cells.filter((_, index) => index !== place)).toEqual(JSON.parse(JSON.stringify(others)));
    if (mode === 'replace') expect(after.cells[place]).toMatchObject({ cell_type: kind ?? cells[at]?.cell_type, ...(cells[at]?.metadata !== undefined && { metadata: JSON.parse(JSON.stringify(cells[at]?.metadata)) as object }) });
    if (mode !== 'delete') expect([after.cells[place]?.source ?? ''].flat().join('')).toBe(source);
    expect({ ...after, cells: [] }).toEqual({ ...before, cells: [] });
  }), { numRuns: 200 });
});
