import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { ConfiguredServer, McpServer } from '#domain/mcp.ts';
import type { Answer, Question } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { Json } from '#lib/brand.ts';
import { textEnvelope } from '#documents/envelope.ts';
import type { CallEnd } from '#mcp/call.ts';
import { launchOf } from '#mcp/config/launch.ts';
import { createServers, type McpTool, type Servers, type ServersDoors } from '#mcp/servers.ts';
import { memorySession } from '../support/logs.ts';
import { tempFolder } from '../support/temp.ts';

const HOSTILE = fileURLToPath(new URL('hostile-server.mjs', import.meta.url));
const MODULES = fileURLToPath(new URL('../../node_modules/@modelcontextprotocol', import.meta.url));

export const REAL = {
  everything: (): string => join(MODULES, 'server-everything', 'dist', 'index.js'),
  filesystem: (): string => join(MODULES, 'server-filesystem', 'dist', 'index.js'),
  memory: (): string => join(MODULES, 'server-memory', 'dist', 'index.js'),
};

/** A tool of the hostile server that takes anything. */
export const tool = (name: string, description = `does ${name}`, inputSchema: Json = { type: 'object', properties: { message: { type: 'string' } } }) => ({ name, description, inputSchema });

export interface Hostile {
  readonly initialize?: 'answer' | 'never' | 'slow' | 'exit';
  readonly tools?: readonly unknown[];
  readonly [more: string]: unknown;
}

export function hostileCommand(options: Hostile): { readonly command: string; readonly args: readonly string[] } {
  return { command: process.execPath, args: [HOSTILE, JSON.stringify(options)] };
}

export function stdio(name: string, { command, args }: { readonly command: string; readonly args: readonly string[] }, more: Partial<ConfiguredServer> & { readonly timeoutMs?: number; readonly env?: Readonly<Record<string, string>> } = {}): ConfiguredServer {
  const { timeoutMs, env = {}, ...rest } = more;
  return { name, scope: 'user', from: '/nowhere', approval: 'given', config: { type: 'stdio', command, args, env, ...(timeoutMs !== undefined && { timeoutMs }) }, ...rest };
}

export const hostile = (name: string, options: Hostile, more: Parameters<typeof stdio>[2] = {}): ConfiguredServer => stdio(name, hostileCommand(options), more);

/** A file in which the hostile server notes what happens to it. */
export function diary(): { readonly file: string; lines(): readonly string[] } {
  const file = join(tempFolder(), 'diary');
  return { file, lines: () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter((line) => line !== '') : []) };
}

export interface Bench {
  readonly servers: Servers;
  readonly notices: readonly string[];
  readonly asked: readonly Question[];
  server(name: string): McpServer;
  tool(name: string): McpTool;
  call(name: string, input?: Json, signal?: AbortSignal, session?: Session): Promise<{ readonly end: CallEnd; readonly progress: readonly string[] }>;
}

export interface BenchOptions {
  readonly doors?: Partial<ServersDoors>;
  readonly answer?: (question: Question) => Answer | undefined;
  /** Does not wait until all have come to something. */
  readonly eager?: boolean;
}

/** Servers that are connected as the house would, ended with the test. */
export async function bench(configured: readonly ConfiguredServer[] | (() => readonly ConfiguredServer[]), { doors = {}, answer, eager = false }: BenchOptions = {}): Promise<Bench> {
  const notices: string[] = [];
  const asked: Question[] = [];
  const cwd = tempFolder();
  const env = { PATH: process.env['PATH'] ?? '', HOME: cwd };
  const servers = createServers({
    version: '0', connectMs: () => 10_000, toolMs: () => 60_000, backoffMs: [20, 40],
    configured: typeof configured === 'function' ? configured : () => configured,
    launch: (server) => launchOf(server, { env, cwd, project: cwd }), roots: () => [cwd],
    ask: (question) => {
      asked.push(question);
      return Promise.resolve(answer?.(question));
    },
    notice: (text) => { notices.push(text); },
    sample: () => Promise.resolve({ problem: 'no model' }),
    content: { envelope: textEnvelope, media: (label) => Promise.resolve({ parts: [], files: [], notes: [`${label}: left out`] }) },
    ...doors,
  });
  onTestFinished(() => { servers.close(); });
  servers.start();
  if (!eager) await servers.settled(15_000);
  const find = (name: string): McpTool => {
    const found = servers.tools().find((one) => one.name === name || one.original === name);
    if (found === undefined) throw new Error(`there is no tool ${name}; there are ${servers.tools().map((one) => one.name).join(', ')}`);
    return found;
  };
  return {
    servers, notices, asked,
    server(name) {
      const found = servers.servers().find((one) => one.name === name);
      if (found === undefined) throw new Error(`there is no server ${name}`);
      return found;
    },
    tool: find,
    async call(name, input = {}, signal = new AbortController().signal, session = memorySession()) {
      const progress: string[] = [];
      const run = find(name).call(input, session, signal);
      for (;;) {
        const next = await run.next();
        if (next.done === true) return { end: next.value, progress };
        progress.push(next.value);
      }
    },
  };
}

/** The text of what a call came to. */
export function textIn(end: CallEnd): string {
  if (end.kind === 'problem') return end.why;
  if (end.kind === 'interrupted') return 'interrupted';
  const { content } = end.result as { readonly content?: readonly { readonly text?: string }[] };
  return (content ?? []).map(({ text = '' }) => text).join('\n');
}

export async function until(holds: () => boolean, ms = 20_000): Promise<void> {
  for (const end = performance.now() + ms; !holds();) {
    if (performance.now() > end) throw new Error('it did not come to that');
    await new Promise((resolve) => { setTimeout(resolve, 15); });
  }
}
