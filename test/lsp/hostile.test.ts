import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { LanguageAnswer } from '#domain/languages.ts';
import { tempFolder } from '../support/temp.ts';
import { hostile, REPOSITORY, signal, workshop, type Workshop } from './support.ts';

const FILES = { 'a.odd': 'fine\nbad of before\n' };
const open = (how: string, more: Parameters<typeof workshop>[1] = {}, file?: string): Workshop => workshop(FILES, {
  configured: () => hostile(how, file === undefined ? {} : { args: [join(REPOSITORY, 'test/lsp/hostile-server.mjs'), how, file] }), pausesMs: [0, 0], ...more,
});
const ask = async (shop: Workshop): Promise<string> => {
  const answer: LanguageAnswer = await shop.languages.ask({ operation: 'definition', path: join(shop.root, 'a.odd'), line: 1 }, signal);
  return answer.kind === 'problem' ? answer.problem : answer.kind;
};

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe('a server that', () => {
  it('does as it should: what is new is told, in this process and in a later one', async () => {
    const shop = open('good');
    shop.read('a.odd');
    await shop.until((files) => files.length === 1);
    shop.write('a.odd', 'bad now\nfine\nbad of before\n');
    expect(shop.fresh(await shop.until((files) => shop.fresh(files).length > 0))).toEqual(['a.odd:1:1 error bad now is bad']);
    expect(await shop.languages.servers()).toMatchObject([{ name: 'odd', state: 'ready', from: 'settings', files: 1 }]);
  });

  it('is resumed: the text before the first write comes from the log', async () => {
    const first = open('good', { trusted: () => false });
    first.read('a.odd');
    first.write('a.odd', 'bad now\nfine\nbad of before\n');
    expect(await first.moment()).toEqual([]);
    expect(await ask(first)).toContain('/lsp trust');
    expect(await first.languages.servers()).toMatchObject([{ state: 'untrusted' }]);
  });

  it.each([
    ['never initialises', 'gave no answer in time'], ['dies at once', 'exit code 3'], ['dies at initialize', 'exit code 4'], ['error', 'do not feel like it'],
    ['bad length', 'does not speak the protocol'], ['no protocol', 'does not speak the protocol'], ['endless length', 'does not speak the protocol'], ['deep', 'does not speak the protocol'],
  ])('%s costs its own words, and is given up after a few tries', async (how, why) => {
    const shop = open(how, { startMs: how === 'never initialises' ? 300 : 20_000 });
    shop.read('a.odd');
    const words = [await ask(shop), await ask(shop), await ask(shop), await ask(shop)];
    expect(words[0]).toContain(why);
    expect(words[3]).toContain('does not work');
    expect(shop.notices).toHaveLength(1);
    expect(shop.notices[0]).toContain('The language server odd is given up');
    expect(await shop.languages.servers()).toMatchObject([{ state: 'failed' }]);
    expect(await shop.moment()).toEqual([]);
  });

  it('cannot be found is told as such', async () => {
    const shop = open('x', { configured: () => hostile('x', { command: '/nowhere/server' }) });
    expect(await ask(shop)).toContain('there is no such program');
  });

  it('dies when a file is opened is started again, and can be restarted by hand', async () => {
    const shop = open('dies at open', { pausesMs: [0] });
    expect(await ask(shop)).toContain('exit code 5');
    expect(await ask(shop)).toContain('exit code 5');
    expect(await ask(shop)).toContain('does not work');
    expect(shop.languages.restart('odd')).toBe('1 language server ended; what is needed starts anew.');
    expect(await ask(shop)).toContain('exit code 5');
    expect(shop.languages.restart('other')).toBe('other was not started.');
  });

  it('speaks of old versions is not listened to', async () => {
    const shop = open('old versions');
    shop.read('a.odd');
    await shop.moment();
    shop.write('a.odd', 'bad now\n');
    for (let i = 0; i < 4; i += 1) expect(await shop.moment()).toEqual([]);
  });

  it('never answers for diagnostics is waited for no longer than a moment may take, and then hardly at all', async () => {
    const shop = open('pull hangs');
    shop.read('a.odd');
    await shop.moment();
    await pause(300);
    shop.write('a.odd', 'bad now\n');
    for (let i = 0; i < 5; i += 1) {
      const before = Date.now();
      expect(await shop.moment()).toEqual([]);
      expect(Date.now() - before).toBeLessThan(10_000);
    }
  });

  it('finds no symbols in time while somebody types goes on working', async () => {
    const shop = open('no symbols');
    shop.read('a.odd');
    expect(await ask(shop)).toBe('places');
    expect(await Promise.all(['D', 'De', 'Dee', 'Deep'].map((typed) => shop.languages.symbols(typed, signal)))).toEqual([[], [], [], []]);
    expect(await shop.languages.servers()).toMatchObject([{ state: 'ready' }]);
    expect(await ask(shop)).toBe('places');
  });

  it('sends ten megabytes, thousands of reports, or nonsense does no harm', async () => {
    const huge = open('huge');
    huge.read('a.odd');
    expect(await ask(huge)).toBe('places');
    expect(huge.languages.log('odd').some((line) => line.includes('was dropped'))).toBe(true);
    const many = open('many');
    many.write('b.odd', 'x\n'.repeat(6000));
    const found = await many.until((files) => files.length === 1);
    expect(found[0]?.reports).toHaveLength(300);
    expect(found[0]?.reports[0]?.message.length).toBeLessThanOrEqual(600);
    const nonsense = open('nonsense');
    nonsense.write('b.odd', 'x\n');
    expect(nonsense.fresh(await nonsense.until((files) => files.length === 1))).toEqual(['b.odd:-4:1 error taken all the same']);
  });

  it('floods is ended', async () => {
    const shop = open('flood', { pausesMs: [] });
    shop.read('a.odd');
    await shop.moment();
    for (let i = 0; i < 400 && shop.notices.length === 0; i += 1) await pause(50);
    expect(shop.notices[0]).toContain('it floods');
  });

  it('writes much to its standard error is kept to the end of it', async () => {
    const shop = open('stderr');
    expect(await ask(shop)).toBe('places');
    expect(shop.languages.log('odd').length).toBeLessThanOrEqual(200);
  });

  it('asks for things is answered', async () => {
    const file = join(tempFolder(), 'notes');
    const shop = open('asks', { configured: () => hostile('asks', { args: [join(REPOSITORY, 'test/lsp/hostile-server.mjs'), 'asks', file], settings: { odd: { deep: { yes: 1 } } } }) }, file);
    expect(await ask(shop)).toBe('places');
    const notes = readFileSync(file, 'utf8');
    expect(notes).toContain('answer a [{"yes":1},null,{"odd":{"deep":{"yes":1}}}]');
    expect(notes).toContain('answer b {"code":-32601');
    expect(notes).toContain('answer d {"applied":false');
    expect(notes).toContain('answer e null');
    expect(notes).toContain(`answer f [{"uri":"file://${shop.root}"`);
  });

  it('wants to be asked again after each answer is not asked for ever', async () => {
    const file = join(tempFolder(), 'notes');
    const shop = open('pull refreshes', {}, file);
    shop.write('b.odd', 'bad\n');
    await shop.until(() => existsSync(file) && readFileSync(file, 'utf8').includes('textDocument/diagnostic'));
    await pause(200);
    expect(readFileSync(file, 'utf8').match(/textDocument\/diagnostic/g)?.length).toBeLessThan(6);
  });

  it('counts in bytes is given ranges in bytes', async () => {
    const file = join(tempFolder(), 'notes');
    const shop = open('utf-8', {}, file);
    shop.write('b.odd', '\u{1F600}é\r\nlast 日本 line');
    await shop.until((files) => files.length === 1);
    const next = '\u{1F601}é\r\nlast 本 line bad\n';
    shop.write('b.odd', next);
    expect(shop.fresh(await shop.until((files) => shop.fresh(files).length > 0))).toEqual(['b.odd:2:13 error last 本 line bad is bad']);
    expect(readFileSync(`${file}.text`, 'utf8')).toBe(next);
  });

  it.each(['good', 'no shutdown', 'no term'])('is asked to end, and is gone, whatever it wants (%s)', async (how) => {
    const file = join(tempFolder(), 'notes');
    const shop = open(how, {}, file);
    expect(await ask(shop)).toBe('places');
    await shop.languages.close();
    const notes = readFileSync(file, 'utf8');
    expect(notes).toContain('shutdown');
    const pid = Number(/started (\d+)/.exec(notes)?.[1]);
    for (let i = 0; i < 40 && alive(pid); i += 1) await pause(25);
    expect(alive(pid)).toBe(false);
    expect(await ask(shop)).toContain('does not work');
  });
});

