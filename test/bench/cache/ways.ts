import type { MessageParam } from '#domain/content.ts';
import type { CacheMarks, ModelRequest } from '#domain/request.ts';
import { cacheMarks } from '#accounting/marks.ts';
import { factsOf } from '#accounting/models.ts';
import { priceOf } from '#accounting/prices.ts';
import { bodyOf } from '#client/body.ts';
import { type CacheableRequest, countTokens, createPromptCache } from '#client/demo/cache.ts';
import { live, type Sent } from './session.ts';

/** What a way of keeping pins in view costs, in tokens of uncached input that would have cost the same. */
export interface Account {
  readonly way: string;
  readonly requests: number;
  readonly billed: number;
  readonly read: number;
  readonly written: number;
  readonly uncached: number;
}

interface Dated {
  readonly body: CacheableRequest;
  readonly at: number;
}

const MODEL = 'claude-opus-5-5';
/** Factors on the price of input. */
const FACTORS = factors();

function factors(): { readonly write5m: number; readonly write1h: number; readonly read: number } {
  const price = priceOf(MODEL, 1, '2026-11-30');
  if (price === undefined) throw new Error(`no price of ${MODEL}`);
  return { write5m: price.write5m / price.input, write1h: price.write1h / price.input, read: price.read / price.input };
}

function bodyFor(request: ModelRequest, marks: CacheMarks): CacheableRequest {
  return bodyOf(request, marks, { facts: factsOf(MODEL), quirks: new Set(), betas: [], display: 'summarized' }).body as unknown as CacheableRequest;
}

const marksFor = ({ request, sinceReplyMs }: Sent): CacheMarks => cacheMarks(request, { life: 'auto', sinceReplyMs });

/** Pins said in the log: the requests as they are. */
const inTheLog = (sent: Sent): Dated => ({ at: sent.at, body: bodyFor(sent.request, marksFor(sent)) });
/** The same with every mark for five minutes. */
const withoutAnchors = (sent: Sent): Dated => ({ at: sent.at, body: bodyFor(sent.request, cacheMarks(sent.request, { life: '5m', sinceReplyMs: sent.sinceReplyMs })) });

/** Pins at the tail: behind the last mark, so that they are never cached and never spoil what is. */
function atTheTail(sent: Sent): Dated {
  const body = bodyFor(sent.request, marksFor(sent)) as CacheableRequest & { messages: readonly MessageParam[] };
  const last = body.messages.at(-1);
  if (sent.transient === undefined || last === undefined) return { at: sent.at, body };
  return { at: sent.at, body: { ...body, messages: [...body.messages.slice(0, -1), { role: 'user', content: [...blocksOf(last), ...blocksOf(sent.transient)] }] } };
}

/** Pins at the head, as in seed 000: one message before the history, made anew for each request. */
function atTheHead(sent: Sent): Dated {
  const [first, ...rest] = sent.request.messages;
  if (sent.transient === undefined || first === undefined) return inTheLog(sent);
  const messages: readonly MessageParam[] = [{ role: 'user', content: [...blocksOf(sent.transient), ...blocksOf(first)] }, ...rest];
  const origins = sent.request.origins.map((of, at) => (at === 0 ? [{ what: 'reminder' as const, entries: [] }, ...of] : of));
  const request = { ...sent.request, messages, origins, answered: sent.request.answered === 0 ? 0 : sent.request.answered + 1 };
  return { at: sent.at, body: bodyFor(request, cacheMarks(request, { life: 'auto', sinceReplyMs: sent.sinceReplyMs })) };
}

const blocksOf = ({ content }: MessageParam) => (typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content);

function billed(way: string, requests: readonly Dated[]): Account {
  let now = 0;
  const cache = createPromptCache({ now: () => now });
  let account: Account = { way, requests: requests.length, billed: 0, read: 0, written: 0, uncached: 0 };
  for (const { body, at } of requests) {
    now = at;
    const usage = cache.use(body);
    const { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long } = usage.cache_creation;
    account = {
      ...account,
      billed: account.billed + usage.input_tokens + short * FACTORS.write5m + long * FACTORS.write1h + usage.cache_read_input_tokens * FACTORS.read,
      read: account.read + usage.cache_read_input_tokens, written: account.written + short + long, uncached: account.uncached + usage.input_tokens,
    };
  }
  return account;
}

/** Each new byte written once, everything older read, whatever the pauses: no way of sending these requests can cost less. */
function floor(requests: readonly Dated[]): Account {
  let account: Account = { way: 'floor', requests: requests.length, billed: 0, read: 0, written: 0, uncached: 0 };
  let before: CacheableRequest | undefined;
  for (const { body } of requests) {
    const older = before === undefined ? 0 : sharedTokens(before, body);
    const fresh = countTokens(body) - older;
    account = { ...account, billed: account.billed + fresh * FACTORS.write5m + older * FACTORS.read, read: account.read + older, written: account.written + fresh };
    before = body;
  }
  return account;
}

/** Tokens of what two requests begin with alike, marks aside: tools and system at least. */
function sharedTokens(before: CacheableRequest, after: CacheableRequest): number {
  const known = new Set(prefixesOf(before).map((part) => JSON.stringify(part)));
  const shared = prefixesOf(after).findLast((part) => known.has(JSON.stringify(part)));
  return shared === undefined ? 0 : countTokens(shared);
}

/** The request cut before its first block and after each of them, without marks. */
function prefixesOf(request: CacheableRequest): readonly CacheableRequest[] {
  const { messages, ...rest } = bare(request) as CacheableRequest & { messages: readonly MessageParam[] };
  return [{ ...rest, messages: [] }, ...messages.flatMap((message, m) => blocksOf(message).map((_, b): CacheableRequest => (
    { ...rest, messages: [...messages.slice(0, m), { ...message, content: blocksOf(message).slice(0, b + 1) }] })))];
}

function bare(request: CacheableRequest): unknown {
  return JSON.parse(JSON.stringify(request, (key, value: unknown) => (key === 'cache_control' ? undefined : value)));
}

/** All four accounts of one session, and what the session held. */
export async function compareWays() {
  const said = await live('log');
  const transient = await live('transient');
  const log = said.sent.map(inTheLog);
  return {
    session: said, factors: FACTORS,
    log: billed('pins in the log', log),
    plain: billed('pins in the log, without anchors', said.sent.map(withoutAnchors)),
    tail: billed('pins at the tail', transient.sent.map(atTheTail)),
    head: billed('pins at the head', transient.sent.map(atTheHead)),
    floor: floor(log),
  };
}
