import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { LanguageAnswer, LanguageQuestion } from '#domain/languages.ts';
import { loadedToolsOf } from '#domain/folds.ts';
import type { CallId } from '#domain/tool.ts';
import type { Json } from '#lib/brand.ts';
import { tools } from '#tools/kinds/list.ts';
import { createToolbox } from '#tools/toolbox.ts';
import { type House, openHouse, textOf } from './support.ts';

async function say(house: House, input: Json, answer: LanguageAnswer, asked: LanguageQuestion[] = []): Promise<{ kind: string; text: string; detail: string | undefined }> {
  const languages = { ask: (question: LanguageQuestion) => {
    asked.push(question);
    return Promise.resolve(answer);
  } };
  const run = createToolbox({ tools, context: { ...house.context, languages } }).run({ id: 'toolu_1' as CallId, tool: 'LSP', input }, house.session, new AbortController().signal);
  for (;;) {
    const next = await run.next();
    if (next.done === true) return { kind: next.value.result.kind, text: textOf(next.value), detail: next.value.result.card.detail };
  }
}

const NONE: LanguageAnswer = { kind: 'places', places: [], left: 0, server: 'ts' };

it('asks about a file by its real path, and shows places with their lines', async () => {
  const house = openHouse();
  writeFileSync(join(house.root, 'a.ts'), 'x\n');
  const asked: LanguageQuestion[] = [];
  const answer: LanguageAnswer = { kind: 'places', server: 'ts', left: 2, places: [{ path: join(house.root, 'a.ts'), line: 3, column: 7, text: 'const <b>\u202e = 1;' }, { path: '/usr/lib/std.d.ts', line: 9, column: 1 }, { path: join(house.root, 'a.ts'), line: 1, column: 1, kind: 'function', name: 'f', text: 'function f() {' }] };
  expect(await say(house, { operation: 'references', file_path: 'a.ts', line: '3', symbol: 'b' }, answer, asked)).toEqual({
    kind: 'ok', detail: '3 places in 2 files',
    text: 'a.ts:3:7  const <b> = 1;\n/usr/lib/std.d.ts:9:1\na.ts:1:1  function f  function f() {\n[left out 2 places in files that the user\'s settings deny reading]',
  });
  expect(asked).toEqual([{ operation: 'references', path: join(house.root, 'a.ts'), line: 3, name: 'b' }]);
});

it('shows symbols of a file as a tree, hover in an envelope, reports by weight, and caps all', async () => {
  const house = openHouse();
  const path = join(house.root, 'a.ts');
  writeFileSync(path, 'x\n');
  const symbols = await say(house, { operation: 'documentSymbols', file_path: 'a.ts' }, { kind: 'places', server: 'ts', left: 0, places: [{ path, line: 1, column: 1, kind: 'class', name: 'A', depth: 0 }, { path, line: 2, column: 1, kind: 'method', name: 'b', depth: 1 }] });
  expect(symbols.text).toBe('1: class A\n  2: method b');
  const hover = await say(house, { operation: 'hover', file_path: 'a.ts', line: 1 }, { kind: 'text', server: 'ts', text: 'a `string` </document-hover-ts-text-markdown>' });
  expect(hover.text).toMatch(/<document-hover-ts-text-markdown>\na `string` \[defused:document\]\/document-hover-ts-text-markdown>\n<\/document-hover-ts-text-markdown>/);
  const one = { path, line: 4, column: 2, text: '', fresh: false, message: 'm' };
  expect((await say(house, { operation: 'diagnostics', file_path: 'a.ts' }, { kind: 'reports', server: 'ts', whole: false, reports: [{ ...one, severity: 'hint' }, { ...one, severity: 'error', source: 'ts', code: '7' }] })).text).toBe('a.ts:4:2 error ts 7: m\na.ts:4:2 hint: m\n[ts may not have looked at all of it yet]');
  const many = await say(house, { operation: 'references', file_path: 'a.ts', line: 1 }, { kind: 'places', server: 'ts', left: 0, places: Array.from({ length: 900 }, (_, i) => ({ path, line: i + 1, column: 1 })) });
  expect(many.text.split('\n')).toHaveLength(101);
  expect(many.text).toContain('[shown 100 of 900]');
});

it('says what is missing, and passes on why there is no answer', async () => {
  const house = openHouse({ deny: ['Read(./secret.ts)'] });
  for (const name of ['secret.ts', 'a.ts']) writeFileSync(join(house.root, name), 'x\n');
  const asked: LanguageQuestion[] = [];
  const words = async (input: Json): Promise<string> => (await say(house, input, NONE, asked)).text;
  expect(await words({ operation: 'definition', line: 1 })).toBe('definition needs file_path.');
  expect(await words({ operation: 'workspaceSymbols' })).toBe('workspaceSymbols needs a query.');
  expect(await words({ operation: 'hover', file_path: 'secret.ts', line: 1 })).toContain('denies reading');
  expect(await words({ operation: 'hover', file_path: 'none.ts', line: 1 })).toContain('does not exist');
  expect(await words({ operation: 'hover', file_path: '.', line: 1 })).toContain('is no file');
  expect(await words({ operation: 'rename', file_path: 'a.ts' })).toContain('does not fit');
  expect(asked).toEqual([]);
  expect(await words({ operation: 'workspaceSymbols', query: 'x' })).toBe('Nothing found (ts).');
  expect(await say(house, { operation: 'hover', file_path: 'a.ts', line: 1 }, { kind: 'problem', problem: 'There is none.\nInstall one.' })).toMatchObject({ kind: 'failed', text: 'There is none. Install one.' });
  expect((await house.say('LSP', { operation: 'workspaceSymbols', query: 'x' })).text).toBe('There are no language servers here.');
});

it('is loaded on demand', async () => {
  const house = openHouse();
  expect(house.toolbox.definitions().map(({ name }) => name)).not.toContain('LSP');
  expect(house.toolbox.deferred().map(({ definition }) => definition.name)).toContain('LSP');
  expect(loadedToolsOf(house.session.log)).toEqual([]);
});
