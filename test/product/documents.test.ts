import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { madePdf, numberedPages } from '../documents/pdfs.ts';
import { call, say } from '../support/messages-server/reply.ts';
import { last, product, serve, wordsOf } from '../support/product.ts';

const NOTEBOOK = JSON.stringify({ cells: [{ cell_type: 'code', execution_count: 1, id: 'one', metadata: {}, outputs: [], source: ['x = 1'] }], metadata: { v: 1 }, nbformat: 4, nbformat_minor: 5 }, undefined, 1);

it('pages of a long PDF reach the model as a document, cut out in a thread of their own', async () => {
  const server = await serve([{ content: [call('Read', { file_path: 'a.pdf', pages: '12-13' })] }, say('Two pages.')]);
  const { run } = product({ 'a.pdf': madePdf(numberedPages(30)) }, server);
  expect(await run(['-p', 'What is in @a.pdf?'])).toEqual({ code: 0, stdout: 'Two pages.\n', stderr: expect.stringContaining('a.pdf: a PDF of 30 pages') as string });
  const [first] = server.requests;
  expect(first === undefined ? '' : wordsOf(first)).toContain('a.pdf: a PDF of 30 pages');
  expect(first?.raw).not.toContain('"document"');
  expect(last(server.requests).raw).toContain('application/pdf');
  expect(last(server.requests).raw).toContain('PDF, pages 12-13 of 30');
});

it('a short PDF goes along with its mention', async () => {
  const server = await serve([say('Three.')]);
  const { run } = product({ 'a.pdf': madePdf(numberedPages(3)) }, server);
  expect(await run(['-p', 'What is in @a.pdf?'])).toEqual({ code: 0, stdout: 'Three.\n', stderr: '' });
  expect(last(server.requests).raw).toContain('"type":"document"');
});

it('a notebook is read as cells and edited by cell', async () => {
  const server = await serve([
    { content: [call('Read', { file_path: 'a.ipynb' })] },
    { content: [call('NotebookEdit', { notebook_path: 'a.ipynb', cell_id: 'one', new_source: 'x = 2' })] },
    say('Changed.'),
  ], { strict: false });
  const { run, cwd } = product({ 'a.ipynb': NOTEBOOK }, server);
  expect(await run(['-p', 'Make x 2', '--permission-mode', 'acceptEdits'])).toEqual({ code: 0, stdout: 'Changed.\n', stderr: '' });
  expect(readFileSync(join(cwd, 'a.ipynb'), 'utf8')).toBe(NOTEBOOK.replace('x = 1', 'x = 2').replace('"execution_count": 1', '"execution_count": null'));
  expect(last(server.requests).raw).toContain('[cell 1: code, id one, run 1]');
});
