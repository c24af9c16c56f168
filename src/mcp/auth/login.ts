import { randomBytes } from 'node:crypto';
import {
  type AuthorizationServerMetadata, checkResourceAllowed, discoverOAuthServerInfo, exchangeAuthorization, extractWWWAuthenticateParams, OAuthError,
  type OAuthProtectedResourceMetadata, resourceUrlFromServerUrl, startAuthorization, validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
import type { Json } from '#lib/brand.ts';
import { messageOf, UserError } from '#lib/errors.ts';
import { oneLine } from '#lib/names.ts';
import type { McpServerConfig } from '#domain/mcp.ts';
import { type Callback, openCallback, type Redirected } from './callback.ts';
import { staying } from '../redirects.ts';
import { carefulFetch, type Fetch, isSafe } from './fetching.ts';
import { endOf, forgetLogin, keepLogin, readLogin } from './tokens.ts';

export interface LoginOptions {
  readonly name: string;
  /** With variables put in. */
  readonly config: McpServerConfig;
  /** Where logins are kept. */
  readonly file: string;
  readonly fetch: Fetch;
  /** Shows the address, which may be opened in a browser anywhere. */
  readonly show: (url: URL) => void;
  /** Opens it in a browser of this machine. */
  readonly open: (url: URL) => void;
  /** The address at which a browser of another machine ended; undefined: the user gives up. */
  readonly paste?: (signal: AbortSignal) => Promise<string | undefined>;
  readonly signal: AbortSignal;
  /** How long the user may take; five minutes without it. */
  readonly limitMs?: number;
}

type Remote = Extract<McpServerConfig, { readonly type: 'http' | 'sse' }>;

const LIMIT_MS = 5 * 60_000;

/** Signs in to a server: discovery, registration, PKCE, the browser and back. One line: what came of it. Throws a UserError (one line) when it came to nothing. */
export async function signIn(options: LoginOptions): Promise<string> {
  const { name, config } = options;
  if (config.type === 'stdio') throw new UserError(`${name} is a program on this machine: there is nothing to sign in to.`);
  const authorization = Object.keys(config.headers).find((header) => header.toLowerCase() === 'authorization');
  if (authorization !== undefined) throw new UserError(`${name} has an Authorization header in its configuration, which goes before any sign-in. Take it out first.`);
  try {
    return await flow(options, config);
  } catch (error) {
    if (error instanceof UserError) throw new UserError(`${name}: ${error.message}`);
    throw new UserError(`${name}: signing in failed: ${error instanceof OAuthError ? `${error.code}: ${oneLine(messageOf(error))}` : oneLine(messageOf(error))}`);
  }
}

async function flow({ name, file, fetch, show, open, paste, signal, limitMs = LIMIT_MS }: LoginOptions, config: Remote): Promise<string> {
  const careful = carefulFetch(fetch, homeOf(config), signal);
  const found = await discover(config, fetch, careful, signal);
  const state = randomBytes(24).toString('base64url');
  const over = new AbortController();
  const callback = await openCallback({ state, limitMs, signal: AbortSignal.any([signal, over.signal]), ...(config.oauth?.callbackPort !== undefined && { port: config.oauth.callbackPort }) });
  try {
    const client = config.oauth?.clientId === undefined ? await register(found, callback.address, careful) : { client_id: config.oauth.clientId };
    const { authorizationUrl, codeVerifier } = await startAuthorization(found.authorizationServer, { ...asked(found), clientInformation: client, redirectUrl: callback.address, state, ...(found.scope !== undefined && { scope: found.scope }) });
    if (!isSafe(authorizationUrl, homeOf(config)) || authorizationUrl.username !== '') throw new UserError(`the server sends the browser to ${oneLine(authorizationUrl.origin)}, which is not https; it was not opened.`);
    show(authorizationUrl);
    open(authorizationUrl);
    if (paste !== undefined) void byHand(callback, paste, over);
    const redirected = await callback.answer;
    return await exchange({ name, file, url: config.url, found, client, codeVerifier, careful }, redirected, callback.address);
  } finally {
    callback.close();
    over.abort();
  }
}

/** Whose neighbours may take part: the server's, or those of who the configuration says gives its tokens. */
function homeOf({ url, oauth }: Remote): string {
  return new URL(oauth?.authServerMetadataUrl !== undefined && URL.canParse(oauth.authServerMetadataUrl) ? oauth.authServerMetadataUrl : url).origin;
}

/** Takes what the user pastes until it is the right address; gives up when they do. */
async function byHand(callback: Callback, paste: NonNullable<LoginOptions['paste']>, over: AbortController): Promise<void> {
  while (!over.signal.aborted) {
    const pasted = await paste(over.signal).catch(() => undefined);
    if (over.signal.aborted) return;
    if (pasted === undefined) over.abort();
    else if (pasted.trim() !== '' && callback.take(pasted) === undefined) return;
  }
}

interface Found {
  readonly authorizationServer: string;
  readonly metadata?: AuthorizationServerMetadata;
  readonly resource?: string;
  readonly scope?: string;
}

const asked = ({ metadata, resource }: Found) => ({ ...(metadata !== undefined && { metadata }), ...(resource !== undefined && { resource }) });

async function discover(config: Remote, fetch: Fetch, careful: Fetch, signal: AbortSignal): Promise<Found> {
  const challenge = await challengeOf(config, fetch, signal);
  const named = config.oauth?.authServerMetadataUrl;
  const info = named === undefined
    ? await discoverOAuthServerInfo(config.url, { fetchFn: careful, ...(challenge.resourceMetadataUrl !== undefined && { resourceMetadataUrl: challenge.resourceMetadataUrl }) })
    : await namedMetadata(named, careful);
  const { authorizationServerMetadata: metadata, resourceMetadata } = info;
  if (metadata === undefined && resourceMetadata === undefined && challenge.status !== 401) throw new UserError(`it does not ask for a sign-in (it answered ${challenge.status}) and says of none.`);
  const resource = resourceOf(config.url, resourceMetadata);
  const scope = config.oauth?.scopes ?? challenge.scope ?? resourceMetadata?.scopes_supported?.join(' ');
  return {
    authorizationServer: info.authorizationServerUrl, ...(metadata !== undefined && { metadata: needed(metadata) }), ...(resource !== undefined && { resource }),
    ...(scope !== undefined && scope !== '' && { scope: metadata?.scopes_supported?.includes('offline_access') === true && !scope.split(' ').includes('offline_access') ? `${scope} offline_access` : scope }),
  };
}

/** What the server says when it is asked without a token: 401, with where to learn how to get one. */
async function challengeOf(config: Remote, fetch: Fetch, signal: AbortSignal): Promise<{ readonly status: number; readonly resourceMetadataUrl?: URL; readonly scope?: string }> {
  const hello = { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'pinion', version: '0' } } };
  const stop = new AbortController();
  const timer = setTimeout(() => { stop.abort(new UserError('it had no answer within 20 s.')); }, 20_000);
  try {
    const response = await staying(fetch)(config.url, {
      headers: { ...config.headers, accept: config.type === 'sse' ? 'text/event-stream' : 'application/json, text/event-stream', ...(config.type === 'http' && { 'content-type': 'application/json' }) },
      ...(config.type === 'http' && { method: 'POST', body: JSON.stringify(hello) }), signal: AbortSignal.any([signal, stop.signal]),
    });
    await response.body?.cancel();
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
    return { status: response.status, ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }), ...(scope !== undefined && { scope }) };
  } catch (error) {
    throw error instanceof UserError ? error : new UserError(`it cannot be reached: ${causeOf(error)}`);
  } finally {
    clearTimeout(timer);
  }
}

