import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createSocketServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { say } from '../support/messages-server/reply.ts';
import { type Finished, type Product, product, serve } from '../support/product.ts';

const KEY = 'sk-ant-test';
const FEW = { PINION_MAX_RETRIES: '0', API_TIMEOUT_MS: '15000' };
const SOON = { API_TIMEOUT_MS: '700' };
const ONE_LINE = /^pinion: [^\n]+\n$/;
const STREAM = { 'content-type': 'text/event-stream' };

async function listen(server: ReturnType<typeof createServer> | ReturnType<typeof createSocketServer>): Promise<{ readonly url: string }> {
  await new Promise<void>((listening) => { server.listen(0, '127.0.0.1', listening); });
  onTestFinished(() => { server.close(); });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function answering(answer: RequestListener): Promise<{ readonly url: string }> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => { answer(request, response); });
  });
  onTestFinished(() => { server.closeAllConnections(); });
  return listen(server);
}

interface Measured extends Finished {
  /** The most memory that the process ever had, in MiB. */
  readonly peak: number;
}

async function measured({ start }: Product, env: Readonly<Record<string, string>> = {}, ...args: readonly string[]): Promise<Measured> {
  const running = start(['-p', 'Hello', ...args], { env: { ...FEW, ...env } });
  let peak = 0;
  const look = setInterval(() => {
    try {
      peak = Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${running.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024 || peak;
    } catch {
      clearInterval(look);
    }
  }, 20);
  const finished = await running.ended;
  clearInterval(look);
  return { ...finished, peak };
}

/** It fails with one line, without a control character and without the key, before long and without much memory. */
function expectOneLine({ code, stdout, stderr, peak }: Measured, words: RegExp, most = 400): void {
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(ONE_LINE);
  expect(stderr).toMatch(words);
  expect(stderr).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f]/);
  expect(stderr).not.toContain(KEY);
  expect(peak).toBeLessThan(most);
}

/** Writes the same bytes again and again, as fast as they are taken. */
function pour(to: ServerResponse | Socket, bytes: Buffer): void {
  const more = (): void => {
    while (!to.destroyed && to.write(bytes));
  };
  to.on('drain', more).on('error', () => undefined);
  more();
}

