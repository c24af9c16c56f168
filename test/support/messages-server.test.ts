import { deflateSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { checkRequest, type CheckOptions } from './messages-server/check.ts';
import { historyFaults } from './messages-server/history.ts';
import { call, failWith, say, think } from './messages-server/reply.ts';
import { type MessagesServer, type ServerOptions, startServer } from './messages-server/server.ts';
import type { Obj } from './messages-server/shape.ts';

let server: MessagesServer | undefined;
afterEach(async () => { await server?.close(); server = undefined; });
const start = async (options: ServerOptions): Promise<MessagesServer> => (server = await startServer(options));

const text = (words: string, more: Obj = {}): Obj => ({ type: 'text', text: words, ...more });
const user = (...content: Obj[]): Obj => ({ role: 'user', content });
const assistant = (...content: Obj[]): Obj => ({ role: 'assistant', content });
const use = (id: string, input: unknown = {}): Obj => ({ type: 'tool_use', id, name: 'read', input });
const result = (id: string, content: unknown = 'done', more: Obj = {}): Obj => ({ type: 'tool_result', tool_use_id: id, content, ...more });
const tool = (name: string, more: Obj = {}): Obj => ({ name, input_schema: { type: 'object' }, ...more });
const MARK = { cache_control: { type: 'ephemeral' } };
const body = (messages: readonly unknown[], more: Obj = {}): Obj => ({ model: 'claude-opus-5-5', max_tokens: 1_000, messages, ...more });
const hi = (more: Obj = {}): Obj => body([user(text('hi'))], more);

/** A PNG header of the given size: enough for whoever reads sizes. */
function png(width: number, height: number): Obj {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  const chunk = (type: string, data: Buffer): Buffer => Buffer.concat([Buffer.from([0, 0, 0, data.length]), Buffer.from(type), data, Buffer.alloc(4)]);
  const bytes = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), chunk('IHDR', head), chunk('IDAT', deflateSync(Buffer.alloc(8)))]);
  return { type: 'image', source: { type: 'base64', media_type: 'image/png', data: bytes.toString('base64') } };
}
const pdf = (bytes: string): Obj => ({ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: Buffer.from(bytes).toString('base64') } });