it('what one session has done is not told to another as its own', async () => {
  const shop = open('pull');
  shop.read('a.odd');
  await shop.until((files) => files.length === 1);
  shop.write('a.odd', 'bad now\nfine\nbad of before\n');
  await shop.until((files) => shop.fresh(files).length === 1);
  const other = workshop({}, { root: shop.root });
  other.read('a.odd');
  for (let i = 0; i < 3; i += 1) expect(shop.fresh(await shop.languages.written(other.session.log, signal))).toEqual([]);
  await shop.until((files) => shop.fresh(files).length === 1);
});

it('a file that is gone is closed; one that is denied, binary or huge is never opened', async () => {
  const file = join(tempFolder(), 'notes');
  const shop = open('good', { denies: (path) => path.endsWith('secret.odd') }, file);
  shop.write('secret.odd', 'bad\n');
  expect(await shop.moment()).toEqual([]);
  expect(existsSync(file)).toBe(false);
  expect(await shop.languages.ask({ operation: 'hover', path: join(shop.root, 'secret.odd'), line: 1 }, signal)).toMatchObject({ kind: 'problem' });
  shop.write('binary.odd', Buffer.from([0, 1, 2, 3, 0, 255]));
  shop.write('b.odd', 'bad\n');
  await shop.until((files) => files.length === 1);
  expect(readFileSync(file, 'utf8').match(/didOpen/g)).toHaveLength(1);
  rmSync(join(shop.root, 'b.odd'));
  await shop.until((files) => files.length === 0 && readFileSync(file, 'utf8').includes('didClose'));
});
