import type { Card, CardBlock } from '#domain/card.ts';
import type { ConfiguredServer } from '#domain/mcp.ts';
import { oneLine } from '#lib/names.ts';
import { bothEnds, count } from '#lib/text.ts';
import type { Probed } from './probe.ts';

/** How a server is reached, on one line: the command with its arguments, or the address. As written: variables are not put in. */
export function reachedBy({ config }: ConfiguredServer): string {
  return config.type === 'stdio' ? [config.command, ...config.args].map(word).join(' ') : config.url;
}

const word = (text: string): string => (/^[\w@%+=:,./$~{}^-]+$/.test(text) ? text : JSON.stringify(text));

function stateOf({ state, detail, tools, resources, prompts, ms }: Probed): string {
  if (state !== 'connected') return `${STATES[state]}${detail === undefined ? '' : `: ${detail}`}`;
  return `connected: ${counts(tools, resources, prompts)}${ms === undefined ? '' : ` (${ms} ms)`}`;
}

const STATES = { connecting: 'connecting', connected: 'connected', failed: 'failed', unapproved: 'not approved', login: 'sign-in needed', off: 'off' } as const;

function counts(tools: readonly string[], resources: readonly string[], prompts: readonly string[]): string {
  return [count(tools.length, 'tool'), ...(resources.length > 0 ? [count(resources.length, 'resource')] : []), ...(prompts.length > 0 ? [count(prompts.length, 'prompt')] : [])].join(', ');
}

export function listCard(seen: readonly Probed[]): Card {
  return {
    title: 'MCP servers', detail: count(seen.length, 'server'),
    body: [{ type: 'table', head: ['name', 'scope', 'by', 'state'], rows: seen.map((one) => [one.server.name, one.server.scope, one.server.config.type, bothEnds(stateOf(one), 300)]) }],
  };
}

/** Of environment and headers the names only: their values are often secret. */
export function getCard(seen: Probed): Card {
  const { server } = seen;
  const { config } = server;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['state', stateOf(seen)], ['scope', server.scope], ['stands in', server.from], ['by', config.type],
    [config.type === 'stdio' ? 'command' : 'address', reachedBy(server)],
    ['env', config.type === 'stdio' ? Object.keys(config.env).join(', ') || undefined : undefined],
    ['headers', config.type === 'stdio' ? undefined : Object.keys(config.headers).join(', ') || undefined],
    ['headersHelper', config.type === 'stdio' ? undefined : config.headersHelper],
    ['time-out', config.timeoutMs === undefined ? undefined : `${config.timeoutMs} ms`],
  ];
  return { title: server.name, ...(seen.title !== undefined && seen.title !== '' && { detail: oneLine(seen.title, 80) }), body: [{ type: 'table', head: ['', ''], rows: rows.flatMap(([what, value]) => (value === undefined ? [] : [[what, bothEnds(value, 2000)]])) }, ...offered(seen), ...notesOf(seen)] };
}

const MOST_NAMES = 100;

function offered({ tools, resources, prompts }: Probed): readonly CardBlock[] {
  const rows = [['tools', tools], ['resources', resources], ['prompts', prompts]] as const;
  return rows.flatMap(([what, names]): readonly CardBlock[] => (names.length === 0 ? [] : [{
    type: 'text', text: `${what}: ${names.slice(0, MOST_NAMES).map((name) => oneLine(name, 120)).join(', ')}${names.length > MOST_NAMES ? `, and ${names.length - MOST_NAMES} more` : ''}`,
  }]));
}

const MOST_LOG = 10;

function notesOf({ notes, log, state }: Probed): readonly CardBlock[] {
  const last = state === 'failed' ? log.slice(-MOST_LOG) : [];
  return [...(notes.length === 0 ? [] : [{ type: 'list' as const, items: notes }]), ...(last.length === 0 ? [] : [{ type: 'text' as const, text: 'Its last words:' }, { type: 'code' as const, text: last.join('\n') }])];
}

/** The verdict first. */
export function testCard(seen: Probed): Card {
  const good = seen.state === 'connected';
  return { title: good ? `${seen.server.name} works: ${counts(seen.tools, seen.resources, seen.prompts)} in ${seen.ms ?? 0} ms` : `${seen.server.name} does not work: ${oneLine(seen.detail ?? STATES[seen.state], 400)}`, tone: good ? 'good' : 'bad', body: [...offered(seen), ...notesOf(seen)] };
}

/** For scripts. */
export function jsonOf({ server, state, detail, tools, resources, prompts, notes, ms }: Probed) {
  const { name, scope, from, config, approval } = server;
  return {
    name, scope, from, transport: config.type, state, ...(detail !== undefined && { detail }), approval,
    ...(config.type === 'stdio' ? { command: config.command, args: config.args, env: Object.keys(config.env) } : { url: config.url, headers: Object.keys(config.headers) }),
    tools, resources, prompts, notes, ...(ms !== undefined && { ms }),
  };
}
