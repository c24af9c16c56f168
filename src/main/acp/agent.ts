import { type AgentApp, type AgentContext, agent, type AuthMethod, type ClientCapabilities, type InitializeResponse, type ListSessionsResponse, type LoadSessionRequest, type McpServer, methods, type NewSessionRequest, PROTOCOL_VERSION, RequestError, type ResumeSessionRequest } from '@agentclientprotocol/sdk';
import { isAbsolute } from 'node:path';
import { serversJson } from '#acp/offers.ts';
import type { Arguments } from '#cli/arguments.ts';
import { VERSION } from '#cli/version.ts';
import { DEMO_MODEL } from '#domain/model.ts';
import { messageOf, UserError } from '#lib/errors.ts';
import { realPathOf } from '#lib/within.ts';
import { credentialsOf } from '#session/credentials.ts';
import { type Home, homeOf } from '#session/home.ts';
import { listSessions } from '#session/list.ts';
import { sessionFile } from '#session/open.ts';
import { AcpSession } from './session.ts';
import type { Workers } from '#main/house.ts';
import { findPlace } from '#main/place.ts';
import { NoKeyError } from '#main/wire-model.ts';

export interface AcpAgent {
  readonly app: AgentApp;
  /** Ends all sessions; what they run ends with them. */
  close(): Promise<void>;
}

const AUTH = { key: 'api-key', demo: 'demo', login: 'login' } as const;
const SESSIONS_PAGE = 100;

/** The agent's side of the protocol: who is asked what, and which session answers. */
export function createAcpAgent(args: Arguments, workers: Workers): AcpAgent {
  return new Desk(args, workers);
}

type SessionRequest = NewSessionRequest | LoadSessionRequest | ResumeSessionRequest;

class Desk implements AcpAgent {
  readonly app: AgentApp;
  readonly #args: Arguments;
  readonly #workers: Workers;
  readonly #home: Home = homeOf(process.env);
  readonly #sessions = new Map<string, AcpSession>();
  #capabilities: ClientCapabilities = {};
  /** The client chose to go on without a key. */
  #demo = false;

