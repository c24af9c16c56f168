import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { UserError } from '#lib/errors.ts';
import { firstNames, oneLine } from '#lib/names.ts';
import { nearest } from '#lib/nearest.ts';
import { sanitise } from '#lib/terminal.ts';
import type { ConfiguredServer } from '#domain/mcp.ts';
import { parseArguments, UsageError } from '#cli/arguments.ts';
import { type McpRequest, parseMcpArguments, type WriteScope } from '#cli/mcp.ts';
import { cardText, fitText } from '#headless/card-text.ts';
import { jsonLine } from '#headless/lines.ts';
import { forgetLogin } from '#mcp/auth/tokens.ts';
import { keepDecision } from '#mcp/config/approvals.ts';
import { nameProblem, parseServer } from '#mcp/config/parse.ts';
import { addServer, removeServer, type WriteTarget } from '#mcp/config/write.ts';
import { configure } from '#main/configuration.ts';
import type { Workers } from '#main/house.ts';
import { probe, type Probed } from './probe.ts';
import { createServerDesk, type ServerDesk } from './servers.ts';
import { createSignIn, type SignIn } from './sign-in.ts';
import { getCard, jsonOf, listCard, testCard } from './cards.ts';
import { findPlace, type Place } from '#main/place.ts';

interface Room {
  readonly place: Place;
  readonly project: string;
  readonly env: Readonly<Record<string, string>>;
  readonly desk: ServerDesk;
  readonly signIn: SignIn;
  readonly signal: AbortSignal;
}

const fit = (text: string, { isTTY, columns }: NodeJS.WriteStream): string => (isTTY ? fitText(sanitise(text), columns) : sanitise(text));
const say = (text: string): void => { process.stdout.write(`${fit(text, process.stdout)}\n`); };
const warn = (text: string): void => { process.stderr.write(`${fit(`pinion: ${text}`, process.stderr)}\n`); };

/** Milliseconds that a server has to answer: while all are listed, and when one is tried. */
const LIST_MS = 10_000;
const TEST_MS = 30_000;
/** Servers that hang cost their time-out once, not one after another. */
const AT_ONCE = 16;
/** Whoever looks on learns what is waited for after so long (ms). */
const QUIET_MS = 2000;

