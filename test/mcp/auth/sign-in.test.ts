import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { McpServerConfig } from '#domain/mcp.ts';
import { type LoginOptions, signIn, signOut } from '#mcp/auth/login.ts';
import { createAuthProvider } from '#mcp/auth/provider.ts';
import { readLogin } from '#mcp/auth/tokens.ts';
import { connect } from '#mcp/connect.ts';
import { createLog } from '#mcp/log.ts';
import { browse, type OAuthOptions, type OAuthServer, startOAuthServer } from '../../support/oauth-server.ts';
import { tempFolder } from '../../support/temp.ts';

type Remote = Extract<McpServerConfig, { readonly type: 'http' | 'sse' }>;

interface Ground {
  readonly server: OAuthServer;
  readonly file: string;
  readonly shown: readonly URL[];
  /** What the user's browser saw in the end. */
  readonly pages: readonly { readonly status: number; readonly text: string }[];
  login(options?: Partial<Remote> & Partial<Pick<LoginOptions, 'signal' | 'limitMs' | 'paste' | 'open'>>): Promise<string>;
  /** The SDK's own client, with our tokens. */
  tools(): Promise<readonly string[]>;
}

async function ground(options: OAuthOptions = {}): Promise<Ground> {
  const server = await startOAuthServer(options);
  const file = join(tempFolder(), 'home', 'mcp-tokens.json');
  const shown: URL[] = [];
  const pages: { readonly status: number; readonly text: string }[] = [];
  const browsing: Promise<void>[] = [];
  onTestFinished(async () => { await Promise.allSettled(browsing); });
  return {
    server, file, shown, pages,
    async login({ signal = new AbortController().signal, limitMs = 15_000, paste, open, ...config } = {}) {
      const line = await signIn({
        name: 'guarded', config: { type: 'http', url: server.url, headers: {}, ...config }, file, fetch, signal, limitMs, ...(paste !== undefined && { paste }),
        show: (url) => { shown.push(url); },
        open: open ?? ((url) => { browsing.push(browse(url).then((page) => { pages.push(page); }, () => undefined)); }),
      });
      await Promise.allSettled(browsing);
      return line;
    },
    async tools() {
      const link = await connect({
        config: { type: 'http', url: server.url, headers: {} }, env: {}, cwd: '/', log: createLog(), version: '0', timeoutMs: 10_000, auth: createAuthProvider({ name: 'guarded', url: server.url, file, fetch }),
      }, new AbortController().signal);
      try {
        return (await link.client.listTools()).tools.map(({ name }) => name);
      } finally {
        await link.close();
      }
    },
  };
}

