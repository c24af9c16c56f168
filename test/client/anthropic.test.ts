import { connect, createServer as createTcp, type AddressInfo, type Socket } from 'node:net';
import { createServer as createHttp, request as requestHttp } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ContentBlock, MessageParam, ToolDefinition } from '#domain/content.ts';
import { INVALID_JSON } from '#client/assemble.ts';
import { createClient } from '#client/anthropic.ts';
import { prefixFaults } from '../support/messages-server/history.ts';
import { call, failWith, say, type ScriptedReply, think } from '../support/messages-server/reply.ts';
import { type MessagesServer, type ServerOptions, startServer } from '../support/messages-server/server.ts';
import { invalid, obj, type Obj } from '../support/messages-server/shape.ts';
import { CERTIFICATE, KEY } from './certificate.ts';
import { ask, clientFor, drain, messageOf, NO_MARKS, OPUS, READ, requestOf, run, SYSTEM } from './harness.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => { for (const close of closers.splice(0)) await close(); });

async function start(options: ServerOptions = {}): Promise<MessagesServer> {
  const server = await startServer(options);
  closers.push(() => server.close());
  return server;
}

const picture: ContentBlock = { type: 'image', source: { type: 'base64', media_type: 'image/gif', data: Buffer.from('GIF89a\u0001\u0000\u0001\u0000').toString('base64') } };
const pdf: ContentBlock = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: Buffer.from('%PDF-1.7').toString('base64') } };
const result = (id: string, text = 'done'): MessageParam => ({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text }] }] });

test('sends what the model takes: thinking, effort, tools, media, marks and a sane limit; and a strict server takes it', async () => {
  const { url, requests } = await start({ script: [say('fine')] });
  const request = requestOf([{ role: 'user', content: [picture, pdf, { type: 'text', text: 'what is this?' }] }], { effort: 'high' });
  const { reply } = await run(clientFor(url), request, undefined, { system: '5m' as const, blocks: [{ message: 0, block: 2 }] });
  expect(reply).toMatchObject({ kind: 'message', stop: 'end_turn', model: OPUS.id, content: [{ type: 'text', text: 'fine' }] });
  expect(requests[0]?.body).toEqual({
    model: OPUS.id, max_tokens: 32_000, stream: true, tools: [READ],
    system: [{ ...SYSTEM, cache_control: { type: 'ephemeral' } }],
    messages: [{ role: 'user', content: [picture, pdf, { type: 'text', text: 'what is this?', cache_control: { type: 'ephemeral' } }] }],
    thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'high' },
  });
});

test('without an effort the model\'s own is sent; the upper efforts get more room; a model\'s limit is kept', async () => {
  const { url, requests } = await start({ script: () => say('ok') });
  await run(clientFor(url));
  await run(clientFor(url), requestOf([ask('x')], { effort: 'max' }));
  await run(clientFor(url, { facts: (id) => ({ ...OPUS, id, maxOutput: 9_000 }) }), requestOf([ask('x')], { effort: 'max' }));
  await run(clientFor(url, { maxTokens: 777 }));
  expect(requests.map(({ body }) => [obj(body['output_config'])['effort'], body['max_tokens']])).toEqual([['medium', 32_000], ['max', 64_000], ['max', 9_000], ['medium', 777]]);
});

test('a model of another kind gets no effort, and a budget for its thinking where a round allows it', async () => {
  const { url, requests } = await start({ script: () => say('ok') });
  const client = clientFor(url, { facts: () => ({ ...OPUS, id: 'claude-haiku-4-5', efforts: [], thinking: 'budget', maxOutput: 64_000 }) });
  const called: MessageParam = { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'read', input: {} }] };
  await run(client, requestOf([ask('x')], { effort: 'high' }));
  await run(client, requestOf([ask('x'), called, result('t1')]));
  await run(clientFor(url, { facts: (id) => ({ ...OPUS, id, thinking: 'none', efforts: [] }) }), requestOf([ask('x')], { system: [], tools: [] }));
  expect(requests.map(({ body }) => body['thinking'])).toEqual([{ type: 'enabled', budget_tokens: 8_000 }, undefined, undefined]);
  expect(requests.every(({ body }) => !('output_config' in body))).toBe(true);
  expect(Object.keys(requests[2]?.body ?? {}).sort()).toEqual(['max_tokens', 'messages', 'model', 'stream']);
});

