import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { call, say } from '../support/messages-server/reply.ts';
import { expectValid, idle, isAlive, last, product, serve, until, wordsOf } from '../support/product.ts';

const ODD = fileURLToPath(new URL('../lsp/hostile-server.mjs', import.meta.url));

/** A project whose settings name a server that notes what it is sent into `notes`. */
const files = (notes: string, how = 'good') => ({
  'a.odd': 'fine\n', '.pinion/settings.json': JSON.stringify({ languageServers: { odd: { command: process.execPath, args: [ODD, how, notes], extensions: ['.odd'] } } }),
});

const NOTES = 'odd-notes';
const edit = [{ content: [call('Read', { file_path: 'a.odd' })] }, { content: [call('Edit', { file_path: 'a.odd', old_string: 'fine', new_string: 'bad' })] }, { content: [call('Bash', { command: 'sleep 3' })] }, say('Oh.')];
const pidIn = (notes: string): number => Number(/started (\d+)/.exec(readFileSync(notes, 'utf8'))?.[1]);

it('print mode: nothing of an untrusted folder starts; of a trusted one its server tells of the edit, and ends with the program', async () => {
  const server = await serve([...edit, ...edit]);
  const { run, cwd } = product(files(NOTES), server);
  const fine = files(NOTES)['a.odd'];
  const args = ['-p', 'go', '--allowed-tools', 'Edit Bash(sleep:*)'];
  expect((await run(args)).code).toBe(0);
  expect(existsSync(join(cwd, NOTES))).toBe(false);
  writeFileSync(join(cwd, 'a.odd'), fine);
  expect((await run(['--trust', ...args, '--allowed-tools', 'Bash(git:*)'])).code).toBe(0);
  expect(wordsOf(last(server.requests))).toContain('a.odd:1:1 error odd: bad is bad');
  const notes = join(cwd, NOTES);
  const pid = pidIn(notes);
  await until(() => !isAlive(pid));
  expect(readFileSync(notes, 'utf8')).toContain('shutdown');
  expectValid(server);
});

it('the program that is killed leaves no server behind', async () => {
  const server = await serve([{ content: [call('Read', { file_path: 'a.odd' })] }, say('Read.', { delayMs: 30_000 })]);
  const { start, cwd } = product(files(NOTES, 'no term'), server);
  const running = start(['--trust', '-p', 'go']);
  await until(() => existsSync(join(cwd, NOTES)));
  const pid = pidIn(join(cwd, NOTES));
  running.kill('SIGKILL');
  await running.ended;
  await until(() => !isAlive(pid));
});

it('the screen: the question names the server, the model is told, a symbol is completed to its lines', async () => {
  const server = await serve([{ content: [call('Read', { file_path: 'a.odd' })] }, say('Read.'), say('Seen.')]);
  const made = product({ ...files(NOTES), 'a.odd': 'one\ntwo\nthree\nfour\nfive\n' }, server);
  const terminal = made.open({ columns: 80, rows: 30 });
  const shows = (words: string): Promise<void> => until(() => terminal.lines().some((line) => line.includes(words)));
  await shows('starts the language server odd:');
  expect(existsSync(join(made.cwd, NOTES))).toBe(false);
  terminal.type('1');
  await terminal.waitFor(idle);
  terminal.enter('read it');
  await shows('Read.');
  await until(() => existsSync(join(made.cwd, NOTES)) && readFileSync(join(made.cwd, NOTES), 'utf8').includes('documentSymbol'));
  terminal.enter('/lsp');
  await shows('odd (.odd): at work, 1 open file');
  terminal.type('see @Dee');
  await shows('Deep  class in Top  a.odd:2');
  terminal.type('\t');
  await shows('see @a.odd#2-4');
  terminal.type('\r');
  await shows('Seen.');
  expect(wordsOf(last(server.requests))).toMatch(/two\nthree\nfour/);
  terminal.enter('/exit');
  await terminal.expectLeft();
  const pid = pidIn(join(made.cwd, NOTES));
  await until(() => !isAlive(pid));
  expectValid(server);
});