/** `pinion mcp …`: servers of the Model Context Protocol, listed, added and tried from a shell. */
export async function run(argv: readonly string[], _workers: Workers): Promise<number> {
  const request = parseMcpArguments(argv);
  const place = findPlace(process.env);
  const args = parseArguments([]);
  const configuration = configure(place, args);
  const interrupt = new AbortController();
  let signalled = 0;
  const stop = (signal: NodeJS.Signals): void => {
    const code = signal === 'SIGINT' ? 130 : 143;
    if (signalled !== 0) process.exit(code);
    signalled = code;
    interrupt.abort(new UserError('interrupted.'));
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  try {
    const code = await serve(request, { place, project: configuration.project, env: { ...place.env, ...configuration.settings().env }, desk: createServerDesk({ place, args, configuration }), signIn: createSignIn(place), signal: interrupt.signal });
    return signalled === 0 ? code : signalled;
  } catch (error) {
    if (signalled === 0) throw error;
    return signalled;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

async function serve(request: McpRequest, room: Room): Promise<number> {
  switch (request.verb) {
    case 'add': return add(request, room);
    case 'remove': return remove(request, room);
    case 'list': return list(request.json, room);
    case 'get': return get(request, room);
    case 'test': return test(named(request.name, room), room);
    case 'login': return login(named(request.name, room), room);
    case 'logout': {
      const server = named(request.name, room);
      say(await room.signIn.logout(server, room.desk.launch(server)));
      return 0;
    }
    case 'approve': case 'refuse': return decide(request.name, request.verb === 'approve' ? 'given' : 'refused', room);
  }
}

function targetOf(scope: WriteScope, { place, project }: Room): WriteTarget {
  if (scope === 'project') return { file: join(project, '.mcp.json'), mode: 0o644 };
  return { file: place.home.mcp.servers, mode: 0o600, ...(scope === 'local' && { under: project }) };
}

async function add({ name, scope, value }: Extract<McpRequest, { verb: 'add' }>, room: Room): Promise<number> {
  const odd = nameProblem(name);
  if (odd !== undefined) throw new UsageError(`${oneLine(name, 60)} cannot be the name of a server: ${odd}.`);
  const parsed = parseServer(value);
  if ('problem' in parsed) throw new UsageError(`${name} was not added: ${parsed.problem}.`);
  const target = targetOf(scope, room);
  await addServer(target, name, value);
  // Who typed it has agreed to it.
  if (scope === 'project') await keepDecision(room.place.home.mcp.approvals, room.project, { name, config: parsed.config }, 'given');
  say(`Added ${name} (${scope}) to ${target.file}. pinion mcp test ${name} tries it.`);
  const now = room.desk.read().servers.find((server) => server.name === name);
  if (now !== undefined && now.scope !== scope) warn(`${name} also stands in ${now.from} (${now.scope}), which goes before it.`);
  return 0;
}

async function remove({ name, scope }: Extract<McpRequest, { verb: 'remove' }>, room: Room): Promise<number> {
  const scopes: readonly WriteScope[] = scope === undefined ? ['local', 'project', 'user'] : [scope];
  const places = scopes.filter((one) => room.desk.holds(targetOf(one, room), name));
  if (places.length > 1) throw new UsageError(`${name} stands in several places: say which with --scope ${places.join(' or ')}.`);
  const [only] = places;
  if (only === undefined) {
    const other = room.desk.read().servers.find((server) => server.name === name);
    if (other !== undefined && scope === undefined) throw new UserError(`${name} stands in ${other.from}, which Pinion does not write: take it out there.`);
    throw unknown(name, room, scope === undefined ? '' : ` in the scope ${scope}`);
  }
  const target = targetOf(only, room);
  if (!await removeServer(target, name)) throw unknown(name, room);
  say(`Removed ${name} (${only}) from ${target.file}.`);
  // Nobody would ever sign out of it.
  if (!room.desk.read().servers.some((server) => server.name === name)) await forgetLogin(room.place.home.mcp.tokens, name);
  return 0;
}

function named(name: string, room: Room): ConfiguredServer {
  const { servers, problems } = room.desk.read();
  const server = servers.find((one) => one.name === name);
  if (server !== undefined) return server;
  for (const problem of problems) warn(problem);
  throw unknown(name, room);
}

function unknown(name: string, { desk }: Room, where = ''): UserError {
  const names = desk.read().servers.map((server) => server.name);
  const near = nearest(name, names.filter((other) => other !== name));
  return new UserError(`there is no server ${oneLine(name, 60)}${where}. ${near === undefined ? (names.length === 0 ? 'There is none at all: pinion mcp add --help.' : 'pinion mcp list shows all.') : `Did you mean ${near}?`}`);
}

async function list(json: boolean, room: Room): Promise<number> {
  const { servers, problems } = room.desk.read();
  for (const problem of problems) warn(problem);
  const timeoutMs = timeoutOf(room, LIST_MS);
  const waiting = new Set(servers.map((server) => server.name));
  const timer = setTimeout(() => { if (process.stderr.isTTY && waiting.size > 0) warn(`waiting for ${firstNames([...waiting], 10)} (${timeoutMs / 1000} s at most)`); }, QUIET_MS);
  const seen = await all(servers, async (server) => {
    const one = await probe(server, { ...room, timeoutMs });
    waiting.delete(server.name);
    return one;
  }).finally(() => { clearTimeout(timer); });
  room.signal.throwIfAborted();
  if (json) process.stdout.write(`${jsonLine(seen.map(jsonOf))}\n`);
  else if (seen.length === 0) say('There are no servers. pinion mcp add <name> -- <command> writes one down; pinion mcp add --help tells more.');
  else say(cardText(listCard(seen)));
  return 0;
}

/** So many at a time, in their order. */
async function all(servers: readonly ConfiguredServer[], each: (server: ConfiguredServer) => Promise<Probed>): Promise<readonly Probed[]> {
  const seen = new Map<number, Probed>();
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next; at < servers.length; at = next) {
      next += 1;
      const server = servers[at];
      if (server !== undefined) seen.set(at, await each(server));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return servers.flatMap((_, at) => seen.get(at) ?? []);
}

function timeoutOf({ env }: Room, otherwise: number): number {
  const ms = Number(env['MCP_TIMEOUT']);
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, 600_000) : otherwise;
}

async function get({ name, json }: Extract<McpRequest, { verb: 'get' }>, room: Room): Promise<number> {
  const server = named(name, room);
  const seen = await probe(server, { ...room, timeoutMs: timeoutOf(room, LIST_MS) });
  room.signal.throwIfAborted();
  if (json) process.stdout.write(`${jsonLine(jsonOf(seen))}\n`);
  else say(cardText(getCard(seen)));
  return 0;
}

async function test(server: ConfiguredServer, room: Room): Promise<number> {
  const seen = await probe(server, { ...room, timeoutMs: timeoutOf(room, TEST_MS) });
  room.signal.throwIfAborted();
  say(cardText(testCard(seen)));
  return seen.state === 'connected' ? 0 : 1;
}

async function login(server: ConfiguredServer, room: Room): Promise<number> {
  if (server.approval !== 'given') throw new UserError(`${server.name}: ${server.why ?? 'it waits for your approval'}.`);
  const launch = room.desk.launch(server);
  if (launch.problem !== undefined) throw new UserError(`${server.name}: ${launch.problem}.`);
  const show = (url: string): void => {
    say(`To sign in to ${server.name}, agree at ${new URL(url).host}. If no browser opens, open this address:\n\n${url}\n`);
    if (process.stdin.isTTY) say('Waiting. If the browser runs on another machine, paste the address at which it ends here (Ctrl-C gives up).');
  };
  say(await room.signIn.login(server, launch, show, room.signal, process.stdin.isTTY ? pasted : undefined));
  return 0;
}

/** A line from the keyboard; never, where the sign-in is over first. */
function pasted(signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    const lines = createInterface({ input: process.stdin });
    const end = (text: string | undefined): void => {
      signal.removeEventListener('abort', abort);
      lines.close();
      resolve(text);
    };
    const abort = (): void => { end(undefined); };
    signal.addEventListener('abort', abort, { once: true });
    lines.once('line', end);
    lines.once('close', () => { end(undefined); });
  });
}

async function decide(name: string, decision: 'given' | 'refused', { desk }: Room): Promise<number> {
  const server = await desk.decide(name, decision);
  say(`${name} ${decision === 'given' ? 'may start' : 'does not start'}, as it stands in ${server.from} now. A change of it asks again.`);
  const now = desk.read().servers.find((one) => one.name === name);
  if (decision === 'given' && now !== undefined && now.approval !== 'given') warn(`${name} still does not start: ${now.why ?? now.approval}.`);
  return 0;
}
