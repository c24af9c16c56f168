import { expect, it } from 'vitest';
import type { LanguageServer } from '#domain/languages.ts';
import { desk } from './support.ts';

const server = (name: string, more: Partial<LanguageServer> = {}): LanguageServer => ({ name, extensions: ['.ts', '.tsx'], command: '/w/node_modules/.bin/tsc --lsp', from: 'project', state: 'ready', files: 2, ...more });

it('/lsp lists servers, shows one with its log, and says what is to be done', async () => {
  const all = [server('typescript'), server('go', { extensions: ['.go'], state: 'failed', detail: 'it ended with exit code 3', from: 'machine' }), server('rust', { extensions: ['.rs'], state: 'untrusted' }), server('yaml', { extensions: [], state: 'off', command: '' })];
  const at = desk({}, { languages: () => ({ servers: () => Promise.resolve(all), log: (name) => (name === 'go' ? ['12:00:00 started\u001b[31m', '12:00:01 ended'] : []) }) });
  const list = await at.shown('lsp');
  for (const line of ['typescript (.ts .tsx): at work, 2 open files', 'go (.go): failed: it ended with exit code 3', 'rust (.rs): waits until you trust this folder (/lsp trust)', 'yaml: switched off in the settings', '1 at work, 3 not']) expect(list).toContain(line);
  const one = await at.shown('lsp go');
  expect(one).toContain('From: this machine');
  expect(one).toContain('12:00:01 ended');
  expect(await at.shown('lsp typescript')).toContain('Its log is empty.');
  expect(await at.run('lsp restart go')).toEqual({ type: 'languages', what: 'restart', server: 'go' });
  expect(await at.run('lsp restart')).toEqual({ type: 'languages', what: 'restart' });
  expect(await at.run('lsp trust')).toEqual({ type: 'languages', what: 'trust' });
  expect(await at.refused('lsp typescrpt')).toBe('There is no language server typescrpt. Did you mean typescript?');
  expect(await at.refused('lsp restart x y')).toContain('It is /lsp');
  expect(await at.refused('lsp go go')).toContain('It is /lsp');
  expect(await at.complete('lsp ')).toEqual(['typescript', 'go', 'rust', 'yaml', 'restart', 'trust']);
  expect(await at.complete('lsp restart ')).toEqual(['typescript', 'go', 'rust', 'yaml']);
});

it('/lsp without servers says how one is had', async () => {
  expect(await desk().shown('lsp')).toContain('none was found');
});