test('keeps thinking, calls and text verbatim, so that the next request is bound to them and read from cache', async () => {
  const replies: ScriptedReply[] = [{ content: [think('look first'), { type: 'text', text: 'Reading.' }, call('read', { path: 'ä.ts', lines: [1, 2] })] }, say('done')];
  const { url, requests } = await start({ script: replies });
  const long = ask('word '.repeat(2_000));
  const client = clientFor(url);
  const first = messageOf(await run(client, requestOf([long]), undefined, { system: '5m' as const, blocks: [{ message: 0, block: 0 }] }));
  expect(first).toMatchObject({ stop: 'tool_use', content: [{ type: 'thinking', thinking: 'look first' }, { type: 'text', text: 'Reading.' }, { type: 'tool_use', name: 'read', input: { path: 'ä.ts', lines: [1, 2] } }] });
  const id = first.content[2]?.type === 'tool_use' ? first.content[2].id : '';
  const next = requestOf([long, { role: 'assistant', content: [...first.content] }, result(id)]);
  const second = messageOf(await run(client, next, undefined, { system: '5m' as const, blocks: [{ message: 2, block: 0 }] }));
  expect(second.stop).toBe('end_turn');
  expect(prefixFaults(requests[0]?.body ?? {}, requests[1]?.body ?? {})).toEqual([]);
  expect(first.usage).toMatchObject({ cacheRead: 0, input: 0 });
  expect(second.usage.cacheRead).toBe(first.usage.cacheWrite);
  expect(second.usage.output).toBeGreaterThan(1);
});

test('shows text, thinking and the growth of a call as they come', async () => {
  const { url } = await start({ script: [{ content: [think('hmm, well'), { type: 'text', text: 'Hello world' }, call('read', { path: 'abc' })], piece: 4 }] });
  const { deltas, seen } = await run(clientFor(url));
  expect(seen).toBe('Hello world');
  expect(deltas.filter(({ type }) => type === 'thinking').map((delta) => (delta.type === 'thinking' ? delta.text : '')).join('')).toBe('hmm, well');
  const calls = deltas.filter((delta) => delta.type === 'call');
  expect(calls[0]).toEqual({ type: 'call', tool: 'read', chars: 0 });
  expect(calls.at(-1)).toEqual({ type: 'call', tool: 'read', chars: 14 });
});

test('asks for the notes between calls by a beta when told so, and for summaries once a server refuses it', async () => {
  const { url, requests } = await start({ script: () => say('ok'), refuse: ({ headers }) => (String(headers['anthropic-beta']).includes('updates') ? invalid('Unexpected value(s) `thinking-display-updates-2026-08-18` for the `anthropic-beta` header.') : undefined) });
  const client = clientFor(url, { display: 'updates' });
  const { reply, faults } = await run(client);
  expect(reply.kind).toBe('message');
  expect(faults[0]).toContain('does not take the beta thinking-display-updates');
  await run(client);
  expect(requests.map(({ body, headers }) => [obj(body['thinking'])['display'], headers['anthropic-beta']])).toEqual([
    ['updates', 'thinking-display-updates-2026-08-18'], ['summarized', undefined], ['summarized', undefined],
  ]);
});

