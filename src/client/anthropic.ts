import type { ContentBlock, Usage } from '#domain/content.ts';
import type { ModelFacts } from '#domain/model.ts';
import type { ModelDelta, Reply } from '#domain/ports.ts';
import type { CacheMarks, ModelRequest } from '#domain/request.ts';
import { whenAborted, withDeadline } from '#lib/deadline.ts';
import { type Assembled, createAssembler } from './assemble.ts';
import { bodyOf, type Sending } from './body.ts';
import { BrokenReply, type Trouble, troubleOf, withoutSecrets } from './errors.ts';
import { overlayFacts } from './facts.ts';
import { createQuirks, type Quirk, quirkIn, type QuirkStore } from './quirks.ts';
import { createRetry, DEFAULT_RETRY, type RetryPolicy, sleep } from './retry.ts';
import { type Connection, createTransport, type Transport } from './transport.ts';
import { type Deadlines, startWatch } from './watch.ts';

export interface ClientOptions extends Omit<Connection, 'baseURL'> {
  /** Default: {@link FIRST_PARTY_URL}. A path is kept; a final `/v1` is taken off. */
  readonly baseURL?: string;
  /** What is known of a model id. */
  readonly facts: (id: string) => ModelFacts;
  /** Values of `anthropic-beta` to send with each request. */
  readonly betas?: readonly string[];
  readonly deadlines?: Partial<Deadlines>;
  readonly retry?: Partial<RetryPolicy>;
  /** Answer instead when the model stays overloaded: the first, and when it is overloaded too the next. */
  readonly fallbackModels?: readonly string[];
  /** Keeps across runs what a server will not take. */
  readonly quirks?: QuirkStore;
  /** Most tokens of a reply; default: `outputLimit` of body.ts. */
  readonly maxTokens?: number;
  /** Thinking comes back as its summary (default), or as the notes between calls only, which is a beta and silent while it thinks. */
  readonly display?: 'summarized' | 'updates';
}

export interface Client {
  /** Yields what is to be seen, returns what is to be kept. Never throws. An abort ends it at once. `heard`: is given each event of each attempt as the server sent it. */
  stream(request: ModelRequest, marks: CacheMarks, signal: AbortSignal, heard?: (event: unknown) => void): AsyncGenerator<ModelDelta, Reply>;
  /** The facts with what the Models API knows laid over them; the same facts when it does not answer within 2 s. Never throws. */
  fetchFacts(facts: ModelFacts, signal?: AbortSignal): Promise<ModelFacts>;
  /** Loads the SDK ahead of the first request, for when there is time. Never throws. */
  warm(): Promise<void>;
}

export const FIRST_PARTY_URL = 'https://api.anthropic.com';
const DEADLINES: Deadlines = { headersMs: 120_000, idleMs: 90_000, stallMs: 300_000, totalMs: 60 * 60_000 };
/** A model on one's own machine may read a long prompt for minutes before it says a word. */
const PATIENT: Deadlines = { ...DEADLINES, headersMs: 290_000, idleMs: 290_000 };
const FACTS_MS = 2_000;
/** So many times in a row overloaded, and the fall-back model is asked. */
const OVERLOADS_BEFORE_FALLBACK = 3;
const MOST_QUIRKS_PER_REQUEST = 6;

/** The client of one server. It loads the SDK at the first request and keeps no conversation. */
export function createClient(options: ClientOptions): Client {
  const baseURL = (options.baseURL?.trim() || FIRST_PARTY_URL).replace(/\/+$/, '').replace(/\/v1$/, '');
  const transport = createTransport({ ...options, baseURL });
  const deadlines = { ...(baseURL === FIRST_PARTY_URL ? DEADLINES : PATIENT), ...options.deadlines };
  const quirks = createQuirks(options.quirks);
  return {
    stream: (request, marks, signal, heard) => run({ options, transport, deadlines, quirks, baseURL, request, marks, signal, heard }),
    warm: () => transport.load().then(() => undefined, () => undefined),
    async fetchFacts(facts, signal = new AbortController().signal) {
      try {
        return overlayFacts(facts, await withDeadline(FACTS_MS, signal, (inner) => transport.model(facts.id, inner)));
      } catch {
        return facts;
      }
    },
  };
}

/** All that one call of `stream` needs to know. */
interface Run {
  readonly options: ClientOptions;
  readonly transport: Transport;
  readonly deadlines: Deadlines;
  readonly quirks: ReturnType<typeof createQuirks>;
  readonly baseURL: string;
  readonly request: ModelRequest;
  readonly marks: CacheMarks;
  readonly signal: AbortSignal;
  readonly heard: ((event: unknown) => void) | undefined;
}

type Attempt =
  | { readonly kind: 'ended'; readonly reply: Assembled }
  | { readonly kind: 'interrupted'; readonly content: readonly ContentBlock[]; readonly usage: Usage }
  | { readonly kind: 'trouble'; readonly trouble: Trouble };

