import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Environment } from '#lib/proxies.ts';
import type { Address } from '#tools/web/address.ts';
import { createWeb, type Fetched, type Web } from '#tools/web/web.ts';
import { CERTIFICATE, KEY } from '../../client/certificate.ts';
import { SITE_CERTIFICATE, SITE_KEY } from './certificate.ts';

/** In tests this one of the loopback addresses stands for the public internet, all others for what is inside. */
export const OUTSIDE = '127.0.0.2';
export const INSIDE = '127.0.0.1';

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export interface Site {
  /** `METHOD host path` of each request. */
  readonly asked: readonly string[];
  /** How many connections there were. */
  readonly connections: () => number;
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** A server with a page for each path; others are 404. */
export async function site(pages: Readonly<Record<string, Answer | string>>, { address = OUTSIDE, tls = false }: { readonly address?: string; readonly tls?: boolean } = {}): Promise<Site> {
  const asked: string[] = [];
  let connections = 0;
  const listener: RequestListener = (request, response) => {
    asked.push(`${request.method} ${request.headers.host} ${request.url}`);
    const page = pages[(request.url ?? '').split('?')[0] ?? ''];
    if (page === undefined) response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Nothing here</h1>');
    else if (typeof page === 'string') response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
    else page(request, response);
  };
  const server = tls ? createHttps(address === OUTSIDE ? { key: SITE_KEY, cert: SITE_CERTIFICATE } : { key: KEY, cert: CERTIFICATE }, listener) : createServer(listener);
  server.on('connection', () => { connections += 1; });
  await new Promise<void>((listening) => { server.listen(0, address, listening); });
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise<void>((closed) => { server.close(() => { closed(); }); });
  };
  onTestFinished(close);
  return { asked, connections: () => connections, port: (server.address() as AddressInfo).port, close };
}

export interface Names {
  readonly [host: string]: readonly string[] | undefined;
}

const LISTED: Names = { 'site.test': [OUTSIDE], 'other.test': [OUTSIDE], 'inner.test': [INSIDE], 'both.test': [OUTSIDE, INSIDE], localhost: [INSIDE] };

export const addresses = (list: readonly string[]): readonly Address[] => list.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

export interface Browser {
  readonly web: Web;
  readonly looked: readonly string[];
  open(url: string, named?: boolean, signal?: AbortSignal): Promise<Fetched>;
}

/** The web with names of its own. `http` and `https`: ports that stand for 80 and 443. */
export function browser(more: { readonly names?: (host: string) => readonly string[]; readonly http?: number; readonly https?: number; readonly now?: () => number; readonly totalMs?: number; readonly mostBytes?: number; readonly env?: Environment } = {}): Browser {
  const looked: string[] = [];
  const web = createWeb({
    env: () => more.env ?? {}, worker: new URL('file:///page-worker.ts'), version: 'test',
    rules: {
      resolve: (host) => {
        looked.push(host);
        const found = more.names?.(host) ?? LISTED[host];
        return found === undefined ? Promise.reject(new Error('ENOTFOUND')) : Promise.resolve(addresses(found));
      },
      isPublic: (address) => address === OUTSIDE,
    },
    port: (port) => (port === 80 ? more.http ?? 1 : port === 443 ? more.https ?? 1 : port),
    ...(more.now !== undefined && { now: more.now }), ...(more.totalMs !== undefined && { totalMs: more.totalMs }), ...(more.mostBytes !== undefined && { mostBytes: more.mostBytes }),
  });
  return { web, looked, open: (url, named = false, signal = new AbortController().signal) => web.fetch(new URL(url), named, signal) };
}

export const moved = (location: string, status = 302): Answer => (_, response) => { response.writeHead(status, { location }).end(); };
export const typed = (type: string, body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}): Answer => (_, response) => { response.writeHead(200, { ...(type === '' ? {} : { 'content-type': type }), ...headers }).end(body); };
