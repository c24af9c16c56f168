import type { ConfiguredServer, McpPort, McpPrompt, McpServer, MentionedResource } from '#domain/mcp.ts';
import type { Session } from '#domain/session.ts';
import type { Json } from '#lib/brand.ts';
import { messageOf } from '#lib/errors.ts';
import { type CallEnd, callTool } from './call.ts';
import type { ContentDoors } from './content.ts';
import type { FoundTool } from './lists.ts';
import { exposedName, serverSlugs } from './names.ts';
import { fillPrompt } from './prompts.ts';
import { readResource } from './read-resource.ts';
import { Server, type ServerDoors } from './server.ts';

/** A tool of a server, ready to be offered and called. */
export interface McpTool extends FoundTool {
  readonly server: string;
  /** It stands in requests from the start where that is still possible. */
  readonly alwaysLoad: boolean;
  /** Its server is gone: it is offered to nobody, and a call says so. */
  readonly gone: boolean;
  call(input: Json, session: Session, signal: AbortSignal): AsyncGenerator<string, CallEnd>;
}

export interface ServersDoors extends Omit<ServerDoors, 'onChange' | 'onToolsChanged'> {
  /** Servers as they are configured now; read anew at each `start`. */
  readonly configured: () => readonly ConfiguredServer[];
  readonly content: Pick<ContentDoors, 'envelope' | 'media'>;
  /** Milliseconds that a call may take; asked anew at each. */
  readonly toolMs: () => number;
  readonly onChange?: () => void;
  /** Tools of which a server now says something else. */
  readonly onToolsChanged?: (server: string, tools: readonly McpTool[]) => void;
  /** Signs in and out; one line: what came of it. */
  readonly login?: (server: ConfiguredServer, open: (url: string) => void, signal: AbortSignal, paste?: (signal: AbortSignal) => Promise<string | undefined>) => Promise<{ readonly ok: boolean; readonly line: string }>;
  readonly logout?: (server: ConfiguredServer) => Promise<string>;
}

export interface Servers extends Omit<McpPort, 'mentioned'> {
  /** The same list as long as nothing changed. */
  tools(): readonly McpTool[];
  /** Prompts of connected servers, by the names of their commands. */
  promptCommands(): readonly { readonly command: string; readonly prompt: McpPrompt }[];
  /** Names of connected servers, with the addresses that they list. */
  resources(): ReadonlyMap<string, ReadonlySet<string>>;
  read(server: string, uri: string, signal: AbortSignal): Promise<MentionedResource>;
  /** Resolves once no server is being connected, or after so many milliseconds. */
  settled(ms: number): Promise<void>;
}

const PROMPT_MS = 20_000;

export function createServers(doors: ServersDoors): Servers {
  return new House(doors);
}

class House implements Servers {
  readonly #doors: ServersDoors;
  readonly #servers = new Map<string, Server>();
  /** Tools that were offered in this run, by name, so that a call of one that went can say why. */
  readonly #once = new Map<string, McpTool>();
  #tools: readonly McpTool[] | undefined;
  #roots: string;

  constructor(doors: ServersDoors) {
    this.#doors = doors;
    this.#roots = doors.roots().join('\n');
  }

  start(): void {
    try {
      this.#sync();
    } catch (error) {
      this.#doors.notice(`MCP servers cannot be started: ${messageOf(error)}`);
    }
  }

