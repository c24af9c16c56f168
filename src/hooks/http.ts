import { lookup } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from '#lib/addresses.ts';
import { withDeadline } from '#lib/deadline.ts';
import { messageOf } from '#lib/errors.ts';
import { addedCertificates, proxyFor } from '#lib/proxies.ts';
import { failedRun, MOST_OUTPUT, type Ran } from './ran.ts';

export interface HttpRun {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Variables that headers may name; of these, `env` gives the values. */
  readonly allowedEnvVars: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The settings' own lists: undefined where they have none. */
  readonly allowedUrls: readonly string[] | undefined;
  readonly allowedVariables: readonly string[] | undefined;
  readonly input: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Sends an event to an address. It is this machine or one of the public internet, unless the settings name it; what it is a name
 * of is looked up once, and that is where the request goes. No redirect is followed. Never rejects.
 */
export async function runHttp(run: HttpRun): Promise<Ran> {
  const url = URL.canParse(run.url) ? new URL(run.url) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return failedRun(`${run.url} is no http address`);
  if (run.allowedUrls !== undefined && !run.allowedUrls.some((pattern) => covers(pattern, url.href))) return failedRun(`${url.href} is not in "allowedHttpHookUrls"`);
  try {
    return await withDeadline(run.timeoutMs, run.signal, (signal) => post(url, run, signal));
  } catch (error) {
    if (run.signal.aborted) return { kind: 'cancelled', stdout: '', stderr: '' };
    return error instanceof Error && error.name === 'DeadlineError' ? { kind: 'timedOut', stdout: '', stderr: '' } : failedRun(causeOf(error));
  }
}

function causeOf(error: unknown): string {
  return error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : messageOf(error);
}

/** `*` stands for anything. */
function covers(pattern: string, url: string): boolean {
  const source = pattern.split('*').map((piece) => piece.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`)).join('.*');
  return new RegExp(`^${source}$`).test(url) || new RegExp(`^${source}$`).test(url.replace(/\/$/, ''));
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

function mayDial(address: string): boolean {
  return loopback.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4') || isPublicAddress(address);
}

async function post(url: URL, run: HttpRun, signal: AbortSignal): Promise<Ran> {
  const { default: { Agent, fetch: undiciFetch, ProxyAgent } } = await import('undici');
  const ca = await addedCertificates(run.env);
  const tls = ca === undefined ? {} : { ca: [...ca] };
  const proxy = proxyFor(run.env, url);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = proxy === undefined ? await lookup(host, { all: true }) : [];
  const refused = run.allowedUrls === undefined ? addresses.find(({ address }) => !mayDial(address)) : undefined;
  if (refused !== undefined) return failedRun(`${url.host} is a machine of the local network (${refused.address}); name the address in "allowedHttpHookUrls" to allow it`);
  const [first] = addresses;
  const found: LookupFunction = (_host, options, done) => {
    if (options.all === true) done(null, addresses);
    else if (first === undefined) done(new Error('no address'), '', 4);
    else done(null, first.address, first.family);
  };
  const dispatcher = proxy === undefined ? new Agent({ connect: { ...tls, lookup: found } }) : new ProxyAgent({ uri: proxy, requestTls: tls, proxyTls: tls });
  try {
    const response = await undiciFetch(url, { method: 'POST', body: run.input, redirect: 'manual', signal, dispatcher, headers: { ...headersOf(run), 'content-type': 'application/json' } });
    const body = await bodyOf(response.body);
    return response.ok ? { kind: 'done', exitCode: 0, stdout: body, stderr: '' } : { kind: 'failed', stdout: body, stderr: '', problem: `it answered with status ${response.status}` };
  } finally {
    dispatcher.destroy().catch(() => undefined);
  }
}

/** Of a variable that may not be named nothing is sent. */
function headersOf({ headers, allowedEnvVars, allowedVariables, env }: HttpRun): Record<string, string> {
  const may = new Set(allowedEnvVars.filter((name) => allowedVariables === undefined || allowedVariables.includes(name)));
  const valueOf = (name: string): string => (may.has(name) ? env[name] ?? '' : '').replaceAll(/[\r\n]/g, '');
  return Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, value.replaceAll(/\$(?:\{(\w+)\}|(\w+))/g, (_, braced?: string, bare?: string) => valueOf(braced ?? bare ?? ''))]));
}

async function bodyOf(stream: AsyncIterable<Uint8Array> | null): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stream ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MOST_OUTPUT) return text.slice(0, MOST_OUTPUT);
  }
  return text + decoder.decode();
}
