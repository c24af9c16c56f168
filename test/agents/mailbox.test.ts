import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LONGEST_MESSAGE, MEMBER_NAME, putMail, readMail } from '#agents/mailbox.ts';
import { bundleProgram } from '../support/bundle.ts';
import { tempFolder } from '../support/temp.ts';

const box = (): string => join(tempFolder(), 'teams', 'bob.jsonl');
const put = (file: string, text: string, told = '') => putMail(file, { from: 'lead', to: 'bob', text }, told);
const texts = (file: string): readonly string[] => readMail(file).map(({ text }) => text);

test('messages come in order, with ids that grow; the box is the owner\'s only', async () => {
  const file = box();
  for (const text of ['one', 'two\n</system-reminder>', 'three \ud800']) expect(await put(file, text)).toHaveProperty('id');
  expect(texts(file)).toEqual(['one', 'two\n</system-reminder>', 'three \ufffd']);
  const ids = readMail(file).map(({ id }) => id);
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(3);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(file, '..')).mode & 0o777).toBe(0o700);
  expect(existsSync(`${file}.lock`)).toBe(false);
});

test('ids grow also where the clock goes back and the box was emptied', async () => {
  const file = box();
  const at = (ms: number) => putMail(file, { from: 'lead', to: 'bob', text: 'x' }, '8990000000000000', () => new Date(ms));
  expect(await at(5000)).toMatchObject({ id: '8990000000000001' });
  expect(await at(1000)).toMatchObject({ id: '8990000000000002' });
});

test('what is no message costs itself only', async () => {
  const file = box();
  await put(file, 'good');
  const [good = ''] = readFileSync(file, 'utf8').split('\n');
  const with_ = (more: object): string => JSON.stringify({ ...JSON.parse(good) as object, id: '8990000000000000', ...more });
  appendFileSync(file, ['{"torn', 'null', '[]', '7', '"x"', with_({ from: 'a\nb' }), with_({ from: 'x'.repeat(99) }), with_({ to: '../..' }), with_({ text: 7 }), with_({ text: 'y'.repeat(20_000) }), with_({ at: 'never' }), with_({ id: '1' }), with_({ id: 5 }), with_({ id: '9999999999999999' }),
    good, `{"a":${'['.repeat(9000)}`, '\0\0', with_({ text: 'also good' }), '{"id":"99900'].join('\n'));
  expect(texts(file)).toEqual(['good', 'also good']);
  await put(file, 'after the torn line');
  expect(texts(file)).toEqual(['good', 'also good', 'after the torn line']);
});

test('a box that is none holds nothing, and says why it takes nothing', async () => {
  const folder = tempFolder();
  const file = join(folder, 'b.jsonl');
  expect(readMail(join(folder, 'none.jsonl'))).toEqual([]);
  symlinkSync('/dev/zero', file);
  expect(readMail(file)).toEqual([]);
  mkdirSync(join(folder, 'dir.jsonl'));
  expect(readMail(join(folder, 'dir.jsonl'))).toEqual([]);
  expect(await put(join(folder, 'dir.jsonl'), 'x')).toMatchObject({ problem: expect.stringMatching(/^the mailbox of bob cannot be written: /) });
  writeFileSync(join(folder, 'plain'), '');
  expect(await put(join(folder, 'plain', 'bob.jsonl'), 'x')).toHaveProperty('problem');
});

test('a message and a box have limits; what was told makes room, what was not stays', async () => {
  const file = box();
  const long = 'x'.repeat(LONGEST_MESSAGE);
  expect(await put(file, `${long}x`)).toEqual({ problem: 'a message has at most 16 KiB, this one has 16 KiB: write it to a file and name the file' });
  let last = '';
  let full = '';
  for (let n = 0; n < 40 && full === ''; n += 1) {
    const one = await put(file, long);
    if ('problem' in one) full = one.problem;
    else last = one.id;
  }
  expect(full).toBe('the mailbox of bob is full: what is in it was not read yet');
  expect(statSync(file).size).toBeLessThanOrEqual(512 * 1024);
  const before = readMail(file);
  const half = before[10]?.id ?? '';
  expect(await put(file, long, half)).toHaveProperty('id');
  expect(readMail(file).map(({ id }) => id).slice(0, -1)).toEqual(before.map(({ id }) => id).slice(11));
  expect(await put(file, long, last)).toHaveProperty('id');
  expect(readdirSync(join(file, '..'))).toEqual(['bob.jsonl']);
});

test('a lock that nobody gives back is told, not waited for without end', async () => {
  const file = box();
  await put(file, 'x');
  writeFileSync(`${file}.lock`, JSON.stringify({ pid: process.pid, host: 'another-machine', started: '' }));
  expect(await put(file, 'y')).toEqual({ problem: 'the mailbox of bob is in use by another process; try again' });
});

test('four processes that write at once lose nothing, and nothing comes twice', async () => {
  const file = box();
  const program = await bundleProgram(new URL('./mailbox-writer.ts', import.meta.url), join(tempFolder(), 'writer.mjs'));
  const codes = await Promise.all(['a', 'b', 'c', 'd'].map((name) => new Promise<number | null>((resolve, reject) => {
    spawn(process.execPath, [program, file, name, '25'], { stdio: 'ignore' }).on('error', reject).on('close', resolve);
  })));
  expect(codes).toEqual([0, 0, 0, 0]);
  const mail = readMail(file);
  expect(mail).toHaveLength(100);
  expect(new Set(mail.map(({ id }) => id)).size).toBe(100);
  for (const name of ['a', 'b', 'c', 'd']) expect(mail.filter(({ from }) => from === name).map(({ text }) => text)).toEqual(Array.from({ length: 25 }, (_, n) => `${name} ${n}`));
});

test.each(['bob', 'Bob_2', 'a-b', '7'])('%j may be a name', (name) => { expect(MEMBER_NAME.test(name)).toBe(true); });
test.each(['', '../x', 'a b', 'a/b', '.a', '-a', 'a\n', 'ａ', 'x'.repeat(33), '*'])('%j is none', (name) => { expect(MEMBER_NAME.test(name)).toBe(false); });
