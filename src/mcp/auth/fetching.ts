import { UserError } from '#lib/errors.ts';
import { oneLine } from '#lib/names.ts';
import { sentOnTo } from '../redirects.ts';

/** As the global one. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

const MOST_BYTES = 1024 * 1024;
const MOST_MS = 20_000;

const LOOPBACK = /^(?:localhost|(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/;

const MOST_HOPS = 3;

/** Whether an address may take part in signing in to a server of `origin`: https; or this machine, for servers of this machine. */
export function isSafe(url: URL, origin: string): boolean {
  if (LOOPBACK.test(url.hostname)) return /^https?:$/.test(url.protocol) && URL.canParse(origin) && LOOPBACK.test(new URL(origin).hostname);
  return url.protocol === 'https:';
}

/**
 * A fetch for what servers say of how to sign in: to safe addresses (and the server's own origin) only, also where it is sent on,
 * twenty seconds and a megabyte at most. What is sent (codes, tokens) is not sent on. Throws a UserError for an address that is
 * not safe.
 */
export function carefulFetch(fetch: Fetch, origin: string, signal: AbortSignal): Fetch {
  const check = (url: URL): void => {
    if (!isSafe(url, origin) && url.origin !== origin) throw new UserError(`the server names the address ${oneLine(url.origin)} for signing in, which is ${url.protocol === 'https:' || LOOPBACK.test(url.hostname) ? 'one of this machine' : 'not https'}.`);
  };
  const get = async (url: URL, init: RequestInit, hops = 0): Promise<Response> => {
    check(url);
    const response = await fetch(url, { ...init, redirect: 'manual' });
    const to = sentOnTo(response, url);
    if (to === undefined) return response;
    await response.body?.cancel();
    if (hops >= MOST_HOPS || (init.method ?? 'GET') !== 'GET') throw new UserError(`${oneLine(url.host)} sends what belongs to the sign-in on to ${oneLine(to.origin)}; nothing was sent there.`);
    return get(to, init, hops + 1);
  };
  return async (address, init) => {
    const url = new URL(address);
    const limit = new AbortController();
    const timer = setTimeout(() => { limit.abort(new UserError(`${oneLine(url.host)} had no answer within ${MOST_MS / 1000} s.`)); }, MOST_MS);
    try {
      const response = await get(url, { ...init, signal: AbortSignal.any([signal, limit.signal, ...(init?.signal ? [init.signal] : [])]) });
      const body = await bodyOf(response, url);
      return new Response(response.status === 204 || response.status === 304 ? null : body, { status: response.status, statusText: response.statusText, headers: response.headers });
    } finally {
      clearTimeout(timer);
    }
  };
}

async function bodyOf(response: Response, url: URL): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MOST_BYTES) throw new UserError(`${oneLine(url.host)} answered with more than ${MOST_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}
