import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import * as z from 'zod';

export interface OAuthOptions {
  /** Seconds that a token lives; without it nothing is said of that. */
  readonly expiresIn?: number;
  /** Programs may not register themselves. */
  readonly noRegistration?: boolean;
  /** What the authorization endpoint answers with instead of a code. */
  readonly authorizeError?: string;
  /** Sent in place of the state that came. */
  readonly wrongState?: string;
  /** Where the metadata says that the user agrees. */
  readonly authorizationEndpoint?: string;
  /** What the metadata says of the issuer. */
  readonly issuer?: string;
  /** Anybody may come in, without a token. */
  readonly open?: boolean;
  /** Milliseconds that a renewal takes. */
  readonly renewalMs?: number;
}

/** A server of MCP over streamable HTTP that wants a token, and the authorization server that gives it: one port, `/mcp` and the rest. */
export interface OAuthServer {
  readonly origin: string;
  /** Of the MCP server. */
  readonly url: string;
  /** Every request, as `METHOD /path`. */
  readonly asked: readonly string[];
  /** Fields of what came to the token endpoint. */
  readonly exchanges: readonly Readonly<Record<string, string>>[];
  /** Metadata that programs registered with. */
  readonly registrations: readonly Readonly<Record<string, unknown>>[];
  /** Of the last address to which a browser was sent. */
  readonly scopes: readonly (string | undefined)[];
  /** Access tokens end at once; with `refresh` those that renew them too. */
  end(options?: { readonly refresh?: boolean }): void;
  /** The token endpoint fails with 500 from now on, or works again. */
  breakDown(broken: boolean): void;
  isLive(token: string): boolean;
}

interface Grant {
  readonly challenge: string;
  readonly redirect: string;
  readonly client: string;
  readonly resource: string | null;
}