test('key in both headers, token in its own, own headers on top; nothing of the environment gets in', async () => {
  const { url, requests } = await start({ script: () => say('ok') });
  for (const [name, value] of Object.entries({ ANTHROPIC_API_KEY: 'env-key', ANTHROPIC_AUTH_TOKEN: 'env-token', ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', ANTHROPIC_CUSTOM_HEADERS: 'x-env: 1\nauthorization: env', ANTHROPIC_LOG: 'debug' })) vi.stubEnv(name, value);
  try {
    await run(clientFor(url));
    await run(createClient({ baseURL: url, authToken: ' tok ', facts: () => OPUS }));
    await run(createClient({ baseURL: url, apiKey: 'key', authToken: 'tok', facts: () => OPUS, headers: { 'X-Team': 'a', Authorization: 'Basic x' }, betas: ['compact-2026-01-12'] }));
  } finally {
    vi.unstubAllEnvs();
  }
  const seen = requests.map(({ headers }) => [headers['x-api-key'], headers['authorization'], headers['x-team'], headers['anthropic-beta'], headers['anthropic-version'], headers['x-env']]);
  expect(seen).toEqual([
    ['test-key', 'Bearer test-key', undefined, undefined, '2026-10-21', undefined],
    [undefined, 'Bearer tok', undefined, undefined, '2026-10-21', undefined],
    ['key', 'Basic x', 'a', 'compact-2026-01-12', '2026-10-21', undefined],
  ]);
});

test('says nothing on the console, not even about models that are going', async () => {
  const spies = (['log', 'warn', 'error', 'info', 'debug'] as const).map((name) => vi.spyOn(console, name).mockImplementation(() => undefined));
  try {
    const { url } = await start({ strict: false, script: [say('ok'), failWith(500, 'api_error', 'x'), say('ok'), { wire: [{ status: 200 }, { send: 'event: message_start\ndata: {bad\n\n' }, { close: 'fin' }] }, say('ok')] });
    const client = clientFor(url);
    await run(client, requestOf([ask('x')], { model: 'claude-sonnet-4-5' }));
    await run(client);
    await run(client);
    for (const spy of spies) expect(spy).not.toHaveBeenCalled();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
});

test.each([['/'], ['/v1'], ['/v1/'], ['']])('a base URL ending in "%s" is understood', async (end) => {
  const { url, all } = await start({ script: [say('ok')] });
  expect((await run(clientFor(url + end))).reply.kind).toBe('message');
  expect(all[0]?.path).toBe('/v1/messages');
});

test('a path in the base URL is kept', async () => {
  const { url, all } = await start({ strict: false, script: [] });
  expect((await run(clientFor(`${url}/proxy`))).reply).toMatchObject({ kind: 'failed', why: 'notFound' });
  expect(all[0]?.path).toBe('/proxy/v1/messages');
});

test('a base URL that is none, and a key that no header can hold, are one clear line', async () => {
  expect((await run(clientFor('nonsense'))).reply).toMatchObject({ kind: 'failed', why: 'invalid', message: expect.stringContaining('"nonsense" is no http(s) address') });
  expect((await run(clientFor('http://127.0.0.1:9', { apiKey: 'bad\nkey' }))).reply).toMatchObject({ kind: 'failed', why: 'auth', message: expect.stringContaining('character that no header can') });
});

test.each([
  [failWith(401, 'authentication_error', 'invalid x-api-key'), 'auth', /refused.*401.*\/login.*req_/],
  [failWith(402, 'billing_error', 'no credit'), 'limit', /402.*no credit.*billing/i],
  [failWith(403, 'permission_error', 'not for you'), 'permission', /403.*not for you/],
  [failWith(404, 'not_found_error', 'model: x'), 'notFound', /does not know claude-opus-5-5.*\/model/],
  [failWith(413, 'request_too_large', 'too big'), 'tooLong', /413.*\/compact/],
  [failWith(429, 'rate_limit_error', 'spent', {}, { error_code: 'enforced_spend_limit_reached' }), 'limit', /spend limit/],
  [failWith(400, 'invalid_request_error', 'input length and `max_tokens` exceed context limit: 198000 + 21333 > 200000'), 'tooLong', /longer than the model takes/],
  [failWith(400, 'invalid_request_error', "This model's maximum context length is 8192 tokens"), 'tooLong', /longer/],
  [failWith(400, 'invalid_request_error', 'something else'), 'invalid', /400.*something else.*req_/],
  [failWith(429, 'rate_limit_error', 'slow down', { 'retry-after': '86400' }), 'limit', /asks to wait 24 h/],
  [failWith(503, 'api_error', 'x', { 'x-should-retry': 'false' }), 'server', /503/],
])('%j is not sent again', async (step, why, words) => {
  const { url, requests } = await start({ script: [step, say('never')] });
  const { reply, waits } = await run(clientFor(url));
  expect(reply).toMatchObject({ kind: 'failed', why });
  expect(reply.kind === 'failed' ? reply.message : '').toMatch(words);
  expect(waits).toEqual([]);
  expect(requests.length).toBe(1);
});

test('an HTML page behind a status becomes one short line', async () => {
  const page = `<html><head><title>502</title></head><body>${'<p>Bad gateway</p>'.repeat(200)}</body></html>`;
  const { url } = await start({ script: () => ({ wire: [{ status: 403, headers: { 'content-type': 'text/html' }, body: page }] }) });
  const { reply } = await run(clientFor(url));
  expect(reply).toMatchObject({ kind: 'failed', why: 'permission' });
  expect(reply.kind === 'failed' && reply.message.length).toBeLessThan(600);
  expect(JSON.stringify(reply)).not.toMatch(/<p>|\\n/);
});

test('a picture over the limit is named by its place in the request', async () => {
  const details = { error_code: 'image_dimensions_too_large', max_side_length_pixels: 2_000, paths: ['messages.2.content.0.content.1'] };
  const { url } = await start({ script: [failWith(400, 'invalid_request_error', 'too large', {}, details), failWith(400, 'invalid_request_error', 'messages.4.content.3.document.source.base64.data: The PDF specified was not valid.')] });
  const client = clientFor(url);
  expect((await run(client)).reply).toMatchObject({ kind: 'failed', why: 'image', at: { message: 2, block: 0 } });
  expect((await run(client)).reply).toMatchObject({ kind: 'failed', why: 'image', at: { message: 4, block: 3 } });
});

test('waits as the server says, shows the wait, and sends the same again', async () => {
  const soon = new Date(Date.now() - 5_000).toUTCString();
  const { url, requests } = await start({ script: [failWith(429, 'rate_limit_error', 'x', { 'retry-after': '0.05' }), failWith(529, 'overloaded_error', 'x', { 'retry-after': soon }), failWith(500, 'api_error', 'x', { 'retry-after': '-5' }), say('at last')] });
  const { reply, waits } = await run(clientFor(url));
  expect(reply.kind).toBe('message');
  expect(waits.map(({ attempt, reason }) => [attempt, reason])).toEqual([[1, 'rate limit (429)'], [2, 'overloaded (529)'], [3, 'server trouble (500)']]);
  expect(waits[0]?.ms).toBe(50);
  expect(waits.every(({ ms }) => ms >= 0 && ms <= 50)).toBe(true);
  expect(new Set(requests.map(({ raw }) => raw)).size).toBe(1);
});

test('gives up after its tries and says what was wrong', async () => {
  const { url, requests } = await start({ script: () => failWith(529, 'overloaded_error', 'Overloaded') });
  const { reply } = await run(clientFor(url));
  expect(reply).toMatchObject({ kind: 'failed', why: 'overloaded', message: expect.stringMatching(/overloaded.*Gave up after 4 attempts/) });
  expect(requests.length).toBe(4);
});

test('a model that stays overloaded is replaced by the fall-back, visibly', async () => {
  const { url, requests } = await start({ script: ({ body }) => (body['model'] === OPUS.id ? failWith(529, 'overloaded_error', 'Overloaded') : say('from the other')) });
  const { reply, faults } = await run(clientFor(url, { fallbackModels: ['claude-sonnet-5-5'] }));
  expect(reply).toMatchObject({ kind: 'message', model: 'claude-sonnet-5-5' });
  expect(faults).toEqual(['claude-opus-5-5 is overloaded; claude-sonnet-5-5 answers instead']);
  expect(requests.map(({ body }) => body['model'])).toEqual([OPUS.id, OPUS.id, OPUS.id, 'claude-sonnet-5-5']);
});

test('the fall-backs are asked in their order, each once', async () => {
  const { url, requests } = await start({ script: ({ body }) => (body['model'] === 'claude-haiku-5-5' ? say('from the last') : failWith(529, 'overloaded_error', 'Overloaded')) });
  const { reply, faults } = await run(clientFor(url, { fallbackModels: ['claude-sonnet-5-5', OPUS.id, 'claude-haiku-5-5'] }));
  expect(reply).toMatchObject({ kind: 'message', model: 'claude-haiku-5-5' });
  expect(faults).toEqual(['claude-opus-5-5 is overloaded; claude-sonnet-5-5 answers instead', 'claude-sonnet-5-5 is overloaded; claude-haiku-5-5 answers instead']);
  expect([...new Set(requests.map(({ body }) => body['model']))]).toEqual([OPUS.id, 'claude-sonnet-5-5', 'claude-haiku-5-5']);
});

test.each([
  ['output_config: Extra inputs are not permitted', 'output_config', (body: Obj) => 'output_config' in body],
  ['thinking.adaptive.display: Extra inputs are not permitted', 'thinking.display', (body: Obj) => 'display' in obj(body['thinking'])],
  ['adaptive thinking is not supported on this model', 'thinking', (body: Obj) => 'thinking' in body],
  ['messages.0.content.0.cache_control: Extra inputs are not permitted', 'cache_control', (body: Obj) => JSON.stringify(body).includes('cache_control')],
  ['messages.0.content.0.cache_control.ephemeral.ttl: Extra inputs are not permitted', 'cache_control.ttl', (body: Obj) => JSON.stringify(body).includes('"ttl"')],
  ['tools.0.custom.strict: Extra inputs are not permitted', 'tools.strict', (body: Obj) => JSON.stringify(body['tools']).includes('strict')],
  ['max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens', 'max_tokens:8192', (body: Obj) => Number(body['max_tokens']) > 8_192],
])('what a server refuses ("%s") is left out once and for all', async (words, quirk, offends) => {
  const { url, requests } = await start({ strict: false, script: () => say('ok'), refuse: ({ body }) => (offends(body) ? invalid(words) : undefined) });
  const kept = new Map<string, readonly string[]>();
  const store = { get: (key: string) => kept.get(key), set: (key: string, quirks: readonly string[]) => { kept.set(key, quirks); } };
  const request = requestOf([ask('x')], { tools: [{ ...READ, strict: true }] });
  const marks = { system: '1h' as const, blocks: [{ message: 0, block: 0 }], hourUpTo: { message: 0, block: 0 } };
  const client = clientFor(url, { quirks: store });
  const first = await run(client, request, undefined, marks);
  expect(first.reply.kind).toBe('message');
  expect(first.faults.length).toBe(1);
  expect(first.waits).toEqual([]);
  expect([...kept.values()]).toEqual([[quirk]]);
  expect([...kept.keys()]).toEqual([`${url} ${OPUS.id}`]);
  expect((await run(client, request, undefined, marks)).faults).toEqual([]);
  // Another run of the program knows it from the store.
  expect((await run(clientFor(url, { quirks: store }), request, undefined, marks)).faults).toEqual([]);
  expect(requests.length).toBe(4);
});

test('a system message is put into the user message where a server knows no such role', async () => {
  const { url, requests } = await start({ script: () => say('ok') });
  const request = requestOf([ask('x'), { role: 'system', content: 'Plan mode is on.' }], { model: 'claude-sonnet-5' });
  const { reply } = await run(clientFor(url), request);
  expect(reply.kind).toBe('message');
  expect(requests[1]?.body['messages']).toEqual([{ role: 'user', content: [{ type: 'text', text: 'x' }, { type: 'text', text: '<system>\nPlan mode is on.\n</system>' }] }]);
});

describe('tools on demand', () => {
  const LATER: ToolDefinition = { ...READ, name: 'later', defer_loading: true };
  const loaded: readonly MessageParam[] = [
    ask('x'), { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'read', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'tool_reference', tool_name: 'later' }] }] },
  ];
  test('go out as they are to a server that knows them', async () => {
    const { url, requests } = await start({ script: () => say('ok') });
    expect((await run(clientFor(url), requestOf(loaded, { tools: [READ, LATER] }))).faults).toEqual([]);
    expect(requests[0]?.body['tools']).toEqual([READ, LATER]);
  });
  test.each([
    ['tools.1.custom.defer_loading: Extra inputs are not permitted', 'defer_loading'],
    ["messages.2.content.0.tool_result.content.0: Input tag 'tool_reference' found using 'type' does not match any of the expected tags: 'text', 'image'", 'tool_reference'],
    ['TemplateError: Unexpected item type in content', 'tool_reference'],
    ['tool_reference blocks are not supported on this model', 'tool_reference'],
  ])('are plain ones for a server that says "%s", and that is told once', async (words, offence) => {
    const { url, requests } = await start({ script: () => say('ok'), refuse: ({ raw }) => (raw.includes(offence) ? invalid(words) : undefined) });
    const client = clientFor(url);
    const first = await run(client, requestOf(loaded, { tools: [READ, LATER] }));
    expect(first.reply.kind).toBe('message');
    expect(first.faults).toEqual([expect.stringMatching(/knows no tools that are loaded on demand.*cache begin anew/)]);
    expect(requests.at(-1)?.body['tools']).toEqual([READ, { ...READ, name: 'later' }]);
    expect(JSON.stringify(requests.at(-1)?.body['messages'])).toContain('later is loaded.');
    expect((await run(client, requestOf(loaded, { tools: [READ, LATER] }))).faults).toEqual([]);
    expect(requests.length).toBe(3);
  });
});

