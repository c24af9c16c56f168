import type { ConfiguredServer, McpState } from '#domain/mcp.ts';
import { messageOf } from '#lib/errors.ts';
import { VERSION } from '#cli/version.ts';
import { headersFrom } from '#mcp/config/headers-helper.ts';
import type { Launch } from '#mcp/config/launch.ts';
import { createGuard } from '#tools/shell/guard.ts';
import type { ServerDesk } from './servers.ts';
import type { SignIn } from './sign-in.ts';

/** What came of one visit to a server. */
export interface Probed {
  readonly server: ConfiguredServer;
  readonly state: McpState;
  /** Why it failed, or what is to be done, one line. */
  readonly detail?: string;
  /** Names as the server has them. */
  readonly tools: readonly string[];
  readonly resources: readonly string[];
  readonly prompts: readonly string[];
  readonly notes: readonly string[];
  /** What it wrote to its log, newest last. */
  readonly log: readonly string[];
  readonly title?: string;
  readonly ms?: number;
}

export interface ProbeOptions {
  readonly desk: ServerDesk;
  readonly signIn: SignIn;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Connects, looks at what there is, and leaves again. Never throws. */
export async function probe(server: ConfiguredServer, options: ProbeOptions): Promise<Probed> {
  const nothing = { server, tools: [], resources: [], prompts: [], notes: [], log: [] };
  if (server.approval === 'off') return { ...nothing, state: 'off', ...(server.why !== undefined && { detail: server.why }) };
  if (server.approval !== 'given') return { ...nothing, state: 'unapproved', detail: server.why ?? 'it waits for your approval' };
  const launch = options.desk.launch(server);
  if (launch.problem !== undefined) return { ...nothing, notes: launch.notes, state: 'failed', detail: launch.problem };
  return visit(server, launch, options);
}

async function visit(server: ConfiguredServer, launch: Launch, { signIn, timeoutMs, signal }: ProbeOptions): Promise<Probed> {
  const [{ connect, LoginNeeded }, { listTools, listResources, listPrompts }, { createLog }] = await Promise.all([import('#mcp/connect.ts'), import('#mcp/lists.ts'), import('#mcp/log.ts')]);
  const log = createLog();
  const guard = createGuard();
  const began = performance.now();
  const nothing = { server, tools: [], resources: [], prompts: [], notes: launch.notes };
  try {
    const link = await connect({ guard, config: launch.config, env: launch.env, cwd: launch.cwd, log, version: VERSION, timeoutMs, ...await remote(server, launch, signIn, signal) }, signal);
    try {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const [tools, resources, prompts] = await Promise.all([
        link.has('tools') ? listTools(link.client, server.name, limit) : { tools: [], notes: [] },
        link.has('resources') ? listResources(link.client, server.name, limit) : [], link.has('prompts') ? listPrompts(link.client, server.name, limit) : [],
      ]);
      return {
        server, state: 'connected', tools: tools.tools.map(({ original }) => original), resources: resources.map(({ uri }) => uri), prompts: prompts.map(({ name }) => name),
        notes: [...launch.notes, ...tools.notes], log: log.lines(), title: link.title, ms: Math.round(performance.now() - began),
      };
    } finally {
      await Promise.race([link.close(), new Promise<void>((resolve) => { setTimeout(resolve, 3000).unref(); })]);
      link.kill();
    }
  } catch (error) {
    const login = error instanceof LoginNeeded;
    return { ...nothing, log: log.lines(), state: login ? 'login' : 'failed', detail: login ? `it wants you to sign in: pinion mcp login ${server.name}` : messageOf(error) };
  } finally {
    guard.close();
  }
}

async function remote(server: ConfiguredServer, launch: Launch, signIn: SignIn, signal: AbortSignal) {
  const { config } = launch;
  if (config.type === 'stdio') return {};
  const [headers, auth, fetch] = await Promise.all([
    config.headersHelper === undefined ? undefined : headersFrom(config.headersHelper, { launch, name: server.name, signal }), signIn.auth(server, launch), signIn.fetchFor(config.url),
  ]);
  return { fetch, ...(headers !== undefined && { headers }), ...(auth !== undefined && { auth }) };
}
