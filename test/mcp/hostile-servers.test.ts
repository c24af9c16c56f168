import { describe, expect, it } from 'vitest';
import { bench, diary, hostile, textIn, tool, until } from './fixtures.ts';

const alive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('servers that do not come up', () => {
  it('cost their own words only, and say why', async () => {
    const { server, servers, notices, call } = await bench([
      hostile('good', { tools: [tool('echo')] }), hostile('gone', { initialize: 'exit', stderr: 'no database at /nowhere' }),
      hostile('late', { initialize: 'slow', ms: 100, tools: [tool('echo')] }), { ...hostile('absent', {}), config: { type: 'stdio', command: '/no/such/program', args: [], env: {} } },
    ]);
    expect(server('good').state).toBe('connected');
    expect(server('late').state).toBe('connected');
    expect(server('gone')).toMatchObject({ state: 'failed', detail: 'it ended with exit code 7; it last wrote: no database at /nowhere' });
    expect(server('absent').detail).toContain('it cannot be started: spawn /no/such/program ENOENT');
    expect(notices.length).toBe(2);
    expect(textIn((await call('mcp__good__echo', { message: 'x' })).end)).toBe('echo: x');
    expect(servers.log('gone').join('\n')).toContain('no database at /nowhere');
  });
  it('have so long to answer and no longer', async () => {
    const { server, notices } = await bench([hostile('mute', { initialize: 'never' })], { doors: { connectMs: () => 300 } });
    expect(server('mute')).toMatchObject({ state: 'failed', detail: 'it had no answer within 0.3 s' });
    expect(notices).toEqual(['MCP server mute: it had no answer within 0.3 s.']);
  });
  it('do not hold anybody up', async () => {
    const { servers, server } = await bench([hostile('mute', { initialize: 'never' })], { eager: true });
    expect(server('mute').state).toBe('connecting');
    const began = performance.now();
    await servers.settled(50);
    expect(performance.now() - began).toBeLessThan(2000);
  });
  it('are not started without approval', async () => {
    const { file, lines } = diary();
    const { server, servers } = await bench([hostile('theirs', { diary: file }, { scope: 'project', approval: 'needed', why: 'it waits for your approval' }), hostile('off', { diary: file }, { approval: 'off' })]);
    expect(server('theirs')).toMatchObject({ state: 'unapproved', detail: 'it waits for your approval' });
    expect(server('off').state).toBe('off');
    expect(await servers.reconnect('theirs', new AbortController().signal)).toContain('may not start');
    expect(lines()).toEqual([]);
  });
});

describe('calls of a server that misbehaves', () => {
  const every = ['echo', 'silent', 'die', 'big', 'lone', 'stray', 'flood', 'storm', 'bad', 'progress', 'cancelled', 'pid'].map((name) => tool(name));

  it('a call that is never answered ends at its time-out, and the server is told', async () => {
    const { call } = await bench([hostile('s', { tools: every }, { timeoutMs: 200 })]);
    const { end } = await call('silent');
    expect(end).toMatchObject({ kind: 'problem', why: expect.stringContaining('No answer within 0.2 s') });
    expect(textIn((await call('cancelled')).end)).toContain('requestId');
  });
  it('an interrupt ends a call at once, and the server is told', async () => {
    const { call } = await bench([hostile('s', { tools: every })]);
    const stop = new AbortController();
    setTimeout(() => { stop.abort(new Error('interrupted')); }, 50);
    const { end } = await call('silent', {}, stop.signal);
    expect(end).toEqual({ kind: 'interrupted' });
    expect(JSON.parse(textIn((await call('cancelled')).end))).toHaveLength(1);
  });
  it('a server that dies in a call fails that call, and is there again for the next', async () => {
    const { call, servers } = await bench([hostile('s', { tools: every })]);
    const before = textIn((await call('pid')).end);
    const { end } = await call('die');
    expect(end.kind).toBe('problem');
    const after = await call('pid');
    expect(Number(textIn(after.end))).toBeGreaterThan(0);
    expect(textIn(after.end)).not.toBe(before);
    expect(servers.log('s').join('\n')).toContain('lost: it ended with exit code 3');
  });
  it('one that dies again and again is given up with a word', async () => {
    const { call, server, notices, servers } = await bench([hostile('s', { tools: every })]);
    for (let at = 0; at < 3; at += 1) {
      await call('die');
      await until(() => server('s').state !== 'connected' || at < 2);
      await servers.settled(3000);
    }
    await until(() => server('s').state === 'failed');
    expect(notices.join('\n')).toContain('it was tried 3 times. /mcp reconnect s tries again');
    expect(servers.tools().every(({ gone }) => gone)).toBe(true);
    expect(await servers.reconnect('s', new AbortController().signal)).toContain('s is connected');
    expect(servers.tools().some(({ gone }) => gone)).toBe(false);
  });
  it('a result of more than a message may hold is an error, and the server is kept', async () => {
    const { call, servers } = await bench([hostile('s', { tools: every })]);
    const before = textIn((await call('pid')).end);
    const { end } = await call('big', { bytes: 17 * 1024 * 1024 });
    expect(end).toMatchObject({ kind: 'problem', why: expect.stringContaining('at most 16 MiB are taken') });
    expect(textIn((await call('pid')).end)).toBe(before);
    expect(servers.log('s').join('\n')).toContain('a line of 17 MiB was thrown away');
  });
  it('stray lines on standard output go to the log; half a surrogate pair harms nobody', async () => {
    const { call, servers } = await bench([hostile('s', { tools: every })]);
    expect(textIn((await call('stray')).end)).toBe('after the stray lines');
    expect(servers.log('s').join('\n')).toContain('Starting to work on it');
    expect(textIn((await call('lone')).end)).toContain('lone');
  });
  it('says how far it is, without flooding whoever listens', async () => {
    const { call, servers } = await bench([hostile('s', { tools: every })]);
    expect((await call('progress')).progress).toEqual(['33 %: part 1', '67 %: part 2', '100 %: part 3']);
    const flooded = await call('flood');
    expect(textIn(flooded.end)).toBe('flooded');
    expect(flooded.progress.length).toBeLessThan(60);
    expect(servers.log('s').length).toBeLessThanOrEqual(400);
  });
  it('a storm of changed lists is read a few times only', async () => {
    const { file, lines } = diary();
    const { call } = await bench([hostile('s', { tools: every, diary: file })]);
    expect(textIn((await call('storm')).end)).toBe('stormed');
    expect(textIn((await call('echo', { message: 'still there' })).end)).toBe('echo: still there');
    expect(lines().filter((line) => line === 'call storm')).toHaveLength(1);
  });
  it('an error of the server is a failed result with its words', async () => {
    const { call } = await bench([hostile('s', { tools: every })]);
    expect((await call('bad')).end).toMatchObject({ kind: 'failed' });
  });
});