  constructor(args: Arguments, workers: Workers) {
    this.#args = args;
    this.#workers = workers;
    const { session } = methods.agent;
    this.app = agent({ name: 'pinion' })
      .onRequest(methods.agent.initialize, ({ params }) => {
        this.#capabilities = params.clientCapabilities ?? {};
        return this.#initialized();
      })
      .onRequest(methods.agent.authenticate, ({ params }) => { this.#authenticate(params.methodId); })
      .onRequest(session.new, async ({ params, client }) => {
        const opened = this.#open(params, client);
        return { sessionId: opened.id, ...offers(opened) };
      })
      .onRequest(session.load, async ({ params, client }) => {
        const opened = await this.#reopen(params, client);
        await opened.retell();
        return offers(opened);
      })
      .onRequest(session.resume, async ({ params, client }) => offers(await this.#reopen(params, client)))
      .onRequest(session.list, ({ params }) => this.#list(params.cwd ?? undefined, params.cursor ?? undefined))
      .onRequest(session.close, async ({ params }) => {
        const one = this.#session(params.sessionId);
        this.#sessions.delete(one.id);
        await one.close();
        return {};
      })
      .onRequest(session.prompt, async ({ params, signal }) => ({ stopReason: await plainly(() => this.#session(params.sessionId).prompt(params.prompt, signal)) }))
      .onRequest(session.setMode, async ({ params }) => {
        await this.#session(params.sessionId).setMode(params.modeId);
        return {};
      })
      .onRequest(session.setConfigOption, ({ params }) => plainly(async () => {
        const one = this.#session(params.sessionId);
        await one.setOption(params.configId, params.value);
        return { configOptions: one.config() };
      }))
      .onNotification(session.cancel, ({ params }) => { this.#sessions.get(params.sessionId)?.cancel(); });
  }

  async close(): Promise<void> {
    const all = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.allSettled(all.map((one) => one.close()));
  }

  #initialized(): InitializeResponse {
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'pinion', title: 'Pinion', version: VERSION },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, audio: false, embeddedContext: true },
        mcpCapabilities: { http: true, sse: true },
        sessionCapabilities: { list: {}, resume: {}, close: {}, additionalDirectories: {} },
      },
      authMethods: this.#authMethods(),
    };
  }

  #authMethods(): AuthMethod[] {
    return [
      { id: AUTH.key, name: 'API key', description: 'ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN) in the environment of the editor, or the key that pinion acp --login has kept' },
      ...(this.#capabilities.auth?.terminal === true ? [{ type: 'terminal' as const, id: AUTH.login, name: 'Enter an API key', description: 'It is kept in a file that only you can read', args: ['--login'] }] : []),
      ...(noDemo() ? [] : [{ id: AUTH.demo, name: 'Demo model', description: 'Built in, offline and free; rule-based, not an AI' }]),
    ];
  }

  /** Throws a RequestError where there is no key, or no such way. */
  #authenticate(methodId: string): void {
    if (methodId === AUTH.demo && !noDemo()) this.#demo = true;
    else if (methodId === AUTH.key || methodId === AUTH.login) {
      if (!this.#reachable()) throw RequestError.authRequired(undefined, 'there is no API key. Set ANTHROPIC_API_KEY for the program that your editor starts, or run pinion acp --login in a terminal.');
      this.#demo = false;
    } else throw RequestError.invalidParams(undefined, `there is no way ${methodId}; there are ${this.#authMethods().map(({ id }) => id).join(', ')}.`);
  }

  #reachable(): boolean {
    const { from, baseURL } = credentialsOf(process.env, this.#home.credentials);
    return from !== 'none' || baseURL !== undefined;
  }

  #session(id: string): AcpSession {
    const session = this.#sessions.get(id);
    if (session === undefined) throw RequestError.sessionNotFound(id);
    return session;
  }

  /** A session of the client's folder and servers. Throws a RequestError where it cannot be. */
  #open(params: SessionRequest, client: AgentContext, stored?: { readonly file: string; readonly id: string }): AcpSession {
    const args = this.#argsFor(params.additionalDirectories ?? [], params.mcpServers ?? []);
    if (!isAbsolute(params.cwd)) throw RequestError.invalidParams(undefined, 'cwd must be an absolute path.');
    const session = this.#made(() => new AcpSession({ client, capabilities: this.#capabilities, args, workers: this.#workers, place: findPlace(process.env, params.cwd), ...(stored !== undefined && { stored }) }));
    this.#sessions.set(session.id, session);
    // The client learns of the session by the answer, which goes first.
    setImmediate(() => { void session.greet(); });
    return session;
  }

  /** What cannot be opened: without a key, where one is needed, the client is to sign in. */
  #made(make: () => AcpSession): AcpSession {
    try {
      return make();
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      throw error instanceof NoKeyError ? RequestError.authRequired(undefined, error.message) : RequestError.invalidParams(undefined, error.message);
    }
  }

  async #reopen(params: LoadSessionRequest | ResumeSessionRequest, client: AgentContext): Promise<AcpSession> {
    const id = params.sessionId;
    const open = this.#sessions.get(id);
    const file = open?.conversation.file ?? sessionFile({ home: this.#home, cwd: realPathOf(params.cwd) }, id);
    if (file === undefined) throw RequestError.sessionNotFound(id);
    this.#sessions.delete(id);
    await open?.close();
    return this.#open(params, client, { file, id });
  }

  #argsFor(directories: readonly string[], servers: readonly McpServer[]): Arguments {
    const relative = directories.find((path) => !isAbsolute(path));
    if (relative !== undefined) throw RequestError.invalidParams(undefined, `additionalDirectories: ${relative} is no absolute path.`);
    const json = serversJson(servers);
    return {
      ...this.#args, addDir: [...this.#args.addDir, ...directories], mcpConfig: [...this.#args.mcpConfig, ...(json === undefined ? [] : [json])],
      ...(this.#demo && { model: DEMO_MODEL }),
    };
  }

  async #list(cwd: string | undefined, cursor: string | undefined): Promise<ListSessionsResponse> {
    const from = cursor === undefined ? 0 : Number(cursor);
    if (!Number.isInteger(from) || from < 0) throw RequestError.invalidParams(undefined, 'the cursor is none of ours.');
    const folder = cwd === undefined ? undefined : realPathOf(cwd);
    const all = (await listSessions(this.#home, folder ?? '/')).filter((one) => folder === undefined || one.cwd === folder).toSorted((a, b) => b.modifiedMs - a.modifiedMs);
    const page = all.slice(from, from + SESSIONS_PAGE);
    return {
      sessions: page.map(({ id, cwd: at, firstWords, modifiedMs }) => ({ sessionId: id, cwd: at, ...(firstWords !== '' && { title: firstWords }), updatedAt: new Date(modifiedMs).toISOString() })),
      ...(from + page.length < all.length && { nextCursor: String(from + page.length) }),
    };
  }
}

function offers(session: AcpSession) {
  return { modes: session.modes(), configOptions: session.config() };
}

const noDemo = (): boolean => (process.env['PINION_NO_DEMO'] ?? '') !== '';

/** What was expected to go wrong is told to the client in its own words. */
async function plainly<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (error instanceof RequestError) throw error;
    throw error instanceof UserError ? RequestError.invalidParams(undefined, error.message) : new RequestError(-32603, messageOf(error));
  }
}