const REFUSED: readonly [string, Obj, RegExp, CheckOptions?][] = [
  ['deferred tools only', hi({ tools: [tool('a', { defer_loading: true })] }), /at least one tool/],
  ['a reference to a tool that is not there', body([user(text('hi')), assistant(use('a')), user(result('a', [{ type: 'tool_reference', tool_name: 'b' }]))], { tools: [tool('read')] }), /Tool reference 'b' not found/],
  ['a reference to a plain tool', body([user(text('hi')), assistant(use('a')), user(result('a', [{ type: 'tool_reference', tool_name: 'read' }]))], { tools: [tool('read')] }), /Tool reference 'read' not found/],
  ['a reference beside text', body([user(text('hi')), assistant(use('a')), user(result('a', [{ type: 'tool_reference', tool_name: 'b' }, text('x')]))], { tools: [tool('read'), tool('b', { defer_loading: true })] }), /cannot be mixed/],
  ['a mark on a deferred tool', hi({ tools: [tool('read'), tool('b', { defer_loading: true, ...MARK })] }), /cannot have cache_control/],
  ['an unknown field', hi({ foo: 1 }), /^foo: Extra inputs are not permitted$/],
  ['temperature', hi({ temperature: 1 }), /^temperature: Extra inputs/], ['top_p', hi({ top_p: 1 }), /^top_p: Extra/], ['top_k', hi({ top_k: 1 }), /^top_k: Extra/],
  ['no model', { max_tokens: 1, messages: [user(text('x'))] }, /^model: Field required/],
  ['an unknown model', hi({ model: 'gpt' }), /^model: gpt$/],
  ['no max_tokens', { model: 'claude-opus-5-5', messages: [user(text('x'))] }, /^max_tokens: Field required/],
  ['max_tokens of 0', hi({ max_tokens: 0 }), /^max_tokens: must be greater/],
  ['too large max_tokens', hi({ max_tokens: 128_001 }), /max_tokens: 128001 > 128000/],
  ['no messages', { model: 'claude-opus-5-5', max_tokens: 1 }, /^messages: Field required/],
  ['an empty list of messages', body([]), /at least one message/],
  ['an assistant first', body([assistant(text('x')), user(text('y'))]), /first message must use the "user" role/],
  ['an unknown role', body([{ role: 'tool', content: 'x' }]), /^messages\.0\.role/],
  ['an unknown field of a message', body([{ role: 'user', content: 'x', id: 1 }]), /^messages\.0\.id: Extra inputs/],
  ['an empty message', body([{ role: 'user', content: [] }]), /non-empty content/],
  ['an empty string', body([{ role: 'user', content: '' }]), /non-empty content/],
  ['empty text', body([user(text(''))]), /text content blocks must be non-empty/],
  ['blank text', body([user(text(' \n'))]), /must contain non-whitespace text/],
  ['blank text in a result', body([user(text('x')), assistant(use('t1')), user(result('t1', [text(' ')]))]), /non-whitespace/],
  ['a prefill', body([user(text('x')), assistant(text('y'))]), /prefill/],
  ['an unknown block', body([user({ type: 'future_block' })]), /does not match any of the expected tags/],
  ['an unknown field of a block', body([user(text('x', { origin: 1 }))]), /^messages\.0\.content\.0\.text\.origin: Extra/],
  ['a call by the user', body([user(use('t1'))]), /`tool_use` blocks are not allowed in `user` messages/],
  ['a document by the assistant', body([user(text('x')), assistant(pdf('%PDF-1')), user(text('y'))]), /`document` blocks are not allowed in `assistant`/],
  ['citations in user text', body([user(text('x', { citations: [{}] }))]), /citations: Extra/],
  ['an open call', body([user(text('x')), assistant(use('t1')), user(text('y'))]), /`tool_use` ids were found without `tool_result` blocks immediately after: t1/],
  ['text before results', body([user(text('x')), assistant(use('t1')), user(text('y'), result('t1'))]), /without `tool_result` blocks immediately after/],
  ['an orphan result', body([user(text('x')), assistant(text('y')), user(result('t9'))]), /unexpected `tool_use_id` found in `tool_result` blocks: t9/],
  ['a result twice', body([user(text('x')), assistant(use('t1')), user(result('t1'), result('t1'))]), /must have a single result/],
  ['results out of order', body([user(text('x')), assistant(use('t1'), use('t2')), user(result('t2'), result('t1'))]), /in the order of their/],
  ['an id twice', body([user(text('x')), assistant(use('t1')), user(result('t1')), assistant(use('t1')), user(result('t1'))]), /ids must be unique/],
  ['an odd id', body([user(text('x')), assistant(use('t 1')), user(result('t 1'))]), /String should match pattern/],
  ['input that is no object', body([user(text('x')), assistant(use('t1', [1])), user(result('t1'))]), /input: Input should be a valid dictionary/],
  ['a picture in an error', body([user(text('x')), assistant(use('t1')), user(result('t1', [png(1, 1)], { is_error: true }))]), /must be type `text` if `is_error`/],
  ['thinking without signature', body([user(text('x')), assistant({ type: 'thinking', thinking: 'hm' }), user(text('y'))]), /signature: Field required/],
  ['a tool name with a dot', hi({ tools: [tool('a.b')] }), /^tools\.0\.custom\.name: String should match/],
  ['a long tool name', hi({ tools: [tool('a'.repeat(65))] }), /at most 64 characters/],
  ['a tool twice', hi({ tools: [tool('a'), tool('a')] }), /Tool names must be unique/],
  ['a tool without schema', hi({ tools: [{ name: 'a' }] }), /input_schema: Field required/],
  ['a schema that is no object', hi({ tools: [tool('a', { input_schema: { type: 'string' } })] }), /input_schema\.type/],
  ['an unknown field of a tool', hi({ tools: [tool('a', { effect: 'reads' })] }), /^tools\.0\.custom\.effect: Extra/],
  ['only deferred tools', hi({ tools: [tool('a', { defer_loading: true })] }), /at least one tool/],
  ['a choice without tools', hi({ tool_choice: { type: 'auto' } }), /tools must be provided/],
  ['a forced choice on 5.5', hi({ tools: [tool('a')], tool_choice: { type: 'any' } }), /type "tool" and "any" are not supported for this model/],
  ['blank system text', hi({ system: [text(' ')] }), /^system: text content blocks must be non-empty/],
  ['enabled thinking on 5.5', hi({ thinking: { type: 'enabled', budget_tokens: 2_000 } }), /"enabled" is not supported/],
  ['disabled thinking on 5.5', hi({ thinking: { type: 'disabled' } }), /"disabled" is not supported/],
  ['disabled thinking at high effort', hi({ model: 'claude-haiku-5-5', thinking: { type: 'disabled' }, output_config: { effort: 'max' } }), /not supported with effort "max"/],
  ['between_tools on Opus', hi({ thinking: { type: 'between_tools' } }), /"between_tools" is not supported/],
  ['a display of a beta', hi({ thinking: { type: 'adaptive', display: 'updates' } }), /^thinking\.adaptive\.display/],
  ['a field beside adaptive', hi({ thinking: { type: 'adaptive', budget_tokens: 1 } }), /^thinking\.adaptive\.budget_tokens: Extra/],
  ['a budget over max_tokens', hi({ model: 'claude-haiku-4-5', thinking: { type: 'enabled', budget_tokens: 2_000 } }), /`max_tokens` must be greater/],
  ['an unknown effort', hi({ output_config: { effort: 'huge' } }), /^output_config\.effort/],
  ['effort on Haiku 4.5', hi({ model: 'claude-haiku-4-5', output_config: { effort: 'low' } }), /does not support the effort/],
  ['effort xhigh on 4.6', hi({ model: 'claude-opus-4-6', output_config: { effort: 'xhigh' } }), /"xhigh" is not supported/],
  ['five marks', body([user(...['a', 'b', 'c', 'd', 'e'].map((word) => text(word, MARK)))]), /maximum of 4 blocks with cache_control may be provided\. Found 5/],
  ['a mark on thinking', body([user(text('x')), assistant({ type: 'thinking', thinking: 'hm', signature: 's', ...MARK }), user(text('y'))]), /thinking\.cache_control: Extra/],
  ['an hour behind five minutes', body([user(text('a', MARK), text('b', { cache_control: { type: 'ephemeral', ttl: '1h' } }))]), /must not come after/],
  ['an unknown lifetime', body([user(text('a', { cache_control: { type: 'ephemeral', ttl: '2h' } }))]), /ttl: Input should be/],
  ['a system message on Sonnet 5', body([user(text('x')), { role: 'system', content: 'y' }], { model: 'claude-sonnet-5' }), /role 'system' is not supported on this model/],
  ['a system message before a user message', body([user(text('x')), { role: 'system', content: 'y' }, user(text('z'))]), /must be last or followed/],
  ['a broken picture', body([user({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } })]), /^messages\.0\.content\.0\.image\.source.*Could not process image/],
  ['a picture of another type', body([user({ ...png(1, 1), source: { ...(png(1, 1)['source'] as Obj), media_type: 'image/gif' } })]), /does not match the provided media type/],
  ['a huge picture', body([user(text('x'), png(9_000, 10))]), /^messages\.0\.content\.1\.image.*max allowed size: 8000 pixels/],
  ['many large pictures', body([user(...Array.from({ length: 21 }, () => png(2_500, 10)))]), /many-image requests: 2000 pixels/],
  ['a huge picture in a result', body([user(text('x')), assistant(use('t1')), user(result('t1', [text('a'), png(9_000, 10)]))]), /^messages\.2\.content\.0\.content\.1\.image/],
  ['a PDF that is none', body([user(pdf('hello'))]), /The PDF specified was not valid/],
  ['too long a prompt', body([user(text('word '.repeat(400_000)))], { model: 'claude-haiku-4-5' }), /^prompt is too long: \d+ tokens > 200000 maximum$/],
];

