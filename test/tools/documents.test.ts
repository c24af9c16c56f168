import { readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { madePdf, numberedPages } from '../documents/pdfs.ts';
import type { CallId } from '#domain/tool.ts';
import { tools } from '#tools/kinds/list.ts';
import { createToolbox } from '#tools/toolbox.ts';
import { finish, openHouse, textOf } from './support.ts';

const notebook = JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells: [1, 2, 3].map((n) => ({ cell_type: 'code', id: `c${n}`, execution_count: null, metadata: {}, outputs: [], source: `x = ${n}` })) });

describe('Read of a PDF', () => {
  it('shows one of ten pages whole, and counts as read', async () => {
    const house = openHouse();
    writeFileSync(join(house.root, 'a.pdf'), madePdf(numberedPages(2)));
    const { result } = await house.call('Read', { file_path: 'a.pdf' });
    expect(result).toMatchObject({ kind: 'ok', files: [{ how: 'read' }], content: [{ type: 'text' }, { type: 'media', pages: 2 }] });
    expect(result.card.detail).toMatch(/^File "a\.pdf": PDF, 2 pages, /);
  });
  it('of a longer one says how, and shows the pages that are asked for', async () => {
    const house = openHouse();
    writeFileSync(join(house.root, 'a.pdf'), madePdf(numberedPages(30)));
    expect((await house.say('Read', { file_path: 'a.pdf' }))).toEqual({ kind: 'failed', text: expect.stringContaining('a PDF of 30 pages') as string });
    const part = await house.call('Read', { file_path: 'a.pdf', pages: '3-5' });
    expect(part.result).toMatchObject({ kind: 'ok', files: [{ how: 'partial' }], content: [{ text: expect.stringContaining('pages 3-5 of 30') as string }, { type: 'media', pages: 3, name: 'a.pdf pages 3-5' }] });
    expect((await house.call('Read', { file_path: 'a.pdf', pages: ' 30 ' })).result.content[1]).toMatchObject({ pages: 1 });
    for (const pages of ['x', '0', '5-3', '1-', '-3', '1-99999999', '1,3']) expect((await house.say('Read', { file_path: 'a.pdf', pages })).text, pages).toContain('is no range of pages: write "3" or "1-5"');
    expect((await house.say('Read', { file_path: 'a.pdf', pages: '1-30' })).text).toBe('a.pdf: 30 pages were asked for, 20 are the most at a time');
    expect((await house.say('Read', { file_path: 'a.pdf', pages: '' })).text).toContain('a PDF of 30 pages');
  });
  it('is text where the model takes no PDF', async () => {
    const house = openHouse({ images: false });
    writeFileSync(join(house.root, 'a.pdf'), madePdf(numberedPages(2)));
    expect((await house.say('Read', { file_path: 'a.pdf' })).text).toContain('[page 2]\nThis is page 2');
  });
  it('has no pages when it is none', async () => {
    const house = openHouse();
    writeFileSync(join(house.root, 'a.txt'), 'x\n');
    expect(await house.say('Read', { file_path: 'a.txt', pages: '1' })).toEqual({ kind: 'failed', text: 'a.txt is no PDF: it has no pages. Leave `pages` out; `offset` and `limit` show a part.' });
    expect((await house.say('Read', { file_path: 'a.txt', pages: '' })).kind).toBe('ok');
  });
  it('shows what was checked, also when a link takes its place meanwhile', async () => {
    const house = openHouse({ deny: ['Read(./secret.pdf)'] });
    writeFileSync(join(house.root, 'secret.pdf'), madePdf(['secret']));
    writeFileSync(join(house.root, 'a.pdf'), madePdf(['mine']));
    const { documents } = house.context;
    const swapped = { ...house.context, documents: { load: (...args: Parameters<typeof documents.load>) => {
      renameSync(join(house.root, 'a.pdf'), join(house.root, 'b.pdf'));
      symlinkSync(join(house.root, 'secret.pdf'), join(house.root, 'a.pdf'));
      return documents.load(...args);
    } } };
    const run = createToolbox({ tools, context: swapped }).run({ id: 'toolu_x' as CallId, tool: 'Read', input: { file_path: 'a.pdf' } }, house.session, new AbortController().signal);
    const media = (await finish(run)).result.content.find((part) => part.type === 'media');
    expect(media?.type === 'media' && Buffer.from(house.context.blobs.get(media.blob.hash) ?? []).equals(readFileSync(join(house.root, 'b.pdf')))).toBe(true);
  });
});

describe('Read of a notebook', () => {
  it('shows cells; offset and limit count them', async () => {
    const house = openHouse();
    writeFileSync(join(house.root, 'a.ipynb'), notebook);
    const whole = await house.call('Read', { file_path: 'a.ipynb' });
    expect(textOf(whole)).toContain('[cell 1: code, id c1]\nx = 1\n\n[cell 2: code, id c2]\nx = 2');
    expect(whole.result.files).toMatchObject([{ how: 'read' }]);
    const part = await house.call('Read', { file_path: 'a.ipynb', offset: 2, limit: 1 });
    expect(textOf(part)).toContain('cell 2 of 3');
    expect(textOf(part)).not.toContain('x = 3');
    expect(part.result.files).toMatchObject([{ how: 'partial' }]);
    expect((await house.say('Read', { file_path: 'a.ipynb', offset: 2 })).text).toContain('cells 2-3 of 3');
  });
  it('of broken JSON shows the text, with a note', async () => {
    const house = openHouse();
    writeFileSync(join(house.root, 'a.ipynb'), '{"cells": ');
    const { text } = await house.say('Read', { file_path: 'a.ipynb' });
    expect(text).toContain('{"cells": ');
    expect(text).toContain('a.ipynb: is no valid JSON; shown as plain text');
  });
});
