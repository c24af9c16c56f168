import type { FetchLike } from '@modelcontextprotocol/client';
import { oneLine } from '#lib/names.ts';

const MOST_HOPS = 5;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** Where an answer sends one on to; undefined for an answer that is none of that kind, or leads to no address. */
export function sentOnTo({ status, headers }: Response, from: URL): URL | undefined {
  const to = REDIRECTS.includes(status) ? headers.get('location') : null;
  return to !== null && URL.canParse(to, from.href) ? new URL(to, from.href) : undefined;
}

/**
 * A fetch that is sent on within one server only, or to its https door: headers, tokens and messages are for that server and for
 * nobody that it names. Throws with one line where it is sent elsewhere.
 */
export function staying(inner: FetchLike): FetchLike {
  return async (address, init) => {
    let url = new URL(address);
    for (let hops = 0; ; hops += 1) {
      const response = await inner(url, { ...init, redirect: 'manual' });
      const to = sentOnTo(response, url);
      if (to === undefined) return response;
      await response.body?.cancel();
      if (!isSame(url, to)) throw new Error(`${oneLine(url.host)} sends requests on to ${oneLine(to.origin)}, which is another server: nothing was sent there. If it is the right one, put its address into the configuration`);
      if (hops >= MOST_HOPS || (response.status === 303 && init?.method !== undefined && init.method !== 'GET')) throw new Error(`${oneLine(url.host)} sends requests on without end`);
      url = to;
    }
  };
}

function isSame(from: URL, to: URL): boolean {
  const upgraded = from.protocol === 'http:' && to.protocol === 'https:' && from.port === '' && to.port === '';
  return to.username === '' && from.hostname === to.hostname && (from.origin === to.origin || upgraded);
}
