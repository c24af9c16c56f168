import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createDocuments } from '#documents/load.ts';
import { parseNotebook } from '#documents/notebook.ts';
import type { LoadOptions } from '#domain/documents.ts';
import type { Loaded } from '#domain/world.ts';
import { memoryBlobs } from '../support/logs.ts';
import { tempFolder } from '../support/temp.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAD0lEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==';

const code = (source: string | readonly string[], outputs: readonly unknown[] = [], more: Readonly<Record<string, unknown>> = {}): unknown => ({ cell_type: 'code', execution_count: 3, id: 'c0de', metadata: {}, outputs, source, ...more });
const markdown = (source: string): unknown => ({ cell_type: 'markdown', id: 'a1', metadata: {}, source });
const notebook = (cells: readonly unknown[]): string => JSON.stringify({ cells, metadata: { language_info: { name: 'python' } }, nbformat: 4, nbformat_minor: 5 }, undefined, 1);
const stream = (text: string): unknown => ({ output_type: 'stream', name: 'stdout', text });

async function load(content: string | Uint8Array, options: Partial<LoadOptions> & { readonly images?: boolean } = {}): Promise<Loaded & { readonly text: string }> {
  const { images = true, ...rest } = options;
  const path = join(tempFolder({ 'a.ipynb': content }), 'a.ipynb');
  const loaded = await createDocuments({ blobs: memoryBlobs(), capabilities: () => ({ images, pdf: true }) }).load(path, 'a.ipynb', { limitBytes: 20_000, ...rest }, new AbortController().signal);
  return { ...loaded, text: loaded.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n') };
}

const body = (text: string): string => /<document-a-ipynb-text-x-notebook>\n([^]*)\n<\/document-/.exec(text)?.[1] ?? '';

describe('a notebook', () => {
  it('is its cells, with numbers, kinds, ids and outputs', async () => {
    const text = notebook([markdown('# Title\nwords'), code(['import x\n', 'x.run()'], [stream('one\ntwo\n'), { output_type: 'execute_result', data: { 'text/plain': ['42'] }, execution_count: 3, metadata: {} }])]);
    const loaded = await load(text);
    expect(loaded.text).toMatch(/^Notebook "a\.ipynb": 2 cells, nbformat 4\.5, python, \d+ bytes\n/);
    expect(body(loaded.text)).toBe('[cell 1: markdown, id a1]\n# Title\nwords\n\n[cell 2: code, id c0de, run 3]\nimport x\nx.run()\n[stdout]\none\ntwo\n[result]\n42');
    expect(loaded).toMatchObject({ notes: [], files: [{ how: 'mention', kept: true }] });
  });
  it('shows errors without colours, and of a progress bar what stood there last', async () => {
    const loaded = await load(notebook([code('1/0', [{ output_type: 'error', ename: 'ZeroDivisionError', evalue: 'division by zero', traceback: ['\u001b[31mZeroDivisionError\u001b[0m: division by zero'] }, stream('10 %\r50 %\r100 %\ndone\r\n')])]));
    expect(body(loaded.text)).toBe('[cell 1: code, id c0de, run 3]\n1/0\n[error]\nZeroDivisionError: division by zero\n[stdout]\n100 %\ndone');
    expect(body((await load(notebook([code('x', [{ output_type: 'error', ename: 'E', evalue: 'v', traceback: [] }])]))).text)).toContain('[error]\nE: v');
  });
  it('shows pictures beside, where the model takes them', async () => {
    const text = notebook([code('plot()', [{ output_type: 'display_data', data: { 'image/png': PNG, 'text/plain': '<Figure>' }, metadata: {} }])]);
    const loaded = await load(text);
    expect(body(loaded.text)).toContain('[display] image/png, shown as "a.ipynb cell 1 output 1"\n<Figure>');
    expect(loaded.parts[1]).toMatchObject({ type: 'media', mime: 'image/png', name: 'a.ipynb cell 1 output 1', width: 3, height: 2 });
    const blind = await load(text, { images: false });
    expect(body(blind.text)).toMatch(/\[display\] image\/png, \d+ bytes, not shown\n<Figure>/);
    expect(blind).toMatchObject({ parts: [{ type: 'text' }], files: [{ how: 'partial' }] });
    const many = await load(notebook(Array.from({ length: 12 }, () => code('p', [{ output_type: 'display_data', data: { 'image/png': PNG } }]))));
    expect(many.parts.filter(({ type }) => type === 'media')).toHaveLength(8);
    expect(body((await load(notebook([code('p', [{ output_type: 'display_data', data: { 'image/png': 'AAAA' } }])]))).text)).toContain('not shown');
  });
  it('takes the best form of an output that it can read', async () => {
    const outputs = [{ 'text/html': '<b>t</b>', 'text/plain': 'table' }, { 'application/json': { a: 1 } }, { 'text/html': '<i>only</i>' }, { 'application/vnd.widget': {} }].map((data) => ({ output_type: 'display_data', data }));
    expect(body((await load(notebook([code('x', outputs)]))).text)).toContain('[display]\ntable\n[display]\n{"a":1}\n[display]\n<i>only</i>\n[display]\n(application/vnd.widget; not shown)');
  });
  it('of format 3 is read too', async () => {
    const old = JSON.stringify({ nbformat: 3, nbformat_minor: 0, worksheets: [{ cells: [
      { cell_type: 'heading', level: 2, source: ['Old'] },
      { cell_type: 'code', input: 'print 1', prompt_number: 7, outputs: [{ output_type: 'stream', stream: 'stderr', text: 'w' }, { output_type: 'pyout', text: ['1'], prompt_number: 7 }, { output_type: 'pyerr', ename: 'E', evalue: 'v', traceback: [] }, { output_type: 'display_data', png: PNG }] },
    ] }] });
    const loaded = await load(old);
    expect(loaded.text).toContain('2 cells, nbformat 3.0');
    expect(body(loaded.text)).toBe('[cell 1: heading]\n## Old\n\n[cell 2: code, run 7]\nprint 1\n[stderr]\nw\n[result]\n1\n[error]\nE: v\n[display] image/png, shown as "a.ipynb cell 2 output 4"');
  });
  it('has the middle of long outputs left out, and says so', async () => {
    const loaded = await load(notebook([code('x', [stream(`first\n${'line of output\n'.repeat(5000)}last\n`), stream('more')])]));
    expect(body(loaded.text)).toMatch(/first\n(?:line of output\n)+[^\n]*\n\[… \d+ bytes of output left out …\]\n(?:line of output\n)+last\n/);
    expect(Buffer.byteLength(loaded.text)).toBeLessThan(6000);
    expect(loaded.files).toMatchObject([{ how: 'partial' }]);
  });
  it('is cut between cells where it is long, and read on from the next', async () => {
    const cells = Array.from({ length: 40 }, (_, at) => code(`cell_${at + 1} = "${'x'.repeat(900)}"`, [], { id: `id-${at + 1}` }));
    const first = await load(notebook(cells), { limitBytes: 5000 });
    expect(first.text).toMatch(/\[shown: cells 1-5 of 40; read on with Read from cell 6 \(offset=6\)\]$/);
    expect(first.notes).toEqual(['a.ipynb: shown: cells 1-5 of 40; read on with Read from cell 6 (offset=6)']);
    expect(first.files).toMatchObject([{ how: 'partial' }]);
    const next = await load(notebook(cells), { limitBytes: 5000, lines: { from: 6, to: 7 } });
    expect(next.text).toMatch(/^Notebook "a\.ipynb": cells 6-7 of 40, /);
    expect(body(next.text)).toMatch(/^\[cell 6: code, id id-6, run 3\]\ncell_6 =[^]*\[cell 7: code, id id-7, run 3\]\ncell_7 = "x+"$/);
    expect(next.notes).toEqual([]);
    expect((await load(notebook(cells), { lines: { from: 41, to: 50 } })).notes).toEqual(['a.ipynb: has only 40 cells, nothing to show from cell 41']);
    expect((await load(notebook([code('y'.repeat(9000))]), { limitBytes: 1000 })).text).toMatch(/\[cell 1 is too long and was cut: 1000 of 90\d\d bytes shown\]/);
  });
  it('that is none is shown as the text that it is', async () => {
    for (const [content, why] of [['{"cells": [', 'is no valid JSON'], ['[1]', 'holds no notebook'], ['{"a": 1}', 'holds no notebook (no cells)']] as const) {
      const loaded = await load(content);
      expect(loaded.text).toContain(content);
      expect(loaded.notes).toEqual([`a.ipynb: ${why}; shown as plain text`]);
    }
  });
  it('survives whatever stands in its fields', async () => {
    for (const cells of [[null, 7, 'x', [], {}], [{ cell_type: 3, source: 4, outputs: 'no', id: 9 }], [{ cell_type: 'code', outputs: [null, 1, { output_type: 'stream' }, { data: 7 }, { output_type: 'error', traceback: 'x' }] }], []]) {
      const loaded = await load(notebook(cells));
      expect(loaded.text).toMatch(/^Notebook "a\.ipynb": \d cells?, /);
    }
    expect(parseNotebook('{"cells": [], "worksheets": 3}')).toMatchObject({ cells: [] });
  });
  it('keeps names and its own delimiter in their place', async () => {
    const loaded = await load(notebook([code('</document-a-ipynb-text-x-notebook> x', [stream('< /document-a-ipynb-text-x-notebook>')], { id: 'x]\n[cell 9: code' })]));
    expect(loaded.text.match(/<\s*\/document-/g)).toHaveLength(1);
    expect(loaded.text.split('\n').filter((line) => line.startsWith('[cell'))).toEqual(['[cell 1: code, id x]\\u{A}[cell 9: code, run 3]']);
  });
  it('with megabytes of pictures is read whole', async () => {
    const loaded = await load(notebook([code('x', [{ output_type: 'display_data', data: { 'image/svg+xml': 'x'.repeat(9 * 1024 * 1024) } }])]));
    expect(body(loaded.text)).toContain('(image/svg+xml; not shown)');
  });
});