test('a server that refuses whatever is left out is not asked for ever', async () => {
  const { url, requests } = await start({ refuse: () => invalid('output_config: Extra inputs are not permitted') });
  expect((await run(clientFor(url))).reply).toMatchObject({ kind: 'failed', why: 'invalid' });
  expect(requests.length).toBe(2);
});

test('a store that throws costs its memory only', async () => {
  const { url } = await start({ strict: false, script: () => say('ok'), refuse: ({ body }) => ('output_config' in body ? invalid('output_config: Extra inputs are not permitted') : undefined) });
  const quirks = { get: () => { throw new Error('disk'); }, set: () => { throw new Error('disk'); } };
  expect((await run(clientFor(url, { quirks }))).reply.kind).toBe('message');
});

test('a call whose JSON cannot be read reaches its tool as such', async () => {
  const { url } = await start({ script: [{ content: [{ type: 'tool_use', name: 'read', input: {}, json: '{"path": "src/' }, { type: 'tool_use', name: 'read', input: {}, json: '[1]' }, { type: 'tool_use', name: 'read', input: {}, json: '' }] }] });
  const { content } = messageOf(await run(clientFor(url)));
  expect(content.map((block) => (block.type === 'tool_use' ? block.input : undefined))).toEqual([{ [INVALID_JSON]: '{"path": "src/' }, { [INVALID_JSON]: '[1]' }, {}]);
});

