import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { DocumentPort } from '#domain/documents.ts';
import type { ConfiguredServer, McpPort, McpPrompt, McpServer, MentionedResource } from '#domain/mcp.ts';
import type { Asker } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { Call } from '#domain/tool.ts';
import type { Loaded } from '#domain/world.ts';
import type { Arguments } from '#cli/arguments.ts';
import { VERSION } from '#cli/version.ts';
import { textEnvelope } from '#documents/envelope.ts';
import { messageOf } from '#lib/errors.ts';
import type { GroupGuard } from '#lib/group-guard.ts';
import { oneLine } from '#lib/names.ts';
import { mentionedResources } from '#mentions/resources.ts';
import { createDescribed, hashOf } from '#mcp/described.ts';
import type { Content } from '#mcp/content.ts';
import type { McpTool, Servers, ServersDoors } from '#mcp/servers.ts';
import type { Tool } from '#tools/define.ts';
import type { Beside } from './beside.ts';
import type { Configuration } from './configuration.ts';
import type { HookWing } from './hooks/wing.ts';
import { besideLog, keepText } from './kept-text.ts';
import { createSampler } from './mcp/sampling.ts';
import { createServerDesk, type ServerDesk } from './mcp/servers.ts';
import { createSignIn } from './mcp/sign-in.ts';
import { definitionOf, type ForeignDoors, foreignTool, knownDefinition } from './mcp/tools.ts';
import type { Place } from './place.ts';
import type { ModelDesk } from './wire-model.ts';

export interface McpOptions extends Pick<Beside, 'tell'> {
  readonly place: Place;
  readonly args: Arguments;
  readonly configuration: Configuration;
  readonly desk: ModelDesk;
  readonly asker: Asker;
  readonly hooks: Pick<HookWing, 'elicitation' | 'notify'>;
  readonly documents: () => DocumentPort;
  readonly onNotice: (text: string) => void;
  readonly guard: GroupGuard;
}

export interface McpWing extends McpPort {
  /** The tools of all connected servers, by names that are safe and unique; the same list as long as nothing changed. */
  tools(): readonly Tool[];
  /** Prompts of connected servers, by the names of their commands. */
  prompts(): readonly { readonly command: string; readonly prompt: McpPrompt }[];
  /** Why a call is to be asked about although a rule allows it: its server has changed what it says of the tool. */
  doubt(call: Call, session: Session): string | undefined;
  /** Names of connected servers, with the addresses of resources that they list. */
  resources(): ReadonlyMap<string, ReadonlySet<string>>;
  /** Files that say which servers there are, there or not. */
  readonly files: readonly string[];
  /** Waits until no server is being connected, at most so many milliseconds. */
  settled(ms: number): Promise<void>;
}

const CONNECT_MS = 30_000;
const TOOL_MS = 600_000;
const OUTPUT_TOKENS = 25_000;
const MEDIA_BYTES = 30_000;

/** A whole number above 0 out of the environment. */
function wholeIn(text: string | undefined, otherwise: number): number {
  const value = text !== undefined && /^\d{1,9}$/.test(text.trim()) ? Number(text) : 0;
  return value > 0 ? value : otherwise;
}

