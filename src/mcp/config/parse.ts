import type { Json } from '#lib/brand.ts';
import { oneLine } from '#lib/names.ts';
import type { McpServerConfig } from '#domain/mcp.ts';

type Fields = Readonly<Record<string, Json>>;
export const isFields = (value: Json | undefined): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** One entry of `mcpServers`, or what is wrong with it (one line without a full stop). */
export type Parsed = { readonly config: McpServerConfig } | { readonly problem: string };

const LONGEST_NAME = 64;
const LONGEST_TIMEOUT_MS = 24 * 60 * 60 * 1000;
const VARIABLE = /\$\{/;

/** Why no server can be called so; undefined for a good name. A dot is taken in files only: names that are typed anew have none. */
export function nameProblem(name: string, dots = false): string | undefined {
  if (name.length > LONGEST_NAME) return `a name has ${LONGEST_NAME} characters at most`;
  return (dots ? /^[\w-][\w.-]*$/ : /^[\w-]+$/).test(name) ? undefined : 'a name is made of letters, digits, - and _';
}

/** Reads an entry as other shells write them. Keys that mean nothing here are left alone. */
export function parseServer(value: Json): Parsed {
  if (!isFields(value)) return { problem: 'it must be an object' };
  const type = value['type'];
  if (type !== undefined && typeof type !== 'string') return { problem: '"type" must be a text' };
  switch (type ?? (value['command'] !== undefined ? 'stdio' : 'http')) {
    case 'stdio': return stdio(value);
    case 'http': case 'streamable-http': case 'streamableHttp': return remote(value, 'http');
    case 'sse': return remote(value, 'sse');
    case 'ws': case 'websocket': return { problem: 'the transport "ws" is not supported: use http or stdio' };
    default: return { problem: `there is no transport "${oneLine(type ?? '', 40)}": it is stdio, http or sse` };
  }
}

function stdio(value: Fields): Parsed {
  const { command, args = [], env = {} } = value;
  if (typeof command !== 'string' || command.trim() === '') return { problem: command === undefined ? 'it has neither "command" nor "url"' : '"command" must be a text' };
  if (!isTexts(args)) return { problem: '"args" must be a list of texts' };
  if (!isNamed(env)) return { problem: '"env" must be an object of texts' };
  if ([command, ...args, ...Object.entries(env).flat()].some((text) => text.includes('\0'))) return { problem: 'it holds a NUL character' };
  const odd = Object.keys(env).find((name) => name === '' || name.includes('='));
  if (odd !== undefined) return { problem: `"${oneLine(odd, 40)}" is no name of a variable` };
  const common = commonIn(value);
  return 'problem' in common ? common : { config: { type: 'stdio', command, args, env, ...common } };
}

function remote(value: Fields, type: 'http' | 'sse'): Parsed {
  const { url, headers = {}, headersHelper } = value;
  if (typeof url !== 'string' || url === '') return { problem: url === undefined ? 'it has neither "command" nor "url"' : '"url" must be a text' };
  const wrong = VARIABLE.test(url) ? undefined : urlProblem(url);
  if (wrong !== undefined) return { problem: wrong };
  if (!isNamed(headers)) return { problem: '"headers" must be an object of texts' };
  const bad = headerProblem(headers);
  if (bad !== undefined) return { problem: bad };
  if (headersHelper !== undefined && (typeof headersHelper !== 'string' || headersHelper.trim() === '')) return { problem: '"headersHelper" must be a command' };
  const common = commonIn(value);
  if ('problem' in common) return common;
  const oauth = oauthIn(value['oauth']);
  if (oauth !== undefined && 'problem' in oauth) return oauth;
  return { config: { type, url, headers, ...(headersHelper !== undefined && { headersHelper }), ...(oauth !== undefined && { oauth }), ...common } };
}

type Remote = Extract<McpServerConfig, { readonly type: 'http' | 'sse' }>;
type Problem = { readonly problem: string };

function oauthIn(value: Json | undefined): Remote['oauth'] | Problem {
  if (value === undefined) return undefined;
  if (!isFields(value)) return { problem: '"oauth" must be an object' };
  const { callbackPort } = value;
  const { clientId, authServerMetadataUrl, scopes } = value;
  const texts = { clientId, authServerMetadataUrl, scopes };
  const odd = Object.entries(texts).find(([, text]) => text !== undefined && (typeof text !== 'string' || text === ''))?.[0];
  if (odd !== undefined) return { problem: `"oauth.${odd}" must be a text` };
  if (callbackPort !== undefined && !(typeof callbackPort === 'number' && Number.isInteger(callbackPort) && callbackPort > 0 && callbackPort < 65_536)) return { problem: '"oauth.callbackPort" must be the number of a port' };
  return {
    ...(typeof clientId === 'string' && { clientId }), ...(typeof authServerMetadataUrl === 'string' && { authServerMetadataUrl }),
    ...(typeof scopes === 'string' && { scopes }), ...(callbackPort !== undefined && { callbackPort }),
  };
}

function commonIn({ timeout, alwaysLoad }: Fields): { readonly timeoutMs?: number; readonly alwaysLoad?: boolean } | Problem {
  if (timeout !== undefined && !(typeof timeout === 'number' && timeout > 0 && timeout <= LONGEST_TIMEOUT_MS)) return { problem: '"timeout" must be a number of milliseconds above 0' };
  if (alwaysLoad !== undefined && typeof alwaysLoad !== 'boolean') return { problem: '"alwaysLoad" must be true or false' };
  return { ...(timeout !== undefined && { timeoutMs: timeout }), ...(alwaysLoad !== undefined && { alwaysLoad }) };
}

/** Why an address cannot be connected to; undefined for a good one. */
export function urlProblem(url: string): string | undefined {
  if (!URL.canParse(url)) return `"${oneLine(url)}" is no address`;
  return /^https?:$/.test(new URL(url).protocol) ? undefined : `the address must begin with https:// or http://, not ${oneLine(new URL(url).protocol, 40)}`;
}

/** Which header cannot be sent; undefined where all can. */
export function headerProblem(headers: Readonly<Record<string, string>>): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name)) return `"${oneLine(name, 40)}" is no name of a header`;
    if (/[\0\r\n]|[^\x00-\xff]/.test(value)) return `the header ${name} holds characters that cannot be sent`;
  }
  return undefined;
}

const isTexts = (value: Json): value is readonly string[] => Array.isArray(value) && value.every((item) => typeof item === 'string');
const isNamed = (value: Json): value is Readonly<Record<string, string>> => isFields(value) && Object.values(value).every((item) => typeof item === 'string');
