import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Entry, Event } from '#domain/entry.ts';
import type { CallId } from '#domain/tool.ts';
import { linesOf, parseInput } from '#headless/input.ts';
import { createLines, jsonLine } from '#headless/lines.ts';
import { hookMessage, messagesOf, messagesOfEvent, type Telling } from '#headless/messages.ts';

const telling: Telling = { parent: null, verbose: false, blobs: { get: () => undefined }, asked: () => false };
const entry = (body: object): Entry => ({ id: '000001', at: '', ...body }) as unknown as Entry;
const card = { title: 't', body: [] };

describe('a line of JSON', () => {
  it('holds nothing that a terminal or a strict reader stumbles over', () => {
    expect(jsonLine({ a: 'x\u001b[2J\u009b\u202e\u2028\u007f\n', b: 'é🌱' })).toBe(String.raw`{"a":"x\u001b[2J\u009b\u202e\u2028\u007f\n","b":"é🌱"}`);
    expect(jsonLine({ '\ud800k': ['\udc00', { c: 'a\ud83d' }, '\\ud800'] })).toBe(String.raw`{"` + '\ufffdk":["\ufffd",{"c":"a\ufffd"},"' + String.raw`\\ud800"]}`);
  });

  it('is written whole, and whoever writes waits for a slow reader', async () => {
    const taken: string[] = [];
    let go = (): void => undefined;
    const slow = new Writable({ highWaterMark: 10, write(chunk: Buffer, _encoding, done) { taken.push(chunk.toString()); go = done; } });
    const lines = createLines(slow);
    lines.write({ first: 'long enough' });
    let waited = false;
    const waiting = lines.taken().then(() => { waited = true; });
    await new Promise((resolve) => { setImmediate(resolve); });
    expect([taken, waited]).toEqual([['{"first":"long enough"}\n'], false]);
    go();
    await waiting;
    lines.write({ second: 'long enough' });
    const closed = lines.taken();
    lines.close();
    await closed;
    lines.write({ third: 1 });
    go();
    expect(taken.join('')).toBe('{"first":"long enough"}\n{"second":"long enough"}\n');
  });
});

describe('lines of input', () => {
  const read = async (chunks: readonly (string | Buffer)[], longest?: number) => {
    const input = new PassThrough();
    for (const chunk of chunks) input.write(chunk);
    input.end();
    const found: (readonly [number, string | undefined])[] = [];
    for await (const { number, line } of linesOf(input, longest)) found.push([number, line]);
    return found;
  };

  it('are cut at line ends, however they come, blank ones counted and left out', async () => {
    const bytes = Buffer.from('{"a":"🌱"}\r\n\n  \n{"b":1}');
    expect(await read([...bytes].map((byte) => Buffer.of(byte)))).toEqual([[1, '{"a":"🌱"}'], [4, '{"b":1}']]);
    expect(await read(['x\ny\nz\n'])).toEqual([[1, 'x'], [2, 'y'], [3, 'z']]);
    expect(await read([])).toEqual([]);
  });

  it('end at one that is too long', async () => {
    expect(await read(['ok\n', 'x'.repeat(50), 'x'.repeat(60), '\nnever\n'], 100)).toEqual([[1, 'ok'], [2, undefined]]);
  });

  it.each([
    ['{', 'no JSON'], ['7', 'no JSON object'], ['{}', 'no text'], ['{"type":"user"}', 'role "user"'], ['{"type":"user","message":{"role":"assistant","content":"x"}}', 'role "user"'],
    ['{"type":"user","message":{"role":"user","content":7}}', 'neither a text nor a list'], ['{"type":"user","message":{"role":"user","content":[7]}}', 'no object'],
    ['{"type":"user","message":{"role":"user","content":[{"type":"image"}]}}', 'no source'], ['{"type":"control_request","request":{"subtype":"x"}}', 'request_id'], ['{"type":"control_response","response":{}}', 'request_id'],
    [`{"type":"user","x":${'['.repeat(3000)}${']'.repeat(3000)}}`, 'too deeply'],
  ])('that say nothing are named: %s', (line, why) => {
    expect(parseInput(line)).toMatchObject({ kind: 'wrong', why: expect.stringContaining(why) as string });
  });

  it('are messages, requests, answers and what is passed over', () => {
    expect(parseInput('{"type":"user","uuid":"u","message":{"role":"user","content":"a\\ud800"}}')).toMatchObject({ kind: 'user', text: 'a\ufffd', uuid: 'u', query: true, files: [] });
    expect(parseInput('{"type":"user","message":{"role":"user","content":[{"type":"document","title":"n.md","source":{"type":"text","data":"x"}}]}}')).toMatchObject({ text: '', files: [{ name: 'n.md', bytes: Buffer.from('x') }] });
    expect(parseInput('{"type":"control_request","request_id":"1","request":{"subtype":"interrupt"}}')).toEqual({ kind: 'request', id: '1', request: { subtype: 'interrupt' } });
    expect(parseInput('{"type":"control_response","response":{"subtype":"error","request_id":"1","error":"no"}}')).toEqual({ kind: 'response', id: '1', response: undefined, error: 'no' });
    expect(parseInput('{"type":"keep_alive"}')).toEqual({ kind: 'nothing' });
  });
});

