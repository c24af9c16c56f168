import { readJson, updateJson } from '#lib/atomic.ts';
import { UserError } from '#lib/errors.ts';
import type { Entry, HeadBody } from '#domain/entry.ts';
import { headOf } from '#domain/folds.ts';
import { DEFAULT_MODEL, DEMO_MODEL, type ModelFacts } from '#domain/model.ts';
import type { BlobPort, ModelPort } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { Settings } from '#domain/settings.ts';
import type { PinView } from '#domain/world.ts';
import { cacheMarks } from '#accounting/marks.ts';
import { createMeter, type Meter } from '#accounting/meter.ts';
import { factsOf, knownModels } from '#accounting/models.ts';
import { type Counter, createCounter } from '#accounting/tokens.ts';
import { type Client, createClient } from '#client/anthropic.ts';
import type { QuirkStore } from '#client/quirks.ts';
import { toolsOf } from '#loop/on-demand.ts';
import { project } from '#loop/project.ts';
import { type Credentials, credentialsOf } from '#session/credentials.ts';
import type { Overhearing } from './beside.ts';
import type { Place } from './place.ts';
import type { Purses } from './purse.ts';

export interface ModelOptions {
  readonly place: Place;
  readonly settings: () => Settings;
  /** The model that the command line names. */
  readonly asked: string | undefined;
  /** Address of the built `count-worker.js`. */
  readonly counter: URL;
  readonly blobs: BlobPort;
  /** What is pinned in the session that is being held, to name what does not fit. */
  readonly pins: () => Promise<readonly PinView[]>;
  readonly purses: Purses;
}

/** Which model answers, how it is reached, and what it costs to ask. */
export interface ModelDesk {
  readonly meter: Meter;
  /** Whether the tokenizer is loaded, so that its numbers cost nothing. */
  counted(): boolean;
  id(): string;
  facts(): ModelFacts;
  models(): readonly ModelFacts[];
  credentials(): Credentials;
  /** The user chose another one. Throws a UserError when it cannot be reached without a key. */
  choose(id: string): void;
  /** Takes up the model that a stored session was last held with, unless the user named one. */
  follow(log: readonly Entry[]): void;
  /** A key was entered or forgotten. */
  reload(): void;
  /** Whether the server in use was found to know no search of the web; kept across runs. */
  readonly search: { refused(): boolean; refuse(): void };
  /** Loads what the first request needs, while the user still types. */
  warm(): Promise<void>;
  /** What is known of a model. */
  factsOf(id: string): ModelFacts;
  /** The door of a session's loop; `model`: where it is not the conversation's own; `overhear`: who hears what comes through it. */
  port(session: Session, model?: () => string, overhear?: Overhearing): ModelPort;
  close(): void;
}

/** A key is needed, and there is none. */
export class NoKeyError extends UserError {}

const NO_KEY = 'There is no API key. Set ANTHROPIC_API_KEY, or enter a key with /login (pinion in a terminal).';

export function createModelDesk(options: ModelOptions): ModelDesk {
  const { place, settings } = options;
  let credentials = credentialsOf(place.env, place.home.credentials);
  let chosen: string | undefined;
  const learned = new Map<string, ModelFacts>();
  const reachable = (): boolean => credentials.from !== 'none' || credentials.baseURL !== undefined;
  const check = (id: string): string => {
    if (id !== DEMO_MODEL && !reachable()) throw new NoKeyError(`The model ${id} needs a key. ${NO_KEY}`);
    return id;
  };
  if (options.asked !== undefined) check(options.asked);
  if ((place.env['PINION_NO_DEMO'] ?? '') !== '' && !reachable()) throw new NoKeyError(`The demo model is switched off (PINION_NO_DEMO). ${NO_KEY}`);

  const id = (): string => chosen ?? options.asked ?? (reachable() ? (settings().model ?? place.env['ANTHROPIC_MODEL'] ?? DEFAULT_MODEL) : DEMO_MODEL);
  const facts = (model = id()): ModelFacts => learned.get(model) ?? factsOf(model);
  const clients = clientsOf(options, () => credentials, facts);
  const counter = watched(createCounter({ worker: options.counter }));
  const meterFor = (model: () => string): Meter => createMeter({ counter, facts: () => facts(model()), limits: () => limitsOf(settings()), pins: options.pins });
  const meter = meterFor(id);

  return {
    meter, id,
    counted: () => counter.used(),
    facts: () => facts(),
    models: () => (reachable() ? knownModels() : knownModels().filter((model) => model.id === DEMO_MODEL)),
    credentials: () => credentials,
    choose: (model) => { chosen = check(model); },
    follow(log) {
      const last = headOf(log)?.model;
      const usable = last !== undefined && (last === DEMO_MODEL ? !reachable() : reachable());
      if (usable && options.asked === undefined) chosen = last;
    },
    reload() {
      credentials = credentialsOf(place.env, place.home.credentials);
      clients.forget();
      chosen = undefined;
    },
    search: clients.search,
    warm: () => clients.of(id()).warm(),
    factsOf: (model) => facts(model),
    port: (session, model = id, overhear = {}) => ({
      facts: () => facts(model()),
      fit: async (request) => options.purses.judged(session, request, await meterFor(model).fit(request, session.log)),
      async* stream(request, signal) {
        const client = clients.of(request.model);
        learn(client, facts(request.model), learned);
        const arrived = options.purses.underWay(session);
        const began = performance.now();
        try {
          return yield* client.stream(request, cacheMarks(request, { life: settings().cacheLife, sinceReplyMs: sinceReply(session.log) }), signal, (event) => { overhear.raw?.(session, event); });
        } finally {
          arrived();
          overhear.took?.(session, performance.now() - began);
        }
      },
    }),
    close: () => { counter.close(); },
  };
}

