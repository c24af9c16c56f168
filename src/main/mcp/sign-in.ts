import type { AuthProvider } from '@modelcontextprotocol/client';
import type { ConfiguredServer } from '#domain/mcp.ts';
import type { Fetch } from '#mcp/auth/fetching.ts';
import type { Launch } from '#mcp/config/launch.ts';
import type { Place } from '#main/place.ts';

/** Signing in to servers, with the user's proxies and browser. */
export interface SignIn {
  /** The way to an address, by way of proxies. */
  fetchFor(url: string): Promise<Fetch>;
  /** What gives a server's transport its token; undefined where there is none to give. */
  auth(server: ConfiguredServer, launch: Launch): Promise<AuthProvider | undefined>;
  /** One line: what came of it. Throws a UserError (one line) when it came to nothing. `show` gets the address, which is opened too. */
  login(server: ConfiguredServer, launch: Launch, show: (url: string) => void, signal: AbortSignal, paste?: (signal: AbortSignal) => Promise<string | undefined>): Promise<string>;
  /** One line: what came of it. */
  logout(server: ConfiguredServer, launch: Launch): Promise<string>;
}

export function createSignIn({ home, env }: Place): SignIn {
  const file = home.mcp.tokens;
  const fetchFor = async (url: string): Promise<Fetch> => {
    const { proxyFetch } = await import('#client/proxy.ts');
    return await proxyFetch(env, url) ?? fetch;
  };
  return {
    fetchFor,
    async auth({ name }, { config }) {
      if (config.type === 'stdio') return undefined;
      const { authOf } = await import('#mcp/auth/provider.ts');
      return authOf(name, config, { file, fetch: await fetchFor(config.url) });
    },
    async login({ name }, { config }, show, signal, paste) {
      const [{ signIn }, { openInBrowser }] = await Promise.all([import('#mcp/auth/login.ts'), import('#mcp/auth/open.ts')]);
      return signIn({
        name, config, file, fetch: await fetchFor(config.type === 'stdio' ? 'http://localhost' : config.url), signal, show: (url) => { show(url.href); },
        open: (url) => { openInBrowser(url, env); }, ...(paste !== undefined && { paste }),
      });
    },
    async logout({ name }, { config }) {
      if (config.type === 'stdio') return `${name} is a program on this machine: there is no sign-in to forget.`;
      const { signOut } = await import('#mcp/auth/login.ts');
      return signOut({ name, url: config.url, file, fetch: await fetchFor(config.url) });
    },
  };
}
