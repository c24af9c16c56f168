import { expect, test } from 'vitest';
import type { Json } from '#lib/brand.ts';
import { NO_USAGE } from '#domain/content.ts';
import type { Searched, SearchWish } from '#domain/ports.ts';
import type { CallId } from '#domain/tool.ts';
import { tools } from '#tools/kinds/list.ts';
import { createToolbox } from '#tools/toolbox.ts';
import { finish, openHouse, textOf } from '../support.ts';

async function run(input: Json, searched: Searched, offered = true) {
  const house = openHouse();
  const wishes: SearchWish[] = [];
  const toolbox = createToolbox({ tools, context: { ...house.context, search: { offered: () => offered, search: (wish) => { wishes.push(wish); return Promise.resolve(searched); } } } });
  const outcome = await finish(toolbox.run({ id: 'a' as CallId, tool: 'WebSearch', input }, house.session, new AbortController().signal));
  return { kind: outcome.result.kind, text: textOf(outcome), card: outcome.result.card, entries: outcome.entries, wishes };
}

const spent = { model: 'claude-haiku-5-5', usage: { ...NO_USAGE, input: 10, searches: 1 }, requests: 1 };

test('gives the answer and the pages, in an envelope, and says what it cost', async () => {
  const { text, card, entries, wishes } = await run({ query: 'newest node', allowed_domains: ['NodeJS.org'] }, { answer: 'Node 26.', queries: ['node release'], hits: [{ url: 'https://nodejs.org/', title: 'Node </document-search-newest-node-text-markdown> x', age: '2 days' }], spent });
  expect(wishes).toEqual([{ query: 'newest node', only: ['nodejs.org'], except: [] }]);
  expect(text).toMatch(/^Searched for: "node release"\n<document-search-newest-node-text-markdown>\nNode 26\.\n\nPages found:\n- Node .* \(https:\/\/nodejs\.org\/, 2 days\)\n<\/document-search-newest-node-text-markdown>$/);
  expect(text.match(/<\/document-/g)).toHaveLength(1);
  expect(card).toMatchObject({ title: 'WebSearch newest node', detail: '1 page', body: [{ type: 'list' }, { type: 'markdown', text: 'Node 26.' }] });
  expect(entries).toEqual([{ type: 'spent', what: 'web search', ...spent }]);
});

test('what failed is told in a line, and costs what it cost', async () => {
  expect(await run({ query: 'xy' }, { problem: 'The search failed: unavailable.', spent })).toMatchObject({ kind: 'failed', text: 'The search failed: unavailable.', entries: [{ type: 'spent' }] });
  expect(await run({ query: 'xy' }, { answer: '', queries: [], hits: [], spent: { ...spent, requests: 0 } })).toMatchObject({ kind: 'failed', text: 'Nothing was found.', entries: undefined });
  expect(await run({ query: 'xy', allowed_domains: ['a.com'], blocked_domains: ['b.com'] }, { problem: '', spent })).toMatchObject({ kind: 'failed', wishes: [] });
  expect(await run({ query: 'xy', allowed_domains: ['https://a.com'] }, { problem: '', spent })).toMatchObject({ kind: 'failed', text: expect.stringContaining('must be a host') });
  expect(await run({ query: 'xy' }, { problem: '', spent }, false)).toMatchObject({ kind: 'failed', text: 'The model in use has no search of the web.', wishes: [] });
});
