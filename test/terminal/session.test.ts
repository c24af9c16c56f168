import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { call, say, type ScriptedReply } from '../support/messages-server/reply.ts';
import { expectValid, isAlive, last, only, product, serve, until, wordsOf } from '../support/product.ts';

const ESC = '\x1b';
const CTRL = { c: '\x03', d: '\x04', t: '\x14' } as const;
const FILES = { 'package.json': '{ "name": "lighthouse" }\n', 'src/keeper.ts': 'export const keeper = 1;\n', 'src/lamp.ts': 'export const lamp = 2;\n', 'notes.txt': 'alpha\nbeta\n' };
const READY = '> Ask, or /';

/** An answer that takes its time: a numbered line every few milliseconds. */
const slowly = (lines: number, gapMs: number): ScriptedReply => say(Array.from({ length: lines }, (_, i) => `- item ${i}`).join('\n'), { gapMs, piece: 12 });
const at = (pattern: RegExp) => (screen: readonly string[]): boolean => screen.some((line) => pattern.test(line));
/** Nothing runs and the line is empty: what is typed next cannot run into an Enter that is still held. */
const idle = (screen: readonly string[]): boolean => at(/^> Ask/)(screen) && !at(/Esc interrupts/)(screen);

it('the first session, by keyboard alone', async () => {
  const { open, cwd, home, entries } = product(FILES);
  const terminal = open();
  await terminal.waitFor('There is no API key yet');
  terminal.type('\r');
  await terminal.waitFor(READY);

  terminal.enter('/pin src/lamp.ts');
  await terminal.waitFor('● Pinned src/lamp.ts');
  await terminal.waitFor(/1 pin/);

  terminal.type('Summarise @keep');
  await terminal.waitFor('› src/keeper.ts');
  terminal.type('\t');
  await terminal.waitFor('> Summarise @src/keeper.ts');
  terminal.type('\r');
  await terminal.waitFor(/● src\/keeper\.ts has 1 line.*exports keeper|● src\/keeper\.ts has 1 line.*exports `keeper`/);
  await terminal.waitFor(idle);

  terminal.enter('/todo add light the lamp');
  await terminal.waitFor('☐ light the lamp (yours)');
  await terminal.waitFor('todos 0/1');
  terminal.type(CTRL.t);
  await terminal.waitFor((screen) => !at(/todos 0\/1/)(screen));

  terminal.enter('Replace "alpha" by "gamma" in notes.txt');
  await terminal.waitFor('no, and tell it what to do instead');
  for (const line of ['? Edit notes.txt', '  1 - alpha', '  1 + gamma']) expect(terminal.screen().some((shown) => shown.startsWith(line)), line).toBe(true);
  expect(readFileSync(join(cwd, 'notes.txt'), 'utf8')).toBe('alpha\nbeta\n');
  terminal.type('1');
  await terminal.waitFor('"alpha" is "gamma" now');
  await terminal.waitFor(idle);
  expect(readFileSync(join(cwd, 'notes.txt'), 'utf8')).toBe('gamma\nbeta\n');

  terminal.enter('Count to 400');
  await terminal.waitFor('400. line 400', 30_000);
  await terminal.waitFor(idle);
  terminal.enter('/exit');
  await terminal.expectLeft();

  const lines = terminal.lines();
  const counted = lines.flatMap((line) => /^\W*(\d+)\. line \1$/.exec(line)?.slice(1) ?? []).map(Number);
  expect(counted).toEqual(Array.from({ length: 400 }, (_, i) => i + 1));
  for (const once of [/^● Pinned src\/lamp\.ts/, /^› Count to 400/, /^● Edit notes\.txt/, /^› Summarise @src\/keeper\.ts/]) expect(lines.filter((line) => once.test(line))).toHaveLength(1);
  expect(lines.filter((line) => /^─+$/.test(line))).toEqual([]);
  expect(entries().filter((entry) => entry.type === 'prompt')).toHaveLength(3);
  expect(readdirSync(home)).toContain('history.jsonl');

  // The next start knows the way: no question, the earlier words are there.
  const again = open({ args: ['-c'] });
  await again.waitFor('400. line 400');
  await again.waitFor(READY);
  again.type(`${ESC}[A`);
  await again.waitFor('> /exit');
  again.type(`${CTRL.c}${CTRL.c}`);
  await again.expectLeft();
});

