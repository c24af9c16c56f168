import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { call, say, think } from '../support/messages-server/reply.ts';
import type { MessagesServer, Step } from '../support/messages-server/server.ts';
import { expectValid, isAlive, last, only, type Product, product, serve, until, wordsOf } from '../support/product.ts';

const BYPASS = ['--permission-mode', 'bypassPermissions'];
const FILES = { 'src/a.ts': 'export const a = 1;\n' };
const PRELOAD = fileURLToPath(new URL('../support/die-at-write.mjs', import.meta.url));
const TORN = 'pinion: 1 line of this session\'s log could not be read and was left out.\n';

/** Answers what comes after the turn that is broken off; until then one of these after the other. */
function serveTurn(steps: readonly Step[]): Promise<MessagesServer> {
  return serve((request, index) => (wordsOf(request).includes('go on please') ? say('All is well.') : steps[index] ?? say('never asked for')));
}

/** The next run finds the same session, not locked, with the words in it, and makes a valid request of it. */
async function expectGoesOn({ run, logs }: Product, server: MessagesServer, words: readonly string[], notice = ''): Promise<void> {
  const { code, stderr, stdout } = await run(['-c', '-p', 'go on please', ...BYPASS]);
  expect([code, stdout, stderr]).toEqual([0, 'All is well.\n', notice]);
  expect(logs()).toHaveLength(1);
  expectValid(server);
  const sent = wordsOf(last(server.requests));
  for (const word of [...words, 'go on please']) expect(sent).toContain(word);
}

const LONG = say(Array.from({ length: 200 }, (_, i) => `word ${i}`).join(' '), { gapMs: 20 });
const SLEEPS = { content: [call('Bash', { command: 'echo $$ > shell; sleep 20' })] };
const pidIn = (file: string): number => Number(readFileSync(file, 'utf8'));

describe('a program that is killed at a write to its log', () => {
  // The turn writes two reminders, a reply, two results, and the reply after them.
  it.each([1, 1.5, 2.5, 3, 3.5, 4.5, 5, 5.5, 6.5])('(number %s after the prompt) leaves a session that goes on', async (at) => {
    const server = await serveTurn([{ content: [think('Look first.'), call('Read', { file_path: 'src/a.ts' }), call('Bash', { command: 'echo ran' })] }, say('That was the answer.')]);
    const place = product(FILES, server);
    const { code } = await place.run(['-p', 'the first words', ...BYPASS], { env: { NODE_OPTIONS: `--import ${PRELOAD}`, DIE_AT_WRITE: String(at) } });
    expect(code).toBe(137);
    await expectGoesOn(place, server, ['the first words'], at % 1 === 0 ? '' : TORN);
  });
});

describe.each([['SIGKILL', 137], ['SIGINT', 130], ['SIGTERM', 143]] as const)('a program that is ended by %s', (signal, exit) => {
  it('while it answers ends with its code and leaves a session that goes on', async () => {
    const server = await serveTurn([LONG]);
    const place = product(FILES, server);
    const running = place.start(['-p', 'the first words']);
    await until(() => server.requests.length === 1);
    await sleep(150);
    running.kill(signal);
    expect(await running.ended).toEqual({ code: exit, stdout: '', stderr: '' });
    // A kill leaves no time to write down what came of the answer.
    await expectGoesOn(place, server, ['the first words', ...(signal === 'SIGKILL' ? [] : ['word 0 word 1', 'interrupted'])]);
  });

  it('in a tool ends with its code and leaves a session that goes on', async () => {
    const server = await serveTurn([SLEEPS]);
    const place = product(FILES, server);
    const running = place.start(['-p', 'the first words', ...BYPASS]);
    const shell = join(place.cwd, 'shell');
    await until(() => existsSync(shell) && pidIn(shell) > 0);
    running.kill(signal);
    expect(await running.ended).toEqual({ code: exit, stdout: '', stderr: '' });
    await until(() => !isAlive(pidIn(shell)));
    await expectGoesOn(place, server, ['the first words', signal === 'SIGKILL' ? 'cut off before it finished' : 'nterrupted by the user']);
  });
});

it('a second process on a session that is being held goes on in a copy, and says so', async () => {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => { release = resolve; });
  const server = await serve(async (request) => {
    if (wordsOf(request).includes('the other way')) return say('Gone another way.');
    await released;
    return say('The long answer.');
  });
  const { start, run, logs, entries } = product(FILES, server);
  const first = start(['-p', 'the first words']);
  await until(() => server.requests.length === 1);
  expect(await run(['-c', '-p', 'the other way'])).toEqual({
    code: 0, stdout: 'Gone another way.\n', stderr: 'pinion: This session is open in another process: going on in a copy of it.\n',
  });
  release();
  expect(await first.ended).toMatchObject({ code: 0, stdout: 'The long answer.\n' });
  expectValid(server);
  expect(wordsOf(last(server.requests))).toContain('the first words');
  const [original = '', copy = ''] = logs();
  expect(entries(original).filter((entry) => entry.type === 'prompt')).toHaveLength(1);
  expect(entries(copy).filter((entry) => entry.type === 'prompt')).toHaveLength(2);
  expect(only(entries(original).filter((entry) => entry.type === 'assistant')).content).toEqual([{ type: 'text', text: 'The long answer.' }]);
});
