import { describe, expect, it } from 'vitest';
import type { McpServer } from '#domain/mcp.ts';
import { desk, drawn } from './support.ts';

const server = (name: string, more: Partial<McpServer> = {}): McpServer => ({ name, scope: 'user', from: '/home/u/mcp.json', transport: 'stdio', state: 'connected', tools: [], resources: [], prompts: [], notes: [], ...more });

const SERVERS: readonly McpServer[] = [
  server('files', { tools: ['mcp__files__read', 'mcp__files__write'], resources: [{ server: 'files', uri: 'file:///a', name: 'A file' }], prompts: [{ server: 'files', name: 'review', description: 'Reviews a file.', args: [{ name: 'path', description: '', required: true }, { name: 'tone', description: '', required: false }] }], instructions: 'Paths are \u001b[2Jabsolute.', notes: ['tool x: left out, its schema is broken'] }),
  server('broken', { state: 'failed', detail: 'it cannot be started: spawn nope ENOENT', transport: 'stdio' }),
  server('tracker', { state: 'login', transport: 'http', scope: 'local' }),
  server('theirs', { state: 'unapproved', scope: 'project', from: '/w/.mcp.json', detail: 'it comes with the repository and waits for your approval: /mcp approve theirs' }),
];
const ready = (servers: readonly McpServer[] = SERVERS, log: readonly string[] = []) => desk({}, { mcp: () => ({ servers: () => servers, log: () => log }) });

describe('/mcp', () => {
  it('says how to have servers where there are none', async () => {
    expect(await ready([]).shown('mcp')).toContain('pinion mcp add');
  });

  it('shows how each is and what to do about it', async () => {
    const text = await ready().shown('mcp');
    expect(text).toContain('1 of 4 connected');
    expect(text).toMatch(/files +connected +yours +stdio +2 tools, 1 resource, 1 prompt/);
    expect(text).toMatch(/tracker +sign-in needed +yours, here +http/);
    expect(text).toContain('- broken: it cannot be started: spawn nope ENOENT; /mcp log broken tells more, /mcp reconnect broken tries again');
    expect(text).toContain('- tracker: /mcp login tracker');
    expect(text).toContain('- theirs: it comes with the repository and waits for your approval: /mcp approve theirs');
    expect(text).toContain('- files: 1 note: /mcp files');
  });

  it.each([40, 80])('fits %i columns', async (columns) => {
    const effect = await ready().run('mcp');
    if (effect.type !== 'show') throw new Error('no card');
    const lines = drawn(effect.card, columns);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
    expect(lines.join('\n')).toContain('/mcp login');
  });

  it('tells all of one', async () => {
    const text = await ready(SERVERS, ['12:00:00 started', '12:00:01 \u001b]0;evil\u0007']).shown('mcp files');
    for (const words of ['/home/u/mcp.json', 'mcp__files__write', '@files:file:///a (A file)', 'review <path> [tone]: Reviews a file.', 'absolute.', 'its schema is broken', '12:00:00 started']) expect(text).toContain(words);
    expect(text).not.toMatch(/[\u001b\u0007]/);
    expect(await ready().shown('mcp broken')).toContain('failed: it cannot be started');
  });

  it('shows the log', async () => {
    const log = Array.from({ length: 50 }, (_, i) => `line ${i}`);
    const text = await ready(SERVERS, log).shown('mcp log broken');
    expect(text).toContain('40 of 50 lines');
    expect(text).toContain('line 49');
    expect(text).not.toContain('line 9\n');
    expect(await ready().shown('mcp log files')).toContain('nothing yet');
  });

  it.each([['reconnect broken', 'reconnect', 'broken'], ['login tracker', 'login', 'tracker'], ['logout tracker', 'logout', 'tracker'], ['approve theirs', 'approve', 'theirs'], ['refuse  theirs', 'refuse', 'theirs']])('%s is an effect', async (line, what, name) => {
    expect(await ready().run(`mcp ${line}`)).toEqual({ type: 'mcp', what, server: name });
  });

  it.each([
    ['nothing', 'no MCP server nothing'], ['trackr', 'Did you mean tracker?'], ['reconnec files', 'Did you mean /mcp reconnect?'], ['xyzzy files', 'It has reconnect, login'], ['login', 'Say which server: tracker'], ['approve files', 'your own servers'], ['login files', 'nothing to sign in to'],
    ['reconnect nope', 'no MCP server nope'], ['a b c', 'It is /mcp'], ['\u001b[2J', 'no MCP server'],
  ])('%s is refused', async (line, why) => {
    const message = await ready().refused(`mcp ${line}`);
    expect(message).toContain(why);
    expect(message).not.toContain('\u001b');
  });

  it('shows a server that bears the name of a word', async () => {
    expect(await ready([server('log')]).shown('mcp log')).toMatch(/^log/);
  });

  it('completes words and the names that fit them', async () => {
    const { complete } = ready();
    expect(await complete('mcp ')).toEqual(['files', 'broken', 'tracker', 'theirs', 'reconnect', 'login', 'logout', 'approve', 'refuse', 'log']);
    expect(await complete('mcp login ')).toEqual(['tracker']);
    expect(await complete('mcp approve t')).toEqual(['theirs']);
    expect(await complete('mcp reconnect ')).toEqual(['files', 'broken', 'tracker', 'theirs']);
    expect(await complete('mcp nonsense ')).toEqual([]);
  });

  it('waits in print mode for servers that are just being connected', async () => {
    let state: McpServer['state'] = 'connecting';
    const mcp = () => ({ servers: () => [server('slow', { state })], log: () => [], settled: () => Promise.resolve().then(() => { state = 'connected'; }) });
    expect(await desk({}, { mcp }).shown('mcp')).toContain('0 of 1 connected');
    expect(await desk({}, { surface: 'print', mcp }).shown('mcp')).toContain('1 of 1 connected');
    let known: readonly McpServer[] = [];
    expect(await desk({}, { mcp: () => ({ servers: () => known, log: () => [], settled: () => Promise.resolve().then(() => { known = SERVERS; }) }) }).shown('mcp')).toContain('1 of 4 connected');
  });
});