describe('messages', () => {
  it('are made of entries; a sub-agent has its own, and nothing of its bookkeeping', () => {
    const reply = entry({ type: 'assistant', content: [{ type: 'text', text: 'x' }], stop: 'interrupted', model: 'm', usage: { input: 1, output: 2, cacheRead: 3, cacheWrite: 9, cacheWrite1h: 4, searches: 2 } });
    const sub = { ...telling, parent: 'toolu_1' as CallId, agent: 'bob' };
    expect(messagesOf(reply, sub)).toEqual([{ type: 'assistant', parent_tool_use_id: 'toolu_1', message: {
      id: 'msg_pinion_000001', type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'x' }], stop_reason: null, stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 2, cache_read_input_tokens: 3, cache_creation_input_tokens: 9, cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 4 }, server_tool_use: { web_search_requests: 2 } },
    } }]);
    const notice = entry({ type: 'notice', text: 'n', level: 'warning' });
    expect(messagesOf(notice, telling)).toMatchObject([{ subtype: 'informational', content: 'n', level: 'warning' }]);
    expect(messagesOf(notice, sub)).toEqual([]);
    expect(messagesOf(entry({ type: 'assistant', content: [], stop: 'refusal', model: 'm', usage: {} }), telling)).toEqual([]);
    expect(messagesOf(entry({ type: 'prompt', text: 'x' }), telling)).toEqual([]);
  });

  it('tell of results with their pictures, and of refusals that nobody was asked about', () => {
    const result = (result: object) => entry({ type: 'toolResult', callId: 'c', tool: 'Bash', result: { card, ...result } });
    const media = { type: 'media', mime: 'image/png', name: 'a.png', blob: { hash: 'h', bytes: 1 } };
    const blobs = { get: () => new Uint8Array([104, 105]) };
    expect(messagesOf(result({ kind: 'ok', content: [{ type: 'text', text: 'x' }, media] }), { ...telling, blobs })).toMatchObject([
      { type: 'user', message: { content: [{ content: [{ type: 'text', text: 'x' }, { type: 'image', source: { media_type: 'image/png', data: 'aGk=' } }] }] } },
    ]);
    expect(messagesOf(result({ kind: 'ok', content: [media] }), telling)).toMatchObject([{ message: { content: [{ content: '[a.png: its contents are no longer stored]' }] } }]);
    expect(messagesOf(result({ kind: 'ok', content: [] }), telling)).toMatchObject([{ message: { content: [{ content: '(no output)' }] } }]);
    const refused = result({ kind: 'refused', content: [{ type: 'text', text: 'no' }] });
    expect(messagesOf(refused, telling).map(({ type, subtype }) => subtype ?? type)).toEqual(['permission_denied', 'user']);
    expect(messagesOf(refused, { ...telling, asked: (call) => call === 'c' }).map(({ type }) => type)).toEqual(['user']);
  });

  it('tell of tasks, waits and hooks', () => {
    const task = (more: object) => messagesOf(entry({ type: 'task', task: { id: 'shell-1', kind: 'shell', title: 'sleep', file: '/f', ...more } }), telling);
    expect(task({ state: 'running' })).toMatchObject([{ subtype: 'task_started', task_id: 'shell-1', task_type: 'local_bash' }]);
    expect(task({ state: 'lost' })).toMatchObject([{ subtype: 'task_notification', status: 'failed', output_file: '/f', summary: 'sleep' }]);
    const waiting: Exclude<Event, { type: 'entry' }> = { type: 'waiting', attempt: 2, reason: 'connection lost', ms: 12.4, most: 10, why: 'network' };
    expect(messagesOfEvent(waiting)).toEqual([{ type: 'system', subtype: 'api_retry', attempt: 2, max_retries: 10, retry_delay_ms: 12, error_status: null, error: 'server_error', message: 'connection lost' }]);
    expect(messagesOfEvent({ type: 'textDelta', text: 'x' })).toEqual([]);
    const session = { id: 's', log: [], append: () => { throw new Error('never'); } };
    const hook = { id: 'h', session, event: 'PreToolUse' as const, name: 'PreToolUse:Bash' };
    expect(hookMessage({ type: 'started', ...hook })).toEqual({ type: 'system', subtype: 'hook_started', hook_id: 'h', hook_name: 'PreToolUse:Bash', hook_event: 'PreToolUse' });
    expect(hookMessage({ type: 'response', ...hook, stdout: 'a', stderr: 'b', outcome: 'cancelled' })).toMatchObject({ subtype: 'hook_response', output: 'a\nb', outcome: 'cancelled' });
  });
});
