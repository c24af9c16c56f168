import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { edit } from '../support/acp-client.ts';
import { say } from '../support/messages-server/reply.ts';
import { isAlive, type Product, product, serve, until } from '../support/product.ts';

/** Notes its own id and that of a child in its group, and ends for nothing but KILL. */
const STUBBORN = 'trap "" TERM HUP INT PIPE\nsh -c \'trap "" TERM HUP INT PIPE; echo $$ >> "$0"; while :; do sleep 0.2; done\' "$0.$1" &\necho $$ >> "$0.$1"\nwhile :; do sleep 0.2; done\n';

interface Stubborn extends Product {
  pids(of: string): readonly number[];
}

/** A person whose server, hook and status line never end by themselves. */
async function stubborn(): Promise<Stubborn> {
  const place = product({ 'a.txt': 'a\n' }, await serve(() => say('Done.', { delayMs: 60_000 })));
  const script = join(place.env['HOME'] ?? '', 'stubborn.sh');
  writeFileSync(script, STUBBORN);
  mkdirSync(place.home, { recursive: true });
  writeFileSync(join(place.home, 'settings.json'), JSON.stringify({
    hooks: { SessionStart: [{ hooks: [{ type: 'command', command: `sh ${script} hook`, async: true }] }] }, statusLine: { type: 'command', command: `sh ${script} line` },
  }));
  writeFileSync(join(place.env['HOME'] ?? '', '.claude.json'), JSON.stringify({ mcpServers: { s: { command: 'sh', args: [script, 'server'] } } }));
  return {
    ...place,
    pids: (of) => (existsSync(`${script}.${of}`) ? readFileSync(`${script}.${of}`, 'utf8').trim().split('\n').map(Number) : []),
  };
}

/** All run, and a moment has passed: what was started in the very moment of the kill nobody can have heard of. */
async function started(place: Stubborn, ...what: readonly string[]): Promise<void> {
  await until(() => what.every((one) => place.pids(one).length >= 2));
  await setTimeout(300);
}

async function nothingLeft(place: Stubborn, ...what: readonly string[]): Promise<void> {
  const left = (): readonly number[] => what.flatMap((one) => place.pids(one)).filter(isAlive);
  await until(() => left().length === 0);
  expect(left()).toEqual([]);
}

describe('programs that end for nobody are gone with this one', () => {
  it.each(['SIGKILL', 'SIGHUP'] as const)('print mode, by %s', async (signal) => {
    const place = await stubborn();
    const running = place.start(['-p', 'go']);
    await started(place, 'server', 'hook');
    running.kill(signal);
    await running.ended;
    await nothingLeft(place, 'server', 'hook');
  });

  it.each(['SIGKILL'] as const)('an editor\'s session, by %s', async (signal) => {
    const place = await stubborn();
    const editor = edit(place);
    await editor.open();
    await started(place, 'server', 'hook');
    editor.kill(signal);
    await editor.ended;
    await nothingLeft(place, 'server', 'hook');
  });

  it.each(['SIGKILL'] as const)('pinion mcp test, by %s', async (signal) => {
    const place = await stubborn();
    const running = place.start(['mcp', 'test', 's']);
    await until(() => place.pids('server').length >= 2);
    running.kill(signal);
    await running.ended;
    await nothingLeft(place, 'server');
  });

  it('the screen, by KILL', async () => {
    const place = await stubborn();
    const terminal = place.open();
    await started(place, 'server', 'hook', 'line');
    const [pinion = 0] = place.pids('hook').map((pid) => Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])).filter((pid) => pid > 1 && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('bin/pinion.js'));
    expect(pinion).toBeGreaterThan(1);
    process.kill(pinion, 'SIGKILL');
    await terminal.ended;
    await nothingLeft(place, 'server', 'hook', 'line');
  });
});
