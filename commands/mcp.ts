import { nearest } from '#lib/nearest.ts';
import { oneLine } from '#lib/names.ts';
import { count, cutToLength } from '#lib/text.ts';
import type { Card, CardBlock } from '#domain/card.ts';
import { type CommandContext, defineCommand, type Effect } from '#domain/command.ts';
import type { McpServer, McpState } from '#domain/mcp.ts';

/** Words with an effect, and the one that only shows. */
const ACTS = ['reconnect', 'login', 'logout', 'approve', 'refuse'] as const;
const VERBS = [...ACTS, 'log'] as const;
type Act = (typeof ACTS)[number];

const STATES: Readonly<Record<McpState, string>> = { connecting: 'connecting', connected: 'connected', failed: 'failed', unapproved: 'not approved', login: 'sign-in needed', off: 'off' };
const SCOPES = { flag: 'flag', local: 'yours, here', project: 'project', user: 'yours' } as const;

const MOST_LOG = 40;
const LAST_LOG = 8;
const MOST_ROWS = 60;
const MOST_INSTRUCTIONS = 2000;
const LONGEST = 300;
/** Print mode has one look only: servers that are just being connected get so long for it (ms). */
const PATIENCE_MS = 5000;

/** Servers of the Model Context Protocol: how each is, what it offers, and what can be done about it. */
export default defineCommand({
  id: 'mcp',
  group: 'At work',
  summary: 'MCP servers: how each is and what it offers; connect, sign in, approve',
  usage: '[<server> | log|reconnect|login|logout|approve|refuse <server>]',
  anytime: true,
  complete(args, { mcp }) {
    const [, verb = '', rest] = /^\s*(\S*)(\s+\S*)?$/.exec(args) ?? [];
    const servers = mcp().servers();
    if (rest === undefined) return [...servers.map(({ name }) => name), ...VERBS];
    return servers.filter((server) => fits(verb, server)).map(({ name }) => name);
  },
  async run(args, context): Promise<Effect> {
    const words = args.trim().split(/\s+/).filter((word) => word !== '');
    const [first = '', second] = words;
    if (words.length > 2) return refuse('It is /mcp, /mcp <server>, or /mcp <word> <server>.');
    const servers = await settled(context);
    if (first === '') return { type: 'show', card: listCard(servers) };
    const verb = VERBS.find((one) => one === first);
    if (second === undefined) {
      const server = servers.find(({ name }) => name === first);
      if (server !== undefined) return { type: 'show', card: serverCard(server, context) };
      if (verb === undefined) return refuse(unknown(first, servers));
      const fitting = servers.filter((one) => fits(verb, one)).map(({ name }) => name);
      return refuse(`Say which server: ${fitting.join(', ') || 'there is none for that'}.`);
    }
    if (verb === undefined) {
      const near = nearest(first, VERBS);
      return refuse(`/mcp has no "${oneLine(first, 40)}". ${near === undefined ? `It has ${VERBS.join(', ')}.` : `Did you mean /mcp ${near}?`}`);
    }
    const server = servers.find(({ name }) => name === second);
    if (server === undefined) return refuse(unknown(second, servers));
    return verb === 'log' ? { type: 'show', card: logCard(server, context) } : act(verb, server);
  },
});

async function settled({ mcp, surface }: CommandContext): Promise<readonly McpServer[]> {
  // At the very start they are not even known.
  if (surface === 'print' || mcp().servers().length === 0) await mcp().settled?.(PATIENCE_MS);
  return mcp().servers();
}

/** Whether a word may mean something for a server. */
function fits(verb: string, { scope, transport }: McpServer): boolean {
  if (verb === 'approve' || verb === 'refuse') return scope === 'project';
  return verb === 'login' || verb === 'logout' ? transport !== 'stdio' : (VERBS as readonly string[]).includes(verb);
}

function act(verb: Act, server: McpServer): Effect {
  if (fits(verb, server)) return { type: 'mcp', what: verb, server: server.name };
  if (verb === 'approve' || verb === 'refuse') return refuse(`${server.name} is one of your own servers: it needs no approval. pinion mcp remove ${server.name} takes it away.`);
  return refuse(`${server.name} is a program on this machine: there is nothing to sign in to.`);
}

function refuse(message: string): Effect {
  return { type: 'refuse', message };
}

function unknown(name: string, servers: readonly McpServer[]): string {
  const near = nearest(name, [...servers.map((server) => server.name), ...VERBS]);
  const all = servers.length === 0 ? 'There is none.' : `There ${servers.length === 1 ? 'is' : 'are'} ${servers.map((server) => server.name).join(', ')}.`;
  return `There is no MCP server ${oneLine(name, 40)}. ${near === undefined ? all : `Did you mean ${near}?`}`;
}

