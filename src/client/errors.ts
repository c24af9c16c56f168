import type { FailureKind } from '#domain/ports.ts';
import { messageOf, UserError } from '#lib/errors.ts';
import { type Obj, objOf, stringOf } from './json.ts';
import { Overdue } from './watch.ts';

/** An attempt that came to nothing: what it means, what to say, and whether trying again may help. */
export interface Trouble {
  readonly why: FailureKind;
  /** One line for the person: what is wrong, where, what to do. */
  readonly message: string;
  /** A few words for the line that shows the wait. */
  readonly reason: string;
  /** `soon`: the usual back-off; `later`: the longer one for a server that has too much to do. */
  readonly retry: 'no' | 'soon' | 'later';
  readonly headers?: Headers;
  /** Of the answer, where there was one. */
  readonly status?: number;
  readonly at?: { readonly message: number; readonly block: number };
  /** The server's own words and status when it refused the request: a field may be to blame. */
  readonly refusal?: { readonly status: number; readonly message: string };
}

/** Where and what was asked; appears in the lines for people. */
export interface Asked {
  readonly model: string;
  readonly host: string;
}

/** The reply broke off, was damaged, or is no reply at all. */
export class BrokenReply extends Error {
  override readonly name = 'BrokenReply';
}

/** The server answered with something that is no stream of events. */
export class NotAStream extends Error {
  override readonly name = 'NotAStream';
}

/** An `error` event in the stream, as the API sends it. */
export class ErrorEvent extends Error {
  override readonly name = 'ErrorEvent';
  readonly body: Obj;
  readonly headers: Headers;
  constructor(body: Obj, headers: Headers) {
    super(stringOf(objOf(body['error'])['message']) ?? 'error event');
    this.body = body;
    this.headers = headers;
  }
}

/** What the API said, whether as a status or as an event in the stream. */
interface Said {
  readonly status: number | undefined;
  readonly type: string;
  readonly code: string | undefined;
  readonly details: Obj;
  readonly message: string;
  readonly headers: Headers | undefined;
  readonly requestId: string | undefined;
}

/** The table of what can go wrong. Takes whatever was thrown. */
export function troubleOf(thrown: unknown, asked: Asked): Trouble {
  if (thrown instanceof UserError) return stop('invalid', thrown.message, 'not sent');
  if (thrown instanceof Overdue) return again('network', `${asked.host}: ${thrown.message}. Check the network or try again later.`, thrown.message);
  if (thrown instanceof BrokenReply) return again('network', `Connection lost: ${thrown.message} (${asked.host}). Check the network and send again.`, `connection lost: ${thrown.message}`);
  if (thrown instanceof NotAStream) return stop('server', `${asked.host} ${thrown.message}: a proxy or a login page, not a Messages API? Check the base URL and the network.`, 'no stream of events');
  const said = saidBy(thrown);
  if (said === undefined) return connectionTrouble(thrown, asked);
  return { ...apiTrouble(said, asked), ...(said.status !== undefined && { status: said.status }) };
}

function saidBy(thrown: unknown): Said | undefined {
  if (thrown instanceof ErrorEvent) return readBody(thrown.body, undefined, thrown.headers);
  const error = objOf(thrown);
  const status = error['status'];
  if (typeof status !== 'number') return undefined;
  const headers = error['headers'] instanceof Headers ? error['headers'] : isHeaders(error['headers']) ? error['headers'] : undefined;
  const said = readBody(objOf(error['error']), status, headers);
  return said.message === '' ? { ...said, message: plain(messageOf(thrown)) } : said;
}

/** Headers of another copy of fetch are no instance of ours. */
function isHeaders(value: unknown): value is Headers {
  return typeof value === 'object' && value !== null && 'get' in value && typeof value.get === 'function';
}

function readBody(body: Obj, status: number | undefined, headers: Headers | undefined): Said {
  const error = objOf(body['error']);
  const details = objOf(error['details']);
  return {
    status, headers, details, type: stringOf(error['type']) ?? '', code: stringOf(details['error_code']),
    message: plain(stringOf(error['message']) ?? stringOf(body['message']) ?? stringOf(body['detail']) ?? ''),
    requestId: stringOf(body['request_id']) ?? headers?.get('request-id') ?? undefined,
  };
}