  servers(): readonly McpServer[] { return [...this.#servers.values()].map((server) => server.view()); }
  tools(): readonly McpTool[] { return this.#tools ??= this.#toolsNow(); }
  log(name: string): readonly string[] { return this.#servers.get(name)?.log.lines() ?? []; }

  resources(): ReadonlyMap<string, ReadonlySet<string>> {
    return new Map(this.#connected().map((server) => [server.configured.name, new Set(server.resources.map(({ uri }) => uri))]));
  }

  promptCommands(): readonly { readonly command: string; readonly prompt: McpPrompt }[] {
    return this.#connected().flatMap((server) => server.prompts.map((prompt) => ({ command: exposedName(server.slug, prompt.name), prompt })));
  }

  async read(name: string, uri: string, signal: AbortSignal): Promise<MentionedResource> {
    const server = this.#servers.get(name);
    return server === undefined ? { server: name, uri, parts: [], notes: [missing(name)] } : await readResource(server, uri, this.#doors.content, signal);
  }

  async prompt(name: string, which: string, args: Readonly<Record<string, string>>, signal: AbortSignal): Promise<{ readonly text: string } | { readonly problem: string }> {
    const server = this.#servers.get(name);
    if (server === undefined) return { problem: missing(name) };
    if (server.link === undefined) return { problem: `The MCP server ${name} is not connected.` };
    const prompt = server.prompts.find((one) => one.name === which);
    return prompt === undefined ? { problem: `The MCP server ${name} has no prompt ${which}.` } : await fillPrompt(server.link, prompt, args, this.#doors.content, AbortSignal.any([signal, AbortSignal.timeout(PROMPT_MS)]));
  }

  async reconnect(name: string, signal: AbortSignal): Promise<string> {
    this.start();
    return await this.#servers.get(name)?.reconnect(signal) ?? missing(name);
  }

  async login(name: string, open: (url: string) => void, signal: AbortSignal, paste?: (signal: AbortSignal) => Promise<string | undefined>): Promise<string> {
    const server = this.#servers.get(name);
    if (server === undefined) return missing(name);
    const done = await this.#doors.login?.(server.configured, open, signal, paste) ?? noLogin(name);
    return done.ok ? `${done.line} ${await server.reconnect(signal)}` : done.line;
  }

  async logout(name: string): Promise<string> {
    const server = this.#servers.get(name);
    if (server === undefined) return missing(name);
    const line = await this.#doors.logout?.(server.configured) ?? noLogin(name).line;
    if (server.configured.config.type !== 'stdio') void server.reconnect(new AbortController().signal);
    return line;
  }

  async settled(ms: number): Promise<void> {
    const limit = AbortSignal.timeout(ms);
    await Promise.all([...this.#servers.values()].filter(({ state }) => state === 'connecting').map((server) => server.settled(limit)));
  }

  close(): void {
    for (const server of this.#servers.values()) server.kill();
    this.#servers.clear();
  }

  #connected(): readonly Server[] { return [...this.#servers.values()].filter(({ state }) => state === 'connected'); }

  #changed(): void {
    this.#tools = undefined;
    this.#doors.onChange?.();
  }

  /** Lets go of what is no longer configured, or otherwise; connects what is new. */
  #sync(): void {
    const configured = this.#doors.configured();
    const slugs = serverSlugs(configured.map(({ name }) => name));
    for (const [name, server] of this.#servers) {
      const now = configured.find((one) => one.name === name);
      if (now !== undefined && sameServer(now, server.configured) && slugs.get(name) === server.slug) continue;
      this.#servers.delete(name);
      void server.close();
    }
    for (const one of configured) {
      if (!this.#servers.has(one.name)) this.#servers.set(one.name, this.#make(one, slugs.get(one.name) ?? ''));
      this.#servers.get(one.name)?.start();
    }
    this.#changed();
    this.#tellRoots();
  }

  #make(one: ConfiguredServer, slug: string): Server {
    const server: Server = new Server(one, slug, {
      ...this.#doors,
      // What is let go says nothing more.
      onChange: () => { if (this.#servers.get(one.name) === server) this.#changed(); },
      onToolsChanged: (name, changed) => { this.#doors.onToolsChanged?.(name, changed.map((found) => this.#toolOf(server, found))); },
    });
    return server;
  }

  #tellRoots(): void {
    const now = this.#doors.roots().join('\n');
    if (now === this.#roots) return;
    this.#roots = now;
    for (const server of this.#servers.values()) server.rootsChanged();
  }

  #toolOf(server: Server, found: FoundTool): McpTool {
    const { name, config } = server.configured;
    return {
      ...found, server: name, alwaysLoad: config.alwaysLoad === true, gone: false,
      call: (input, session, signal) => {
        this.#tellRoots();
        return callTool(this.#servers.get(name) ?? server, { original: found.original, input, session, signal, timeoutMs: config.timeoutMs ?? this.#doors.toolMs() });
      },
    };
  }

  #toolsNow(): readonly McpTool[] {
    const now = [...this.#servers.values()].flatMap((server) => server.tools.map((found) => this.#toolOf(server, found)));
    for (const tool of now) this.#once.set(tool.name, tool);
    const names = new Set(now.map(({ name }) => name));
    return [...now, ...[...this.#once.values()].filter(({ name }) => !names.has(name)).map((tool) => ({ ...tool, gone: true }))];
  }
}

function missing(name: string): string {
  return `There is no MCP server ${name}.`;
}

function noLogin(name: string): { readonly ok: false; readonly line: string } {
  return { ok: false, line: `The server ${name} takes no login.` };
}

function sameServer(a: ConfiguredServer, b: ConfiguredServer): boolean {
  return a.approval === b.approval && a.why === b.why && a.scope === b.scope && a.from === b.from && JSON.stringify(a.config) === JSON.stringify(b.config);
}
