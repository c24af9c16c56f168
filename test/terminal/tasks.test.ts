import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { call, say } from '../support/messages-server/reply.ts';
import { expectValid, isAlive, last, product, serve, until, wordsOf } from '../support/product.ts';

const CTRL_B = '\x02';
const READY = '> Ask, or /';
const at = (pattern: RegExp) => (screen: readonly string[]): boolean => screen.some((line) => pattern.test(line));
const idle = (screen: readonly string[]): boolean => at(/^> /)(screen) && !at(/Esc interrupts/)(screen);
const BYPASS = ['--permission-mode', 'bypassPermissions'];
const WAITS = { content: [call('Bash', { command: 'echo $$ >pid; while [ ! -f go ]; do sleep 0.05; done; echo went; exit 4' })] };

describe('with the model at work', () => {
  it('Ctrl-B sends its command to the background; its end is seen at once, and told with the next prompt', async () => {
    const server = await serve((_request, index) => [WAITS, say('It goes on beside us.')][index] ?? say('I see.'));
    const place = product({}, server);
    const terminal = place.open({ args: BYPASS, rows: 30 });
    await terminal.waitFor(READY);
    terminal.enter('serve');
    await until(() => existsSync(join(place.cwd, 'pid')));
    terminal.type(CTRL_B);
    await terminal.waitFor('It goes on beside us.');
    await terminal.waitFor(idle);
    await terminal.waitFor(/1 task/);
    terminal.enter('!touch go');
    await terminal.waitFor(/shell-1 failed \(exit code 4\)/);
    terminal.enter('what happened?');
    await terminal.waitFor('I see.');
    expect(wordsOf(last(server.requests))).toMatch(/shell-1 failed \(exit code 4\): echo [^\n]*\nIts output:\n\| went/);
    terminal.enter('/exit');
    await terminal.expectLeft();
    expectValid(server);
  });

  it('what waits is listed, removed by its number and taken back to be edited; the rest is delivered', async () => {
    const server = await serve((_request, index) => [WAITS][index] ?? say('All done.'));
    const place = product({}, server);
    const terminal = place.open({ args: BYPASS, rows: 40 });
    await terminal.waitFor(READY);
    terminal.enter('serve');
    await until(() => existsSync(join(place.cwd, 'pid')));
    for (const words of ['first words', 'second words', 'third words']) {
      terminal.enter(words);
      await terminal.waitFor(new RegExp(`⧗ ${words}`));
    }
    terminal.enter('/queue rm 2');
    await terminal.waitFor('Removed from the queue');
    await terminal.waitFor((screen) => !at(/⧗ second words/)(screen));
    terminal.enter('/queue edit 2');
    await terminal.waitFor('> third words');
    terminal.type(' changed\r');
    await terminal.waitFor(/⧗ third words changed/);
    terminal.enter('/tasks');
    await terminal.waitFor('nothing was started in the background');
    terminal.type(CTRL_B);
    await terminal.waitFor('All done.');
    await terminal.waitFor(idle);
    terminal.enter('/queue rm 1');
    await terminal.waitFor('Nothing waits to be sent.');
    const sent = wordsOf(last(server.requests));
    expect(sent).toContain('first words');
    expect(sent).toContain('third words changed');
    expect(sent).not.toContain('second words');
    terminal.enter('/exit');
    await terminal.expectLeft();
    await until(() => !isAlive(Number(readFileSync(join(place.cwd, 'pid'), 'utf8'))));
    expectValid(server);
  });
});

it('a command of the user goes to the background too, is looked at and stopped', async () => {
  const server = await serve(() => say('Fine.'));
  const place = product({}, server);
  const terminal = place.open({ rows: 30 });
  await terminal.waitFor(READY);
  terminal.enter('!echo $$ >pid; echo up and running; sleep 75');
  await terminal.waitFor('⎿ up and running');
  terminal.type(CTRL_B);
  await terminal.waitFor('goes on in the background as shell-1');
  terminal.enter('hello');
  await terminal.waitFor('Fine.');
  expect(wordsOf(last(server.requests))).toMatch(/\$ echo [^\n]*\nup and running\n+\(it goes on in the background as shell-1\)/);
  expect(wordsOf(last(server.requests))).not.toContain('Background tasks');
  terminal.enter('/tasks shell-1');
  await terminal.waitFor(/bytes of output/);
  terminal.enter('/tasks stop shell-1');
  await terminal.waitFor('Stopped: echo $$');
  await until(() => !isAlive(Number(readFileSync(join(place.cwd, 'pid'), 'utf8'))));
  terminal.enter('/exit');
  await terminal.expectLeft();
});
