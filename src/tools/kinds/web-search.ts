import * as z from 'zod';
import type { EntryBody } from '#domain/entry.ts';
import type { Searched, SearchHit } from '#domain/ports.ts';
import { oneLine } from '#lib/names.ts';
import { count, cutToLength } from '#lib/text.ts';
import { defineTool, type RunContext } from '../define.ts';
import { done, failed } from '../result.ts';
import description from './web-search.md';

const MOST_HITS = 20;
const LONGEST_ANSWER = 20_000;
const SHOWN_IN_CARD = 1_000;

const host = z.string().trim().toLowerCase().regex(/^(?:[a-z0-9-]+\.)+[a-z0-9-]+(?:\/\S*)?$/, 'must be a host such as example.com');

const input = z.strictObject({
  query: z.string().trim().min(2).max(400).describe('What to look for'),
  allowed_domains: z.array(host).max(20).optional().describe('Only pages of these hosts'),
  blocked_domains: z.array(host).max(20).optional().describe('No pages of these'),
});

export const webSearch = defineTool({
  id: 'WebSearch',
  description,
  effect: 'reads',
  deferred: 'Searches the web and gives what the pages found say.',
  input,
  title: ({ query }) => `WebSearch ${oneLine(query, 120)}`,
  async *run({ query, allowed_domains: only = [], blocked_domains: except = [] }, context) {
    const title = `WebSearch ${oneLine(query, 120)}`;
    if (!context.search.offered()) return failed(title, 'The model in use has no search of the web.');
    if (only.length > 0 && except.length > 0) return failed(title, 'Give allowed_domains or blocked_domains, not both.');
    yield 'searching';
    const searched = await context.search.search({ query, only, except }, context.session, context.signal);
    const entries = spentOn(searched);
    if ('problem' in searched) return failed(title, searched.problem, { entries });
    const { answer, hits, queries } = searched;
    if (answer === '' && hits.length === 0) return failed(title, 'Nothing was found.', { entries });
    const asked = queries.length === 0 ? [] : [`Searched for: ${queries.map((one) => `"${oneLine(one, 200)}"`).join(', ')}`];
    return done([...asked, body(query, searched, context)].join('\n'), {
      title, detail: `${count(hits.length, 'page')}${queries.length > 1 ? `, ${count(queries.length, 'search', 'searches')}` : ''}`,
      body: [...(hits.length === 0 ? [] : [{ type: 'list' as const, items: hits.slice(0, MOST_HITS).map(lineOf) }]), { type: 'markdown' as const, text: cutToLength(answer, SHOWN_IN_CARD) }],
    }, { entries });
  },
});

/** Titles and answer are words of strangers: both stand in the envelope. */
function body(query: string, { answer, hits }: Exclude<Searched, { readonly problem: string }>, { envelope }: RunContext): string {
  const list = hits.slice(0, MOST_HITS).map((hit) => `- ${lineOf(hit)}`).join('\n');
  return envelope(`search ${query}`, 'text/markdown', [cutToLength(answer, LONGEST_ANSWER), ...(list === '' ? [] : [`Pages found:\n${list}`])].join('\n\n'));
}

function lineOf({ title, url, age }: SearchHit): string {
  return `${oneLine(title, 150) || 'no title'} (${[oneLine(url, 500), ...(age === undefined ? [] : [oneLine(age, 40)])].join(', ')})`;
}

function spentOn({ spent: { model, usage, requests } }: Searched): readonly EntryBody[] {
  return requests === 0 ? [] : [{ type: 'spent', what: 'web search', model, usage, requests }];
}
