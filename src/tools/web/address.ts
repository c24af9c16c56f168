import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isLocalHost, isPublicAddress } from '#lib/addresses.ts';

export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

/** All addresses of a host; none when there is no such host. */
export type Resolve = (host: string) => Promise<readonly Address[]>;

/** What may be connected to: addresses that were looked at, or why not (one line). */
export type Checked = { readonly addresses: readonly Address[] } | { readonly problem: string };

export interface AddressRules {
  readonly resolve: Resolve;
  readonly isPublic: (address: string) => boolean;
}

const LONGEST_URL = 4096;
/** Services that listen for other programs, not for readers of pages. */
const SERVICE_PORTS: ReadonlySet<number> = new Set([
  22, 23, 25, 111, 135, 139, 389, 445, 514, 587, 636, 873, 1433, 1521, 2049, 2375, 2376, 2379, 2380, 3306, 3389, 5432, 5672, 5900, 5984, 6379, 6443, 7001,
  8086, 8500, 9092, 9200, 9300, 10250, 10255, 11211, 15672, 27017, 50000,
]);

export const resolveBySystem: Resolve = async (host) => {
  const found = await lookup(host, { all: true, order: 'verbatim' });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
};

export const OPEN_RULES: AddressRules = { resolve: resolveBySystem, isPublic: isPublicAddress };

/** An address of the web as it was written, or why it is none that is fetched. */
export function webAddress(written: string): URL | { readonly problem: string } {
  if (written.length > LONGEST_URL) return { problem: 'The address is too long.' };
  // Parsers drop line ends, and others stop at a zero: what is shown must be what is fetched.
  if (/[\p{Cc}\p{Cf}\s]/u.test(written.trim())) return { problem: 'The address holds blanks or characters that cannot be seen.' };
  if (!URL.canParse(written.trim())) return { problem: 'That is no address; it must be whole, such as https://example.com/page.' };
  const url = new URL(written.trim());
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return { problem: `Only http and https are fetched, not ${url.protocol.slice(0, 20)}` };
  if (url.username !== '' || url.password !== '') return { problem: 'The address holds a name or password, which is not sent.' };
  if (!/^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\])$/.test(url.hostname)) return { problem: 'The host of this address has characters that no host has.' };
  url.hash = '';
  return url;
}

/**
 * Looks a host's addresses up and refuses it if any of them is not public, so that no name leads to this machine or its
 * network. `named`: the user has named this very host, which is visibly a local one. `proxied`: the proxy looks the name up,
 * and one that is not known here is left to it.
 */
export async function checkAddress(url: URL, how: { readonly named: boolean; readonly proxied: boolean }, { resolve, isPublic }: AddressRules): Promise<Checked> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (!how.named && isLocalHost(url.hostname)) return { problem: `${host} is this machine or one of its network. It is fetched only where the user allows it by name: WebFetch(domain:${host}).` };
  const port = Number(url.port);
  if (!how.named && SERVICE_PORTS.has(port)) return { problem: `Port ${port} is one of services that are no web pages; it is not fetched.` };
  const addresses = isIP(host) === 0 ? await resolve(host).catch(() => []) : [{ address: host, family: isIP(host) === 6 ? 6 as const : 4 as const }];
  if (addresses.length === 0) return how.proxied ? { addresses } : { problem: `There is no host named ${host}, or it cannot be looked up now.` };
  const inside = how.named ? undefined : addresses.find(({ address }) => !isPublic(address));
  return inside === undefined ? { addresses } : { problem: `${host} leads to ${inside.address}, which is not on the public internet; it is not fetched.` };
}
