import { messageOf, UserError } from '#lib/errors.ts';
import { addedCertificates, type Environment, LOOPBACK, variable } from '#lib/proxies.ts';

/**
 * A fetch that goes through the proxies of HTTP_PROXY, HTTPS_PROXY and NO_PROXY (upper or lower case) and also trusts the
 * certificates of NODE_EXTRA_CA_CERTS; undefined when none of them is set. Throws a `UserError` for a file or URL that is no good.
 */
export async function proxyFetch(env: Environment, baseURL: string): Promise<typeof fetch | undefined> {
  const read = (name: string): string | undefined => variable(env, name);
  const local = LOOPBACK.test(URL.canParse(baseURL) ? new URL(baseURL).hostname : '');
  const [httpProxy, httpsProxy] = local ? [] : [read('HTTP_PROXY'), read('HTTPS_PROXY')];
  const ca = await addedCertificates(env);
  if (httpProxy === undefined && httpsProxy === undefined && ca === undefined) return undefined;
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