/** Node says `fetch failed`; what failed stands in its cause. */
function causeOf(error: unknown): string {
  return error instanceof Error && error.cause instanceof Error ? messageOf(error.cause) : messageOf(error);
}

async function namedMetadata(address: string, careful: Fetch): Promise<{ authorizationServerUrl: string; authorizationServerMetadata: AuthorizationServerMetadata; resourceMetadata?: OAuthProtectedResourceMetadata }> {
  if (!URL.canParse(address)) throw new UserError('"oauth.authServerMetadataUrl" is no address.');
  const response = await careful(address);
  const value = response.ok ? await response.json().catch(() => undefined) as Json | undefined : undefined;
  const fields = isFields(value) ? value : {};
  const { issuer, authorization_endpoint: authorize, token_endpoint: token } = fields;
  if (typeof issuer !== 'string' || ![issuer, authorize, token].every((one) => typeof one === 'string' && URL.canParse(one))) throw new UserError(`${oneLine(address)} tells no authorization server (it answered ${response.status}).`);
  return { authorizationServerUrl: issuer, authorizationServerMetadata: { response_types_supported: ['code'], ...fields } as unknown as AuthorizationServerMetadata };
}

function resourceOf(url: string, metadata: OAuthProtectedResourceMetadata | undefined): string | undefined {
  if (metadata === undefined) return undefined;
  if (!checkResourceAllowed({ requestedResource: resourceUrlFromServerUrl(url), configuredResource: metadata.resource })) throw new UserError(`it says that it is ${oneLine(metadata.resource)}, which is another server than the one in the configuration.`);
  return metadata.resource;
}