/** Servers of the Model Context Protocol. Nothing is read or started before `start`, and the library is loaded then. */
export function wireMcp(options: McpOptions): McpWing {
  const { place, args, configuration, onNotice } = options;
  const desk = createServerDesk({ place, args, configuration });
  const env = (): Readonly<Record<string, string>> => ({ ...place.env, ...configuration.settings().env });
  const described = createDescribed(place.home.mcp.tools);
  const foreign: ForeignDoors = {
    outputTokens: () => wholeIn(env()['MAX_MCP_OUTPUT_TOKENS'], OUTPUT_TOKENS),
    content: (result, label, session, signal) => contentFor(options, { result, label, session, signal, limitTokens: foreign.outputTokens() }),
    onRun: (tool) => { described.keep(configuration.project, tool.name, hashOf(definitionOf(tool), tool.original)); },
  };
  const tellChanged = (server: string, tools: readonly McpTool[]): void => {
    const allowed = tools.filter((tool) => described.known(configuration.project, tool.name) !== undefined);
    if (allowed.length > 0) onNotice(`The MCP server ${oneLine(server)} has changed what it says of ${allowed.map(({ name }) => name).join(', ')}, which you had let run; you are asked again.`);
  };
  const { now, ready, ...loader } = createLoader(desk, async () => {
    const { createServers } = await import('#mcp/servers.ts');
    return createServers(doorsOf(options, desk, env, tellChanged));
  }, onNotice);
  const none = new Map<string, ReadonlySet<string>>();
  const missing = (name: string): string => `There is no MCP server ${name}.`;
  const tools = createTools(() => now()?.tools() ?? [], foreign);
  return {
    ...loader,
    files: [place.home.mcp.servers, place.home.mcp.approvals, ...new Set([configuration.project, place.cwd].map((folder) => join(folder, '.mcp.json')))],
    log: (name) => now()?.log(name) ?? [],
    tools: tools.all,
    prompts: () => now()?.promptCommands() ?? [],
    resources: () => now()?.resources() ?? none,
    mentioned: (text, signal) => mentioned(now(), text, signal),
    doubt(call, session) {
      const tool = tools.find(call.tool);
      return tool === undefined || tool.gone ? undefined : doubtOf(tool, session, described.known(configuration.project, tool.name));
    },
    prompt: async (server, name, given, signal) => await (await ready())?.prompt(server, name, given, signal) ?? { problem: missing(server) },
    reconnect: async (name, signal) => await (await ready())?.reconnect(name, signal) ?? missing(name),
    login: async (name, open, signal, paste) => await (await ready())?.login(name, open, signal, paste) ?? missing(name),
    logout: async (name) => await (await ready())?.logout(name) ?? missing(name),
  };
}

/** The servers, made at the first start: until then nothing of the library is there, and until it is loaded they look as they are configured. */
function createLoader(desk: ServerDesk, make: () => Promise<Servers>, onNotice: (text: string) => void) {
  let servers: Servers | undefined;
  let awaited: readonly McpServer[] = [];
  let loading: Promise<Servers | undefined> | undefined;
  let closed = false;
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => { begin = resolve; });
  const load = async (): Promise<Servers | undefined> => {
    try {
      const made = await make();
      if (closed) return undefined;
      servers = made;
      servers.start();
    } catch (error) {
      awaited = [];
      onNotice(`MCP servers cannot be used: ${messageOf(error)}`);
    }
    return servers;
  };
  return {
    now: () => servers,
    ready: async () => servers ?? await loading,
    servers: () => servers?.servers() ?? awaited,
    start(): void {
      if (servers !== undefined) servers.start();
      else if (loading === undefined) {
        awaited = desk.read().servers.map(awaitedView);
        if (awaited.length > 0) loading = load();
      }
      begin();
    },
    settled: (ms: number) => within(ms, begun.then(() => loading).then((loaded) => loaded?.settled(ms))),
    close(): void {
      closed = true;
      servers?.close();
    },
  };
}

function awaitedView({ name, scope, from, config, approval, why }: ConfiguredServer): McpServer {
  const state = approval === 'given' ? 'connecting' : approval === 'off' ? 'off' : 'unapproved';
  return { name, scope, from, transport: config.type, state, ...(why !== undefined && { detail: why }), tools: [], resources: [], prompts: [], notes: [] };
}

async function within(ms: number, task: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([task, new Promise<void>((resolve) => { timer = setTimeout(resolve, ms); })]);
  clearTimeout(timer);
}

