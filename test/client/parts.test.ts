import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAssembler, mergeUsage } from '#client/assemble.ts';
import { BrokenReply, troubleOf } from '#client/errors.ts';
import { quirkIn } from '#client/quirks.ts';
import { createRetry, DEFAULT_RETRY, retryAfterMs, sleep } from '#client/retry.ts';
import { inWords, startWatch } from '#client/watch.ts';
import { wellFormedJson } from '#client/well-formed.ts';
import { NO_USAGE } from '#domain/content.ts';

const asked = { model: 'm', host: 'h' };
const event = (type: string, more: object = {}): object => ({ type, ...more });
const start = (index: number, block: object): object => event('content_block_start', { index, content_block: block });
const delta = (index: number, change: object): object => event('content_block_delta', { index, delta: change });
const end = (stop: string | null = 'end_turn'): object[] => [event('message_delta', { delta: { stop_reason: stop } }), event('message_stop')];

function assembled(...events: unknown[]): ReturnType<ReturnType<typeof createAssembler>['finish']> {
  const assembler = createAssembler(new Set());
  for (const one of events) assembler.take(one);
  return assembler.finish();
}

test.each<[string | null, string | null, number | undefined]>([
  ['3', null, 3_000], ['0', null, 0], ['1.5', null, 1_500], [null, '250', 250], ['-5', null, undefined], ['²', null, undefined], ['abc', null, undefined], ['', null, undefined],
  ['1e9', null, undefined], ['Infinity', null, undefined], ['NaN', '7', 7], ['Thu, 01 Jan 2026 00:01:00 GMT', null, 60_000], ['Thu, 01 Jan 2020 00:00:00 GMT', null, 0], ['2026-01-01', null, undefined],
])('retry-after %j (ms: %j) means %j', (value, ms, expected) => {
  const headers = new Headers([...(value === null ? [] : [['retry-after', value] as [string, string]]), ...(ms === null ? [] : [['retry-after-ms', ms] as [string, string]])]
    .map(([name, raw]) => [name, /^[\u0020-\u007e]*$/.test(raw) ? raw : 'x²'] as [string, string]));
  expect(retryAfterMs(headers, Date.parse('2026-01-01T00:00:00Z'))).toBe(expected);
});

test('waits double up to a cap, with jitter, and stop with the budget', () => {
  let time = 0;
  const retry = createRetry({ ...DEFAULT_RETRY, budgetMs: 60_000 }, () => time);
  const trouble = troubleOf(new BrokenReply('x'), asked);
  const waits: number[] = [];
  for (;;) {
    const next = retry.next(trouble);
    if (next.kind === 'stop') { expect(next.added).toContain('Gave up after'); break; }
    waits.push(next.ms);
    time += next.ms;
  }
  waits.slice(0, -1).forEach((ms, at) => {
    const middle = Math.min(DEFAULT_RETRY.capMs, DEFAULT_RETRY.baseMs * 2 ** at);
    expect(ms).toBeGreaterThanOrEqual(middle * 0.75 - 1);
    expect(ms).toBeLessThanOrEqual(middle * 1.25 + 1);
  });
  expect(time).toBeLessThanOrEqual(60_000);
  expect(waits.length).toBeLessThanOrEqual(DEFAULT_RETRY.tries);
});

test('never hammers: a server that asks for no wait at all still gets a moment', () => {
  const next = createRetry(DEFAULT_RETRY).next({ ...troubleOf(new BrokenReply('x'), asked), headers: new Headers({ 'retry-after': '0' }) });
  expect(next).toMatchObject({ kind: 'wait' });
  expect(next.kind === 'wait' ? next.ms : 0).toBeGreaterThanOrEqual(100);
});

test('counts overloads in a row', () => {
  const retry = createRetry(DEFAULT_RETRY);
  const overloaded = troubleOf(Object.assign(new Error('x'), { status: 529, error: {} }), asked);
  retry.next(overloaded);
  retry.next(overloaded);
  expect(retry.overloads).toBe(2);
  retry.next(troubleOf(new BrokenReply('x'), asked));
  expect(retry.overloads).toBe(0);
});

test('a sleep ends with its signal', async () => {
  const controller = new AbortController();
  const slept = sleep(60_000, controller.signal);
  controller.abort();
  await slept;
  await sleep(60_000, controller.signal);
});

test.each([[300, '300 ms'], [1_000, '1 s'], [90_000, '90 s'], [300_000, '5 min'], [86_400_000, '24 h']])('%i ms is "%s"', (ms, words) => {
  expect(inWords(ms)).toBe(words);
});

test('a closed watch has no timers left and hears nothing more', () => {
  const outer = new AbortController();
  const watch = startWatch({ headersMs: 10_000, idleMs: 10_000, stallMs: 10_000, totalMs: 10_000 }, outer.signal);
  watch.sending();
  watch.headersCame();
  watch.bytesCame();
  watch.close();
  watch.bytesCame();
  watch.eventCame();
  expect(watch.signal.aborted).toBe(true);
});

