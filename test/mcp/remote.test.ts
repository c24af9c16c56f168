import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ConfiguredServer, McpServerConfig } from '#domain/mcp.ts';
import { bench, textIn, until } from './fixtures.ts';

type Answer = (message: { readonly id?: number; readonly method: string; readonly params?: Record<string, unknown> }, response: ServerResponse, request: IncomingMessage) => void;

const RESULTS: Readonly<Record<string, object>> = {
  initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'remote', version: '1' } },
  'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }, { name: 'big', inputSchema: { type: 'object' } }, { name: 'silent', inputSchema: { type: 'object' } }] },
};
const resultOf = (method: string, params: Record<string, unknown> = {}): object => RESULTS[method] ?? { content: [{ type: 'text', text: params['name'] === 'big' ? 'x'.repeat(17 * 1024 * 1024) : `called ${String(params['name'])}` }] };
const json: Answer = ({ id, method, params }, response) => {
  if (id === undefined) response.writeHead(202).end();
  else if (params?.['name'] !== 'silent') response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result: resultOf(method, params) }));
};
const events: Answer = ({ id, method, params }, response) => {
  if (id === undefined) response.writeHead(202).end();
  else response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result: resultOf(method, params) })}\n\n`);
};

async function listen(handle: (request: IncomingMessage, response: ServerResponse, body: string) => void): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => { chunks.push(chunk); }).on('end', () => { handle(request, response, Buffer.concat(chunks).toString()); });
  });
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  onTestFinished(() => { server.closeAllConnections(); server.close(); });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

/** A server of streamable HTTP that answers each message so. */
const serveHttp = (answer: Answer, seen: IncomingMessage[] = []): Promise<string> => listen((request, response, body) => {
  seen.push(request);
  if (request.method !== 'POST') response.writeHead(405).end();
  else answer(JSON.parse(body) as Parameters<Answer>[0], response, request);
});

const remote = (url: string, more: Partial<Extract<McpServerConfig, { type: 'http' | 'sse' }>> = {}): ConfiguredServer => ({ name: 'r', scope: 'user', from: '/nowhere', approval: 'given', config: { type: 'http', url, headers: {}, ...more } });

describe.each([['JSON', json], ['events', events]] as const)('streamable HTTP that answers with %s', (_, answer) => {
  it('is connected with its headers, called, and kept after a result that is too long', async () => {
    const seen: IncomingMessage[] = [];
    const { server, call } = await bench([remote(await serveHttp(answer, seen), { headers: { 'x-one': 'two' } })]);
    expect(server('r')).toMatchObject({ state: 'connected', transport: 'http', tools: ['mcp__r__big', 'mcp__r__echo', 'mcp__r__silent'] });
    expect(seen[0]?.headers['x-one']).toBe('two');
    expect(textIn((await call('echo')).end)).toBe('called echo');
    expect((await call('big')).end).toMatchObject({ kind: 'problem', why: expect.stringContaining('at most 16 MiB are taken') });
    expect(textIn((await call('echo')).end)).toBe('called echo');
  });
});

it('a server that speaks events only is reached the old way', async () => {
  let stream: ServerResponse | undefined;
  const url = await listen((request, response, body) => {
    if (request.method === 'GET') {
      stream = response;
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: endpoint\ndata: /post\n\n');
      return;
    }
    const { id, method, params } = JSON.parse(body) as Parameters<Answer>[0];
    response.writeHead(202).end();
    if (id !== undefined) stream?.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result: resultOf(method, params) })}\n\n`);
  });
  const { server, call } = await bench([remote(url, { type: 'sse' })]);
  expect(server('r').state).toBe('connected');
  expect(textIn((await call('echo')).end)).toBe('called echo');
  expect((await call('big')).end).toMatchObject({ kind: 'problem', why: expect.stringContaining('at most 16 MiB are taken') });
});

describe('addresses that do not work', () => {
  it('say why', async () => {
    const { server } = await bench([
      { ...remote(await listen((_, response) => { response.writeHead(404).end('nothing here'); })), name: 'missing' }, { ...remote('http://127.0.0.1:2/mcp'), name: 'refused' },
      { ...remote(await listen((_, response) => { response.writeHead(401, { 'www-authenticate': 'Bearer' }).end(); })), name: 'login' }, { ...remote(await listen((_, response) => { response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'); })), name: 'page' },
    ]);
    expect(server('missing')).toMatchObject({ state: 'failed', detail: expect.stringContaining('404') });
    expect(server('refused')).toMatchObject({ state: 'failed', detail: expect.stringContaining('ECONNREFUSED') });
    expect(server('login')).toMatchObject({ state: 'login', detail: 'it wants a login: /mcp login r'.replace(' r', ' login') });
    expect(server('page').state).toBe('failed');
  });
  it('that never answer are given up in time', async () => {
    const { server } = await bench([remote(await listen(() => undefined))], { doors: { connectMs: () => 200 } });
    expect(server('r').detail).toBe('it had no answer within 0.2 s');
  });
});

it('an interrupt ends a call at once, and the server is told', async () => {
  const told: unknown[] = [];
  const { call } = await bench([remote(await serveHttp((message, response, request) => {
    if (message.method === 'notifications/cancelled') told.push(message.params);
    json(message, response, request);
  }))]);
  const stop = new AbortController();
  setTimeout(() => { stop.abort(new Error('interrupted')); }, 50);
  expect((await call('silent', {}, stop.signal)).end).toEqual({ kind: 'interrupted' });
  await until(() => told.length === 1);
});

describe('a server that sends requests on', () => {
  const moved = (to: () => string, status = 307): Promise<string> => listen((_, response) => { response.writeHead(status, { location: to() }).end(); });

  it.each([301, 302, 307, 308])('to another one (%i) sends no header, token or message there', async (status) => {
    const seen: IncomingMessage[] = [];
    const elsewhere = (await serveHttp(json, seen)).replace('127.0.0.1', 'localhost');
    for (const type of ['http', 'sse'] as const) {
      const { server } = await bench([remote(await moved(() => elsewhere, status), { type, headers: { 'x-api-key': 'secret' } })]);
      expect(server('r')).toMatchObject({ state: 'failed', detail: expect.stringContaining('which is another server: nothing was sent there') });
    }
    expect(seen).toEqual([]);
  });

  it('within itself is followed, and not for ever', async () => {
    const seen: string[] = [];
    const url = await listen((request, response, body) => {
      seen.push(`${request.url ?? ''} ${String(request.headers['x-api-key'])}`);
      if (request.url === '/round') response.writeHead(307, { location: '/round' }).end();
      else if (request.url === '/mcp') response.writeHead(307, { location: '/mcp/' }).end();
      else if (request.method === 'POST') json(JSON.parse(body) as Parameters<Answer>[0], response, request);
      else response.writeHead(405).end();
    });
    expect((await bench([remote(url, { headers: { 'x-api-key': 'secret' } })])).server('r')).toMatchObject({ state: 'connected' });
    expect(seen.slice(0, 2)).toEqual(['/mcp secret', '/mcp/ secret']);
    expect((await bench([remote(url.replace('/mcp', '/round'))])).server('r')).toMatchObject({ state: 'failed', detail: expect.stringContaining('without end') });
  });
});
