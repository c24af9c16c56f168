import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { countTokens, createPromptCache, type CacheUsage } from '#client/demo/cache.ts';
import { checkRequest } from './check.ts';
import { BETAS, MODELS, type ModelRules, VERSIONS } from './models.ts';
import { renderReply, type ScriptedError, type ScriptedReply } from './reply.ts';
import { invalid, obj, type Obj, type Refusal, text } from './shape.ts';
import { pause, playWire, type WireScript } from './wire.ts';

export type Step = ScriptedReply | ScriptedError | WireScript;

/** One request as it came in, in order, with what became of it. */
export interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly raw: string;
  /** The parsed body; empty when it was no JSON object. */
  readonly body: Obj;
  refusal?: Refusal;
  usage?: CacheUsage;
}

export interface ServerOptions {
  /** Answers in order, or a maker of answers (`index` counts from 0). A request past the end of the list is refused with 400. */
  readonly script?: readonly Step[] | ((request: Recorded, index: number) => Step | Promise<Step>);
  readonly models?: Readonly<Record<string, ModelRules>>;
  /** The only key that is taken; without one any key will do. */
  readonly apiKey?: string;
  /** Refusals of a server's own, asked before the strict rules. */
  readonly refuse?: (request: Recorded) => Refusal | undefined;
  /** `false`: take any request, as a careless gateway does. */
  readonly strict?: boolean;
  /** Leave the length of prompts unchecked. */
  readonly anyLength?: boolean;
  /** The clock of the simulated cache, in milliseconds. */
  readonly now?: () => number;
  /** Factor on every delay of a script. */
  readonly scale?: number;
  /** What `GET /v1/models/:id` answers; default: from the table. `undefined` is a 404. */
  readonly modelInfo?: (id: string) => Obj | undefined;
}

export interface MessagesServer {
  readonly url: string;
  /** Every request, in order of arrival. */
  readonly all: readonly Recorded[];
  /** Those to `POST /v1/messages`. */
  readonly requests: readonly Recorded[];
  close(): Promise<void>;
}

interface Room {
  readonly options: ServerOptions;
  readonly models: Readonly<Record<string, ModelRules>>;
  readonly cache: ReturnType<typeof createPromptCache>;
  readonly ids: { next(prefix: string): string };
  readonly all: Recorded[];
  readonly requests: Recorded[];
  answered: number;
}

const LARGEST_BODY = 32 * 1024 * 1024;

/** A Messages API on the loopback interface that is as strict as the real one. Close it. */
export async function startServer(options: ServerOptions = {}): Promise<MessagesServer> {
  const models = { ...MODELS, ...options.models };
  const minimum = (model: string): number => models[model]?.minimumCacheable ?? 512;
  let count = 0;
  const room: Room = {
    options, models, all: [], requests: [], answered: 0,
    cache: createPromptCache({ minimum, ...(options.now === undefined ? {} : { now: options.now }) }),
    ids: { next: (prefix) => `${prefix}_${String(count += 1).padStart(4, '0')}` },
  };
  const server = createServer((request, response) => {
    handle(room, request, response).catch((error: unknown) => { response.destroy(error instanceof Error ? error : undefined); });
  });
  await new Promise<void>((listening) => { server.listen(0, '127.0.0.1', listening); });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    all: room.all,
    requests: room.requests,
    close: () => new Promise((closed) => {
      server.close(() => { closed(); });
      server.closeAllConnections();
    }),
  };
}

async function handle(room: Room, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const raw = await bodyOf(request);
  const path = new URL(request.url ?? '/', 'http://host').pathname;
  const recorded: Recorded = { method: request.method ?? '', path, headers: request.headers, raw: raw ?? '', body: obj(parse(raw ?? '')) };
  room.all.push(recorded);
  const isMessages = recorded.method === 'POST' && path === '/v1/messages';
  if (isMessages) room.requests.push(recorded);
  const id = room.ids.next('req');
  const refusal = refusalOf(room, recorded, raw);
  if (refusal !== undefined) {
    recorded.refusal = refusal;
    refuse(response, refusal, id);
  } else if (isMessages) await answer(room, recorded, response, id);
  else if (path === '/v1/messages/count_tokens') json(response, 200, { input_tokens: countTokens(cacheable(recorded.body)) }, id);
  else describeModel(room, path, response, id);
}