async function* run(call: Run): AsyncGenerator<ModelDelta, Reply> {
  const { options, request, signal } = call;
  const policy = { ...DEFAULT_RETRY, ...options.retry };
  let model = request.model;
  let retry = createRetry(policy);
  const dropped = new Set<Quirk>();
  for (;;) {
    const key = `${call.baseURL} ${model}`;
    const sending = sendingOf(call, model, new Set([...call.quirks.of(key), ...dropped]));
    const shown = { any: false };
    const attempt = yield* attemptOnce(call, sending, shown);
    if (attempt.kind === 'interrupted') return { ...attempt, model };
    if (attempt.kind === 'ended') {
      if (dropped.size > 0) call.quirks.keep(key, new Set([...call.quirks.of(key), ...dropped]));
      return yield* finish(attempt.reply, model, shown.any);
    }
    const { trouble } = attempt;
    if (shown.any) yield { type: 'discarded' };
    const quirk = newQuirk(trouble, sending, dropped);
    if (quirk !== undefined) {
      dropped.add(quirk);
      yield { type: 'fault', where: 'request', message: refusalOf(quirk, hostOf(call.baseURL)) };
      continue;
    }
    // A complaint about what the request says comes after its form was taken.
    if (trouble.why === 'signature' && dropped.size > 0) call.quirks.keep(key, new Set([...call.quirks.of(key), ...dropped]));
    const next = retry.next(trouble);
    const fallback = fallbackFor(call, model, retry.overloads >= OVERLOADS_BEFORE_FALLBACK || (next.kind === 'stop' && trouble.why === 'overloaded'));
    if (fallback !== undefined) {
      yield { type: 'fault', where: 'model', message: `${model} is overloaded; ${fallback} answers instead` };
      model = fallback;
      retry = createRetry(policy);
      dropped.clear();
      continue;
    }
    if (next.kind === 'stop') return failed(trouble, next.added);
    const { why, status } = trouble;
    yield { type: 'waiting', attempt: next.attempt, reason: trouble.reason, ms: next.ms, most: policy.tries, why, ...(status !== undefined && { status }) };
    await sleep(next.ms, signal);
  }
}

/** One request and its answer. Whatever happens comes back as a value. */
async function* attemptOnce(call: Run, { body, betas }: Sending, shown: { any: boolean }): AsyncGenerator<ModelDelta, Attempt> {
  const { signal, transport, request } = call;
  const assembler = createAssembler(callIdsIn(request));
  const watch = startWatch(call.deadlines, signal);
  try {
    watch.signal.throwIfAborted();
    const events = await Promise.race([transport.open(body, betas, watch), whenAborted(watch.signal)]);
    for await (const event of events) {
      call.heard?.(event);
      for (const delta of assembler.take(event)) {
        shown.any = true;
        yield delta;
      }
      if (assembler.stopped) break;
      watch.signal.throwIfAborted();
    }
    const reply = assembler.finish();
    if (reply !== undefined) return { kind: 'ended', reply };
    if (signal.aborted) return { kind: 'interrupted', content: assembler.text(), usage: assembler.usage() };
    throw new BrokenReply('the reply ended too early');
  } catch (error) {
    if (signal.aborted) return { kind: 'interrupted', content: assembler.text(), usage: assembler.usage() };
    // The SDK answers an abort with an error of its own; what the watch said is the cause.
    const cause: unknown = watch.signal.aborted ? watch.signal.reason : error;
    return { kind: 'trouble', trouble: withoutSecrets(troubleOf(cause, { model: String(body['model']), host: hostOf(call.baseURL) }), call.options) };
  } finally {
    watch.close();
  }
}

/** The reply as it is kept. Of a refusal nothing is kept: what was seen of it is taken back. */
async function* finish(reply: Assembled, model: string, shown: boolean): AsyncGenerator<ModelDelta, Reply> {
  if (reply.stop === 'refusal' && shown) yield { type: 'discarded' };
  for (const type of new Set(reply.leftOut)) yield { type: 'fault', where: 'reply', message: `the reply held a block of an unknown kind (${type}), which is left out` };
  return {
    kind: 'message', content: reply.content, usage: reply.usage, stop: reply.stop, model: reply.model ?? model,
    ...(reply.messageId === undefined ? {} : { messageId: reply.messageId }),
    ...(reply.detail === undefined ? {} : { detail: reply.detail }),
  };
}

function sendingOf({ options, request, marks }: Run, model: string, quirks: ReadonlySet<Quirk>): Sending {
  const { betas = [], display = 'summarized', maxTokens } = options;
  return bodyOf(request, marks, { facts: options.facts(model), quirks, betas, display, ...(maxTokens === undefined ? {} : { maxTokens }) });
}

function newQuirk({ refusal }: Trouble, { body, betas }: Sending, dropped: ReadonlySet<Quirk>): Quirk | undefined {
  if (refusal === undefined || (refusal.status !== 400 && refusal.status !== 422) || dropped.size >= MOST_QUIRKS_PER_REQUEST) return undefined;
  const quirk = quirkIn(refusal.message, body, betas);
  return quirk === undefined || dropped.has(quirk) ? undefined : quirk;
}

function refusalOf(quirk: Quirk, host: string): string {
  if (quirk !== 'tools.defer_loading' && quirk !== 'tool_reference') return `${host} does not take ${nameOf(quirk)}; sent again without it`;
  return `${host} knows no tools that are loaded on demand; they are sent as plain ones, and each that is loaded has the cache begin anew`;
}

function nameOf(quirk: Quirk): string {
  if (quirk.startsWith('beta:')) return `the beta ${quirk.slice(5)}`;
  if (quirk.startsWith('max_tokens:')) return `more than ${quirk.slice(11)} output tokens`;
  return quirk === 'system-role' ? 'system messages' : `the field ${quirk}`;
}

function fallbackFor({ options: { fallbackModels = [] }, request }: Run, model: string, due: boolean): string | undefined {
  const chain = [...new Set([request.model, ...fallbackModels])];
  return due ? chain[chain.indexOf(model) + 1] : undefined;
}

function failed(trouble: Trouble, added: string): Reply {
  return { kind: 'failed', why: trouble.why, message: `${trouble.message}${added}`, ...(trouble.at === undefined ? {} : { at: trouble.at }) };
}

function callIdsIn(request: ModelRequest): ReadonlySet<string> {
  const blocks = request.messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  return new Set(blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])));
}

function hostOf(baseURL: string): string {
  return URL.canParse(baseURL) ? new URL(baseURL).host : baseURL;
}