test.each(REFUSED)('refuses %s', (_, request, words, options) => {
  expect(checkRequest(request, options)?.message).toMatch(words);
});

const TAKEN: readonly [string, Obj, CheckOptions?][] = [
  ['plain text', hi()], ['a string for content', body([{ role: 'user', content: 'hi' }])],
  ['neighbours of one role', body([user(text('a')), user(text('b'))])],
  ['a round with results first, then text', body([user(text('x')), assistant(text('a'), use('t1'), use('t2')), user(result('t1'), result('t2', [text('a'), png(1, 1)]), text('go on'))])],
  ['an empty result', body([user(text('x')), assistant(use('t1')), user(result('t1', []))])],
  ['a system message at the end', body([user(text('x')), { role: 'system', content: 'y' }])],
  ['adaptive thinking, effort and four marks', hi({ thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'max' }, tools: [tool('a', MARK)], system: [text('s', MARK)] })],
  ['a display of a beta with its header', hi({ thinking: { type: 'adaptive', display: 'updates' } }), { betas: ['thinking-display-updates-2026-08-18'] }],
  ['a forced choice on Haiku 5.5', hi({ model: 'claude-haiku-5-5', tools: [tool('a')], tool_choice: { type: 'tool', name: 'a' } })],
  ['twenty large pictures', body([user(...Array.from({ length: 20 }, () => png(7_999, 10)))])],
  ['a PDF', body([user(pdf('%PDF-1.7'))])],
];