describe('Esc', () => {
  it('interrupts an answer, and the next message works', async () => {
    const server = await serve((request) => (wordsOf(request).includes('the next words') ? say('Here I am.') : slowly(2000, 10)));
    const terminal = product(FILES, server).open();
    await terminal.waitFor(READY);
    terminal.enter('the first words');
    await terminal.waitFor('item 5');
    terminal.type(ESC);
    await terminal.waitFor('interrupted', 5000);
    await terminal.waitFor(idle);
    terminal.enter('the next words');
    await terminal.waitFor('Here I am.');
    await terminal.waitFor(idle);
    expectValid(server);
    expect(wordsOf(last(server.requests))).toMatch(/item 0[\s\S]*interrupted[\s\S]*the next words/);
    terminal.type(`${CTRL.d}${CTRL.d}`);
    await terminal.expectLeft();
  });

  it('interrupts a tool, and what it had started is gone', async () => {
    const server = await serve((request) => (wordsOf(request).includes('the next words') ? say('Here I am.') : { content: [call('Bash', { command: 'echo $$ > shell; sleep 30' })] }));
    const { open, cwd } = product(FILES, server);
    const terminal = open({ args: ['--permission-mode', 'bypassPermissions'] });
    await terminal.waitFor(READY);
    terminal.enter('the first words');
    const shell = join(cwd, 'shell');
    await until(() => existsSync(shell) && readFileSync(shell, 'utf8') !== '');
    const pid = Number(readFileSync(shell, 'utf8'));
    await terminal.waitFor('Running…');
    terminal.type(ESC);
    await terminal.waitFor(idle, 5000);
    await until(() => !isAlive(pid), 5000);
    terminal.enter('the next words');
    await terminal.waitFor('Here I am.');
    expectValid(server);
    expect(wordsOf(last(server.requests))).toMatch(/nterrupted[\s\S]*the next words/);
  });

  it('in a question means no, ends the turn, and the next message works', async () => {
    const server = await serve((request) => (wordsOf(request).includes('the next words') ? say('Here I am.') : { content: [call('Bash', { command: 'touch made.txt' }), call('Bash', { command: 'touch other.txt' })] }));
    const { open, cwd } = product(FILES, server);
    const terminal = open();
    await terminal.waitFor(READY);
    terminal.enter('the first words');
    await terminal.waitFor('no, and tell it what to do instead');
    terminal.type(ESC);
    await terminal.waitFor(idle);
    expect(server.requests).toHaveLength(1);
    terminal.enter('the next words');
    await terminal.waitFor('Here I am.');
    expectValid(server);
    expect(['made.txt', 'other.txt'].map((name) => existsSync(join(cwd, name)))).toEqual([false, false]);
  });
});

it('no with words tells the model what to do instead, and yes for good asks no more', async () => {
  const touch = (name: string): ScriptedReply => ({ content: [call('Bash', { command: `touch ${name}` })] });
  const server = await serve([touch('one.txt'), touch('two.txt'), touch('two.txt'), say('Done.')]);
  const { open, cwd } = product(FILES, server);
  const terminal = open();
  await terminal.waitFor(READY);
  terminal.enter('go');
  await terminal.waitFor('no, and tell it what to do instead');
  terminal.type('n');
  await terminal.waitFor('Enter sends it');
  terminal.type('call it two.txt');
  await terminal.waitFor('call it two.txt');
  terminal.type('\r');
  await terminal.waitFor('? Bash touch two.txt');
  expect(wordsOf(last(server.requests))).toContain('call it two.txt');
  terminal.type('2');
  await terminal.waitFor('Done.');
  await terminal.waitFor(idle);
  expectValid(server);
  expect([existsSync(join(cwd, 'one.txt')), existsSync(join(cwd, 'two.txt'))]).toEqual([false, true]);
  expect(readFileSync(join(cwd, '.pinion/settings.local.json'), 'utf8')).toContain('Bash(touch:*)');
});

