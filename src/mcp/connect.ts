import type { Client, ClientCapabilities, AuthProvider, FetchLike, Transport } from '@modelcontextprotocol/client';
import type { McpServerConfig } from '#domain/mcp.ts';
import { withDeadline } from '#lib/deadline.ts';
import { messageOf } from '#lib/errors.ts';
import type { GroupGuard } from '#lib/group-guard.ts';
import { cutToLength, wellFormed } from '#lib/text.ts';
import { recordOf } from './lists.ts';
import type { ServerLog } from './log.ts';
import { StdioTransport } from './stdio.ts';

export interface ConnectOptions {
  /** Variables put in. */
  readonly config: McpServerConfig;
  /** The whole environment of its program, and where it runs. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly log: ServerLog;
  readonly guard?: GroupGuard;
  /** Our own version, which the server is told. */
  readonly version: string;
  /** Milliseconds until it must have answered. */
  readonly timeoutMs: number;
  /** Further headers, such as those of a `headersHelper`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly auth?: AuthProvider;
  readonly fetch?: FetchLike;
  readonly capabilities?: ClientCapabilities;
  /** Hangs what the server may ask of us, before it can. */
  readonly prepare?: (client: Client) => void;
}

/** A server that has answered. */
export interface Link {
  readonly client: Client;
  readonly title: string;
  /** Its own words, at most 64 KiB of them. */
  readonly instructions: string | undefined;
  has(what: 'tools' | 'resources' | 'prompts'): boolean;
  /** Resolves when the connection is gone, with why, one line. */
  readonly closed: Promise<string>;
  close(): Promise<void>;
  /** As `close`, without waiting. */
  kill(): void;
}

const FAREWELL_MS = 500;
const MOST_INSTRUCTIONS = 64 * 1024;

/** A server wants a login first. */
export class LoginNeeded extends Error {
  override readonly name = 'LoginNeeded';
}

/**
 * Starts or reaches a server and says hello. Rejects with one line when it cannot, has no answer in time or the signal aborts,
 * with {@link LoginNeeded} where it wants a login; nothing of it is left then.
 */
export async function connect(options: ConnectOptions, signal: AbortSignal): Promise<Link> {
  const { Client, UnauthorizedError } = await import('@modelcontextprotocol/client');
  let gone = (_why: string): void => undefined;
  const closed = new Promise<string>((resolve) => { gone = resolve; });
  let lost = (_why: string): void => undefined;
  const transport = await transportOf(options, (why) => { lost(why); });
  const stdio = transport instanceof StdioTransport ? transport : undefined;
  const client = new Client({ name: 'pinion', version: options.version }, { capabilities: options.capabilities ?? {} });
  client.onclose = () => { gone(stdio?.ending() ?? 'the connection was closed'); };
  client.onerror = (error) => {
    const why = messageOf(error).slice(0, 400);
    options.log.write(`[${why}]`);
    // The library goes on without hearing the server: it may be gone, or another.
    if (why.startsWith('Maximum reconnection attempts')) lost('its stream of events broke off and cannot be opened again');
  };
  options.prepare?.(client);
  const end = async (): Promise<void> => { await client.close().catch(() => undefined); await transport.close().catch(() => undefined); };
  try {
    await withDeadline(options.timeoutMs, signal, (inner) => client.connect(transport, { signal: inner, timeout: options.timeoutMs + 1000 }));
  } catch (error) {
    // Before it is ended: how it ended by itself is what matters.
    const why = failure(error, stdio, options);
    await Promise.race([end(), new Promise<void>((resolve) => { setTimeout(resolve, 1500).unref(); })]);
    if (error instanceof UnauthorizedError || statusOf(error) === 401) throw new LoginNeeded('it wants a login');
    throw new Error(why, { cause: error });
  }
  lost = (why) => {
    gone(why);
    // Whoever has just learned it by a request is told so first, rather than that everything was closed.
    setTimeout(() => { void end(); }, FAREWELL_MS).unref();
  };
  const capabilities = client.getServerCapabilities() ?? {};
  const instructions = client.getInstructions();
  return {
    client, closed,
    title: cutToLength(wellFormed(client.getServerVersion()?.title ?? client.getServerVersion()?.name ?? ''), 100),
    instructions: instructions === undefined || instructions.trim() === '' ? undefined : wellFormed(instructions.slice(0, MOST_INSTRUCTIONS)),
    has: (what) => capabilities[what] !== undefined,
    close: end,
    kill: () => { if (stdio === undefined) void end(); else stdio.kill(); },
  };
}

async function transportOf({ config, env, cwd, log, guard, headers, auth, fetch }: ConnectOptions, onLost: (why: string) => void): Promise<Transport> {
  if (config.type === 'stdio') return new StdioTransport({ command: config.command, args: config.args, env, cwd, log, ...(guard !== undefined && { guard }) });
  const { createRemote } = await import('./remote.ts');
  return createRemote({ onLost, type: config.type, url: config.url, headers: { ...config.headers, ...headers }, ...(auth !== undefined && { auth }), ...(fetch !== undefined && { fetch }) });
}

const LONGEST = 300;

function failure(error: unknown, stdio: StdioTransport | undefined, { config, log, timeoutMs }: ConnectOptions): string {
  const message = messageOf(error);
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${messageOf(error.cause)})` : '';
  const ending = stdio?.ending();
  if (ending !== undefined && ending.startsWith('it cannot be started')) return cutToLength(ending, LONGEST);
  const last = log.lines().findLast((line) => !line.slice(9).startsWith('['));
  if (ending !== undefined) return cutToLength(`${ending}${last === undefined ? '' : `; it last wrote: ${last.slice(9)}`}`, LONGEST);
  if (error instanceof Error && error.name === 'DeadlineError') return `it had no answer within ${timeoutMs / 1000} s`;
  const status = statusOf(error);
  if (status === undefined) return cutToLength(`${message}${cause}`, LONGEST);
  const older = config.type === 'http' && (status === 404 || status === 405) ? '; where it is an older server, its "type" is "sse"' : '';
  return cutToLength(`it answered with status ${status} (${message.replace(/^.*?endpoint: /, '')})${older}`, LONGEST);
}

/** The status of HTTP that an error of the library tells of. */
function statusOf(error: unknown): number | undefined {
  const { status } = recordOf(recordOf(error)['data']);
  return typeof status === 'number' ? status : undefined;
}