/** Gone when the test is over. */
export async function startOAuthServer(options: OAuthOptions = {}): Promise<OAuthServer> {
  const clients = new Map<string, readonly string[]>([['by-hand', []]]);
  const codes = new Map<string, Grant>();
  const access = new Set<string>();
  const refresh = new Map<string, string>();
  const asked: string[] = [];
  const exchanges: Record<string, string>[] = [];
  const registrations: Record<string, unknown>[] = [];
  const scopes: (string | undefined)[] = [];
  let broken = false;
  let origin = '';
  const mcp = createMcpHandler(() => {
    const server = new McpServer({ name: 'guarded', version: '1' });
    server.registerTool('greet', { description: 'Greets.', inputSchema: z.object({ name: z.string() }) }, async ({ name }) => ({ content: [{ type: 'text', text: `Hello ${name}` }] }));
    return server;
  });
  const json = (response: ServerResponse, status: number, value: unknown, headers: Record<string, string> = {}): void => {
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers }).end(JSON.stringify(value));
  };
  const give = (response: ServerResponse, client: string): void => {
    const [token, again] = [randomBytes(16).toString('hex'), randomBytes(16).toString('hex')];
    access.add(token);
    refresh.set(again, client);
    json(response, 200, { access_token: token, token_type: 'Bearer', refresh_token: again, scope: 'read', ...(options.expiresIn !== undefined && { expires_in: options.expiresIn }) });
  };
  const token = async (response: ServerResponse, fields: Readonly<Record<string, string>>): Promise<void> => {
    exchanges.push({ ...fields });
    if (broken) return json(response, 500, { error: 'server_error' });
    if (fields['grant_type'] === 'refresh_token') {
      if (options.renewalMs !== undefined) await new Promise((resolve) => { setTimeout(resolve, options.renewalMs); });
      const client = refresh.get(fields['refresh_token'] ?? '');
      if (client === undefined || client !== fields['client_id']) return json(response, 400, { error: 'invalid_grant', error_description: 'this refresh token was used or revoked' });
      // Each works once.
      refresh.delete(fields['refresh_token'] ?? '');
      return give(response, client);
    }
    const grant = codes.get(fields['code'] ?? '');
    codes.delete(fields['code'] ?? '');
    const verified = createHash('sha256').update(fields['code_verifier'] ?? '').digest('base64url') === grant?.challenge;
    if (grant === undefined || !verified || grant.client !== fields['client_id'] || grant.redirect !== fields['redirect_uri'] || grant.resource !== (fields['resource'] ?? null)) return json(response, 400, { error: 'invalid_grant' });
    return give(response, grant.client);
  };
  const authorize = (response: ServerResponse, query: URLSearchParams): void => {
    const redirect = query.get('redirect_uri') ?? '';
    const client = query.get('client_id') ?? '';
    scopes.push(query.get('scope') ?? undefined);
    const known = clients.get(client);
    if (known === undefined || (known.length > 0 && !known.includes(redirect)) || query.get('code_challenge_method') !== 'S256') return json(response, 400, { error: 'invalid_request' });
    const back = new URL(redirect);
    back.searchParams.set('state', options.wrongState ?? query.get('state') ?? '');
    if (options.authorizeError !== undefined) back.searchParams.set('error', options.authorizeError);
    else {
      const code = randomBytes(8).toString('hex');
      codes.set(code, { challenge: query.get('code_challenge') ?? '', redirect, client, resource: query.get('resource') });
      back.searchParams.set('code', code);
    }
    response.writeHead(302, { location: back.href }).end();
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', origin);
    asked.push(`${request.method ?? ''} ${url.pathname}`);
    const body = await bodyOf(request);
    switch (url.pathname) {
      case '/.well-known/oauth-protected-resource/mcp': return options.open === true ? json(response, 404, {}) : json(response, 200, { resource: `${origin}/mcp`, authorization_servers: [options.issuer ?? origin], scopes_supported: ['read'] });
      case '/.well-known/oauth-authorization-server': return options.open === true ? json(response, 404, {}) : json(response, 200, {
        issuer: options.issuer ?? origin, authorization_endpoint: options.authorizationEndpoint ?? `${origin}/authorize`, token_endpoint: `${origin}/token`, revocation_endpoint: `${origin}/revoke`,
        ...(options.noRegistration !== true && { registration_endpoint: `${origin}/register` }), response_types_supported: ['code'], code_challenge_methods_supported: ['S256'], token_endpoint_auth_methods_supported: ['none'],
      });
      case '/register': {
        const metadata = JSON.parse(body) as { redirect_uris: string[] };
        const id = randomBytes(6).toString('hex');
        registrations.push({ ...metadata });
        clients.set(id, metadata.redirect_uris);
        return json(response, 201, { ...metadata, client_id: id });
      }
      case '/authorize': return authorize(response, url.searchParams);
      case '/token': return token(response, Object.fromEntries(new URLSearchParams(body)));
      case '/revoke':
        refresh.delete(new URLSearchParams(body).get('token') ?? '');
        return json(response, 200, {});
      case '/mcp': {
        if (options.open !== true && !access.has((request.headers.authorization ?? '').replace(/^Bearer /, ''))) {
          return json(response, 401, { error: 'invalid_token' }, { 'www-authenticate': `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"` });
        }
        return answer(response, await mcp.fetch(new Request(url, { method: request.method ?? 'GET', headers: Object.entries(request.headers).map(([key, value]): [string, string] => [key, String(value)]), ...(body !== '' && { body }) })));
      }
      default: return json(response, 404, {});
    }
  };
  const server = createServer((request, response) => { void serve(request, response).catch((error: unknown) => { response.destroy(error instanceof Error ? error : undefined); }); });
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(async () => {
    await mcp.close();
    server.closeAllConnections();
    await new Promise((resolve) => { server.close(resolve); });
  });
  return {
    origin, url: `${origin}/mcp`, asked, exchanges, registrations, scopes,
    end({ refresh: both = false } = {}) {
      access.clear();
      if (both) refresh.clear();
    },
    breakDown(now) { broken = now; },
    isLive: (one) => access.has(one),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

async function answer(response: ServerResponse, from: Response): Promise<void> {
  response.writeHead(from.status, Object.fromEntries(from.headers));
  for await (const chunk of (from.body ?? []) as AsyncIterable<Uint8Array>) response.write(chunk);
  response.end();
}

/** A browser whose user agrees to everything: follows the address to its end. Gives the status and the text of the last page. */
export async function browse(url: URL | string): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(url);
  return { status: response.status, text: await response.text() };
}
