import { expect, test } from 'vitest';
import { type CacheableRequest, countTokens, createPromptCache } from '#client/demo/cache.ts';

const MINUTE = 60_000;
const MARK = { cache_control: { type: 'ephemeral' } };
const HOUR_MARK = { cache_control: { type: 'ephemeral', ttl: '1h' } };
/** About `tokens` tokens of text that nothing else begins with. */
const words = (name: string, tokens: number): string => `${name} `.repeat(Math.ceil((tokens * 3.5) / (name.length + 1)));
const block = (name: string, tokens = 600, mark: object = {}): object => ({ type: 'text', text: words(name, tokens), ...mark });
const request = (blocks: readonly object[], more: Partial<CacheableRequest> = {}): CacheableRequest =>
  ({ model: 'm', system: [block('system', 600, MARK)], tools: [{ name: 'read', input_schema: { type: 'object' } }], messages: [{ role: 'user', content: blocks }], ...more });

const total = (usage: { input_tokens: number; cache_creation_input_tokens: number; cache_read_input_tokens: number }): number =>
  usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;

test('writes at the marks, reads what was written, and the parts add up to the whole prompt', () => {
  const cache = createPromptCache();
  const first = request([block('a', 600, MARK)]);
  const one = cache.use(first);
  expect(one).toMatchObject({ cache_read_input_tokens: 0, input_tokens: 0 });
  expect(one.cache_creation_input_tokens).toBe(countTokens(first));
  const second = request([block('a'), block('b', 600, MARK)]);
  const two = cache.use(second);
  expect(two.cache_read_input_tokens).toBe(countTokens(first));
  expect(total(two)).toBe(countTokens(second));
  expect(cache.use(second)).toMatchObject({ cache_read_input_tokens: countTokens(second), cache_creation_input_tokens: 0, input_tokens: 0 });
});

test('marks are no part of the bytes: a mark that moves on costs nothing', () => {
  const cache = createPromptCache();
  cache.use(request([block('a', 600, MARK)]));
  expect(cache.use(request([block('a'), block('b')])).cache_read_input_tokens).toBeGreaterThan(0);
  expect(cache.use(request([block('a', 600, MARK), block('b')])).cache_creation_input_tokens).toBe(0);
});

test('without a mark nothing is read beyond the last mark, and nothing is written', () => {
  const cache = createPromptCache();
  const bare = request([block('a')], { system: [block('system')] });
  expect(cache.use(bare)).toMatchObject({ cache_read_input_tokens: 0, cache_creation_input_tokens: 0, input_tokens: countTokens(bare) });
  expect(cache.use(bare).cache_read_input_tokens).toBe(0);
});

test('a read looks back over 20 blocks, the marked one included', () => {
  const tail = (n: number): object[] => Array.from({ length: n }, (_, at) => block(`t${at}`, 5, at === n - 1 ? MARK : {}));
  const readAfter = (n: number): number => {
    const cache = createPromptCache();
    const system = [block('system', 600)];
    cache.use(request([block('a', 600, MARK)], { system }));
    return cache.use(request([block('a'), ...tail(n)], { system })).cache_read_input_tokens;
  };
  expect(readAfter(19)).toBeGreaterThan(1_000);
  expect(readAfter(20)).toBe(0);
});

test('a change loses what stands behind it only: tools, then system, then messages', () => {
  const cache = createPromptCache();
  cache.use(request([block('a', 600, MARK)]));
  const system = cache.use(request([block('other', 600, MARK)])).cache_read_input_tokens;
  expect(system).toBeGreaterThan(500);
  expect(cache.use(request([block('a', 600, MARK)], { system: [block('other', 600, MARK)] })).cache_read_input_tokens).toBe(0);
  expect(cache.use(request([block('a', 600, MARK)], { tools: [] })).cache_read_input_tokens).toBe(0);
  expect(cache.use(request([block('a', 600, MARK)], { model: 'n' })).cache_read_input_tokens).toBe(0);
});

test.each([
  ['thinking', { thinking: { type: 'adaptive' } }], ['effort', { output_config: { effort: 'low' } }], ['tool choice', { tool_choice: { type: 'auto' } }],
])('a change of %s loses the messages and keeps tools and system', (_, change) => {
  const cache = createPromptCache();
  cache.use(request([block('a', 600, MARK)]));
  const { cache_read_input_tokens: read } = cache.use(request([block('a', 600, MARK)], change));
  expect(read).toBeGreaterThan(500);
  expect(read).toBeLessThan(800);
});

test('a prefix below the minimum is not cached, and that is no error', () => {
  const cache = createPromptCache({ minimum: () => 4_096 });
  const small = request([block('a', 600, MARK)]);
  cache.use(small);
  expect(cache.use(small)).toMatchObject({ cache_read_input_tokens: 0, cache_creation_input_tokens: 0, input_tokens: countTokens(small) });
});

test('an entry lives five minutes from its last use; one of an hour lives an hour', () => {
  let time = 0;
  const cache = createPromptCache({ now: () => time });
  const short = request([block('a', 600, MARK)], { system: [block('system', 600, HOUR_MARK)] });
  const written = cache.use(short);
  expect(written.cache_creation.ephemeral_1h_input_tokens).toBeGreaterThan(0);
  expect(written.cache_creation.ephemeral_5m_input_tokens + written.cache_creation.ephemeral_1h_input_tokens).toBe(written.cache_creation_input_tokens);
  const whole = countTokens(short);
  time += 4 * MINUTE;
  expect(cache.use(short).cache_read_input_tokens).toBe(whole);
  time += 4 * MINUTE;
  expect(cache.use(short).cache_read_input_tokens).toBe(whole);
  time += 6 * MINUTE;
  const after = cache.use(short).cache_read_input_tokens;
  expect(after).toBeGreaterThan(0);
  expect(after).toBeLessThan(whole);
  time += 61 * MINUTE;
  expect(cache.use(short).cache_read_input_tokens).toBe(0);
});

test('at most four marks count', () => {
  const cache = createPromptCache();
  const five = request(['a', 'b', 'c', 'd'].map((name) => block(name, 600, MARK)));
  const { cache_creation_input_tokens: written, input_tokens: rest } = cache.use(five);
  expect(rest).toBeGreaterThan(500);
  expect(written + rest).toBe(countTokens(five));
});

test('the automatic mark stands on the last block that may bear one', () => {
  const cache = createPromptCache();
  const messages = [{ role: 'user', content: 'long '.repeat(600) }, { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature: 's' }] }];
  const automatic: CacheableRequest = { model: 'm', messages, cache_control: { type: 'ephemeral' } };
  const { cache_creation_input_tokens: written, input_tokens: rest } = cache.use(automatic);
  expect(written).toBeGreaterThan(500);
  expect(rest).toBeGreaterThan(0);
});

test('pictures weigh by their kind, not by their base64', () => {
  const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(1_000_000) } };
  expect(countTokens({ model: 'm', messages: [{ role: 'user', content: [picture] }] })).toBeLessThan(2_000);
  const inside = { type: 'tool_result', tool_use_id: 't', content: [picture, { type: 'text', text: 'x' }] };
  expect(countTokens({ model: 'm', messages: [{ role: 'user', content: [inside] }] })).toBeLessThan(2_000);
});

test('damaged requests weigh something and throw nothing', () => {
  const cache = createPromptCache();
  for (const messages of [undefined, null, 'x', [null], [{ role: 1, content: 2 }], [{ content: [null, 3] }]]) {
    expect(total(cache.use({ model: 'm', messages }))).toBeGreaterThanOrEqual(0);
  }
});