const event = (body: Readonly<Record<string, unknown>>): string => `event: ${String(body['type'])}\ndata: ${JSON.stringify(body)}\n\n`;
const START = event({ type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-opus-5-5', content: [], stop_reason: null, usage: { input_tokens: 1, output_tokens: 1 } } });
const BEGIN = `${START}${event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })}`;
const END = [{ type: 'content_block_stop', index: 0 }, { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }, { type: 'message_stop' }].map(event).join('');

describe('a server that', () => {
  it.each([302, 307])('sends requests on (%i) gets no key sent on', async (status) => {
    const elsewhere = await serve(() => say('Stolen.'));
    const server = await answering((_, response) => { response.writeHead(status, { location: `${elsewhere.url}/v1/messages` }).end(); });
    expectOneLine(await measured(product({}, server)), new RegExp(`sends requests on to ${new URL(elsewhere.url).host}.*base URL`));
    expect(elsewhere.all).toEqual([]);
  });

  it('has headers without end is left', async () => {
    const server = createSocketServer((socket) => {
      socket.on('error', () => undefined);
      socket.write('HTTP/1.1 200 OK\r\n');
      pour(socket, Buffer.from(`x-more: ${'y'.repeat(8000)}\r\n`));
      onTestFinished(() => { socket.destroy(); });
    });
    expectOneLine(await measured(product({}, await listen(server))), /127\.0\.0\.1/);
  });

  it.each([
    ['an event', 200, STREAM, `${BEGIN}data: `, /event without end/],
    ['an event in lines', 200, STREAM, BEGIN, /event without end|no new|stands still|line/],
    ['an error', 400, { 'content-type': 'application/json' }, '{"error":{"message":"', /127\.0\.0\.1/],
  ] as const)('sends %s without end is left', async (what, status, headers, begin, words) => {
    const server = await answering((_, response) => {
      response.writeHead(status, headers).write(begin);
      pour(response, what === 'an event in lines' ? Buffer.from('data: x\n'.repeat(8192)) : Buffer.alloc(65_536, 'x'));
    });
    expectOneLine(await measured(product({}, server)), words, 500);
  });

  it.each([
    ['is silent', '', /no byte came within|silent/],
    ['sends pings for ever', event({ type: 'ping' }), /stands still/],
  ])('%s is left after its time', async (_, words, line) => {
    const server = await answering((_request, response) => {
      response.writeHead(200, STREAM).write(BEGIN);
      const beat = setInterval(() => { response.write(words); }, 50);
      response.on('close', () => { clearInterval(beat); });
    });
    expectOneLine(await measured(product({}, server), SOON), line);
  });

  it('never answers is left after its time', async () => {
    expectOneLine(await measured(product({}, await answering(() => undefined)), SOON), /no answer within/);
  });

  it.each([
    ['a page instead of a stream', 200, { 'content-type': 'text/html' }, '<html><script>alert(1)</script>Sign in</html>', /answered with text\/html/],
    ['a page as an error', 502, { 'content-type': 'text/html' }, `<html><h1>Bad \u001b[31mGateway\u001b]0;owned\u0007</h1>${'<p>x</p>'.repeat(5000)}</html>`, /502/],
    ['controls in an error', 400, { 'content-type': 'application/json' }, JSON.stringify({ error: { type: 'invalid_request_error', message: 'a\u001b]52;c;aGk=\u0007b\u009b2Jc\u202ed\r\npinion: all is well' } }), /refused/],
    ['the key back', 401, { 'content-type': 'application/json' }, JSON.stringify({ error: { type: 'authentication_error', message: `bad key ${KEY} (Bearer ${KEY})` } }), /refused/],
  ] as const)('sends %s is one line', async (_, status, headers, body, words) => {
    const server = await answering((_request, response) => { response.writeHead(status, headers).end(body); });
    const place = product({}, server);
    expectOneLine(await measured(place), words);
    expect(place.logs().map((file) => readFileSync(file, 'utf8')).join('')).not.toContain(KEY);
  });

  it('sends ten megabytes in one delta, in small pieces, is listened to', async () => {
    const words = 'word '.repeat(2 * 1024 * 1024);
    const bytes = Buffer.from(`${BEGIN}${event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: words } })}${END}`);
    const server = await answering((_, response) => {
      response.writeHead(200, STREAM);
      for (let at = 0; at < bytes.length; at += 4096) response.write(bytes.subarray(at, at + 4096));
      response.end();
    });
    const { code, stdout, peak } = await measured(product({}, server));
    expect([code, stdout.trimEnd().length]).toEqual([0, words.length - 1]);
    expect(peak).toBeLessThan(800);
  });

  it('sends what is no UTF-8, or half of it, is shown with marks', async () => {
    const bytes = Buffer.concat([Buffer.from(`${BEGIN}event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a`), Buffer.from([0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80]), Buffer.from(`\\ud800b"}}\n\n${END}`)]);
    const server = await answering((_, response) => { response.writeHead(200, STREAM).end(bytes); });
    const { code, stdout } = await measured(product({}, server));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^a\ufffd+\(\ufffd+b\n$/);
  });

  it('nests a call deeper than any program can follow costs the call only', async () => {
    const deep = '['.repeat(200_000);
    const server = await answering((request, response) => {
      if (request.method !== 'POST') { response.writeHead(404).end(); return; }
      response.writeHead(200, STREAM).end(`${START}${event({ type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'toolu_1', name: 'Read', input: {} } })}${event({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: `{"file_path":${deep}${']'.repeat(200_000)}}` } })}${[{ type: 'content_block_stop', index: 0 }, { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: {} }, { type: 'message_stop' }].map(event).join('')}`);
    });
    const place = product({}, server);
    const { code, stderr } = await measured(place, {}, '--max-turns', '2');
    expect(code).toBe(1);
    expect(stderr).toMatch(ONE_LINE);
    expect(stderr).not.toMatch(/internal|RangeError|call stack/i);
  });
});

it('a base URL with a password in it is refused without being repeated', async () => {
  const { run } = product({});
  const { code, stderr } = await run(['-p', 'Hello'], { env: { ...FEW, ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: 'http://me:hunter2hunter2@127.0.0.1:9' } });
  expect(code).toBe(1);
  expect(stderr).toMatch(ONE_LINE);
  expect(stderr).not.toContain('hunter2');
});
