import { readFile } from 'node:fs/promises';
import { messageOf, UserError } from '#lib/errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Hosts of this machine are never asked for through a proxy, whatever NO_PROXY says. */
const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * A fetch that goes through the proxies of HTTP_PROXY, HTTPS_PROXY and NO_PROXY (upper or lower case) and also trusts the
 * certificates of NODE_EXTRA_CA_CERTS; undefined when none of them is set. Throws a `UserError` for a file or URL that is no good.
 */
export async function proxyFetch(env: Environment, baseURL: string): Promise<typeof fetch | undefined> {
  const read = (name: string): string | undefined => env[name.toLowerCase()] || env[name] || undefined;
  const local = LOOPBACK.test(URL.canParse(baseURL) ? new URL(baseURL).hostname : '');
  const [httpProxy, httpsProxy] = local ? [] : [read('HTTP_PROXY'), read('HTTPS_PROXY')];
  const extra = unknownCertificates(env);
  if (httpProxy === undefined && httpsProxy === undefined && extra === undefined) return undefined;
  const ca = extra === undefined ? undefined : await certificates(extra);
  const tls = ca === undefined ? {} : { connect: { ca: [...ca] }, requestTls: { ca: [...ca] }, proxyTls: { ca: [...ca] } };
  // Bundled, a CommonJS package that is loaded at first use has its exports in the default one only.
  const { default: { EnvHttpProxyAgent, fetch: undiciFetch } } = await import('undici');
  try {
    // Absent values are given as empty ones, else undici would look at the process's own environment.
    const dispatcher = new EnvHttpProxyAgent({ httpProxy: httpProxy ?? '', httpsProxy: httpsProxy ?? '', noProxy: read('NO_PROXY') ?? '', ...tls });
    const proxied = (input: string | URL, init: RequestInit = {}): Promise<unknown> => undiciFetch(input, { ...init, dispatcher } as Parameters<typeof undiciFetch>[1]);
    return proxied as unknown as typeof fetch;
  } catch (error) {
    throw new UserError(`The proxy cannot be used: ${messageOf(error)}. Check HTTP_PROXY and HTTPS_PROXY.`);
  }
}

/** Node takes up at its start what its own environment names; another file is ours to read. */
function unknownCertificates(env: Environment): string | undefined {
  const named = env['NODE_EXTRA_CA_CERTS'] || undefined;
  return named === process.env['NODE_EXTRA_CA_CERTS'] ? undefined : named;
}

/** Node's own certificates and those of the file. Loaded here because Node reads its list at the first look. */
async function certificates(path: string): Promise<readonly string[]> {
  const { rootCertificates } = await import('node:tls');
  try {
    return [...rootCertificates, await readFile(path, 'utf8')];
  } catch (error) {
    throw new UserError(`NODE_EXTRA_CA_CERTS cannot be read: ${messageOf(error)}.`);
  }
}
