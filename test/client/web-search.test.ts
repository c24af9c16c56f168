import { afterEach, expect, test } from 'vitest';
import type { Searched } from '#domain/ports.ts';
import { searchWeb } from '#client/web-search.ts';
import { failWith, type ReplyBlock, say, type ScriptedReply } from '../support/messages-server/reply.ts';
import { type MessagesServer, type ServerOptions, startServer } from '../support/messages-server/server.ts';
import { invalid, list, type Obj } from '../support/messages-server/shape.ts';
import { clientFor, NO_MARKS } from './harness.ts';

let server: MessagesServer | undefined;
afterEach(async () => { await server?.close(); server = undefined; });

const SMALL = 'claude-haiku-5-5';
const asked = (query: string, id: string): ReplyBlock => ({ type: 'raw', block: { type: 'server_tool_use', id, name: 'web_search', input: { query } } });
const found = (id: string, content: unknown): ReplyBlock => ({ type: 'raw', block: { type: 'web_search_tool_result', tool_use_id: id, content, caller: { type: 'direct' } } });
const hit = (url: string, title = 'A page'): Obj => ({ type: 'web_search_result', url, title, encrypted_content: 'x'.repeat(100), page_age: '2 days' });
const counted = (n: number): Obj => ({ server_tool_use: { web_search_requests: n } });

async function search(options: ServerOptions, more: { readonly only?: readonly string[]; readonly except?: readonly string[]; readonly models?: readonly string[]; readonly signal?: AbortSignal } = {}): Promise<{ end: Searched; requests: MessagesServer['requests']; refusals: number }> {
  server = await startServer(options);
  const client = clientFor(server.url);
  let refusals = 0;
  const end = await searchWeb({ query: 'newest node', only: more.only ?? [], except: more.except ?? [] }, {
    models: more.models ?? [SMALL, 'claude-opus-5-5'], stream: (request, signal) => client.stream(request, NO_MARKS, signal), onRefused: () => { refusals += 1; },
  }, more.signal ?? new AbortController().signal);
  return { end, requests: server.requests, refusals };
}

test('a small model searches by the server\'s own tool, in a request of its own', async () => {
  const reply: ScriptedReply = { content: [asked('node release', 's1'), found('s1', [hit('https://nodejs.org/'), hit('https://b.test/')]), { type: 'text', text: 'Node 26 ' }, { type: 'text', text: 'is the newest.' }], usage: counted(1) };
  const { end, requests } = await search({ script: [reply] }, { only: ['nodejs.org'] });
  expect(end).toMatchObject({ answer: 'Node 26 is the newest.', queries: ['node release'], hits: [{ url: 'https://nodejs.org/', title: 'A page', age: '2 days' }, { url: 'https://b.test/' }], spent: { model: SMALL, requests: 1, usage: { searches: 1 } } });
  expect(requests[0]?.refusal).toBeUndefined();
  expect(requests[0]?.body).toMatchObject({ model: SMALL, tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 5, allowed_domains: ['nodejs.org'] }], messages: [{ role: 'user', content: [{ type: 'text', text: 'newest node' }] }] });
});

test('a pause is gone on from, with what was found word for word; what it cost is added up', async () => {
  const first: ScriptedReply = { content: [asked('a', 's1'), found('s1', [hit('https://a.test/')])], stop: 'pause_turn', usage: counted(1) };
  const second: ScriptedReply = { content: [asked('b', 's2'), found('s2', [hit('https://a.test/'), hit('https://b.test/')]), { type: 'text', text: 'Both.' }], usage: counted(2) };
  const { end, requests } = await search({ script: [first, second] }, { except: ['c.test'] });
  expect(end).toMatchObject({ answer: 'Both.', queries: ['a', 'b'], hits: [{ url: 'https://a.test/' }, { url: 'https://b.test/' }], spent: { requests: 2, usage: { searches: 3 } } });
  expect(requests.map(({ refusal }) => refusal)).toEqual([undefined, undefined]);
  const resumed = requests[1]?.body ?? {};
  expect(list(resumed['messages'])[1]).toMatchObject({ role: 'assistant', content: [{ type: 'server_tool_use', id: 's1' }, { type: 'web_search_tool_result', content: [{ encrypted_content: 'x'.repeat(100) }] }] });
  expect(list(resumed['tools'])[0]).toMatchObject({ blocked_domains: ['c.test'] });
});

test('a search that failed on the server is told', async () => {
  const { end } = await search({ script: [{ content: [asked('a', 's1'), found('s1', { type: 'web_search_tool_result_error', error_code: 'too_many_requests' })] }] });
  expect(end).toMatchObject({ problem: 'The search failed: too many requests.', spent: { requests: 1 } });
});

test('a server without the small model is asked with the conversation\'s', async () => {
  const { end, requests } = await search({ script: [say('Here.')], models: {}, refuse: ({ body }) => (body['model'] === SMALL ? { status: 404, type: 'not_found_error', message: `model: ${SMALL}` } : undefined) });
  expect(end).toMatchObject({ answer: 'Here.', spent: { model: 'claude-opus-5-5' } });
  expect(requests).toHaveLength(2);
});

test.each([
  'tools.0: Input tag \'web_search_20250305\' found using \'type\' does not match any of the expected tags: \'custom\'',
  'web_search is not enabled for this organization', 'tools.0.web_search_20250305.type: Extra inputs are not permitted',
])('a server that refuses it ("%s") is asked once, and that is remembered', async (words) => {
  const { end, requests, refusals } = await search({ refuse: () => invalid(words) });
  expect(end).toMatchObject({ problem: expect.stringContaining(words.slice(0, 20)), spent: { requests: 0 } });
  expect([requests.length, refusals]).toEqual([1, 1]);
});

test('trouble of another kind does not mean that there is no search', async () => {
  expect((await search({ script: () => failWith(500, 'api_error', 'oops') })).refusals).toBe(0);
  await server?.close();
  const stop = AbortSignal.abort();
  expect((await search({ script: [say('x')] }, { signal: stop })).end).toMatchObject({ problem: 'The search was interrupted.' });
});