test('a refusal keeps nothing, takes back what was seen, and says why', async () => {
  const { url } = await start({ script: [{ content: [{ type: 'text', text: 'Well, ' }], stop: 'refusal', stopDetails: { category: 'cyber', explanation: 'not this' } }] });
  const { reply, deltas, seen } = await run(clientFor(url));
  expect(reply).toMatchObject({ kind: 'message', stop: 'refusal', content: [], detail: 'cyber: not this' });
  expect(deltas.at(-1)).toEqual({ type: 'discarded' });
  expect(seen).toBe('');
});

test('an id that the conversation knows already is given another', async () => {
  const { url } = await start({ script: [{ content: [call('read', { n: 1 }, 'call_0')] }] });
  const before: MessageParam[] = [ask('x'), { role: 'assistant', content: [{ type: 'tool_use', id: 'call_0', name: 'read', input: {} }] }, result('call_0')];
  const { content } = messageOf(await run(clientFor(url), requestOf(before)));
  expect(content).toMatchObject([{ type: 'tool_use', id: 'call_0_2', input: { n: 1 } }]);
});

test('lone surrogates in a request are repaired before they are sent', async () => {
  const { url, requests } = await start({ script: [say('ok')] });
  const { reply } = await run(clientFor(url), requestOf([ask('a\ud83d')]));
  expect(reply.kind).toBe('message');
  expect(requests[0]?.raw).toContain('a\ufffd');
});