/** Undefined when the body is over the limit. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size <= LARGEST_BODY) chunks.push(chunk as Buffer);
  }
  return size > LARGEST_BODY ? undefined : Buffer.concat(chunks).toString('utf8');
}

function refusalOf(room: Room, recorded: Recorded, raw: string | undefined): Refusal | undefined {
  const { options: { apiKey, refuse: own, strict = true, anyLength = false }, models } = room;
  if (raw === undefined) return { status: 413, type: 'request_too_large', message: 'Request exceeds the maximum size' };
  const key = checkKey(recorded, apiKey);
  if (key !== undefined) return key;
  const special = own?.(recorded);
  if (special !== undefined || !strict) return special;
  const betas = text(recorded.headers['anthropic-beta']).split(',').map((beta) => beta.trim()).filter((beta) => beta !== '');
  const refusal = checkHeaders(recorded, betas);
  if (refusal !== undefined || recorded.method !== 'POST') return refusal;
  const body = parse(raw);
  if (body === undefined) return invalid('The request body is not valid JSON: unexpected character: line 1 column 1 (char 0)');
  const lone = loneSurrogate(raw);
  if (lone !== undefined) return invalid(`The request body is not valid JSON: no low surrogate in string: line 1 column ${lone + 1} (char ${lone})`);
  return checkRequest(body, { models, betas, counting: recorded.path.endsWith('/count_tokens'), anyLength });
}

function checkKey({ headers }: Recorded, apiKey: string | undefined): Refusal | undefined {
  const given = [text(headers['x-api-key']), text(headers['authorization']).replace(/^Bearer /i, '')].filter((key) => key !== '');
  const refusal = (message: string): Refusal => ({ status: 401, type: 'authentication_error', message });
  if (given.length === 0) return refusal('x-api-key header is required');
  return apiKey === undefined || given.every((key) => key === apiKey) ? undefined : refusal('invalid x-api-key');
}

function checkHeaders({ headers }: Recorded, betas: readonly string[]): Refusal | undefined {
  const version = headers['anthropic-version'];
  if (version === undefined) return invalid('anthropic-version: header is required');
  if (!VERSIONS.includes(text(version))) return invalid(`anthropic-version: "${text(version)}" is not a valid version`);
  const strange = betas.find((beta) => !BETAS.includes(beta));
  return strange === undefined ? undefined : invalid(`Unexpected value(s) \`${strange}\` for the \`anthropic-beta\` header. Please consult our documentation at docs.claude.com or try again without the header.`);
}

async function answer(room: Room, recorded: Recorded, response: ServerResponse, id: string): Promise<void> {
  const { options: { script = [], scale = 1 }, cache, ids, models } = room;
  const index = room.answered;
  room.answered += 1;
  const step = typeof script === 'function' ? await script(recorded, index) : script[index];
  if (step === undefined) { refuse(response, invalid(`the script has no answer for request ${index + 1}`), id); return; }
  if ('wire' in step) { await playWire(step.wire, response, id, scale); return; }
  if ('error' in step) { refuse(response, step.error, id, step.headers); return; }
  if (step.delayMs !== undefined) await pause(response, step.delayMs * scale);
  const usage = cache.use(cacheable(recorded.body));
  recorded.usage = usage;
  const { message, events } = renderReply(recorded.body, step, usage, ids, models[text(recorded.body['model'])]?.display ?? 'summarized');
  if (recorded.body['stream'] !== true) { json(response, 200, message, id); return; }
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'request-id': id });
  for (const event of events) {
    if (response.destroyed) return;
    response.write(`event: ${text(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`);
    if (step.gapMs !== undefined) await pause(response, step.gapMs * scale);
  }
  response.end();
}

function describeModel(room: Room, path: string, response: ServerResponse, id: string): void {
  const model = /^\/v1\/models\/([^/]+)$/.exec(path)?.[1];
  const rules = model === undefined ? undefined : room.models[model];
  const info = model === undefined ? undefined : room.options.modelInfo === undefined ? infoOf(model, rules) : room.options.modelInfo(model);
  if (info === undefined) refuse(response, { status: 404, type: 'not_found_error', message: model === undefined ? 'Not found' : `model: ${model}` }, id);
  else json(response, 200, info, id);
}

function infoOf(id: string, rules: ModelRules | undefined): Obj | undefined {
  if (rules === undefined) return undefined;
  const supports = (supported: boolean): Obj => ({ supported });
  const efforts = Object.fromEntries(['low', 'medium', 'high', 'xhigh', 'max'].map((effort) => [effort, supports(rules.efforts.includes(effort))]));
  const types = Object.fromEntries(['adaptive', 'between_tools', 'disabled', 'enabled'].map((type) => [type, supports(rules.thinking.includes(type))]));
  return {
    type: 'model', id, display_name: id, line: id.split('-')[1] ?? null, lifecycle: 'active', created_at: '2026-09-22T00:00:00Z', deprecated_at: null, retires_at: null,
    max_input_tokens: rules.window, max_tokens: rules.maxOutput,
    capabilities: { image_input: supports(true), pdf_input: supports(true), effort: { ...supports(rules.efforts.length > 0), ...efforts }, thinking: { ...supports(true), types } },
  };
}

function refuse(response: ServerResponse, { status, type, message, details }: Refusal, id: string, headers: Readonly<Record<string, string>> = {}): void {
  json(response, status, { type: 'error', error: { type, message, ...(details === undefined ? {} : { details }) }, request_id: id }, id, headers);
}

function json(response: ServerResponse, status: number, body: Obj, id: string, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': id, ...headers }).end(JSON.stringify(body));
}

function cacheable(body: Obj): Obj & { readonly model: string; readonly messages: unknown } {
  return { ...body, model: text(body['model']), messages: body['messages'] };
}

function parse(raw: string): unknown {
  try { return JSON.parse(raw); } catch { return undefined; }
}

/** Index of an escaped surrogate without its other half: JSON parsers of other languages refuse the whole body. */
function loneSurrogate(raw: string): number | undefined {
  for (const match of raw.matchAll(/\\u(d[89ab][0-9a-f]{2})(\\u(d[c-f][0-9a-f]{2}))?|\\u(d[c-f][0-9a-f]{2})|\\\\/gi)) {
    if (match[4] !== undefined || (match[1] !== undefined && match[3] === undefined)) return match.index;
  }
  return undefined;
}
