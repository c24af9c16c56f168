import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { call, say } from '../support/messages-server/reply.ts';
import { expectValid, idle, isAlive, product, resultIn, serve, until, wordsOf } from '../support/product.ts';
import { hostileCommand, REAL, tool } from '../mcp/fixtures.ts';

const ECHO = 'mcp__s__echo';
const config = (servers: Readonly<Record<string, object>>): string => JSON.stringify({ mcpServers: servers });

it('print mode loads and calls a tool of a server that was named, and ends it with the program', async () => {
  const server = await serve([{ content: [call('Bash', { command: 'sleep 2' })] }, { content: [call('ToolSearch', { query: `select:${ECHO}` })] }, { content: [call(ECHO, { message: 'from print' })] }, say('It said so.')]);
  const { run, cwd, entries } = product({ 'a.txt': 'x' }, server);
  const diary = join(cwd, 'diary');
  const { code, stdout, stderr } = await run(['-p', 'Echo', '--mcp-config', config({ s: hostileCommand({ diary, child: true, tools: [tool('echo')], instructions: 'Words of s.', stderr: 'loud words' }) }), '--allowed-tools', 'mcp__s', '--allowed-tools', 'Bash(sleep:*)']);
  expect([code, stdout, stderr]).toEqual([0, 'It said so.\n', '']);
  // With the first request where it was there in time, else at the step after it.
  const told = wordsOf(server.requests[1] ?? fail());
  expect(told).toContain(`- ${ECHO}: does echo`);
  expect(told).toContain('Words of s.');
  expect(entries().filter((entry) => entry.type === 'toolResult').at(-1)).toMatchObject({ result: { kind: 'ok', content: [{ text: 'echo: from print' }] } });
  const pids = readFileSync(diary, 'utf8').split('\n').flatMap((line) => Number(/^(?:start|child) (\d+)$/.exec(line)?.[1] ?? Number.NaN)).filter((pid) => !Number.isNaN(pid));
  expect(pids).toHaveLength(2);
  await until(() => !pids.some(isAlive));
  expectValid(server);
});

it('a server that never answers, or cannot be started, costs its own words only', async () => {
  const server = await serve([say('Hello.')]);
  const { run } = product({}, server);
  const { code, stdout, stderr } = await run(['-p', 'Hi', '--mcp-config', config({ mute: hostileCommand({ initialize: 'never' }), absent: { command: '/no/such/program' } })]);
  expect([code, stdout]).toEqual([0, 'Hello.\n']);
  expect(stderr).toBe('pinion: MCP server absent: it cannot be started: spawn /no/such/program ENOENT.\n');
  expectValid(server);
});

it('a call that nobody allowed is refused in print mode and listed', async () => {
  const server = await serve([{ content: [call('ToolSearch', { query: `select:${ECHO}` })] }, { content: [call(ECHO, { message: 'x' })] }, say('No.')]);
  const { run } = product({}, server);
  const { stdout } = await run(['-p', 'Echo', '--output-format', 'json', '--mcp-config', config({ s: hostileCommand({ tools: [tool('echo')] }) })]);
  expect(resultIn(stdout)).toMatchObject({ permission_denials: [{ tool_name: ECHO }] });
});

it('nothing of a repository starts before it is trusted', async () => {
  const server = await serve([say('Hello.')]);
  const made = product({}, server);
  const diary = join(made.cwd, 'diary');
  writeFileSync(join(made.cwd, '.mcp.json'), config({ s: hostileCommand({ diary }) }));
  const { code } = await made.run(['-p', 'Hi']);
  expect(code).toBe(0);
  expect(existsSync(diary)).toBe(false);
});

it('on the screen a tool is asked about with what its server says, a prompt is a command, and a resource is completed', async () => {
  const server = await serve([{ content: [call('ToolSearch', { query: `select:mcp__everything__echo` })] }, { content: [call('mcp__everything__echo', { message: 'hello there' })] }, say('Echoed.'), say('Greeted.'), say('Seen.')]);
  const made = product({}, server);
  const file = join(made.cwd, 'servers.json');
  writeFileSync(file, config({ everything: { command: process.execPath, args: [REAL.everything()] } }));
  const terminal = made.open({ args: ['--mcp-config', file], columns: 100, rows: 40 });
  const seen = (words: string): Promise<void> => until(() => terminal.lines().join('\n').includes(words));
  await seen('/ for commands');
  for (let tries = 0; tries < 100 && !terminal.lines().join('\n').includes('1 of 1 connected'); tries += 1) {
    terminal.enter('/mcp ');
    await new Promise((resolve) => { setTimeout(resolve, 500); });
    await terminal.waitFor(idle);
  }
  terminal.enter('Echo hello there');
  await seen('everything: echo hello there');
  await seen('a tool of the MCP server everything');
  terminal.type('1');
  await seen('Echoed.');
  terminal.type('/mcp__everything__simp');
  await seen('A prompt with no arguments');
  terminal.enter('le-prompt');
  await seen('Greeted.');
  terminal.type('see @everything:demo://resource/static/document/arch');
  await seen('architecture.md (architecture.md)');
  terminal.type('\t');
  await terminal.waitFor((screen) => screen.some((line) => line.startsWith('> see') && line.includes('architecture.md')) && !screen.some((line) => line.includes('architecture.md (architecture.md)')));
  terminal.enter('');
  await until(() => server.requests.length === 5);
  expect(wordsOf(server.requests[4] ?? fail())).toContain('Resource "demo://resource/static/document/architecture.md" (text/markdown');
  terminal.enter('/exit');
  await terminal.expectLeft();
  expectValid(server);
});

function fail(): never {
  throw new Error('there was no request');
}
