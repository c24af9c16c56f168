import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Entry, EntryOf } from '#domain/entry.ts';
import { call, say } from '../support/messages-server/reply.ts';
import { expectValid, serve } from '../support/product.ts';
import { type Dweller, household, type Household } from '../support/household.ts';
import { BIN, REPOSITORY } from '../lsp/support.ts';

const ODD = join(REPOSITORY, 'test/lsp/hostile-server.mjs');
const settings = (how: string): string => JSON.stringify({ languageServers: { odd: { command: process.execPath, args: [ODD, how], extensions: ['.odd'] } } });
const told = (log: readonly Entry[]): readonly string[] => log.filter((entry): entry is EntryOf<'reminder'> => entry.type === 'reminder' && String(entry.source) === 'lsp_diagnostics').map(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')).join(''));

/** The server has the file as it is, and has said so many things of it: it may take longer than a moment waits. */
async function heard(dweller: Dweller, reports: number): Promise<void> {
  const signal = new AbortController().signal;
  await expect.poll(async () => (await dweller.house.languages.written(dweller.log, signal)).map((file) => file.reports.length), { timeout: 15_000 }).toEqual([reports]);
}

async function moveIn(home: Household, options: Parameters<Household['open']>[0] = {}): Promise<Dweller> {
  const dweller = await home.open(options);
  dweller.house.start();
  return dweller;
}

describe('errors after an edit', () => {
  it('are told at the next step, once, and that they are gone; requests only grow; after a resume nothing is repeated', async () => {
    const server = await serve([
      { content: [call('Read', { file_path: 'a.odd' })] }, say('Read.'),
      { content: [call('Edit', { file_path: 'a.odd', old_string: 'fine', new_string: 'bad' })] }, { content: [call('Read', { file_path: 'a.odd' })] }, say('Oh.'), say('Well.'),
      say('Still there.'),
      { content: [call('Edit', { file_path: 'a.odd', old_string: 'bad\n', new_string: 'good\n' })] }, say('Fixed.'), say('Yes.'),
    ]);
    const home = household({ 'a.odd': 'bad of before\nfine\n', '.pinion/settings.json': settings('good') }, server);
    const dweller = await moveIn(home);
    await dweller.turn('read it');
    await heard(dweller, 1);
    await dweller.turn('break it');
    await heard(dweller, 2);
    await dweller.turn('well?');
    expect(told(dweller.log)).toEqual(['New since your edits, as language servers say (paths, lines and columns as they are now):\na.odd:2:1 error odd: bad is bad']);
    dweller.close();
    const later = await moveIn(home, { resume: true });
    await heard(later, 2);
    await later.turn('and now?');
    expect(told(later.log)).toHaveLength(1);
    await later.turn('mend it');
    await heard(later, 1);
    await later.turn('is it?');
    expect(told(later.log).slice(1)).toEqual(['a.odd: 1 report of before is gone.']);
    expectValid(server);
  });

  it('of a server that never starts well cost nothing but their own words', async () => {
    const server = await serve([{ content: [call('Write', { file_path: 'a.odd', content: 'bad\n' })] }, say('Done.')]);
    const home = household({ '.pinion/settings.json': settings('never initialises') }, server);
    const dweller = await moveIn(home);
    expect(await dweller.turn('write')).toEqual({ kind: 'answered' });
    expect(told(dweller.log)).toEqual([]);
    expect(dweller.faults().filter((fault) => fault.includes('lsp'))).toEqual([]);
    expect(await dweller.command('/lsp')).toContain('odd (.odd): is starting');
  });

  it('nothing is started before the folder is trusted, nor before the house has started; the settings and the project\'s programs wait', async () => {
    const canary = (cwd: string): string => `#!/bin/sh\ntouch ${join(cwd, 'canary')}\n`;
    const server = await serve([{ content: [call('Write', { file_path: 'a.odd', content: 'bad\n' })] }, { content: [call('Write', { file_path: 'b.go', content: 'bad\n' })] }, { content: [call('LSP', { operation: 'hover', file_path: 'b.go', line: 1 })] }, say('Done.')]);
    const home = household({}, server);
    for (const name of ['mine', 'node_modules/.bin/gopls']) {
      mkdirSync(join(home.cwd, name, '..'), { recursive: true });
      writeFileSync(join(home.cwd, name), canary(home.cwd), { mode: 0o755 });
    }
    home.write('.pinion/settings.json', JSON.stringify({ languageServers: { odd: { command: './mine', extensions: ['.odd'] } } }));
    const dweller = await moveIn(home, { args: { trust: false } });
    await dweller.turn('go');
    expect(dweller.house.configuration.trust.wantsOf(home.cwd)).toEqual(['starts the language server odd: ./mine (.pinion/settings.json)']);
    expect(await dweller.command('/lsp')).toContain('go (.go): waits until you trust this folder (/lsp trust)');
    const result = dweller.log.findLast((entry) => entry.type === 'toolResult');
    expect(JSON.stringify(result)).toContain('is not started');
    expect(existsSync(join(home.cwd, 'canary'))).toBe(false);
  });
});

it('tools and head stay as they are whatever servers do, and the tool is loaded when it is wanted', async () => {
  const server = await serve([
    { content: [call('ToolSearch', { query: 'select:LSP' })] }, { content: [call('LSP', { operation: 'definition', file_path: 'a.ts', line: 2, symbol: 'f' })] }, say('There.'), say('Again.'),
  ]);
  const home = household({ 'tsconfig.json': '{}', 'a.ts': 'import { f } from "./b";\nf();\n', 'b.ts': '\nexport function f(): void {}\n' }, server);
  mkdirSync(join(home.cwd, 'node_modules/.bin'), { recursive: true });
  symlinkSync(join(BIN, 'tsc'), join(home.cwd, 'node_modules/.bin/tsc'));
  const dweller = await moveIn(home);
  await dweller.turn('where is f');
  const result = dweller.log.findLast((entry) => entry.type === 'toolResult');
  expect(result).toMatchObject({ tool: 'LSP', result: { kind: 'ok', content: [{ text: 'b.ts:2:17  export function f(): void {}' }] } });
  dweller.house.languages.restart(undefined);
  await dweller.turn('again');
  expect(dweller.log.filter(({ type }) => type === 'head')).toHaveLength(1);
  expectValid(server);
});

it('rules about reading hold for the tool as for any other', async () => {
  const ask = (path: string) => ({ content: [call('LSP', { operation: 'documentSymbols', file_path: path })] });
  const server = await serve([ask('/etc/hostname'), ask('secret/a.odd'), ask('odd/a.odd'), say('Done.')]);
  const home = household({ 'secret/a.odd': 'x\n', 'odd/a.odd': 'x\n', '.pinion/settings.json': JSON.stringify({ permissions: { deny: ['Read(./secret/**)'] } }) }, server);
  const dweller = await moveIn(home, { args: { permissionMode: 'default' }, answer: () => ({ kind: 'no', instead: 'leave it' }) });
  await dweller.turn('look');
  expect(dweller.asked).toMatchObject([{ kind: 'permission', call: { input: { file_path: '/etc/hostname' } } }]);
  const results = dweller.log.flatMap((entry) => (entry.type === 'toolResult' ? [[entry.result.kind, JSON.stringify(entry.result.content)] as const] : []));
  expect(results.map(([kind]) => kind)).toEqual(['refused', 'refused', 'failed']);
  expect(results[1]?.[1]).toContain('forbidden by the rule Read(./secret/**)');
  expect(results[2]?.[1]).toContain('There is no language server for .odd files here.');
});
