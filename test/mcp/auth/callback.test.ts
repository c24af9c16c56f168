import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { openCallback } from '#mcp/auth/callback.ts';

const open = (state = 'right') => openCallback({ state, limitMs: 60_000, signal: new AbortController().signal });

it('a connection that says nothing keeps no program alive once the answer is there', async () => {
  const callback = await open();
  const socket = connect(Number(new URL(callback.address).port), '127.0.0.1');
  const gone = new Promise<void>((resolve) => { socket.once('close', () => { resolve(); }); });
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => { socket.once('connect', () => { resolve(); }); });
  socket.write('GET /callback HTTP/1.1\r\nHost: 127');
  const page = fetch(`${callback.address}?state=right&code=c`);
  const answer = await callback.answer;
  answer.finish('Signed in', 'You can close this window.');
  expect((await page).status).toBe(200);
  callback.close();
  await gone;
});

it('no page of elsewhere, no other way and no second answer is taken', async () => {
  const callback = await open();
  const { port } = new URL(callback.address);
  const status = async (path: string, init?: RequestInit): Promise<number> => (await fetch(`http://127.0.0.1:${port}${path}`, init)).status;
  const raw = (host: string): Promise<string> => new Promise((resolve) => {
    const socket = connect(Number(port), '127.0.0.1', () => { socket.end(`GET /callback?state=right&code=evil HTTP/1.1\r\nHost: ${host}\r\n\r\n`); });
    let text = '';
    socket.on('data', (chunk: Buffer) => { text += chunk.toString(); }).on('close', () => { resolve(text.split('\r\n')[0] ?? ''); });
  });
  for (const host of [`evil.example:${port}`, '127.0.0.1', `127.0.0.1.evil.example:${port}`, '']) expect(await raw(host), host).not.toContain('200');
  expect(await status('/callback?state=right&code=c', { method: 'POST' })).toBe(404);
  expect(await status('/other?state=right&code=c')).toBe(404);
  expect(await status('/callback?state=wrong&code=c')).toBe(400);
  expect(await status('/callback?code=c')).toBe(400);
  const page = fetch(`${callback.address}?state=right&code=good`);
  expect((await callback.answer).code).toBe('good');
  expect(callback.take(`${callback.address}?state=right&code=second`)).toBe('There was an answer already.');
  (await callback.answer).finish('Signed in', '<b>&"');
  expect(await (await page).text()).toContain('&#60;b&#62;&#38;&#34;');
  callback.close();
});