/** Milliseconds since the model last answered, by the log's times. */
function sinceReply(log: readonly Entry[]): number | undefined {
  const last = log.findLast(({ type }) => type === 'assistant' || type === 'compaction');
  return last === undefined ? undefined : Date.now() - Date.parse(last.at);
}

/** The counter, and whether it was ever asked. */
function watched(counter: Counter): Counter & { used(): boolean } {
  let used = false;
  return {
    used: () => used,
    count(texts) {
      used ||= texts.length > 0;
      return counter.count(texts);
    },
    close: () => { counter.close(); },
  };
}

/** The table knows our models; of others only the server can tell, and it is asked once, beside the first request. */
function learn(client: Client, now: ModelFacts, learned: Map<string, ModelFacts>): void {
  if (now.known || learned.has(now.id)) return;
  learned.set(now.id, now);
  void client.fetchFacts(now).then((better) => { learned.set(now.id, better); });
}

/** One client for the demo model and one for the server, made at first use. */
function clientsOf({ place, settings }: ModelOptions, credentials: () => Credentials, facts: (id: string) => ModelFacts) {
  const made = new Map<'demo' | 'real', Client>();
  const quirks = quirkStore(place.home.quirks);
  const searchKey = (): string => `${credentials().baseURL ?? 'api'} search`;
  return {
    of(model: string): Client {
      const kind = model === DEMO_MODEL ? 'demo' : 'real';
      const client = made.get(kind) ?? createClient(kind === 'demo'
        ? { facts, fetch: demo() }
        : { ...connectionOf(credentials(), place), ...patienceOf(place), facts, quirks, fallbackModels: settings().fallbackModels });
      made.set(kind, client);
      return client;
    },
    forget: () => { made.delete('real'); },
    search: {
      refused: () => quirks.get(searchKey()) !== undefined,
      refuse: () => { quirks.set(searchKey(), ['web_search']); },
    },
  };
}

/** The demo model is loaded when it is asked something. */
function demo(): typeof fetch {
  let loading: Promise<typeof fetch> | undefined;
  return async (...request) => {
    const answer = await (loading ??= import('#client/demo/demo.ts').then(({ demoFetch }) => demoFetch()));
    return answer(...request);
  };
}

function connectionOf({ apiKey, authToken, baseURL, headers, betas }: Credentials, { env }: Place) {
  // A server of one's own may want no key at all; the SDK wants something to send.
  const key = apiKey ?? (authToken === undefined ? 'none' : undefined);
  return {
    ...(key !== undefined && { apiKey: key }), ...(authToken !== undefined && { authToken }), ...(baseURL !== undefined && { baseURL }),
    headers, betas, env,
  };
}

/** `API_TIMEOUT_MS`: the longest silence of a server; `PINION_MAX_RETRIES`: how often a request is sent again. */
function patienceOf({ env }: Place) {
  const silence = wholeIn(env['API_TIMEOUT_MS']);
  const tries = wholeIn(env['PINION_MAX_RETRIES'] ?? env['CLAUDE_CODE_MAX_RETRIES']);
  return {
    ...(silence !== undefined && silence > 0 && { deadlines: { headersMs: silence, idleMs: silence, stallMs: silence } }),
    ...(tries !== undefined && { retry: { tries } }),
  };
}

/** A whole number as settings of the environment hold them; more than a day's milliseconds are none. */
function wholeIn(text: string | undefined): number | undefined {
  const value = text !== undefined && /^\d{1,8}$/.test(text.trim()) ? Number(text) : undefined;
  return value === undefined || value > 86_400_000 ? undefined : value;
}

function limitsOf({ compactAt, autoCompact }: Settings): { compactAt?: number; autoCompact: boolean } {
  return { autoCompact, ...(compactAt !== undefined && { compactAt }) };
}

/** What servers were found not to take, kept across runs. A file that cannot be written costs a second look next time. */
function quirkStore(file: string): QuirkStore {
  const known = readJson(file);
  const quirks = new Map<string, readonly string[]>(typeof known === 'object' && known !== null && !Array.isArray(known)
    ? Object.entries(known).flatMap(([key, value]) => (Array.isArray(value) ? [[key, value.filter((item) => typeof item === 'string')] as const] : [])) : []);
  return {
    get: (key) => quirks.get(key),
    set(key, found) {
      quirks.set(key, found);
      void updateJson(file, () => Object.fromEntries(quirks)).catch(() => undefined);
    },
  };
}

/** What stands in the conversation, as it will be sent: with the head of now, and without the stand-in for a conversation that has not begun. */
export function nextRequest(log: readonly Entry[], { model, effort, system, tools }: HeadBody, blobs: BlobPort): ReturnType<typeof project> {
  const { effort: _, ...request } = project(log, blobs);
  const begun = request.origins.flat().some(({ what, entries }) => what !== 'note' || entries.length > 0);
  return { ...request, model, system, tools: toolsOf(tools, log), ...(effort !== undefined && { effort }), ...(!begun && { messages: [], origins: [] }) };
}