function doorsOf({ place, configuration, desk: model, asker, hooks, tell, documents, onNotice, guard }: McpOptions, desk: ServerDesk, env: () => Readonly<Record<string, string>>, onToolsChanged: (server: string, tools: readonly McpTool[]) => void): ServersDoors {
  const signIn = createSignIn(place);
  return {
    guard, version: VERSION, connectMs: () => wholeIn(env()['MCP_TIMEOUT'], CONNECT_MS), toolMs: () => wholeIn(env()['MCP_TOOL_TIMEOUT'], TOOL_MS),
    configured: () => desk.read().servers, launch: (server) => desk.launch(server), roots: () => configuration.roots(),
    auth: (server, launch) => signIn.auth(server, launch), fetch: (url) => signIn.fetchFor(url),
    overseer: {
      asked: (server, fields, session, signal) => hooks.elicitation('Elicitation', server, fields, session, signal),
      answered: (server, fields, session, signal) => hooks.elicitation('ElicitationResult', server, fields, session, signal),
      told: (what, message, session) => { hooks.notify(what, message, session); },
    },
    ask: (question, signal) => asker.ask(question, signal), notice: onNotice, sample: createSampler(model, tell), onToolsChanged,
    content: { envelope: textEnvelope, media: (label, bytes, signal) => mediaFor(documents, label, bytes, signal) },
    async login(server, open, signal, paste) {
      try {
        const line = await signIn.login(server, desk.launch(server), open, signal, paste);
        hooks.notify('auth_success', `signed in to the MCP server ${oneLine(server.name, 60)}`);
        return { ok: true, line };
      } catch (error) {
        return { ok: false, line: messageOf(error) };
      }
    },
    logout: (server) => signIn.logout(server, desk.launch(server)).catch(messageOf),
  };
}

/** Pictures and PDFs go the way of files, without being one. */
function mediaFor(documents: () => DocumentPort, label: string, bytes: Uint8Array, signal: AbortSignal): Promise<Loaded> {
  return documents().load(join('/', 'mcp', 'document'), label, { limitBytes: MEDIA_BYTES, bytes }, signal);
}

async function contentFor({ place, configuration, documents }: McpOptions, { result, label, session, signal, limitTokens }: { readonly result: unknown; readonly label: string; readonly session: Session; readonly signal: AbortSignal; readonly limitTokens: number }): Promise<Content> {
  const { contentOf } = await import('#mcp/content.ts');
  const folder = join(besideLog(place, session), 'mcp');
  return await contentOf(result, label, limitTokens, {
    envelope: textEnvelope, media: (name, bytes, inner) => mediaFor(documents, name, bytes, inner),
    keep: (text) => keepText(configuration, folder, `${randomUUID().slice(0, 8)}.txt`, text),
  }, signal);
}

async function mentioned(servers: Servers | undefined, text: string, signal: AbortSignal): Promise<readonly MentionedResource[]> {
  if (servers === undefined || !text.includes('@')) return [];
  return await Promise.all(mentionedResources(text, servers.resources()).map(({ server, uri }) => servers.read(server, uri, signal)));
}

/** Made anew only when the list of servers' tools is another one. */
function createTools(list: () => readonly McpTool[], doors: ForeignDoors) {
  let seen: readonly McpTool[] = [];
  let made: readonly Tool[] = [];
  return {
    all(): readonly Tool[] {
      const now = list();
      if (now !== seen) made = now.map((tool) => foreignTool(tool, doors));
      seen = now;
      return made;
    },
    find: (name: string) => list().find((tool) => tool.name === name),
  };
}

function doubtOf(tool: McpTool, session: Session, kept: string | undefined): string | undefined {
  const now = definitionOf(tool);
  const known = knownDefinition(tool.name, session);
  const changed = kept === undefined ? known !== undefined && hashOf(known) !== hashOf(now) : kept !== hashOf(now, tool.original);
  return changed ? `the MCP server ${tool.server} has changed what it says of this tool since ${kept === undefined ? 'the model was told of it' : 'you last let it run'}` : undefined;
}