it('what is typed while the model works is queued, can be taken back, and is delivered', async () => {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => { release = resolve; });
  const server = await serve(async (_, index) => {
    if (index > 0) return say('Both are answered.');
    await released;
    return say('The first is answered.');
  });
  const { open, entries } = product(FILES, server);
  const terminal = open();
  await terminal.waitFor(READY);
  terminal.enter('the first words');
  await terminal.waitFor('Esc interrupts');
  terminal.enter('the queued words');
  await terminal.waitFor('⧗ the queued words');
  terminal.enter('the wrong words');
  await terminal.waitFor('⧗ the wrong words');
  terminal.type(`${ESC}[A`);
  await terminal.waitFor('> the wrong words');
  await terminal.waitFor((screen) => !at(/⧗ the wrong words/)(screen));
  terminal.type('\x15');
  release();
  await terminal.waitFor('Both are answered.');
  await terminal.waitFor(idle);
  expectValid(server);
  expect(server.requests).toHaveLength(2);
  const sent = wordsOf(last(server.requests));
  expect(sent).toMatch(/the first words[\s\S]*the queued words/);
  expect(sent).not.toContain('the wrong words');
  expect(entries().filter((entry) => entry.type === 'queued')).toHaveLength(2);
});

it('five hundred keys during an answer arrive in order, and no line is broken or printed twice', async () => {
  const server = await serve((_, index) => (index === 0 ? slowly(150, 25) : say('Thanks.')));
  const { open, entries } = product(FILES, server);
  const terminal = open({ rows: 30 });
  await terminal.waitFor(READY);
  terminal.enter('go');
  await terminal.waitFor('item 2');
  const keys = Array.from({ length: 500 }, (_, i) => 'abcdefghij'.charAt(i % 10) + (i % 25 === 24 ? ' ' : '')).join('');
  for (let from = 0; from < keys.length; from += 1 + (from % 4)) {
    terminal.type(keys.slice(from, from + 1 + (from % 4)));
    await sleep(2);
  }
  terminal.type('\r');
  await terminal.waitFor('Thanks.', 20_000);
  await terminal.waitFor(idle);
  expect(only(entries().filter((entry) => entry.type === 'queued')).text).toBe(keys.trim());
  terminal.type(`${CTRL.d}${CTRL.d}`);
  await terminal.expectLeft();
  const items = terminal.lines().flatMap((line) => /• item (\d+)$|- item (\d+)$/.exec(line)?.slice(1).filter((n) => n !== undefined) ?? []).map(Number);
  expect(items).toEqual(Array.from({ length: 150 }, (_, i) => i));
});

