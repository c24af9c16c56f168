import { isLocalHost } from '#lib/addresses.ts';
import { whenAborted } from '#lib/deadline.ts';
import { messageOf } from '#lib/errors.ts';
import { type Environment, proxyFor } from '#lib/proxies.ts';
import { type AddressRules, checkAddress } from './address.ts';
import { type Line, openLine } from './connect.ts';

export interface GetOptions {
  readonly env: Environment;
  readonly rules: AddressRules;
  /** The port that is really dialled for one of an address. */
  readonly port?: (port: number) => number;
  /** Most bytes of a body, unpacked. */
  readonly mostBytes: number;
  readonly userAgent: string;
}

/** What came back for an address. */
export type Got =
  | { readonly kind: 'answer'; readonly url: URL; readonly status: number; readonly type: string; readonly bytes: Buffer; /** There was more than may be taken. */ readonly cut: boolean }
  /** It leads to another host, which nobody has allowed yet. */
  | { readonly kind: 'moved'; readonly url: URL; readonly status: number; readonly to: URL }
  | { readonly kind: 'problem'; readonly message: string };

const MOST_HOPS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** An address without encryption is asked for with it first; where nobody answers there, not for long. */
const UPGRADE_MS = 3_000;
const ACCEPT = 'text/markdown, text/html;q=0.9, application/json;q=0.8, text/plain;q=0.8, */*;q=0.5';

/** Fetches an address. Redirects on the same host are followed, each one looked at like the first. Throws when the signal aborts. */
export async function get(start: URL, named: boolean, options: GetOptions, signal: AbortSignal): Promise<Got> {
  let url = start;
  for (let hop = 0; hop <= MOST_HOPS; hop += 1) {
    const got = await askFor(url, named, options, signal);
    if (got.kind !== 'redirect') return got;
    const { to, status } = got;
    if (to === undefined) return { kind: 'problem', message: `${got.url.host} answered with a redirect (${status}) that leads to no address.` };
    const downgrade = to.protocol === 'http:' && start.protocol === 'https:';
    if (to.host !== got.url.host && hostOf(to) !== hostOf(start) || downgrade) return { kind: 'moved', url: got.url, status, to };
    url = to;
  }
  return { kind: 'problem', message: `${start.host} sends one from redirect to redirect; given up after ${MOST_HOPS}.` };
}

/** Scheme and usual ports apart, the same host. */
function hostOf({ hostname, port }: URL): string {
  return `${hostname}:${port}`;
}

type Hop = Got | { readonly kind: 'redirect'; readonly url: URL; readonly status: number; readonly to: URL | undefined };

async function askFor(url: URL, named: boolean, options: GetOptions, signal: AbortSignal): Promise<Hop> {
  const safer = saferThan(url);
  if (safer === undefined) return await ask(url, named, options, signal);
  const upgraded = await ask(safer, named, options, signal, UPGRADE_MS);
  // A redirect back to the address without encryption would go on for ever.
  const back = upgraded.kind === 'redirect' && upgraded.to?.protocol === 'http:' && upgraded.to.host === url.host;
  return upgraded.kind === 'problem' || back ? await ask(url, named, options, signal) : upgraded;
}

/** The same address with encryption, for one of a public host on the usual port. */
export function saferThan(url: URL): URL | undefined {
  if (url.protocol !== 'http:' || url.port !== '' || isLocalHost(url.hostname) || /^\[|^[\d.]+$/.test(url.hostname)) return undefined;
  const safer = new URL(url);
  safer.protocol = 'https:';
  return safer;
}

async function ask(url: URL, named: boolean, options: GetOptions, signal: AbortSignal, connectMs?: number): Promise<Hop> {
  const { env, rules, port } = options;
  const checked = await Promise.race([checkAddress(url, { named, proxied: proxyFor(env, url) !== undefined }, rules), whenAborted(signal)]);
  if ('problem' in checked) return { kind: 'problem', message: checked.problem };
  const line = await openLine({ env, url, addresses: checked.addresses, ...(connectMs !== undefined && { connectMs }), ...(port !== undefined && { port }) });
  try {
    return await answerOn(line, url, options, signal);
  } catch (error) {
    signal.throwIfAborted();
    return { kind: 'problem', message: `${url.host} cannot be fetched: ${whyOf(error)}` };
  } finally {
    line.close();
  }
}

async function answerOn(line: Line, url: URL, { mostBytes, userAgent }: GetOptions, signal: AbortSignal): Promise<Hop> {
  const response = await line.fetch(url, { headers: { accept: ACCEPT, 'accept-language': 'en, *;q=0.5', 'user-agent': userAgent }, signal });
  const { status } = response;
  const location = response.headers.get('location');
  if (REDIRECTS.has(status)) {
    await response.body?.cancel().catch(() => undefined);
    return { kind: 'redirect', url, status, to: location !== null && URL.canParse(location, url.href) ? withoutSecrets(new URL(location, url.href)) : undefined };
  }
  return { kind: 'answer', url, status, type: response.headers.get('content-type') ?? '', ...await bodyOf(response, mostBytes) };
}

/** What a server puts before the host of a redirect is nobody's to send. */
function withoutSecrets(url: URL): URL | undefined {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return undefined;
  url.username = '';
  url.password = '';
  url.hash = '';
  return url;
}

async function bodyOf({ body }: Response, mostBytes: number): Promise<{ readonly bytes: Buffer; readonly cut: boolean }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = body?.getReader();
  for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
    chunks.push(next.value);
    size += next.value.length;
    if (size <= mostBytes) continue;
    await reader?.cancel().catch(() => undefined);
    return { bytes: Buffer.concat(chunks).subarray(0, mostBytes), cut: true };
  }
  return { bytes: Buffer.concat(chunks), cut: false };
}

const WHYS: readonly (readonly [RegExp, string])[] = [
  [/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME|ERR_TLS|EPROTO|SSL/i, 'its certificate or encryption is not sound'],
  [/ECONNREFUSED/, 'nobody listens there'], [/ECONNRESET|UND_ERR_SOCKET|EPIPE|other side closed/i, 'it broke the connection off'],
  [/TIMEOUT|ETIMEDOUT/i, 'it does not answer in time'], [/ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL/, 'it cannot be reached from here'],
  [/Z_|ERR__ERROR|incorrect header check|Decompression/i, 'what it sent cannot be unpacked'],
];

/** The causes of a failed fetch lie inside one another. */
function whyOf(error: unknown): string {
  const words: string[] = [];
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; depth += 1) {
    const { code } = at as { readonly code?: unknown };
    words.push(...(typeof code === 'string' ? [code] : []), messageOf(at));
    at = at instanceof AggregateError ? at.errors[0] : at.cause;
  }
  const all = words.join(' ');
  const known = WHYS.find(([pattern]) => pattern.test(all));
  const detail = words.findLast((word) => word !== 'fetch failed') ?? 'no reason was given';
  return known === undefined ? `${detail}.` : `${known[1]} (${detail.slice(0, 160)}).`;
}