/** What is needed later for new tokens; servers say much more. */
function needed(metadata: AuthorizationServerMetadata): AuthorizationServerMetadata {
  const keys = ['issuer', 'authorization_endpoint', 'token_endpoint', 'registration_endpoint', 'revocation_endpoint', 'response_types_supported', 'grant_types_supported', 'scopes_supported', 'token_endpoint_auth_methods_supported', 'code_challenge_methods_supported', 'authorization_response_iss_parameter_supported'];
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => keys.includes(key))) as unknown as AuthorizationServerMetadata;
}

interface Client {
  readonly client_id: string;
  readonly client_secret?: string;
}

/** Registers this program for this one redirect address, as long as servers let programs do so themselves. */
async function register({ authorizationServer, metadata, scope }: Found, redirect: string, careful: Fetch): Promise<Client> {
  const endpoint = metadata === undefined ? new URL('/register', authorizationServer).href : (metadata as { registration_endpoint?: unknown }).registration_endpoint;
  if (typeof endpoint !== 'string') throw new UserError('its authorization server lets no program register itself: register one by hand and set "oauth": {"clientId": …, "callbackPort": …}.');
  const response = await careful(endpoint, {
    method: 'POST', headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ client_name: 'Pinion', redirect_uris: [redirect], grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], token_endpoint_auth_method: 'none', application_type: 'native', ...(scope !== undefined && { scope }) }),
  });
  const value = await response.json().catch(() => undefined) as Json | undefined;
  const { client_id: id, client_secret: secret, error_description: why, error } = isFields(value) ? value : {};
  if (!response.ok || typeof id !== 'string') throw new UserError(`its authorization server did not register Pinion (${response.status}${typeof why === 'string' ? `: ${oneLine(why)}` : typeof error === 'string' ? `: ${oneLine(error)}` : ''}).`);
  return { client_id: id, ...(typeof secret === 'string' && { client_secret: secret }) };
}

const isFields = (value: Json | undefined): value is Readonly<Record<string, Json>> => typeof value === 'object' && value !== null && !Array.isArray(value);

interface Exchange {
  readonly name: string;
  readonly file: string;
  readonly url: string;
  readonly found: Found;
  readonly client: Client;
  readonly codeVerifier: string;
  readonly careful: Fetch;
}

async function exchange({ name, file, url, found, client, codeVerifier, careful }: Exchange, { code, iss, finish }: Redirected, redirectUri: string): Promise<string> {
  try {
    validateAuthorizationResponseIssuer({ iss, expectedIssuer: found.metadata?.issuer, issParameterSupported: (found.metadata as { authorization_response_iss_parameter_supported?: boolean } | undefined)?.authorization_response_iss_parameter_supported === true });
    const tokens = await exchangeAuthorization(found.authorizationServer, { ...asked(found), clientInformation: { ...client }, authorizationCode: code, codeVerifier, redirectUri, fetchFn: careful, ...(iss !== undefined && { iss }) });
    await keepLogin(file, {
      server: name, url, authorizationServer: found.authorizationServer, client, accessToken: tokens.access_token, ...asked(found), ...endOf(tokens.expires_in),
      ...(tokens.refresh_token !== undefined && { refreshToken: tokens.refresh_token }), ...(tokens.scope !== undefined && { scope: tokens.scope }),
    });
    finish('Signed in', `Pinion is signed in to ${name}. You can close this window.`);
    return `Signed in to ${name}.`;
  } catch (error) {
    finish('Not signed in', 'The terminal says why. You can close this window.');
    throw error;
  }
}

/** Forgets what signing in gave, and tells the server so where it takes such words. One line: what came of it. */
export async function signOut({ name, url, file, fetch }: { readonly name: string; readonly url: string; readonly file: string; readonly fetch: Fetch }): Promise<string> {
  const login = readLogin(file, name, url);
  const had = await forgetLogin(file, name);
  if (!had) return `There was no sign-in to ${name} to forget.`;
  const endpoint = (login?.metadata as { revocation_endpoint?: unknown } | undefined)?.revocation_endpoint;
  if (login === undefined || typeof endpoint !== 'string' || !URL.canParse(endpoint) || !isSafe(new URL(endpoint), url)) return `Signed out of ${name}.`;
  const body = new URLSearchParams({ token: login.refreshToken ?? login.accessToken, client_id: login.client.client_id, ...(login.client.client_secret !== undefined && { client_secret: login.client.client_secret }) });
  const told = await carefulFetch(fetch, new URL(url).origin, AbortSignal.timeout(5000))(endpoint, { method: 'POST', body }).then(({ ok }) => ok, () => false);
  return `Signed out of ${name}.${told ? '' : ' Its authorization server could not be told; the token ends by itself.'}`;
}
