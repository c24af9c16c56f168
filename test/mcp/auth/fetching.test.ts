import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { carefulFetch, isSafe } from '#mcp/auth/fetching.ts';

async function listen(handle: RequestListener): Promise<string> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  onTestFinished(() => { server.closeAllConnections(); server.close(); });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('a server elsewhere sends nobody to this machine, nor to an address without encryption', async () => {
  const asked: string[] = [];
  const here = await listen((request, response) => {
    asked.push(request.url ?? '');
    response.end('{}');
  });
  for (const address of [here, 'https://localhost/x', 'http://[::1]/x', 'http://a.localhost', 'http://127.1.2.3/', 'http://elsewhere.example']) {
    expect(isSafe(new URL(address), 'https://server.example'), address).toBe(false);
    await expect(carefulFetch(fetch, 'https://server.example', new AbortController().signal)(address)).rejects.toThrow(/names the address/);
  }
  expect(isSafe(new URL(here), 'http://localhost:9')).toBe(true);
  expect(isSafe(new URL('https://login.example'), 'http://localhost:9')).toBe(true);
  expect(isSafe(new URL('file:///etc/passwd'), 'http://localhost:9')).toBe(false);
  expect(asked).toEqual([]);
});

it('what is looked up may be sent on, what is handed over never is', async () => {
  const asked: string[] = [];
  const other = await listen((request, response) => {
    asked.push(`${request.method ?? ''} ${request.url ?? ''}`);
    response.end('{"a":1}');
  });
  const first = await listen((request, response) => { response.writeHead(307, { location: request.url === '/bad' ? 'http://elsewhere.example/x' : `${other}/there` }).end(); });
  const careful = carefulFetch(fetch, first, new AbortController().signal);
  expect(await (await careful(`${first}/metadata`)).json()).toEqual({ a: 1 });
  await expect(careful(`${first}/token`, { method: 'POST', body: 'refresh_token=secret' })).rejects.toThrow('nothing was sent there');
  await expect(careful(`${first}/bad`)).rejects.toThrow('which is not https');
  expect(asked).toEqual(['GET /there']);
});