test.each([
  ['Extra inputs are not permitted', undefined], ['messages.0.content.1.text.text: Field required', undefined],
  ['thinking: unknown field', 'thinking'], ['Unsupported parameter: output_config', 'output_config'], ['This model does not support effort', 'output_config'],
  ['tools.0.custom.name: unexpected', undefined], ['tools.3.eager_input_streaming: Extra inputs are not permitted', 'tools.eager_input_streaming'],
  ['messages.1.content.0: Invalid `signature` in `thinking` block, not permitted', undefined], ['Unexpected value(s) `b-1` for the `anthropic-beta` header', 'beta:b-1'],
  ["messages.1.role: Input should be 'user' or 'assistant'", undefined],
  ['tools.0.cache_control: unknown field', 'cache_control'], ['A maximum of 4 blocks with cache_control may be provided. Found 5.', undefined],
])('the refusal "%s" blames %s', (words, quirk) => {
  expect(quirkIn(words, { thinking: { type: 'adaptive' }, output_config: {}, tools: [] }, ['b-1'])).toBe(quirk);
});

test.each(["messages.1.role: Input should be 'user' or 'assistant'", "messages: role 'system' is not supported on this model"])('"%s" blames a system message that is there', (words) => {
  expect(quirkIn(words, { messages: [{ role: 'user' }, { role: 'system' }] }, [])).toBe('system-role');
});

test.each([
  [{ status: 400, error: { error: { type: 'invalid_request_error', message: 'max_tokens: 5 > 3, which is the maximum allowed number of output tokens' } } }, 'invalid', 'no'],
  [{ status: 400, error: { error: { message: 'tools.1.custom.description: String should have at most 1024 characters, context window' } } }, 'invalid', 'no'],
  [{ status: 504, error: {} }, 'server', 'soon'], [{ status: 409, error: {} }, 'server', 'soon'], [{ status: 418, error: {} }, 'invalid', 'no'],
  [{ message: 'fetch failed', cause: { code: 'SELF_SIGNED_CERT_IN_CHAIN' } }, 'network', 'no'],
  [{ message: 'fetch failed', cause: { errors: [{ code: 'ECONNREFUSED' }] } }, 'network', 'soon'], ['just a string', 'network', 'soon'], [undefined, 'network', 'soon'],
])('%j is %s, sent again: %s', (thrown, why, retry) => {
  expect(troubleOf(thrown, asked)).toMatchObject({ why, retry });
});

test('a pair cut between two deltas is shown whole', () => {
  const assembler = createAssembler(new Set());
  assembler.take(start(0, { type: 'text', text: '' }));
  expect(assembler.take(delta(0, { type: 'text_delta', text: 'a\ud83d' }))).toEqual([{ type: 'text', text: 'a' }]);
  expect(assembler.take(delta(0, { type: 'text_delta', text: '\ude00b' }))).toEqual([{ type: 'text', text: '😀b' }]);
  expect(assembler.text()).toEqual([{ type: 'text', text: 'a😀b' }]);
});

test('estimated tokens of silent thinking add up', () => {
  const assembler = createAssembler(new Set());
  assembler.take(start(0, { type: 'thinking', thinking: '', signature: '' }));
  assembler.take(delta(0, { type: 'thinking_delta', thinking: '', estimated_tokens: 50 }));
  expect(assembler.take(delta(0, { type: 'thinking_delta', thinking: '', estimated_tokens: 25 }))).toEqual([{ type: 'thinking', text: '', tokens: 75 }]);
});

test('keeps what can be sent back, as it came; leaves out unsigned thinking, blank text, unknown kinds and foreign fields', () => {
  const server = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} };
  const found = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] };
  const reply = assembled(
    event('message_start', { message: { id: 'msg', model: 'm', usage: { input_tokens: 1, cache_read_input_tokens: null } } }),
    start(0, { type: 'thinking', thinking: 'a', signature: 's' }), delta(0, { type: 'thinking_delta', thinking: 'b' }),
    start(1, { type: 'thinking', thinking: 'unsigned' }), start(2, { type: 'redacted_thinking', data: 'd' }), start(3, { type: 'text', text: '  ' }),
    start(4, { type: 'future' }), start(5, server), delta(5, { type: 'input_json_delta', partial_json: '{"q":1}' }), start(6, found),
    start(7, { type: 'text', text: 'x', citations: null, logprobs: [] }), start(8, { type: 'tool_use', id: 't', name: 'n', input: { given: 'at once' }, index: 3 }), ...end(),
  );
  expect(reply).toMatchObject({ messageId: 'msg', model: 'm', leftOut: ['future'], usage: { input: 1, cacheRead: 0 } });
  expect(reply?.content).toEqual([
    { type: 'thinking', thinking: 'ab', signature: 's' }, { type: 'redacted_thinking', data: 'd' }, { ...server, input: { q: 1 } }, found, { type: 'text', text: 'x' },
    { type: 'tool_use', id: 't', name: 'n', input: { given: 'at once' } },
  ]);
});

