import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Entry } from '#domain/entry.ts';
import { type Dweller, household } from '../support/household.ts';
import { call, say, type ScriptedReply } from '../support/messages-server/reply.ts';
import type { MessagesServer } from '../support/messages-server/server.ts';
import { expectValid, last, serve, wordsOf } from '../support/product.ts';

const lines = (n: number, word = 'line'): string => Array.from({ length: n }, (_, i) => `${word} ${i + 1}\n`).join('');
const times = (whole: string, part: string): number => whole.split(part).length - 1;
const calls = (...content: ReturnType<typeof call>[]): ScriptedReply => ({ content });
const read = (path: string): ReturnType<typeof call> => call('Read', { file_path: path });
const heard = (server: MessagesServer): string => wordsOf(last(server.requests));

function promptIn({ log }: Dweller, words: string): Entry {
  const found = log.find((entry) => entry.type === 'prompt' && entry.text.includes(words));
  if (found === undefined) throw new Error(`nobody said ${words}`);
  return found;
}

describe('that a file is gone is told once', () => {
  it('by the instructions that it held, though the model has read it', async () => {
    const server = await serve([calls(read('AGENTS.md'), read('sub/AGENTS.md'), read('sub/x.txt')), say('1'), say('2'), say('3'), say('4'), say('5')]);
    const home = household({ 'AGENTS.md': lines(9, 'rule'), 'sub/AGENTS.md': lines(9, 'law'), 'sub/x.txt': 'x\n' }, server);
    const dweller = await home.open();
    await dweller.turn('Read');
    rmSync(join(home.cwd, 'AGENTS.md'));
    home.write('sub/AGENTS.md', '');
    for (const words of ['two', 'three']) await dweller.turn(words);
    expect(heard(server)).toContain('AGENTS.md is no longer there, or empty: its instructions no longer hold.');
    expect(heard(server)).toContain('below the start directory are no longer there, or empty: what they said no longer holds.');
    expect(heard(server)).not.toContain('changed on disk');
    expect(times(heard(server), 'AGENTS.md is no longer there')).toBe(1);
    home.write('AGENTS.md', lines(3, 'back'));
    await dweller.turn('four');
    expect(times(heard(server), 'back 2\n')).toBe(1);
    expectValid(server);
  });
  it('by its pin, also when it is no longer pinned', async () => {
    const server = await serve([say('1'), say('2'), say('3'), say('4')]);
    const home = household({ 'a.txt': lines(9), 'AGENTS.md': lines(9, 'rule') }, server);
    const dweller = await home.open();
    for (const name of ['a.txt', 'AGENTS.md']) await dweller.command(`/pin ${name}`);
    await dweller.turn('one');
    for (const name of ['a.txt', 'AGENTS.md']) rmSync(join(home.cwd, name));
    await dweller.turn('two');
    await dweller.command('/unpin a.txt');
    await dweller.turn('three');
    expect(heard(server)).toContain('Pinned: a.txt (no such file)');
    expect(heard(server)).toContain('AGENTS.md is no longer there, or empty: its instructions no longer hold.');
    for (const twice of ['a.txt is no longer there', 'Pinned: AGENTS.md (no such file)']) expect(heard(server)).not.toContain(twice);
    home.write('a.txt', 'back\n');
    await dweller.turn('four');
    expect(heard(server)).toContain('a.txt changed on disk');
    expectValid(server);
  });
});

it('a change of instructions that was told is known to the tools, and what the model then does in them is not told', async () => {
  const server = await serve([calls(read('AGENTS.md')), say('1'), calls(call('Edit', { file_path: 'AGENTS.md', old_string: 'rule 2\n', new_string: 'my rule\n' })), say('2')]);
  const home = household({ 'AGENTS.md': lines(20, 'rule') }, server);
  const dweller = await home.open();
  await dweller.turn('Read');
  home.write('AGENTS.md', `${lines(20, 'rule')}theirs\n`);
  await dweller.turn('Edit');
  expect(times(heard(server), '+theirs')).toBe(1);
  expect(heard(server)).not.toMatch(/other changes|\+my rule/);
  expectValid(server);
});

