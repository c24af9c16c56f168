import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ConfiguredServer } from '#domain/mcp.ts';
import { bench, textIn, until } from './fixtures.ts';

const INITIALIZED = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'remote', version: '1' } };
const TOOLS = { tools: ['where', 'break'].map((name) => ({ name, inputSchema: { type: 'object' } })) };

interface Running {
  readonly url: string;
  /** Calls that were carried out. */
  readonly calls: string[];
  /** Breaks off all streams. */
  cut(): void;
  /** Ends it, with all its sessions; what comes next has the same address. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** A server with sessions, which it loses when it is started again. `events`: answers in streams of events; `sse`: the way that came before. */
async function running(kind: 'json' | 'events' | 'sse'): Promise<Running> {
  const calls: string[] = [];
  const sessions = new Map<string, ServerResponse | undefined>();
  let begun = 0;
  let made = 0;
  const resultOf = (method: string): object => (method === 'initialize' ? INITIALIZED : method === 'tools/list' ? TOOLS : { content: [{ type: 'text', text: `life ${begun}` }] });
  const make = () => createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => { chunks.push(chunk); }).on('end', () => {
      const session = kind === 'sse' ? new URL(request.url ?? '', 'http://x').searchParams.get('session') ?? '' : String(request.headers['mcp-session-id'] ?? '');
      if (request.method === 'GET') {
        const key = kind === 'sse' ? String(made += 1) : session;
        if (kind !== 'sse' && !sessions.has(key)) return response.writeHead(404).end();
        sessions.set(key, response);
        return response.writeHead(200, { 'content-type': 'text/event-stream' }).write(kind === 'sse' ? `event: endpoint\ndata: /mcp?session=${key}\n\n` : ': hello\n\n');
      }
      const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString()) as { id?: number; method: string; params?: { name?: string } };
      const hello = method === 'initialize';
      if (!(hello && kind !== 'sse') && !sessions.has(session)) return response.writeHead(404).end('no such session');
      if (hello && kind !== 'sse') {
        sessions.set(String(made += 1), undefined);
        response.setHeader('mcp-session-id', String(made));
      }
      if (id === undefined) return response.writeHead(202).end();
      if (method === 'tools/call') calls.push(params?.name ?? '');
      if (params?.name === 'break') {
        if (kind === 'events') response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': working\n\n');
        return setTimeout(() => { (kind === 'sse' ? sessions.get(session) : response)?.destroy(); }, 50);
      }
      const answer = JSON.stringify({ jsonrpc: '2.0', id, result: resultOf(method) });
      if (kind === 'json') return response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
      if (kind === 'events') return response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`event: message\ndata: ${answer}\n\n`);
      response.writeHead(202).end();
      return sessions.get(session)?.write(`event: message\ndata: ${answer}\n\n`);
    });
  });
  let server = make();
  let port = 0;
  const start = async (): Promise<void> => {
    server = make();
    begun += 1;
    await new Promise<void>((resolve) => { server.listen(port, '127.0.0.1', resolve); });
    ({ port } = server.address() as AddressInfo);
  };
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => { server.close(resolve); });
    sessions.clear();
    // Time to notice that the lines that were kept open are closed.
    await new Promise((resolve) => { setTimeout(resolve, 100); });
  };
  await start();
  onTestFinished(stop);
  return { url: `http://127.0.0.1:${port}/mcp`, calls, cut: () => { for (const stream of sessions.values()) stream?.destroy(); }, stop, start };
}

const remote = (url: string, type: 'http' | 'sse'): ConfiguredServer => ({ name: 'r', scope: 'user', from: '/nowhere', approval: 'given', config: { type, url, headers: {} } });
const KINDS = [['json', 'http'], ['events', 'http'], ['sse', 'sse']] as const;

describe.each(KINDS)('a server at an address that speaks %s', (kind, type) => {
  it('is greeted anew when it was started again; the call that finds that out is made once more, and once only', async () => {
    const there = await running(kind);
    const { call, server, notices } = await bench([remote(there.url, type)], { doors: { backoffMs: [50, 300, 1000] } });
    expect(textIn((await call('where')).end)).toBe('life 1');
    await there.stop();
    await there.start();
    expect(textIn((await call('where')).end)).toBe('life 2');
    expect([server('r').state, there.calls, notices]).toEqual(['connected', ['where', 'where'], []]);
  });
  it('is waited for while it is away, and given up with a word where it stays away', async () => {
    const there = await running(kind);
    const { call, server, servers, notices } = await bench([remote(there.url, type)], { doors: { backoffMs: [50, 300, 1000] } });
    await there.stop();
    const pending = call('where');
    await until(() => server('r').state === 'connecting');
    await there.start();
    expect(textIn((await pending).end)).toBe('life 2');
    await there.stop();
    const { end } = await call('where');
    expect(end).toMatchObject({ kind: 'problem', why: expect.stringContaining('The server r is not connected') });
    await until(() => server('r').state === 'failed');
    expect(notices.join('\n')).toContain('it was tried');
    await there.start();
    expect(await servers.reconnect('r', new AbortController().signal)).toContain('r is connected');
  });
  it('an answer that breaks off is an error at once and is not asked for again; the next call is answered', async () => {
    const there = await running(kind);
    const { call } = await bench([remote(there.url, type)]);
    expect((await call('break')).end.kind).toBe('problem');
    expect(textIn((await call('where')).end)).toBe('life 1');
    expect(there.calls).toEqual(['break', 'where']);
  });
  it('whose streams break off is there for the next call', async () => {
    const there = await running(kind);
    const { call, server } = await bench([remote(there.url, type)]);
    there.cut();
    if (kind === 'sse') await until(() => server('r').state === 'connecting');
    expect(textIn((await call('where')).end)).toBe('life 1');
  });
});