test('deltas without a start, stops without a start and starts of one index twice are put up with', () => {
  expect(assembled(event('content_block_stop', { index: 3 }), delta(0, { type: 'text_delta', text: 'lost start' }), ...end())?.content).toEqual([{ type: 'text', text: 'lost start' }]);
  expect(assembled(start(0, { type: 'text', text: 'a' }), start(0, { type: 'text', text: 'b' }), delta(0, { type: 'text_delta', text: 'c' }), ...end())?.content).toEqual([{ type: 'text', text: 'a' }, { type: 'text', text: 'bc' }]);
  expect(assembled(delta(0, { type: 'input_json_delta', partial_json: '{}' }), ...end())?.content).toEqual([]);
});

test('without message_stop or a reason there is no reply; of several reasons the last one counts, null changes nothing', () => {
  expect(assembled(start(0, { type: 'text', text: 'x' }), end()[0])).toBeUndefined();
  expect(assembled(start(0, { type: 'text', text: 'x' }), ...end(null))).toBeUndefined();
  const last = [event('message_delta', { delta: { stop_reason: 'max_tokens' }, usage: { output_tokens: 5 } }), event('message_delta', { delta: { stop_reason: null }, usage: null })];
  expect(assembled(...last, event('message_stop'), event('message_delta', { delta: { stop_reason: 'tool_use' } }))).toMatchObject({ stop: 'max_tokens', usage: { output: 5 } });
});

test('usage keeps what is null or missing', () => {
  const one = mergeUsage(NO_USAGE, { input_tokens: 3, cache_creation_input_tokens: 4, cache_creation: { ephemeral_1h_input_tokens: 2 }, output_tokens: 1 });
  expect(mergeUsage(one, { input_tokens: null, output_tokens: 9 })).toEqual({ input: 3, output: 9, cacheRead: 0, cacheWrite: 4, cacheWrite1h: 2 });
});

test('a tool input with __proto__ changes no prototype, also when it is repaired', () => {
  const reply = assembled(start(0, { type: 'tool_use', id: 't', name: 'n', input: {} }), delta(0, { type: 'input_json_delta', partial_json: '{"__proto__":{"x":"\\ud83d"},"path":"a"}' }), ...end('tool_use'));
  const input = reply?.content[0]?.type === 'tool_use' ? reply.content[0].input : undefined;
  expect(JSON.stringify(input)).toBe('{"__proto__":{"x":"\ufffd"},"path":"a"}');
  expect(({} as { x?: unknown }).x).toBeUndefined();
});

test('whatever events come, nothing throws and what is kept is well formed', () => {
  const junk = fc.oneof(
    fc.anything(),
    fc.record({ type: fc.constantFrom('message_start', 'content_block_start', 'content_block_delta', 'content_block_stop', 'message_delta', 'message_stop'), index: fc.anything(), message: fc.anything(), content_block: fc.anything(), delta: fc.anything(), usage: fc.anything() }),
    fc.record({ type: fc.constant('content_block_start'), index: fc.nat(3), content_block: fc.record({ type: fc.constantFrom('text', 'thinking', 'tool_use', 'future'), text: fc.string({ unit: 'binary' }), id: fc.string(), name: fc.string(), input: fc.anything() }) }),
    fc.record({ type: fc.constant('content_block_delta'), index: fc.nat(3), delta: fc.record({ type: fc.constantFrom('text_delta', 'thinking_delta', 'input_json_delta', 'signature_delta'), text: fc.string({ unit: 'binary' }), thinking: fc.anything(), partial_json: fc.string(), signature: fc.anything() }) }),
  );
  fc.assert(fc.property(fc.array(junk, { maxLength: 12 }), (events) => {
    const assembler = createAssembler(new Set());
    for (const one of [...events, event('message_delta', { delta: { stop_reason: 'tool_use' } }), event('message_stop')]) assembler.take(one);
    for (const block of [...assembler.text(), ...(assembler.finish()?.content ?? [])]) {
      if (block.type === 'text') expect(block.text.isWellFormed() && block.text.trim() !== '').toBe(true);
      if (block.type === 'tool_use') expect(typeof block.input === 'object' && /^[a-zA-Z0-9_-]+$/.test(block.id)).toBe(true);
    }
  }), { numRuns: 500 });
});

test('well-formed JSON is given back as the very same object', () => {
  const value = { a: ['x', { b: '😀' }], n: 1, z: null };
  expect(wellFormedJson(value)).toBe(value);
  expect(wellFormedJson({ 'k\ud800': ['\udc00', 1] })).toEqual({ 'k\ufffd': ['\ufffd', 1] });
});