function listCard(servers: readonly McpServer[]): Card {
  if (servers.length === 0) {
    return { title: 'MCP servers', detail: 'none', body: [{ type: 'text', text: 'In a shell, pinion mcp add <name> -- <command> (or an address) writes one down; a project shares its own in .mcp.json.' }] };
  }
  const hints = servers.flatMap((server) => {
    const what = hint(server);
    return what === undefined ? [] : [`${server.name}: ${what}`];
  });
  return {
    title: 'MCP servers', detail: `${servers.filter(({ state }) => state === 'connected').length} of ${servers.length} connected`,
    body: [
      { type: 'table', head: ['name', 'state', 'whose', 'by', 'offers'], rows: servers.map((server) => [server.name, STATES[server.state], SCOPES[server.scope], server.transport, offers(server)]) },
      ...(hints.length === 0 ? [] : [{ type: 'list', items: hints } as const]),
    ],
  };
}

function offers({ tools, resources, prompts }: McpServer): string {
  const counted = [[tools.length, 'tool'], [resources.length, 'resource'], [prompts.length, 'prompt']] as const;
  return counted.flatMap(([n, what]) => (n === 0 ? [] : [count(n, what)])).join(', ');
}

/** What is wrong, and what to do about it. */
function hint({ name, state, detail, notes }: McpServer): string | undefined {
  const why = detail === undefined ? '' : oneLine(detail, LONGEST).replace(/[.;]$/, '');
  const toDo = state === 'failed' ? `/mcp log ${name} tells more, /mcp reconnect ${name} tries again` : state === 'login' ? `/mcp login ${name}` : state === 'unapproved' && why === '' ? `/mcp ${name} shows it` : '';
  const said = [why, why.includes(toDo) ? '' : toDo].filter((text) => text !== '').join('; ');
  if (said !== '') return said;
  return notes.length === 0 ? undefined : `${count(notes.length, 'note')}: /mcp ${name}`;
}

function serverCard(server: McpServer, { mcp }: CommandContext): Card {
  const { name, state, scope, from, transport, tools, resources, prompts, instructions, notes } = server;
  const said = hint({ ...server, notes: [] });
  const rows: readonly (readonly [string, string | undefined])[] = [['state', `${STATES[state]}${said === undefined ? '' : `: ${said}`}`], ['whose', SCOPES[scope]], ['stands in', from], ['by', transport]];
  const log = mcp().log(name).slice(-LAST_LOG);
  return {
    title: name, detail: offers(server) || STATES[state], ...(state === 'failed' && { tone: 'bad' as const }),
    body: [
      { type: 'table', head: ['', ''], rows: rows.flatMap(([what, value]) => (value === undefined ? [] : [[what, oneLine(value, 2 * LONGEST)]])) },
      ...listed('Tools', tools.map((tool) => oneLine(tool, 100))),
      ...listed('Resources (@ mentions them)', resources.map(({ uri, name: title }) => `@${name}:${oneLine(uri, 200)}${title === '' || title === uri ? '' : ` (${oneLine(title, 80)})`}`)),
      ...listed('Prompts (commands that begin with /mcp__)', prompts.map((prompt) => `${oneLine(prompt.name, 80)}${prompt.args.map((arg) => ` ${arg.required ? `<${oneLine(arg.name, 40)}>` : `[${oneLine(arg.name, 40)}]`}`).join('')}${prompt.description === '' ? '' : `: ${oneLine(prompt.description, 160)}`}`)),
      ...(instructions === undefined ? [] : [{ type: 'text', text: 'Its instructions:' } as const, { type: 'text', text: cutToLength(instructions, MOST_INSTRUCTIONS) + (instructions.length > MOST_INSTRUCTIONS ? '…' : '') } as const]),
      ...listed('Not used', notes.map((note) => oneLine(note, LONGEST))),
      ...(log.length === 0 ? [] : [{ type: 'text', text: 'Last in its log:' } as const, { type: 'code', text: log.join('\n') } as const]),
    ],
  };
}

function listed(what: string, items: readonly string[]): readonly CardBlock[] {
  if (items.length === 0) return [];
  return [{ type: 'text', text: `${what}:` }, { type: 'list', items: items.length <= MOST_ROWS ? items : [...items.slice(0, MOST_ROWS), `and ${items.length - MOST_ROWS} more`] }];
}

function logCard({ name }: McpServer, { mcp }: CommandContext): Card {
  const lines = mcp().log(name);
  return { title: `Log of ${name}`, detail: lines.length === 0 ? 'nothing yet' : `${Math.min(lines.length, MOST_LOG)} of ${count(lines.length, 'line')}`, body: lines.length === 0 ? [] : [{ type: 'code', text: lines.slice(-MOST_LOG).join('\n') }] };
}