/** One line without markup, short enough to show: gateways answer with whole pages. */
function plain(message: string): string {
  const line = message.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ').trim();
  return line.length > 300 ? `${line.slice(0, 299).toWellFormed()}…` : line;
}

const SPEND_CODES = new Set(['enforced_spend_limit_reached', 'contract_spend_limit_reached', 'ramp_limit_exceeded', 'linked_organization_spend_limit_reached']);

function apiTrouble(said: Said, { model, host }: Asked): Trouble {
  const { status, type } = said;
  const words = said.message === '' ? '' : `: ${said.message}`;
  const id = said.requestId === undefined ? '' : ` (request ${said.requestId})`;
  const label = status === undefined ? type || 'error in the stream' : String(status);
  const headers = said.headers === undefined ? {} : { headers: said.headers };
  const is = (code: number, name: string): boolean => status === code || (status === undefined && type === name);
  if (status !== undefined && status >= 300 && status < 400) return stop('server', `${host} sends requests on to ${redirectOf(headers.headers)} (${label}), where the key is not taken. Check the base URL.`, 'redirected');
  if (is(401, 'authentication_error')) return stop('auth', `The key was refused by ${host} (${label})${words}. Run /login, or check the key in the environment.${id}`, 'key refused');
  if (is(402, 'billing_error')) return stop('limit', `Payment needed at ${host} (${label})${words}. Check billing for this key.${id}`, 'billing');
  if (is(403, 'permission_error')) return stop('permission', `This key may not do that at ${host} (${label})${words}. Check its rights for ${model}, or use another model with /model.${id}`, 'not permitted');
  if (is(404, 'not_found_error')) return stop('notFound', `${host} does not know ${model} (${label})${words}. Choose another model with /model, or check the base URL.${id}`, 'not found');
  if (is(413, 'request_too_large')) return stop('tooLong', `The request is too large for ${host} (${label})${words}. Compact with /compact or leave media out.${id}`, 'request too large');
  if (is(429, 'rate_limit_error')) {
    if (said.code !== undefined && SPEND_CODES.has(said.code)) return stop('limit', `The spend limit is reached (${said.code})${words}. Raise it in the console of your provider.${id}`, 'spend limit');
    return { ...again('limit', `Rate limit of ${host} reached (${label})${words}. Try again later.${id}`, `rate limit (${label})`), ...headers };
  }
  if (is(529, 'overloaded_error')) return { ...again('overloaded', `${host} is overloaded (${label})${words}. Try again later, or use another model with /model.${id}`, `overloaded (${label})`, 'later'), ...headers };
  // In the middle of a stream only a request that is itself at fault is not worth another try.
  if (status === undefined ? type !== 'invalid_request_error' : status === 408 || status === 409 || status === 425 || status >= 500) {
    return { ...again('server', `${host} has trouble (${label})${words}. Try again later.${id}`, `server trouble (${label})`), ...headers };
  }
  return { ...refused(said, `The request was refused by ${host} (${label})${words}.${id}`, host), ...headers };
}

function redirectOf(headers: Headers | undefined): string {
  const location = headers?.get('location') ?? '';
  return URL.canParse(location) ? new URL(location).host : 'another address';
}

/** A request that the server finds fault with: some of these the loop can mend. */
function refused(said: Said, message: string, host: string): Trouble {
  const words = said.message;
  const refusal = { status: said.status ?? 400, message: words };
  if (isTooLong(words)) return { ...stop('tooLong', `The prompt is longer than the model takes (${host}): ${words}. Compact with /compact, or unpin something.`, 'prompt too long'), refusal };
  if (isSignature(words)) return { ...stop('signature', message, 'thinking no longer fits'), refusal };
  const at = mediaAt(said);
  if (at !== undefined || isMedia(words)) return { ...stop('image', message, 'a picture or document was refused'), ...(at === undefined ? {} : { at }), refusal };
  return { ...stop('invalid', message, 'request refused'), refusal };
}

