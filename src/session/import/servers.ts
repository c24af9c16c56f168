import type { Json } from '#lib/brand.ts';
import { oneLine } from '#lib/names.ts';
import type { ImportedServer, Finding } from './found.ts';
import { fieldsAt, type Fields, textAt } from './read.ts';
import { isSecret, variableOf, withReferences } from './secrets.ts';

/** A server as the shells write it, once their own words are gone. */
export interface ServerWords {
  readonly name: string;
  readonly from: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly type?: 'http' | 'sse';
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds. */
  readonly timeout?: number;
}

const NAME = /^[\w-]{1,64}$/;

/** Adds a server, secrets replaced by variables; or says why it cannot be. */
export function addServer(words: ServerWords, into: Finding): void {
  const { name, from, command, args = [], env = {}, url, type = 'http', headers = {}, timeout } = words;
  const say = (why: string): void => { into.left.push(`the server ${oneLine(name, 40)}: ${why} (${from})`); };
  if (!NAME.test(name)) return say('its name has other characters than letters, digits, - and _');
  const secrets: string[] = [];
  const hide = (key: string, value: string, variable: string, show: (reference: string) => string = (reference) => reference): string => {
    const referring = withReferences(value);
    if (referring !== undefined && !isSecret(key, referring)) return referring;
    secrets.push(variable);
    return show(`\${${variable}}`);
  };
  const rest = { ...(timeout !== undefined && timeout > 0 && { timeout: Math.round(timeout) }) };
  if (command !== undefined) {
    const kept = Object.fromEntries(Object.entries(env).map(([key, value]) => [key, hide(key, value, variableOf(key))]));
    const config = { type: 'stdio', command, args: args.map((arg, i) => argument(arg, args[i - 1], name, hide)), ...(Object.keys(kept).length > 0 && { env: kept }), ...rest };
    into.servers.push({ name, from, secrets, config });
    return undefined;
  }
  if (url === undefined) return say('it has neither a command nor an address');
  const kept = Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, hide(key, value, variableOf(name, key), (reference) => (/^bearer /i.test(value) ? `Bearer ${reference}` : reference))]));
  into.servers.push({ name, from, secrets, config: { type, url: address(url, name, hide), ...(Object.keys(kept).length > 0 && { headers: kept }), ...rest } });
  return undefined;
}

type Hide = (key: string, value: string, variable: string, show?: (reference: string) => string) => string;

/** `--api-key x` and `--api-key=x`. */
function argument(arg: string, before: string | undefined, server: string, hide: Hide): string {
  const [, flag, value] = /^(-{1,2}[\w-]+)=([\s\S]*)$/.exec(arg) ?? [];
  if (flag !== undefined && value !== undefined) return `${flag}=${hide(flag, value, variableOf(server, flag))}`;
  const named = before !== undefined && /^-{1,2}[\w-]+$/.test(before) && !arg.startsWith('-') ? before : '';
  return /^https?:\/\//.test(arg) ? address(arg, server, hide) : hide(named, arg, variableOf(server, named === '' ? 'secret' : named));
}

/** Parameters and user names of an address may be keys. */
function address(url: string, server: string, hide: Hide): string {
  const open = url.replace(/^([a-z]+:\/\/)([^/@\s]+)@/i, (_, scheme: string, user: string) => (user.startsWith('${') ? `${scheme}${user}@` : `${scheme}${hide('password', `${user}secret`, variableOf(server, 'login'))}@`));
  return open.replaceAll(/([?&])([^=&#]+)=([^&#]*)/g, (_, sign: string, key: string, value: string) => `${sign}${key}=${hide(key, value, variableOf(server, key))}`);
}

export function namedTexts(fields: Fields, key: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(fieldsAt(fields, key)).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as const] : typeof value === 'number' || typeof value === 'boolean' ? [[name, String(value)] as const] : [])));
}

/** The entries of an `mcpServers` object as most shells write it. */
export function addServers(servers: Fields, from: string, into: Finding, skip: (name: string, fields: Fields) => string | undefined = () => undefined): void {
  for (const [name, value] of Object.entries(servers)) {
    const fields: Fields = typeof value === 'object' && value !== null && !Array.isArray(value) ? value as Fields : {};
    const why = skip(name, fields) ?? (fields['disabled'] === true ? 'it is switched off there' : undefined);
    if (why !== undefined) {
      into.left.push(`the server ${oneLine(name, 40)}: ${why} (${from})`);
      continue;
    }
    const http = textAt(fields, 'httpUrl');
    const command = textAt(fields, 'command');
    const url = http ?? textAt(fields, 'url') ?? textAt(fields, 'serverUrl');
    const type = http === undefined && textAt(fields, 'type') === 'sse' ? { type: 'sse' as const } : {};
    addServer({
      name, from, ...type, ...(command !== undefined && { command, args: argsOf(fields['args']), env: namedTexts(fields, 'env') }), ...(url !== undefined && { url }), headers: namedTexts(fields, 'headers'),
      ...(typeof fields['timeout'] === 'number' && { timeout: fields['timeout'] }),
    }, into);
  }
}

export function argsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.map((one: Json) => (typeof one === 'string' ? one : JSON.stringify(one))) : [];
}

/** What a secret that stays behind means, in one line. */
export function secretsLine({ name, secrets }: ImportedServer): string | undefined {
  return secrets.length === 0 ? undefined : `secrets of the server ${name} are not copied: set ${[...new Set(secrets)].join(', ')} in your environment`;
}