test.each(TAKEN)('takes %s', (_, request, options) => {
  expect(checkRequest(request, options)).toBeUndefined();
});

test('details name every picture over the limit', () => {
  const many = body([user(png(9_000, 1), png(1, 1), png(1, 9_000))]);
  expect(checkRequest(many)?.details).toEqual({ error_code: 'image_dimensions_too_large', max_side_length_pixels: 8_000, paths: ['messages.0.content.0', 'messages.0.content.2'] });
});

interface Answer { readonly status: number; readonly headers: Headers; readonly raw: string; readonly json: Obj }

async function post(url: string, payload: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${url}/v1/messages`, {
    method: 'POST', body: typeof payload === 'string' ? payload : JSON.stringify(payload),
    headers: { 'content-type': 'application/json', 'anthropic-version': '2026-10-21', 'x-api-key': 'k', ...headers },
  });
  const raw = await response.text();
  return { status: response.status, headers: response.headers, raw, json: (raw.startsWith('{') ? JSON.parse(raw) : {}) as Obj };
}

const contentOf = ({ json }: Answer): readonly Obj[] => json['content'] as readonly Obj[];

test('errors have the shape of the API, with a request id in body and header', async () => {
  const { url } = await start({});
  const { status, headers, json } = await post(url, hi({ foo: 1 }));
  expect(status).toBe(400);
  expect(json).toEqual({ type: 'error', error: { type: 'invalid_request_error', message: 'foo: Extra inputs are not permitted' }, request_id: headers.get('request-id') });
});

test('looks at headers, key, JSON and size before all else', async () => {
  const { url } = await start({ apiKey: 'right', script: [] });
  expect(await post(url, hi(), { 'x-api-key': 'wrong' })).toMatchObject({ status: 401, json: { error: { type: 'authentication_error', message: 'invalid x-api-key' } } });
  expect(await post(url, hi(), { 'x-api-key': '' })).toMatchObject({ status: 401 });
  expect((await post(url, hi(), { 'x-api-key': 'right', 'anthropic-version': '1999-01-01' })).raw).toContain('is not a valid version');
  expect((await post(url, hi(), { 'x-api-key': 'right', 'anthropic-beta': 'nonsense-2020' })).raw).toContain('Unexpected value(s) `nonsense-2020` for the `anthropic-beta` header');
  expect((await post(url, '{bad', { 'x-api-key': 'right' })).raw).toContain('The request body is not valid JSON');
  expect((await post(url, JSON.stringify(body([user(text('a\ud83d'))])), { 'x-api-key': 'right' })).raw).toContain('no low surrogate in string');
  expect((await post(url, JSON.stringify(body([user(text('\\ud83d is text'))])), { 'x-api-key': 'right' })).raw).toContain('the script has no answer');
  expect((await post(url, hi({ system: 'x'.repeat(33 * 1024 * 1024) }), { 'x-api-key': 'right' })).status).toBe(413);
});

test('streams a reply: starts, deltas, stops, usage; the same whole without `stream`', async () => {
  const { url, requests } = await start({ script: () => ({ content: [think('let me see'), { type: 'text', text: 'Hello world' }, call('read', { path: 'a.ts' }, 't1')], piece: 5 }) });
  const asked = hi({ tools: [tool('read')], thinking: { type: 'adaptive', display: 'summarized' } });
  const { raw } = await post(url, { ...asked, stream: true });
  const events = raw.split('\n\n').filter((part) => part !== '').map((part) => JSON.parse(part.split('data: ')[1] ?? '') as Obj);
  expect(raw).toContain('event: message_start\ndata: {');
  expect(events.map(({ type }) => type).filter((type) => type !== 'content_block_delta')).toEqual([
    'message_start', 'ping', 'content_block_start', 'content_block_stop', 'content_block_start', 'content_block_stop', 'content_block_start', 'content_block_stop', 'message_delta', 'message_stop',
  ]);
  const deltas = events.flatMap(({ delta }) => (delta === undefined ? [] : [(delta as Obj)['type']]));
  expect(deltas).toContain('signature_delta');
  expect(deltas.filter((type) => type === 'text_delta').length).toBe(3);
  const whole = await post(url, asked);
  expect(whole.json).toMatchObject({ stop_reason: 'tool_use', content: [{ type: 'thinking', thinking: 'let me see' }, { type: 'text', text: 'Hello world' }, { type: 'tool_use', id: 't1', input: { path: 'a.ts' } }] });
  expect(requests.length).toBe(2);
});

test('thinking is bound to all that stands before it', async () => {
  const { url } = await start({ script: (_, index) => ({ content: [think(`thought ${index}`), { type: 'text', text: `answer ${index}` }] }) });
  const thinking = { thinking: { type: 'adaptive', display: 'summarized' }, system: [text('be good')], tools: [tool('read')] };
  const first = contentOf(await post(url, hi(thinking)));
  const history = [user(text('hi')), assistant(...first), user(text('more', MARK))];
  const second = contentOf(await post(url, body(history, thinking)));
  const whole = [...history, assistant(...second), user(text('yet more'))];
  const status = async (messages: readonly Obj[], more: Obj = {}): Promise<string> => {
    const { status: code, raw } = await post(url, body(messages, { ...thinking, ...more }));
    return code === 200 ? '200' : `${code} ${/signature|cannot be modified/.exec(raw)?.[0] ?? ''}`;
  };
  const unthought = (message: Obj): Obj => assistant(...(message['content'] as Obj[]).filter(({ type }) => type !== 'thinking'));
  const [m0, m1, m2, m3, m4] = whole as [Obj, Obj, Obj, Obj, Obj];
  expect(await status(whole)).toBe('200');
  expect(await status([m0, m1, user(text('more')), m3, m4], { max_tokens: 5 })).toBe('200');
  expect(await status([m0, unthought(m1), m2, m3, m4])).toBe('200');
  expect(await status([m0, unthought(m1), m2, unthought(m3), m4])).toBe('200');
  expect(await status([m0, m1, m2, unthought(m3), m4])).toBe('200');
  expect(await status([user(text('HI')), m1, m2, m3, m4])).toBe('400 signature');
  expect(await status([m0, m1, user(text('more'), text('slipped in')), m3, m4])).toBe('400 signature');
  expect(await status(whole, { system: [text('be bad')] })).toBe('400 signature');
  expect(await status(whole, { tools: [tool('read'), tool('write')] })).toBe('400 signature');
  expect(await status(whole, { tools: [tool('read'), tool('later', { defer_loading: true })] })).toBe('200');
  const changed = assistant(...second.map((block) => (block['type'] === 'thinking' ? { ...block, thinking: 'else' } : block)));
  expect(await status([m0, m1, m2, changed, m4])).toBe('400 cannot be modified');
  // Another model cannot read it: dropped without a word.
  expect(await status([user(text('HI')), m1, m2, m3, m4], { model: 'claude-fable-5-2' })).toBe('200');
});

test('thinking may be left out at the front, not in the middle', async () => {
  const { url } = await start({ script: (_, index) => ({ content: [think(`t${index}`), { type: 'text', text: `a${index}` }] }) });
  const messages: Obj[] = [user(text('q0'))];
  for (let n = 1; n <= 3; n += 1) messages.push(assistant(...contentOf(await post(url, body(messages)))), user(text(`q${n}`)));
  const without = (...at: number[]): Obj[] => messages.map((message, index) => (at.includes(index) ? assistant(...(message['content'] as Obj[]).slice(1)) : message));
  expect((await post(url, body(messages))).status).toBe(200);
  expect((await post(url, body(without(1)))).status).toBe(200);
  expect((await post(url, body(without(1, 3)))).status).toBe(200);
  expect((await post(url, body(without(3)))).raw).toContain('Invalid `signature` in `thinking` block');
  const after = contentOf(await post(url, body(without(1))));
  expect((await post(url, body([...without(1), assistant(...after), user(text('on'))]))).status).toBe(200);
});

test('caches as the API does', async () => {
  const { url, requests } = await start({ script: () => say('ok') });
  const long = text('word '.repeat(1_000), MARK);
  await post(url, body([user(long)]));
  await post(url, body([user(text('word '.repeat(1_000))), assistant(text('ok')), user(text('and now?', MARK))]));
  const [one, two] = requests.map(({ usage }) => usage);
  expect(one?.cache_creation_input_tokens).toBeGreaterThan(1_000);
  expect(two?.cache_read_input_tokens).toBe(one?.cache_creation_input_tokens);
});

test('plays errors, counts tokens, and tells of models', async () => {
  const { url } = await start({ script: [failWith(529, 'overloaded_error', 'Overloaded', { 'retry-after': '3' })] });
  const failed = await post(url, hi());
  expect(failed).toMatchObject({ status: 529, json: { error: { type: 'overloaded_error' } } });
  expect(failed.headers.get('retry-after')).toBe('3');
  const headers = { 'anthropic-version': '2026-10-21', 'x-api-key': 'k' };
  const counted = await fetch(`${url}/v1/messages/count_tokens`, { method: 'POST', headers, body: JSON.stringify({ model: 'claude-opus-5-5', messages: [user(text('word '.repeat(700)))] }) });
  expect(((await counted.json()) as { input_tokens: number }).input_tokens).toBeGreaterThan(900);
  const told = await (await fetch(`${url}/v1/models/claude-haiku-4-5`, { headers })).json() as Obj;
  expect(told).toMatchObject({ max_input_tokens: 200_000, max_tokens: 64_000, capabilities: { effort: { supported: false } } });
  expect((await fetch(`${url}/v1/models/none`, { headers })).status).toBe(404);
});

test('the checker of histories names each broken rule', () => {
  const fine = body([user(text('a')), assistant(use('t1'), use('t2')), user(result('t1'), result('t2'), text('b'))]);
  expect(historyFaults(fine)).toEqual([]);
  expect(historyFaults(body([...(fine['messages'] as Obj[]), assistant(text('c')), user(text('d', MARK))]), fine)).toEqual([]);
  const rule = (broken: Obj, before?: Obj): string => historyFaults(broken, before).join('; ');
  expect(rule(body([user(text('a')), user(text('b'))]))).toContain('alternate');
  expect(rule(body([user(text(' '))]))).toContain('blank');
  expect(rule(body([{ role: 'user', content: [] }]))).toContain('no blocks');
  expect(rule(body([user(text('a')), assistant(use('t1'), use('t2')), user(result('t2'), result('t1'))]))).toContain('in order');
  expect(rule(body([user(text('a')), assistant(use('t1')), user(text('b'), result('t1'))]))).toContain('first');
  expect(rule(body([user(text('a')), assistant(use('t1')), user(result('t1')), assistant(use('t1')), user(result('t1'))]))).toContain('twice');
  expect(rule(body([user(text('a\ud83d'))]))).toContain('surrogate');
  expect(rule(body([user(text('A'))]), fine)).toContain('block 0 of the last request changed');
  expect(rule({ ...fine, system: [text('new')] }, fine)).toContain('system changed');
});

test('deferred tools stand outside of what cache and thinking are bound to, until a result refers to one', async () => {
  const long = 'word '.repeat(1_000);
  const { url } = await start({ script: ({ body: { messages } }) => ({ content: [think('hm'), { type: 'text', text: String((messages as unknown[]).length) }] }) });
  const post = async (sent: Obj): Promise<Obj> => (await (await fetch(`${url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': 'k', 'anthropic-version': '2026-10-21' }, body: JSON.stringify(sent) })).json()) as Obj;
  const later = (words: string): Obj => tool('b', { defer_loading: true, description: words });
  const first = await post(body([user(text(long, MARK))], { tools: [tool('read')] }));
  const said = { role: 'assistant', content: first['content'] };
  const turn = (more: readonly unknown[], tools: readonly Obj[]): Obj => body([user(text(long, MARK)), said, ...more], { tools });
  const second = await post(turn([user(text('and?'))], [tool('read'), later('one')]));
  expect((second['usage'] as Obj)['cache_read_input_tokens']).toBeGreaterThan(1_000);
  const refers = [user(text('and?')), assistant(use('a')), user(result('a', [{ type: 'tool_reference', tool_name: 'b' }])), ];
  const third = await post(turn(refers, [tool('read'), later('one')]));
  expect(third['type']).toBe('message');
  const answered = { role: 'assistant', content: third['content'] };
  expect((await post(turn([...refers, answered, user(text('x'))], [tool('read'), later('one'), tool('c', { defer_loading: true })])))['type']).toBe('message');
  expect(JSON.stringify(await post(turn([...refers, answered, user(text('x'))], [tool('read'), later('another')])))).toContain('bound to a different conversation');
});