it('what changes outside of the pinned lines is told, however it moves them', async () => {
  const server = await serve([calls(read('a.txt')), say('1'), say('2')]);
  const home = household({ 'a.txt': lines(9) }, server);
  const dweller = await home.open();
  await dweller.command('/pin a.txt#2-4');
  await dweller.turn('Read');
  home.write('a.txt', lines(2));
  await dweller.turn('cut');
  expect(heard(server)).toContain('a.txt changed on disk (+0 -7)');
});

describe('what a rewind took back', () => {
  it('is given anew for the prompt to which the user went back', async () => {
    const server = await serve([say('1'), say('2'), say('3')]);
    const home = household({ 'a.txt': lines(9) }, server);
    const dweller = await home.open();
    await dweller.turn('See @a.txt');
    await dweller.turn('And then?');
    dweller.conversation.append([{ type: 'rewind', to: promptIn(dweller, '@a.txt').id }]);
    await dweller.turn('Once more');
    expect(times(heard(server), 'line 7\n')).toBe(1);
    expectValid(server);
  });
  it('and what was left out is no longer known to the tools either', async () => {
    const write = calls(call('Write', { file_path: 'a.txt', content: 'mine\n' }));
    const server = await serve([say('0'), calls(read('a.txt')), say('1'), write, say('2'), calls(read('a.txt')), say('3'), write, say('4')]);
    const home = household({ 'a.txt': lines(9) }, server);
    const dweller = await home.open();
    await dweller.turn('Hello');
    await dweller.turn('Read');
    dweller.conversation.append([{ type: 'rewind', to: promptIn(dweller, 'Hello').id }]);
    home.write('a.txt', lines(8));
    await dweller.turn('Write');
    expect(heard(server)).toContain('exists and you have not read it');
    expect(heard(server)).not.toContain('changed on disk');
    await dweller.turn('Read');
    const seen = dweller.log.findLast((entry) => entry.type === 'toolResult' && entry.tool === 'Read');
    if (seen !== undefined) dweller.conversation.append([{ type: 'exclude', target: seen.id, what: 'entry' }]);
    home.write('a.txt', lines(7));
    await dweller.turn('Write');
    expect(times(heard(server), 'exists and you have not read it')).toBe(2);
    expect(heard(server)).not.toContain('changed on disk');
    expectValid(server);
  });
});

it('a rule that the model wrote before a summary is told as a rule, not as a recent file as well', async () => {
  const server = await serve([calls(call('Write', { file_path: '.claude/rules/ts.md', content: '---\npaths: ["**/*.ts"]\n---\nno semicolons\n' })), say('A summary.'), say('2')]);
  const home = household({ 'a.ts': 'x\n' }, server);
  const dweller = await home.open();
  // Before any source has spoken of it.
  await dweller.turn('Write the rule', (event, interrupt) => { if (event.type === 'entry' && event.entry.type === 'toolResult') interrupt(); });
  await dweller.command('/compact');
  await dweller.turn('See @a.ts');
  expect(times(heard(server), 'no semicolons')).toBe(1);
  expectValid(server);
});

it('what an edit told of others\' changes is not told again by the file\'s pin', async () => {
  const server = await serve((_, index) => {
    if (index !== 1) return say(String(index));
    home.write('a.txt', `${lines(30)}theirs\n`);
    return calls(call('Edit', { file_path: 'a.txt', old_string: 'line 2\n', new_string: 'mine\n' }));
  });
  const home = household({ 'a.txt': lines(30) }, server);
  const dweller = await home.open();
  await dweller.command('/pin a.txt');
  await dweller.turn('one');
  await dweller.turn('Edit');
  expect(times(heard(server), '+theirs')).toBe(1);
  expect(heard(server)).not.toContain('+mine');
  expectValid(server);
});