function isTooLong(words: string): boolean {
  if (/maximum allowed number of output tokens|^max_tokens:|^tools\.|characters?\b/i.test(words)) return false;
  return /prompt is too long|input is too long|too many (input )?tokens|context[ _-]?(length|window|limit|size)|exceeds? .{0,40}context|maximum (context|prompt|input|number of tokens)/i.test(words);
}

function isSignature(words: string): boolean {
  return /`?signature`?.{0,40}thinking|thinking.{0,80}(signature|cannot be modified|different conversation)/i.test(words)
    || (words.startsWith('messages.') && /\b(redacted_)?thinking\b/.test(words));
}

function isMedia(words: string): boolean {
  return /could not process (the )?image|image (dimensions|exceeds)|invalid image|the pdf (specified|has)|\bpdf\b.{0,40}(password|valid|pages)/i.test(words);
}

/** The block to blame, as `messages.N.content.M` in the details or in the words. */
function mediaAt({ code, details, message }: Said): { message: number; block: number } | undefined {
  const paths: readonly unknown[] = Array.isArray(details['paths']) ? details['paths'] : [];
  const path = code === 'image_dimensions_too_large' ? stringOf(paths[0]) : /\.(image|document)\b/.test(message) || isMedia(message) ? message : undefined;
  const found = /messages\.(\d+)\.content\.(\d+)/.exec(path ?? '');
  return found === null ? undefined : { message: Number(found[1]), block: Number(found[2]) };
}

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/;

/** A request that got no answer: the deepest cause names itself by a code. */
function connectionTrouble(thrown: unknown, { host }: Asked): Trouble {
  const { code, message } = deepest(thrown);
  if (code !== undefined && CERTIFICATE.test(code)) {
    return stop('network', `The certificate of ${host} is not trusted (${code}). Behind a company proxy, name its certificate in NODE_EXTRA_CA_CERTS.`, 'certificate not trusted');
  }
  if (code === 'ERR_INVALID_CHAR' || /invalid header (value|name)|ByteString/i.test(message)) return stop('auth', 'The key or a custom header holds a character that no header can. Run /login, or check ANTHROPIC_CUSTOM_HEADERS.', 'bad header');
  const what = code === 'ENOTFOUND' || code === 'EAI_AGAIN' ? `the name ${host} cannot be looked up (${code})`
    : code === 'ECONNREFUSED' ? `nothing answers at ${host} (${code})` : `the connection to ${host} broke (${code ?? message})`;
  return again('network', `Connection lost: ${what}. Check the network, the proxy and the base URL.`, `connection lost: ${what}`);
}

function deepest(thrown: unknown): { readonly code: string | undefined; readonly message: string } {
  let at: unknown = thrown;
  let code: string | undefined;
  for (let depth = 0; depth < 8; depth += 1) {
    code = stringOf(objOf(at)['code']) ?? code;
    const { cause, errors } = objOf(at);
    const next: unknown = cause ?? (Array.isArray(errors) ? (errors as readonly unknown[])[0] : undefined);
    if (next === undefined) break;
    at = next;
  }
  return { code, message: plain(messageOf(at)) };
}

function stop(why: FailureKind, message: string, reason: string): Trouble {
  return { why, message, reason, retry: 'no' };
}

function again(why: FailureKind, message: string, reason: string, retry: 'soon' | 'later' = 'soon'): Trouble {
  return { why, message, reason, retry };
}

/** Shorter words are no secrets, and stand everywhere. */
const SHORTEST_SECRET = 8;

/** The same without the key: some servers repeat it in what they say. */
export function withoutSecrets(trouble: Trouble, { apiKey, authToken, headers = {} }: Secrets): Trouble {
  const secrets = [apiKey, authToken, ...Object.values(headers)].filter((secret) => secret !== undefined && secret.trim().length >= SHORTEST_SECRET);
  const hide = (text: string): string => secrets.reduce<string>((shown, secret) => shown.replaceAll(secret?.trim() ?? '', '…'), text);
  return { ...trouble, message: hide(trouble.message), reason: hide(trouble.reason) };
}

interface Secrets {
  readonly apiKey?: string;
  readonly authToken?: string;
  readonly headers?: Readonly<Record<string, string>>;
}
