import { type ContentBlock, NO_USAGE, type Usage } from '#domain/content.ts';
import type { ModelDelta, Reply, Searched, SearchHit, SearchWish } from '#domain/ports.ts';
import type { ModelRequest } from '#domain/request.ts';
import { oneLine } from '#lib/names.ts';
import { objOf, stringOf } from './json.ts';
import instructions from './web-search.md';

export interface SearchOptions {
  /** Models to ask, the cheapest first: the next one where a server does not have it. */
  readonly models: readonly string[];
  readonly stream: (request: ModelRequest, signal: AbortSignal) => AsyncGenerator<ModelDelta, Reply>;
  /** The server knows no search of its own. */
  readonly onRefused: () => void;
}

const MOST_SEARCHES = 5;
/** A server pauses a reply after some searches; it is then asked to go on. */
const MOST_REQUESTS = 4;
const REFUSED = /web.?search|server.?tool|input tag|tools\.0\b|tool type/i;

/** Has a model search with its server's own tool, in a request that has nothing to do with the conversation. Never throws. */
export async function searchWeb(wish: SearchWish, options: SearchOptions, signal: AbortSignal): Promise<Searched> {
  const spent: Spent = { usage: NO_USAGE, requests: 0 };
  let failed = 'no model was named';
  for (const model of options.models) {
    const end = await searchWith(model, wish, options, spent, signal);
    if (!('why' in end)) return { ...end, spent: { model, ...spent } };
    failed = end.problem;
    if (end.why !== 'notFound') {
      if ((end.why === 'invalid' || end.why === 'permission') && REFUSED.test(end.problem)) options.onRefused();
      break;
    }
  }
  return { problem: failed, spent: { model: options.models.at(-1) ?? '', ...spent } };
}

interface Spent {
  usage: Usage;
  requests: number;
}

type End = Pick<Exclude<Searched, { readonly problem: string }>, 'answer' | 'queries' | 'hits'> | { readonly problem: string; readonly why: string };

async function searchWith(model: string, wish: SearchWish, { stream }: SearchOptions, spent: Spent, signal: AbortSignal): Promise<End> {
  const content: ContentBlock[] = [];
  for (let at = 0; at < MOST_REQUESTS; at += 1) {
    const reply = await finished(stream(requestOf(model, wish, content), signal));
    if (reply.kind === 'failed') return { problem: reply.message, why: reply.why };
    spent.usage = sum(spent.usage, reply.usage);
    spent.requests += 1;
    if (reply.kind === 'interrupted') return { problem: 'The search was interrupted.', why: 'interrupted' };
    content.push(...reply.content);
    if (reply.stop !== 'pause_turn') break;
  }
  const hits = hitsIn(content);
  const trouble = troubleIn(content);
  return hits.length === 0 && trouble !== undefined ? { problem: `The search failed: ${trouble}.`, why: 'search' } : { answer: answerIn(content), queries: queriesIn(content), hits };
}

function requestOf(model: string, { query, only, except }: SearchWish, before: readonly ContentBlock[]): ModelRequest {
  const messages = [
    { role: 'user' as const, content: [{ type: 'text' as const, text: query }] },
    ...(before.length === 0 ? [] : [{ role: 'assistant' as const, content: [...before] }]),
  ];
  return {
    model, effort: 'low', system: [{ type: 'text', text: instructions.trim() }], tools: [], messages, headEnd: 0, answered: 0,
    origins: messages.map(({ content }) => content.map(() => ({ what: 'note' as const, entries: [] }))),
    serverTools: [{
      type: 'web_search_20250305', name: 'web_search', max_uses: MOST_SEARCHES,
      ...(only.length > 0 ? { allowed_domains: [...only] } : except.length > 0 ? { blocked_domains: [...except] } : {}),
    }],
  };
}

async function finished(stream: AsyncGenerator<ModelDelta, Reply>): Promise<Reply> {
  for (;;) {
    const next = await stream.next();
    if (next.done === true) return next.value;
  }
}

function sum(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input, output: a.output + b.output, cacheRead: a.cacheRead + b.cacheRead, cacheWrite: a.cacheWrite + b.cacheWrite, cacheWrite1h: a.cacheWrite1h + b.cacheWrite1h,
    searches: (a.searches ?? 0) + (b.searches ?? 0),
  };
}

/** Pages that were found, each once. */
function hitsIn(content: readonly ContentBlock[]): readonly SearchHit[] {
  const hits = new Map<string, SearchHit>();
  for (const result of resultsIn(content)) {
    const url = stringOf(result['url']);
    const age = stringOf(result['page_age']);
    if (url !== undefined && !hits.has(url)) hits.set(url, { url, title: stringOf(result['title']) ?? '', ...(age !== undefined && { age }) });
  }
  return [...hits.values()];
}

function resultsIn(content: readonly ContentBlock[]): readonly Readonly<Record<string, unknown>>[] {
  return content.flatMap((block) => (block.type === 'web_search_tool_result' && Array.isArray(block.content) ? block.content.map(objOf) : []));
}

function troubleIn(content: readonly ContentBlock[]): string | undefined {
  const code = content.flatMap((block) => (block.type === 'web_search_tool_result' && !Array.isArray(block.content) ? [stringOf(objOf(block.content)['error_code'])] : [])).find((found) => found !== undefined);
  return code === undefined ? undefined : oneLine(code.replaceAll('_', ' '), 100);
}

function queriesIn(content: readonly ContentBlock[]): readonly string[] {
  return content.flatMap((block) => (block.type === 'server_tool_use' ? [stringOf(objOf(block.input)['query']) ?? []].flat() : []));
}

function answerIn(content: readonly ContentBlock[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('').trim();
}
