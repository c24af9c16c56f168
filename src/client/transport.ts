import { UserError } from '#lib/errors.ts';
import type { Environment } from '#lib/proxies.ts';
import { boundedAnswer, boundedEvents } from './bounded.ts';
import { BrokenReply, ErrorEvent, NotAStream } from './errors.ts';
import { type Obj, isObj, objOf, parseJson, stringOf } from './json.ts';
import { proxyFetch } from './proxy.ts';
import type { Sdk } from './sdk.ts';
import type { Watch } from './watch.ts';

export interface Connection {
  readonly baseURL: string;
  readonly apiKey?: string;
  readonly authToken?: string;
  /** Headers of the user's own; they win over all others. */
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of the network. */
  readonly fetch?: typeof fetch;
  /** Where proxies and certificates are named. */
  readonly env?: Environment;
}

export interface Transport {
  /** Loads the SDK. Throws when it cannot be, or the connection is no good. */
  load(): Promise<unknown>;
  /**
   * Sends a request and gives the events of the answer, parsed, pings left out. Throws what went wrong. Bytes and events are
   * reported to the watch; its signal ends the stream at once.
   */
  open(body: Obj, betas: readonly string[], watch: Watch): Promise<AsyncGenerator<unknown, void>>;
  /** What `GET /v1/models/:id` answers. Throws when it does not. */
  model(id: string, signal: AbortSignal): Promise<unknown>;
}

const VERSION = '2026-10-21';
const SILENT = { error: () => undefined, warn: () => undefined, info: () => undefined, debug: () => undefined };
/** Longer than any deadline of ours: the SDK's own must never strike first. */
const NO_TIMEOUT_MS = 24 * 60 * 60_000;
/** What the SDK may say of itself; other headers could come out of its own look at the environment. */
const SDK_HEADERS = /^(accept|content-type|content-length|x-stainless-.*)$/;

/** The official SDK behind one door: loaded at first use, retries off, silent, deaf to the environment. */
export function createTransport(connection: Connection): Transport {
  let loading: Promise<Sdk> | undefined;
  const sdk = (): Promise<Sdk> => (loading ??= load(connection).catch((error: unknown) => { loading = undefined; throw error; }));
  const headersFor = (betas: readonly string[]): Record<string, string> =>
    ({ 'anthropic-version': VERSION, 'user-agent': 'pinion', ...(betas.length > 0 ? { 'anthropic-beta': betas.join(',') } : {}), ...authOf(connection), ...lower(connection.headers) });
  return {
    load: sdk,
    async open(body, betas, watch) {
      const { client, rawEvents } = await sdk();
      watch.signal.throwIfAborted();
      watch.sending();
      // `messages.create` would write warnings about old models straight to the console.
      const response = await client.post('/v1/messages', { body, stream: true, signal: watch.signal, headers: headersFor(betas) }).asResponse();
      watch.headersCame();
      return eventsOf(response, rawEvents, watch);
    },
    async model(id, signal) {
      const { client } = await sdk();
      return client.get(`/v1/models/${encodeURIComponent(id)}`, { signal, headers: headersFor([]) });
    },
  };
}

async function load(connection: Connection): Promise<Sdk> {
  if (!/^https?:\/\//i.test(connection.baseURL) || !URL.canParse(connection.baseURL)) {
    throw new UserError(`The base URL "${connection.baseURL}" is no http(s) address. Check ANTHROPIC_BASE_URL.`);
  }
  const { username, password } = new URL(connection.baseURL);
  if (username !== '' || password !== '') throw new UserError('The base URL holds a name or password, which cannot be sent so. Put them into ANTHROPIC_CUSTOM_HEADERS.');
  const inner = connection.fetch ?? (await proxyFetch(connection.env ?? {}, connection.baseURL)) ?? fetch;
  const { openSdk } = await import('./sdk.ts');
  return openSdk({
    baseURL: connection.baseURL, apiKey: 'sent by our own headers', webhookKey: null, maxRetries: 0, timeout: NO_TIMEOUT_MS,
    logger: SILENT, logLevel: 'off', openTelemetry: false, fetch: withOwnHeaders(inner, connection),
  });
}

/**
 * Whatever headers the SDK made up, these go out: its own few words, and ours. A redirect is an answer like any other: followed, it
 * would take the key to a server that the user never named.
 */
function withOwnHeaders(inner: typeof fetch, connection: Connection): typeof fetch {
  const ours = new Set(['anthropic-version', 'user-agent', 'anthropic-beta', ...Object.keys(authOf(connection)), ...Object.keys(lower(connection.headers))]);
  return async (input, init) => {
    const headers = [...new Headers(init?.headers)].filter(([name]) => ours.has(name) || SDK_HEADERS.test(name));
    return boundedAnswer(await inner(input, { ...init, headers: Object.fromEntries(headers), redirect: 'manual' }));
  };
}

/** Servers look for the key in either of two headers: a key goes into both, a token into the one for tokens. */
function authOf({ apiKey, authToken }: Connection): Record<string, string> {
  const key = apiKey?.trim() || undefined;
  const bearer = authToken?.trim() || key;
  return { ...(key === undefined ? {} : { 'x-api-key': key }), ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }) };
}

function lower(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

async function* eventsOf(response: Response, rawEvents: Sdk['rawEvents'], watch: Watch): AsyncGenerator<unknown, void> {
  const type = response.headers.get('content-type') ?? '';
  if (response.body === null) throw new BrokenReply(`an empty answer (${response.status})`);
  if (type !== '' && !/event-stream/i.test(type)) {
    await response.body.cancel();
    throw new NotAStream(`answered with ${type.split(';')[0] ?? type}`);
  }
  const counted = response.body.pipeThrough(boundedEvents(() => { watch.bytesCame(); }), { signal: watch.signal });
  const events = rawEvents(new Response(counted, { headers: { 'content-type': 'text/event-stream' } }));
  for await (const { event, data } of bodyErrors(events, watch.signal)) {
    if (event === 'ping' || data === '') continue;
    const parsed = parseJson(data);
    if (event === 'error' || objOf(parsed)['type'] === 'error') throw new ErrorEvent(isObj(parsed) ? parsed : { error: { message: data } }, response.headers);
    if (stringOf(objOf(parsed)['type']) === 'ping') continue;
    if (!isObj(parsed)) throw new BrokenReply('a damaged line');
    watch.eventCame();
    yield parsed;
  }
}

/** A connection that breaks inside the body throws a bare TypeError: give it its name. */
async function* bodyErrors<T>(events: AsyncGenerator<T, void, unknown>, signal: AbortSignal): AsyncGenerator<T, void> {
  try {
    yield* events;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof NotAStream) throw error;
    throw new BrokenReply('the reply broke off', { cause: error });
  }
}
