import { UserError } from '#lib/errors.ts';
import { oneLine } from '#lib/names.ts';

/** As the global one. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

const MOST_BYTES = 1024 * 1024;
const MOST_MS = 20_000;

const LOOPBACK = /^(?:localhost|(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/;

/** Whether an address may take part in signing in: https, or this machine. */
export function isSafe(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname));
}

/**
 * A fetch for what servers say of how to sign in: to safe addresses (and the server's own origin) only, twenty seconds and a
 * megabyte at most. Throws a UserError for an address that is not safe.
 */
export function carefulFetch(fetch: Fetch, origin: string, signal: AbortSignal): Fetch {
  return async (address, init) => {
    const url = new URL(address);
    if (!isSafe(url) && url.origin !== origin) throw new UserError(`the server names the address ${oneLine(url.origin)} for signing in, which is not https.`);
    const limit = new AbortController();
    const timer = setTimeout(() => { limit.abort(new UserError(`${oneLine(url.host)} had no answer within ${MOST_MS / 1000} s.`)); }, MOST_MS);
    try {
      const response = await fetch(url, { ...init, signal: AbortSignal.any([signal, limit.signal, ...(init?.signal ? [init.signal] : [])]) });
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
