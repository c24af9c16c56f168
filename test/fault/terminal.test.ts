import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { call, failWith, say } from '../support/messages-server/reply.ts';
import { PINION, type Product, product, serve } from '../support/product.ts';
import { EVIL, foreign } from './evil.ts';
import { openVirtualTerminal, type VirtualTerminal } from '../support/virtual-terminal.ts';

function evilProject(server?: Parameters<typeof product>[1]): Product {
  const name = EVIL.replaceAll('/', '').slice(0, 120);
  const place = product({ [`src/${name}.txt`]: `${EVIL}\n`, 'a.txt': `${EVIL}\n`, 'AGENTS.md': `@${name}.md\n${EVIL}\n`, '.pinion/settings.json': JSON.stringify({ [`model${EVIL}`]: 1, theme: EVIL, permissions: { deny: [`Oops${EVIL}(`, 7], allow: [`Bash(${EVIL})`] }, env: { [`X${EVIL}`]: EVIL } }) }, server);
  execFileSync('git', ['init', '-q', place.cwd]);
  writeFileSync(join(place.cwd, '.git/HEAD'), `ref: refs/heads/b${EVIL.replaceAll('\n', '')}\n`);
  return place;
}

const script = [
  { content: [{ type: 'thinking' as const, thinking: EVIL }, { type: 'text' as const, text: `# ${EVIL}\n\n\`\`\`${EVIL}\n${EVIL}\n\`\`\`\n\n| ${EVIL} | b |\n|---|---|\n| ${EVIL} | [x](http://${EVIL}) |\n\n- ${EVIL}` }, call('Bash', { command: `cat a.txt; printf '%b' '${EVIL}'`, description: EVIL }), call('Read', { file_path: 'a.txt' }), call(`Odd${EVIL}`, { x: EVIL }), call('Read', { file_path: EVIL }), call('Grep', { pattern: 'A', output_mode: 'content' }), call('Glob', { pattern: '**/*.txt' }), call('TodoWrite', { todos: [{ content: EVIL, status: 'in_progress' }] }), call('Edit', { file_path: 'a.txt', old_string: 'A', new_string: EVIL }), call('Write', { file_path: `new${EVIL}.txt`, content: EVIL })] },
  failWith(529, 'overloaded_error', EVIL, { 'retry-after': '0' }),
  say(`The end. ${EVIL}`, { piece: 3 }),
  failWith(400, 'invalid_request_error', EVIL),
] as const;

function onScreen({ cwd, env }: Product, args: readonly string[], more: Readonly<Record<string, string>> = {}): VirtualTerminal {
  const terminal = openVirtualTerminal({ command: process.execPath, args: [PINION, ...args], cwd, columns: 100, rows: 40, env: { ...env, ...more } });
  onTestFinished(() => terminal.close());
  return terminal;
}

describe('nothing from outside reaches the terminal as anything but letters', () => {
  it('in print mode', async () => {
    const server = await serve([...script]);
    const { run } = evilProject(server);
    const first = await run(['-p', `Go ${EVIL}`, '--permission-mode', 'bypassPermissions', '--pin', 'src']);
    expect([first.code, foreign(first.stdout), foreign(first.stderr)]).toEqual([0, [], []]);
    expect(first.stdout).toContain('The end.');
    for (const args of [['-c', '-p', 'again'], ['-c', '-p', '/context'], ['-c', '-p', `/${EVIL}`], ['--model', EVIL, '-p', 'x'], [`--${EVIL}`], ['-c', '-p', '/todo', '--output-format', 'json']]) {
      const { stdout, stderr } = await run(args);
      expect([args[0], foreign(stdout), foreign(stderr)]).toEqual([args[0], [], []]);
      expect(stdout + stderr).not.toContain('\u001b');
    }
  });

  it.each([['on a screen', {}], ['on a terminal of lines', { TERM: 'dumb' }]])('%s', async (where, env) => {
    const server = await serve([...script]);
    const place = evilProject(server);
    const terminal = onScreen(place, ['--permission-mode', 'bypassPermissions', '--pin', 'a.txt'], env);
    const dumb = where !== 'on a screen';
    await terminal.waitFor(/trust/i);
    terminal.type(dumb ? 'n\r' : '\x1b');
    await terminal.waitFor(dumb ? '> ' : 'Ask, or');
    terminal.type('Go on\r');
    await terminal.waitFor('The end.', 20_000);
    terminal.type('/context\r');
    await terminal.waitFor(/tokens/);
    if (!dumb) {
      terminal.type('@src/');
      await terminal.waitFor('.txt');
      terminal.type('\x1b\x15');
      terminal.type('\x0f');
    }
    terminal.type('!cat a.txt\r');
    await terminal.waitFor('cat a.txt');
    terminal.type('More\r');
    await terminal.waitFor(/refused by 127/);
    expect(foreign(terminal.raw())).toEqual([]);
    await terminal.close();
    const again = onScreen(place, ['-r'], env);
    await again.waitFor(/trust/i);
    again.type(dumb ? 'n\r' : '\x1b');
    await again.waitFor('Go on with which session');
    again.type(dumb ? '1\r' : '\r');
    await again.waitFor('The end.');
    expect(foreign(again.raw())).toEqual([]);
  });
});

/** Addresses on which a process listens, over all its sockets. */
function listeners(pid: number): readonly string[] {
  const inodes = new Set(readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
    } catch {
      return [];
    }
  }));
  const tcp = ['tcp', 'tcp6'].flatMap((name) => readFileSync(`/proc/net/${name}`, 'utf8').split('\n').slice(1)).map((line) => line.trim().split(/\s+/)).filter((fields) => fields[3] === '0A' && inodes.has(fields[9] ?? '')).map((fields) => fields[1] ?? '');
  const unix = readFileSync('/proc/net/unix', 'utf8').split('\n').slice(1).map((line) => line.trim().split(/\s+/)).filter((fields) => fields[3] === '00010000' && inodes.has(fields[6] ?? '')).map((fields) => fields[7] ?? '(unnamed)');
  return [...tcp, ...unix];
}

it('no mode listens on anything', async () => {
  const seen: string[] = [];
  const server = await serve(() => {
    seen.push(...pids.flatMap((pid) => listeners(pid)));
    looked += 1;
    return say('The end.');
  });
  const pids: number[] = [];
  let looked = 0;
  const place = product({ 'a.txt': 'x\n' }, server);
  const running = place.start(['-p', 'Hello @a.txt', '--pin', 'a.txt']);
  pids.push(running.pid);
  await running.ended;
  const terminal = onScreen(place, ['Hello']);
  pids.splice(0, 1, terminal.pid);
  await terminal.waitFor('The end.');
  seen.push(...listeners(terminal.pid));
  expect([looked, seen]).toEqual([2, []]);
});