it('a command of one\'s own runs and is told with the next prompt; pins are counted after /compact; /resume goes back', async () => {
  const server = await serve((request) => say(wordsOf(request).includes('summary') ? 'A SUMMARY.' : 'Heard.'));
  const { open, run, entries, logs } = product(FILES, server);
  await run(['-p', 'the session before']);
  const terminal = open({ args: ['--pin', 'src/lamp.ts', '--pin', 'src/keeper.ts'] });
  await terminal.waitFor(/2 pins/);
  terminal.enter('!echo "seven $((3 + 4))"');
  await terminal.waitFor('seven 7');
  await terminal.waitFor(idle);
  terminal.enter('what came of it?');
  await terminal.waitFor('Heard.');
  expect(wordsOf(last(server.requests))).toMatch(/\$ echo "seven[\s\S]*seven 7[\s\S]*what came of it\?/);
  await terminal.waitFor(idle);
  terminal.enter('/compact');
  await terminal.waitFor('2/2 pins kept');
  await terminal.waitFor(idle);
  terminal.enter('/resume');
  await terminal.waitFor('the session before');
  terminal.type('\r');
  await terminal.waitFor((screen) => at(/^› the session before$/)(screen) && idle(screen));
  terminal.enter('on with it');
  await until(() => server.requests.length === 4);
  await terminal.waitFor(idle);
  expectValid(server);
  expect(wordsOf(last(server.requests))).toMatch(/the session before[\s\S]*on with it/);
  expect(logs().map((file) => entries(file).filter((entry) => entry.type === 'prompt').length)).toEqual([2, 1]);
  terminal.enter('/exit');
  await terminal.expectLeft();
});

it('at 40 columns nothing is wider than the window', async () => {
  const { open } = product(FILES);
  const terminal = open({ columns: 40 });
  await terminal.waitFor('Welcome to Pinion');
  terminal.type('\r');
  await terminal.waitFor('> Ask');
  for (const line of ['/help', '/context', '/todo add a thing that is rather long to be said in one line', '/pin src/lamp.ts', '/cost', '/nonsense']) {
    terminal.enter(line);
    // What a command shows may be longer than the window.
    await terminal.waitFor(() => terminal.lines().some((shown) => shown.startsWith(`› ${line.slice(0, 30)}`) || shown.startsWith(`▲ ${line}`)));
    if (line === '/context') await terminal.waitFor('first sent');
    await terminal.waitFor(idle);
  }
  terminal.enter('Replace "alpha" by "a word that is so long that it does not fit into a line" in notes.txt');
  await terminal.waitFor('tell it what to do');
  terminal.type('y');
  await terminal.waitFor(/Done: in/);
  await terminal.waitFor(idle);
  terminal.enter('/exit');
  await terminal.expectLeft();
});

describe('at the door', () => {
  it('a key that is entered is kept for the user alone, and the model it opens answers from then on', async () => {
    const { open, home } = product(FILES);
    const terminal = open();
    await terminal.waitFor('There is no API key yet');
    terminal.type(`${ESC}[B\r`);
    await terminal.waitFor('It begins with sk-ant-');
    terminal.type('sk-ant-secret');
    terminal.type('\r');
    await terminal.waitFor(/The key is kept/);
    await terminal.waitFor(READY);
    expect(terminal.raw()).not.toContain('sk-ant-secret');
    const file = join(home, 'credentials.json');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ apiKey: 'sk-ant-secret' });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    terminal.enter('/logout');
    await terminal.waitFor('The key is forgotten');
    expect(existsSync(file)).toBe(false);
    terminal.enter('/exit');
    await terminal.expectLeft();
  });

  it('a folder that wants something is asked about once; a stray Enter trusts nothing', async () => {
    const { open, home, cwd, run } = product({ ...FILES, '.pinion/settings.json': JSON.stringify({ permissions: { allow: ['Bash(touch made.txt)'] } }) });
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, 'welcomed'), '');
    const first = open();
    await first.waitFor('Do you trust');
    expect(first.screen().join('\n')).toContain('touch made.txt');
    first.type('\r');
    await first.waitFor(READY);
    first.enter('/exit');
    await first.expectLeft();
    const second = open();
    await second.waitFor('Do you trust');
    second.type('1');
    await second.waitFor(READY);
    second.enter('Run `touch made.txt`');
    await second.waitFor('ran and printed nothing');
    second.enter('/exit');
    await second.expectLeft();
    expect(existsSync(join(cwd, 'made.txt'))).toBe(true);
    expect((await run(['-p', 'Count to 1'])).stderr).toBe('');
  });

  it('keys that are typed before the screen is there are not lost', async () => {
    const { open, home, entries, logs } = product(FILES);
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, 'welcomed'), '');
    const terminal = open();
    await terminal.waitFor('>');
    terminal.enter('Count to 3');
    await terminal.waitFor('3. line 3');
    await until(() => logs().length === 1 && entries().some((entry) => entry.type === 'assistant'));
    terminal.type(CTRL.c);
    await terminal.waitFor('Ctrl-C again to leave');
    terminal.type(CTRL.c);
    await terminal.expectLeft();
  });
});

it('whoever leaves has left, whatever timers libraries hold', async () => {
  const { open } = product(FILES);
  const env = { NODE_OPTIONS: '--import data:text/javascript,setInterval(()=>{},1e6)' };
  const terminal = open({ env });
  await terminal.waitFor('Welcome to Pinion');
  terminal.type('\r');
  await terminal.waitFor(READY);
  terminal.enter('/exit');
  await terminal.expectLeft();
  const wrong = open({ args: ['-c', '-r'], env });
  await wrong.ended;
  expect(wrong.lines().filter((line) => line !== '')).toEqual([expect.stringMatching(/^pinion: -c goes on/) as string, expect.any(String) as string, 'code 2', 'as before']);
});

it('a window that is closed in the middle of an answer leaves a session that goes on', async () => {
  const server = await serve((request) => (wordsOf(request).includes('go on please') ? say('All is well.') : slowly(2000, 10)));
  const { open, run, logs } = product(FILES, server);
  const terminal = open();
  await terminal.waitFor(READY);
  terminal.enter('the first words');
  await terminal.waitFor('item 5');
  const lock = `${only(logs())}.lock`;
  expect(existsSync(lock)).toBe(true);
  await terminal.close();
  await until(() => !existsSync(lock));
  expect(await run(['-c', '-p', 'go on please'])).toEqual({ code: 0, stdout: 'All is well.\n', stderr: '' });
  expectValid(server);
  expect(wordsOf(last(server.requests))).toMatch(/the first words[\s\S]*go on please/);
  expect(logs()).toHaveLength(1);
});