describe('signing in', () => {
  it('takes the whole way: discovery, registration, PKCE, the browser and back', async () => {
    const { server, login, shown, pages, file, tools } = await ground({ expiresIn: 3600 });
    await expect(tools()).rejects.toThrow('login');
    expect(await login()).toBe('Signed in to guarded.');
    expect(server.registrations).toEqual([expect.objectContaining({ client_name: 'Pinion', token_endpoint_auth_method: 'none' })]);
    const [url] = shown;
    expect(url?.origin).toBe(server.origin);
    expect(url?.searchParams.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(url?.searchParams.get('state')).toMatch(/^[\w-]{32}$/);
    expect(url?.searchParams.get('resource')).toBe(server.url);
    expect(server.scopes).toEqual(['read']);
    expect(pages).toEqual([{ status: 200, text: expect.stringContaining('signed in to guarded') as string }]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await tools()).toEqual(['greet']);
    // The door is closed.
    await expect(browse(url?.searchParams.get('redirect_uri') ?? '')).rejects.toThrow();
  });

  it('takes a client that was registered by hand, with its port', async () => {
    const { server, login, shown } = await ground({ noRegistration: true });
    await expect(login()).rejects.toThrow(/guarded: .*no program register itself.*oauth/);
    const port = await freePort();
    expect(await login({ oauth: { clientId: 'by-hand', callbackPort: port, scopes: 'read write' } })).toBe('Signed in to guarded.');
    expect(shown.at(-1)?.searchParams.get('redirect_uri')).toBe(`http://localhost:${port}/callback`);
    expect(server.scopes).toEqual(['read write']);
    expect(server.registrations).toEqual([]);
  });

  it('says which port is taken', async () => {
    const { login } = await ground();
    const other = createServer();
    await new Promise<void>((resolve) => { other.listen(0, '127.0.0.1', resolve); });
    onTestFinished(() => { other.close(); });
    const { port } = other.address() as AddressInfo;
    await expect(login({ oauth: { callbackPort: port } })).rejects.toThrow(`port ${port} ("callbackPort") is taken`);
  });

  it('takes metadata from where the configuration says', async () => {
    const { server, login } = await ground();
    expect(await login({ oauth: { authServerMetadataUrl: `${server.origin}/.well-known/oauth-authorization-server` } })).toBe('Signed in to guarded.');
    expect(server.asked).not.toContain('GET /.well-known/oauth-protected-resource/mcp');
    await expect(login({ oauth: { authServerMetadataUrl: `${server.origin}/nowhere` } })).rejects.toThrow('tells no authorization server');
  });

  it('takes no answer of another state, and waits on', async () => {
    const { login, pages, file } = await ground({ wrongState: 'of-somebody-else' });
    await expect(login({ limitMs: 400 })).rejects.toThrow('nobody signed in');
    expect(pages).toEqual([{ status: 400, text: expect.stringContaining('does not belong') as string }]);
    expect(existsSync(file)).toBe(false);
  });

  it('says why the server refused, to the user and in the browser, defused', async () => {
    const { login, pages, file } = await ground({ authorizeError: '<script>alert(1)</script>\u001b[2J' });
    await expect(login()).rejects.toThrow(/guarded: The server refused: [^\u001b<>]*$/);
    await expect.poll(() => pages[0]?.status).toBe(400);
    expect(pages[0]?.text).not.toContain('<script>');
    expect(existsSync(file)).toBe(false);
  });

  it('ends with the signal, and closes its door', async () => {
    const { login, shown } = await ground();
    const stop = new AbortController();
    const ended = login({ signal: stop.signal, open: () => { stop.abort(); } });
    await expect(ended).rejects.toThrow('interrupted');
    await expect(browse(shown[0]?.searchParams.get('redirect_uri') ?? '')).rejects.toThrow();
  });

  it('takes an address that is pasted, but only the right one', async () => {
    const { login, tools } = await ground();
    const pastes = ['nonsense', 'http://127.0.0.1/callback?code=x&state=wrong'];
    let landed: string | undefined;
    const line = await login({
      open: (url) => { void fetch(url, { redirect: 'manual' }).then((response) => { landed = response.headers.get('location') ?? ''; }); },
      paste: async () => {
        const next = pastes.shift();
        if (next !== undefined) return next;
        await expect.poll(() => landed).toBeDefined();
        return landed;
      },
    });
    expect(line).toBe('Signed in to guarded.');
    expect(await tools()).toEqual(['greet']);
  });

  it('is given up where the user pastes nothing', async () => {
    const { login } = await ground();
    await expect(login({ open: () => undefined, paste: () => Promise.resolve(undefined) })).rejects.toThrow('interrupted');
  });

  it('opens no address that is not https or of this machine', async () => {
    for (const endpoint of ['http://example.com/authorize', 'file:///etc/passwd', 'javascript:alert(1)']) {
      const opened: URL[] = [];
      const { login, shown } = await ground({ authorizationEndpoint: endpoint });
      await expect(login({ open: (url) => { opened.push(url); } })).rejects.toThrow(/guarded: /);
      expect([opened, shown]).toEqual([[], []]);
    }
  });

  it('does not follow a server to an authorization server that is not https', async () => {
    const { login } = await ground({ issuer: 'http://169.254.169.254' });
    await expect(login()).rejects.toThrow('not https');
  });

  it('needs a server that wants it', async () => {
    const { login } = await ground({ open: true });
    await expect(login()).rejects.toThrow('does not ask for a sign-in');
    await expect(login({ headers: { authorization: 'Bearer x' } })).rejects.toThrow('Authorization header in its configuration');
    await expect(signIn({ name: 'p', config: { type: 'stdio', command: 'x', args: [], env: {} }, file: '/nowhere', fetch, show: () => undefined, open: () => undefined, signal: new AbortController().signal })).rejects.toThrow('nothing to sign in to');
    await expect(login({ url: `http://127.0.0.1:${await freePort()}/mcp` })).rejects.toThrow(/guarded: it cannot be reached: .*ECONNREFUSED/);
  });
});

describe('a token', () => {
  it('is renewed when it is refused, and before it ends', async () => {
    const { server, login, tools, file } = await ground({ expiresIn: 10 });
    await login();
    const first = readLogin(file, 'guarded', server.url)?.accessToken;
    // It ends within half a minute: it is renewed before it is used.
    expect(await tools()).toEqual(['greet']);
    const second = readLogin(file, 'guarded', server.url)?.accessToken;
    expect(second).not.toBe(first);
    server.end();
    expect(await tools()).toEqual(['greet']);
    expect(server.exchanges.filter(({ grant_type: type }) => type === 'refresh_token').length).toBeGreaterThan(1);
  });

  it('is renewed by one of several that find it refused', async () => {
    const { server, login, tools } = await ground({ renewalMs: 150 });
    await login();
    server.end();
    expect(await Promise.all([tools(), tools(), tools()])).toEqual([['greet'], ['greet'], ['greet']]);
    expect(server.exchanges.filter(({ grant_type: type }) => type === 'refresh_token')).toHaveLength(1);
  });

  it('that cannot be renewed any more is forgotten: the user must sign in', async () => {
    const { server, login, tools, file } = await ground();
    await login();
    server.end({ refresh: true });
    await expect(tools()).rejects.toThrow('it wants a login');
    expect(readLogin(file, 'guarded', server.url)).toBeUndefined();
    await login();
    expect(await tools()).toEqual(['greet']);
  });

  it('survives an authorization server that is down for a while', async () => {
    const { server, login, tools, file } = await ground();
    await login();
    server.end();
    server.breakDown(true);
    await expect(tools()).rejects.toThrow('could not be renewed');
    expect(readLogin(file, 'guarded', server.url)).toBeDefined();
    server.breakDown(false);
    expect(await tools()).toEqual(['greet']);
  });

  it('belongs to one name and one address', async () => {
    const { server, login, file } = await ground();
    await login();
    expect(readLogin(file, 'guarded', server.url)).toBeDefined();
    expect(readLogin(file, 'guarded', `${server.url}/other`)).toBeUndefined();
    expect(readLogin(file, 'another', server.url)).toBeUndefined();
  });

  it('is forgotten and revoked by signing out', async () => {
    const { server, login, file, tools } = await ground();
    await login();
    expect(await signOut({ name: 'guarded', url: server.url, file, fetch })).toBe('Signed out of guarded.');
    expect(server.asked).toContain('POST /revoke');
    expect(readFileSync(file, 'utf8')).not.toContain('accessToken');
    expect(await signOut({ name: 'guarded', url: server.url, file, fetch })).toContain('no sign-in');
    await expect(tools()).rejects.toThrow('it wants a login');
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => { server.close(resolve); });
  return port;
}