describe('what a server offers', () => {
  it('names that are no names of tools are mended and stay apart; a tool that cannot be mended is left out with a word', async () => {
    const { server, call, servers } = await bench([hostile('odd', { tools: [
      tool('admin.tools.list'), tool('admin/tools/list'), tool('x'.repeat(90)), tool('echo', 'again'), tool('echo', 'twice'), tool('broken', 'b', { type: 'array' }), { description: 'nameless' }, 'no tool', null,
      tool('union', 'u', { anyOf: [{ properties: { a: {} } }, { properties: { b: {} } }] }), tool('loop', 'l', { $ref: '#' }),
    ] })]);
    const { tools, notes } = server('odd');
    expect(tools.length).toBe(5);
    for (const name of tools) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(notes).toEqual(expect.arrayContaining([expect.stringContaining('tool broken: left out, its input schema is for array'), expect.stringContaining('tool loop: left out'), 'tool echo: left out, there are two of that name', 'a tool without a name: left out']));
    const dotted = servers.tools().find(({ original }) => original === 'admin.tools.list');
    expect(textIn((await call(dotted?.name ?? '')).end)).toBe('called admin.tools.list');
  });
  it('a changed list is read, what went is known to be gone, and a changed description is told', async () => {
    const changed: string[] = [];
    const { call, server, servers } = await bench([hostile('s', { tools: [tool('echo'), tool('change'), tool('gone')] })], { doors: { onToolsChanged: (_, tools) => { changed.push(...tools.map(({ name }) => name)); } } });
    await call('change', { tools: [tool('echo', 'says something else'), tool('change'), tool('new')] });
    await until(() => server('s').tools.includes('mcp__s__new'));
    expect(changed).toEqual(['mcp__s__echo']);
    expect(servers.tools().find(({ name }) => name === 'mcp__s__gone')?.gone).toBe(true);
    expect(servers.tools()).toBe(servers.tools());
  });
  it('a description of a megabyte is cut', async () => {
    const { tool: find } = await bench([hostile('s', { tools: [tool('echo', 'd'.repeat(100_000))] })]);
    expect(Buffer.byteLength(find('echo').description)).toBeLessThan(2100);
  });
});

describe('programs', () => {
  it('end with the house, with all that they started, also one that does not listen', async () => {
    const { file, lines } = diary();
    const { servers } = await bench([hostile('s', { diary: file, child: true, deaf: true })]);
    const pids = (): readonly number[] => lines().flatMap((line) => Number(/^(?:start|child) (\d+)$/.exec(line)?.[1] ?? Number.NaN)).filter((pid) => !Number.isNaN(pid));
    expect(pids()).toHaveLength(2);
    await servers.reconnect('s', new AbortController().signal);
    const [first = 0, child = 0] = pids();
    await until(() => !alive(first) && !alive(child));
    expect(pids()).toHaveLength(4);
  });
  it('come and go with the configuration', async () => {
    let configured = [hostile('a', { tools: [tool('echo')] })];
    const { servers, server } = await bench(() => configured);
    expect(server('a').state).toBe('connected');
    configured = [hostile('b', { tools: [tool('echo')] })];
    servers.start();
    await servers.settled(5000);
    expect(servers.servers().map(({ name, state }) => [name, state])).toEqual([['b', 'connected']]);
    expect(servers.tools().filter(({ gone }) => !gone).map(({ name }) => name)).toEqual(['mcp__b__echo']);
  });
  it('are told when the working folders change', async () => {
    const { file, lines } = diary();
    let roots = ['/one'];
    const { call } = await bench([hostile('s', { tools: [tool('roots')], diary: file })], { doors: { roots: () => roots } });
    expect(textIn((await call('roots')).end)).toContain('file:///one');
    roots = ['/one', '/two words'];
    expect(textIn((await call('roots')).end)).toContain('file:///two%20words');
    await until(() => lines().includes('roots changed'));
  });
});
