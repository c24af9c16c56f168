import type { LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';
import { addedCertificates, type Environment, proxyFor } from '#lib/proxies.ts';
import type { Address } from './address.ts';

const CONNECT_MS = 10_000;
const IDLE_MS = 15_000;

export interface Line {
  readonly fetch: (url: URL, init: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal }) => Promise<Response>;
  close(): void;
}

export interface LineOptions {
  readonly env: Environment;
  readonly url: URL;
  /** Where to connect to: nothing is looked up again. */
  readonly addresses: readonly Address[];
  readonly connectMs?: number;
  /** The port that is really dialled for one of an address. */
  readonly port?: (port: number) => number;
}

/** A connection for one request, to addresses that were looked at, or to the proxy that the environment names. */
export async function openLine({ env, url, addresses, connectMs = CONNECT_MS, port = (same) => same }: LineOptions): Promise<Line> {
  // Bundled, a CommonJS package that is loaded at first use has its exports in the default one only.
  const { default: { Agent, buildConnector, fetch: undiciFetch, ProxyAgent } } = await import('undici');
  const ca = await addedCertificates(env);
  const tls = ca === undefined ? {} : { ca: [...ca] };
  const proxy = proxyFor(env, url);
  const common = { headersTimeout: IDLE_MS, bodyTimeout: IDLE_MS, pipelining: 0, maxHeaderSize: 32 * 1024 };
  const connect = buildConnector({ ...tls, lookup: lookupIn(addresses), timeout: connectMs });
  const dispatcher: Dispatcher = proxy === undefined
    ? new Agent({ ...common, connect: (options, done) => { connect({ ...options, port: String(port(Number(options.port) || (options.protocol === 'https:' ? 443 : 80))) }, done); } })
    : new ProxyAgent({ ...common, uri: proxy, requestTls: tls, proxyTls: tls });
  return {
    fetch: async (target, init) => (await undiciFetch(target, { ...init, redirect: 'manual', dispatcher })) as unknown as Response,
    close: () => { dispatcher.destroy().catch(() => undefined); },
  };
}

/** Answers with what is known already, in both forms in which sockets ask. */
function lookupIn(addresses: readonly Address[]): LookupFunction {
  return (_host, options, done) => {
    const [first] = addresses;
    if (first === undefined) done(new Error('no address'), '', 4);
    else if (options.all === true) done(null, [...addresses]);
    else done(null, first.address, first.family);
  };
}