const hanging = { wire: [{ delay_ms: 3_600_000 }] };
const begun = (words: string): string => [
  { type: 'message_start', message: { id: 'm', usage: { input_tokens: 7, output_tokens: 1 } } }, { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: words } },
].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

test('an abort ends it at once, wherever it is, and keeps the text', async () => {
  const steps = { silent: hanging, begun: { wire: [{ status: 200 }, { send: begun('so far') }, { delay_ms: 3_600_000 }] }, busy: failWith(429, 'rate_limit_error', 'x', { 'retry-after': '4' }) };
  const { url } = await start({ script: ({ raw }) => (raw.includes('begun') ? steps.begun : raw.includes('busy') ? steps.busy : steps.silent) });
  const client = clientFor(url);
  const before = new AbortController();
  setTimeout(() => { before.abort(); }, 30);
  expect((await run(client, undefined, before.signal)).reply).toMatchObject({ kind: 'interrupted', content: [] });
  const during = new AbortController();
  const { reply } = await drain(client.stream(requestOf([ask('begun')]), NO_MARKS, during.signal), () => { during.abort(); });
  expect(reply).toMatchObject({ kind: 'interrupted', content: [{ type: 'text', text: 'so far' }], usage: { input: 7 }, model: OPUS.id });
  const waiting = new AbortController();
  const waited = await drain(client.stream(requestOf([ask('busy')]), NO_MARKS, waiting.signal), (delta) => { if (delta.type === 'waiting') setTimeout(() => { waiting.abort(); }, 10); });
  expect(waited.reply.kind).toBe('interrupted');
  expect(waited.waits[0]?.ms).toBe(4_000);
  const already = AbortSignal.abort();
  expect((await run(client, undefined, already)).reply.kind).toBe('interrupted');
});

test('an abort is obeyed also when the given fetch does not listen', async () => {
  const deaf: typeof fetch = () => new Promise(() => undefined);
  const controller = new AbortController();
  setTimeout(() => { controller.abort(); }, 20);
  expect((await run(clientFor('http://model.invalid', { fetch: deaf }), undefined, controller.signal)).reply.kind).toBe('interrupted');
});

test('a signal that lives for a whole session gathers no listeners', async () => {
  const { url } = await start({ script: () => say('ok') });
  const { signal } = new AbortController();
  const added = vi.spyOn(signal, 'addEventListener');
  const removed = vi.spyOn(signal, 'removeEventListener');
  for (let n = 0; n < 3; n += 1) await run(clientFor(url), undefined, signal);
  expect(removed.mock.calls.length).toBe(added.mock.calls.length);
});

