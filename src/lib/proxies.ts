import { readFile } from 'node:fs/promises';
import { messageOf, UserError } from './errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A variable in lower or upper case; an empty one is none. */
export function variable(env: Environment, name: string): string | undefined {
  return env[name.toLowerCase()] || env[name] || undefined;
}

/** Hosts of this machine are never asked for through a proxy, whatever NO_PROXY says. */
export const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/;

/** The proxy through which an address is asked for, by HTTP_PROXY, HTTPS_PROXY and NO_PROXY; undefined: directly. */
export function proxyFor(env: Environment, url: URL): string | undefined {
  const proxy = variable(env, url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  return proxy === undefined || LOOPBACK.test(url.hostname) || isExcepted(variable(env, 'NO_PROXY') ?? '', url) ? undefined : proxy;
}

/** Entries are hosts, with all below them, with a port or not; `*` is every host. */
function isExcepted(list: string, { hostname, port, protocol }: URL): boolean {
  const actual = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  return list.split(/[\s,]+/).filter((entry) => entry !== '').some((entry) => {
    if (entry === '*') return true;
    const [, name = '', only] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    const host = name.replace(/^\*?\./, '');
    return (only === undefined || only === actual) && host !== '' && (hostname === host || hostname.endsWith(`.${host}`));
  });
}

/** Node's own certificates and those that NODE_EXTRA_CA_CERTS names, where Node has not taken them up at its start; undefined when there are none to add. */
export async function addedCertificates(env: Environment): Promise<readonly string[] | undefined> {
  const named = env['NODE_EXTRA_CA_CERTS'] || undefined;
  if (named === undefined || named === process.env['NODE_EXTRA_CA_CERTS']) return undefined;
  // Loaded here because Node reads its list at the first look.
  const { rootCertificates } = await import('node:tls');
  try {
    return [...rootCertificates, await readFile(named, 'utf8')];
  } catch (error) {
    throw new UserError(`NODE_EXTRA_CA_CERTS cannot be read: ${messageOf(error)}.`);
  }
}
