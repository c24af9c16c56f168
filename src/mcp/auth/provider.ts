import { type AuthProvider, OAuthError, OAuthErrorCode, refreshAuthorization, UnauthorizedError } from '@modelcontextprotocol/client';
import type { McpServerConfig } from '#domain/mcp.ts';
import { messageOf, UserError } from '#lib/errors.ts';
import { type PidLock, takeLock } from '#lib/pid-lock.ts';
import { sha256 } from '#lib/hash.ts';
import { carefulFetch, type Fetch } from './fetching.ts';
import { endOf, forgetLogin, keepLogin, LEAST_LIFE_MS, type Login, readLogin } from './tokens.ts';

export interface ProviderOptions {
  readonly name: string;
  /** With variables put in. */
  readonly url: string;
  /** Where logins are kept. */
  readonly file: string;
  readonly fetch: Fetch;
}

const LOCK_TRIES = 300;
const LOCK_WAIT_MS = 50;

/** The door of a server's transport to its sign-in; none for a program, nor where the configuration brings an Authorization header. */
export function authOf(name: string, config: McpServerConfig, { file, fetch }: Pick<ProviderOptions, 'file' | 'fetch'>): AuthProvider | undefined {
  if (config.type === 'stdio' || Object.keys(config.headers).some((header) => header.toLowerCase() === 'authorization')) return undefined;
  return createAuthProvider({ name, url: config.url, file, fetch });
}

/**
 * The token of a server, for its transport (`authProvider`). Renews it before it ends and when it is refused. Where the user must
 * sign in (again), `onUnauthorized` throws the SDK's UnauthorizedError: the server's state is then `login`.
 */
export function createAuthProvider({ name, url, file, fetch }: ProviderOptions): AuthProvider {
  let used: string | undefined;
  const options = { name, url, file, fetch };
  return {
    async token() {
      const login = readLogin(file, name, url);
      const ends = login?.expiresAtMs !== undefined && login.expiresAtMs - LEAST_LIFE_MS < Date.now();
      const now = login !== undefined && ends && login.refreshToken !== undefined ? await renew(options, login.accessToken).catch(() => login) : login;
      used = now?.accessToken;
      return used;
    },
    async onUnauthorized() {
      const login = readLogin(file, name, url);
      if (login === undefined) throw new UnauthorizedError('it wants you to sign in');
      // Another process has renewed it meanwhile.
      if (login.accessToken !== used) return;
      if (login.refreshToken === undefined) throw new UnauthorizedError('the sign-in has ended');
      if (await renew(options, login.accessToken) === undefined) throw new UnauthorizedError('the sign-in has ended');
    },
  };
}

/** New tokens for old ones, one process at a time. Undefined: the old ones are worth nothing any more, and forgotten. Throws a UserError where it could not be tried. */
async function renew({ name, url, file, fetch }: ProviderOptions, old: string): Promise<Login | undefined> {
  const lock = await patientLock(`${file}.${sha256(`${name} ${url}`).slice(0, 12)}.lock`);
  try {
    const login = readLogin(file, name, url);
    if (login === undefined || login.accessToken !== old) return login;
    if (login.refreshToken === undefined) return undefined;
    const tokens = await refreshAuthorization(login.authorizationServer, {
      ...(login.metadata !== undefined && { metadata: login.metadata }), ...(login.resource !== undefined && { resource: login.resource }),
      clientInformation: { ...login.client }, refreshToken: login.refreshToken, fetchFn: carefulFetch(fetch, new URL(login.authorizationServer).origin, new AbortController().signal),
    });
    const { expiresAtMs: _, ...rest } = login;
    const renewed: Login = {
      ...rest, accessToken: tokens.access_token, refreshToken: tokens.refresh_token ?? login.refreshToken, ...endOf(tokens.expires_in), ...(tokens.scope !== undefined && { scope: tokens.scope }),
    };
    await keepLogin(file, renewed);
    return renewed;
  } catch (error) {
    if (!isFinal(error)) throw new UserError(`the sign-in could not be renewed: ${messageOf(error)}`);
    await forgetLogin(file, name, url);
    return undefined;
  } finally {
    lock?.release();
  }
}

const FINAL: readonly string[] = [OAuthErrorCode.InvalidGrant, OAuthErrorCode.InvalidClient, OAuthErrorCode.UnauthorizedClient, OAuthErrorCode.InvalidScope];

const isFinal = (error: unknown): boolean => error instanceof OAuthError && FINAL.includes(error.code);

/** Refresh tokens often work once only: two processes that use one lose the sign-in. Without the lock after 15 s it is tried all the same. */
async function patientLock(file: string): Promise<PidLock | undefined> {
  for (let tries = 0; tries < LOCK_TRIES; tries += 1) {
    const lock = takeLock(file);
    if (lock !== undefined) return lock;
    await new Promise((resolve) => { setTimeout(resolve, LOCK_WAIT_MS); });
  }
  return undefined;
}