test('who stops reading ends the request', async () => {
  let gone: () => void = () => undefined;
  const left = new Promise<void>((done) => { gone = done; });
  const server = createHttp((request, response) => {
    request.resume();
    response.on('close', gone);
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(begun('so far'));
  });
  await new Promise<void>((done) => { server.listen(0, '127.0.0.1', done); });
  closers.push(() => new Promise((done) => { server.close(done); server.closeAllConnections(); }));
  const stream = clientFor(`http://127.0.0.1:${(server.address() as AddressInfo).port}`).stream(requestOf([ask('x')]), NO_MARKS, new AbortController().signal);
  expect((await stream.next()).value).toEqual({ type: 'text', text: 'so far' });
  await stream.return({ kind: 'interrupted', content: [], usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 }, model: '' });
  await left;
});

test('pings keep a thinking model alive as long as something new comes in time', async () => {
  const ping = 'event: ping\ndata: {"type":"ping"}\n\n';
  const slow = Array.from({ length: 8 }, () => [{ delay_ms: 60 }, { send: ping }]).flat();
  const end = ['{"type":"content_block_stop","index":0}', '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}', '{"type":"message_stop"}'].map((data) => `event: ${(JSON.parse(data) as { type: string }).type}\ndata: ${data}\n\n`).join('');
  const { url, requests } = await start({ script: [{ wire: [{ status: 200 }, { send: begun('hi') }, ...slow, { send: end }] }] });
  const { reply } = await run(clientFor(url, { deadlines: { idleMs: 350 } }));
  expect(reply).toMatchObject({ kind: 'message', content: [{ type: 'text', text: 'hi' }], usage: { output: 3 } });
  expect(requests.length).toBe(1);
});

test('an attempt that goes on for ever is ended by the last deadline', async () => {
  const more = 'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"."}}\n\n';
  const { url } = await start({ script: (_, index) => (index === 0 ? { wire: [{ status: 200 }, { send: begun('a') }, { repeat: { send: more }, every_ms: 5 }] } : say('short')) });
  const { reply, waits, seen } = await run(clientFor(url, { deadlines: { totalMs: 400 } }));
  expect(reply.kind).toBe('message');
  expect(waits[0]?.reason).toContain('the reply did not end within 400 ms');
  expect(seen).toBe('short');
});

const endOfTurn = 'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n';

test('frames without an event line are read by their data', async () => {
  const { url } = await start({ script: [{ wire: [{ status: 200 }, { send: (begun('hi') + endOfTurn).replaceAll(/^event: .*\n/gm, '') }] }] });
  expect(messageOf(await run(clientFor(url))).content).toEqual([{ type: 'text', text: 'hi' }]);
});

test('facts of the Models API lie over those that were known', async () => {
  const { url } = await start({ modelInfo: (id) => ({ type: 'model', id, display_name: 'New one', max_input_tokens: 500_000, max_tokens: null, capabilities: { image_input: { supported: false }, effort: { supported: true, low: { supported: true }, xhigh: null }, thinking: { supported: true, types: { adaptive: { supported: false }, enabled: { supported: true } } } } }) });
  expect(await clientFor(url).fetchFacts({ ...OPUS, known: false })).toEqual({ ...withoutEffort(), label: 'New one', window: 500_000, images: false, efforts: ['low'], thinking: 'budget', known: true });
});

function withoutEffort(): object {
  const { defaultEffort: _, ...rest } = OPUS;
  return rest;
}

test('warming up asks nothing of the server and throws nothing', async () => {
  const { url, all } = await start();
  await clientFor(url).warm();
  await clientFor('nonsense').warm();
  expect(all).toEqual([]);
});

test('an error of an unknown kind in the stream is tried again; a fault of the request is not', async () => {
  const broken = (type: string): { wire: { status?: number; send?: string }[] } => ({ wire: [{ status: 200 }, { send: `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type, message: 'x' } })}\n\n` }] });
  const { url } = await start({ script: [broken('brand_new_error'), say('ok'), broken('invalid_request_error')] });
  const client = clientFor(url);
  expect((await run(client)).reply.kind).toBe('message');
  expect((await run(client)).reply).toMatchObject({ kind: 'failed', why: 'invalid' });
});

test('facts stay as they were when the Models API is silent, missing, or talks nonsense', async () => {
  const { url } = await start({ modelInfo: () => undefined });
  expect(await clientFor(url).fetchFacts(OPUS)).toBe(OPUS);
  expect(await clientFor('http://127.0.0.1:9').fetchFacts(OPUS)).toBe(OPUS);
  const nonsense = await start({ modelInfo: () => ({ hello: 1 }) });
  expect(await clientFor(nonsense.url).fetchFacts(OPUS)).toBe(OPUS);
  const deaf: typeof fetch = () => new Promise(() => undefined);
  expect(await clientFor('http://model.invalid', { fetch: deaf }).fetchFacts(OPUS, AbortSignal.timeout(20))).toBe(OPUS);
});

/** A proxy that tunnels every host to one port, and notes whom it was asked for. */
async function tunnel(port: number): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const proxy = createHttp((_, response) => { response.writeHead(500).end(); });
  proxy.on('connect', (request, socket: Socket) => {
    asked.push(request.url ?? '');
    const upstream = connect(port, '127.0.0.1', () => { socket.write('HTTP/1.1 200 OK\r\n\r\n'); upstream.pipe(socket).pipe(upstream); });
    for (const one of [socket, upstream]) { sockets.add(one); one.on('error', () => one.destroy()); }
  });
  await new Promise<void>((done) => { proxy.listen(0, '127.0.0.1', done); });
  closers.push(() => new Promise((done) => { for (const socket of sockets) socket.destroy(); proxy.close(done); proxy.closeAllConnections(); }));
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, asked };
}

test('goes through the proxy of the environment, except for hosts of NO_PROXY and of this machine', async () => {
  const { url } = await start({ script: () => say('ok') });
  const proxy = await tunnel(Number(new URL(url).port));
  expect((await run(clientFor('http://model.invalid', { env: { http_proxy: proxy.url } }))).reply.kind).toBe('message');
  expect(proxy.asked).toEqual(['model.invalid:80']);
  expect((await run(clientFor(url, { env: { HTTP_PROXY: proxy.url } }))).reply.kind).toBe('message');
  expect((await run(clientFor('http://model.invalid', { env: { HTTP_PROXY: proxy.url, NO_PROXY: 'model.invalid' }, retry: { tries: 0 } }))).reply).toMatchObject({ kind: 'failed', why: 'network' });
  expect(proxy.asked.length).toBe(1);
});

test('a proxy or certificate file that is no good is said in one line', async () => {
  expect((await run(clientFor('http://model.invalid', { env: { HTTPS_PROXY: 'no url' } }))).reply).toMatchObject({ kind: 'failed', why: 'invalid', message: expect.stringContaining('HTTPS_PROXY') });
  expect((await run(clientFor('http://model.invalid', { env: { NODE_EXTRA_CA_CERTS: '/nowhere/ca.pem' } }))).reply).toMatchObject({ kind: 'failed', message: expect.stringContaining('NODE_EXTRA_CA_CERTS cannot be read') });
});

test('a server with a certificate of its own is trusted when NODE_EXTRA_CA_CERTS names it, and refused in one line when not', async () => {
  const { url } = await start({ script: () => say('ok') });
  const server = createHttps({ key: KEY, cert: CERTIFICATE }, (request, response) => {
    const onward = requestHttp(url + (request.url ?? ''), { method: request.method, headers: request.headers }, (answer) => { response.writeHead(answer.statusCode ?? 500, answer.headers); answer.pipe(response); });
    request.pipe(onward);
  });
  await new Promise<void>((done) => { server.listen(0, '127.0.0.1', done); });
  closers.push(() => new Promise((done) => { server.close(done); server.closeAllConnections(); }));
  const folder = await mkdtemp(join(tmpdir(), 'pinion-client-'));
  closers.push(() => rm(folder, { recursive: true }));
  const file = join(folder, 'ca.pem');
  await writeFile(file, CERTIFICATE);
  const secure = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect((await run(clientFor(secure, { env: { NODE_EXTRA_CA_CERTS: file } }))).reply.kind).toBe('message');
  const { reply, waits } = await run(clientFor(secure));
  expect(reply).toMatchObject({ kind: 'failed', why: 'network', message: expect.stringContaining('NODE_EXTRA_CA_CERTS') });
  expect(waits).toEqual([]);
});

test('nobody listening, and a server that hangs up at once, are named', async () => {
  const tcp = createTcp((socket) => { socket.destroy(); });
  await new Promise<void>((done) => { tcp.listen(0, '127.0.0.1', done); });
  const { port } = tcp.address() as AddressInfo;
  expect((await run(clientFor(`http://127.0.0.1:${port}`))).reply).toMatchObject({ kind: 'failed', why: 'network', message: expect.stringContaining(`127.0.0.1:${port}`) });
  await new Promise((done) => { tcp.close(done); });
  expect((await run(clientFor(`http://127.0.0.1:${port}`))).reply).toMatchObject({ kind: 'failed', why: 'network', message: expect.stringContaining('nothing answers') });
});
