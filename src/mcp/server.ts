import type { AuthProvider, FetchLike } from '@modelcontextprotocol/client';
import type { ConfiguredServer, McpPrompt, McpResource, McpServer, McpState } from '#domain/mcp.ts';
import { messageOf } from '#lib/errors.ts';
import { count } from '#lib/text.ts';
import type { GroupGuard } from '#lib/group-guard.ts';
import { headersFrom } from './config/headers-helper.ts';
import type { Launch } from './config/launch.ts';
import { connect, type Link, LoginNeeded } from './connect.ts';
import { type FoundTool, listPrompts, listResources, listTools } from './lists.ts';
import { createLog } from './log.ts';
import { CAPABILITIES, hangRequests, type RequestDoors, type Underway } from './requests.ts';
import type { Consent } from './sample.ts';

export interface ServerDoors extends RequestDoors {
  readonly guard?: GroupGuard;
  readonly version: string;
  /** Milliseconds that a server has to answer at first; asked anew at each try. */
  readonly connectMs: () => number;
  readonly launch: (server: ConfiguredServer) => Launch;
  /** Who signs in at a server that wants it. */
  readonly auth?: (server: ConfiguredServer, launch: Launch) => Promise<AuthProvider | undefined>;
  /** The way to an address, by way of proxies; undefined for the plain one. */
  readonly fetch?: (url: string) => Promise<FetchLike | undefined>;
  /** Something of a server is otherwise than it was. */
  readonly onChange: () => void;
  /** Tools of which the server now says something else. */
  readonly onToolsChanged?: (server: string, tools: readonly FoundTool[]) => void;
  /** Milliseconds to wait before each further try to reach a server that went; as many tries as there are numbers. */
  readonly backoffMs?: readonly number[];
}

const BACKOFF_MS = [500, 1000, 2000, 4000, 8000];
/** Whoever stayed so long may fail as often again. */
const STEADY_MS = 60_000;
const LIST_MS = 20_000;
const QUIET_MS = 150;
/** Lists are read at most so often when a server keeps saying that they changed. */
const MOST_QUIET_MS = 30_000;

/** One server's life: it is connected, lost, connected again, let go. Nothing of it throws. */
export class Server {
  readonly configured: ConfiguredServer;
  readonly slug: string;
  readonly log = createLog();
  readonly underway: Underway[] = [];
  readonly #doors: ServerDoors;
  readonly #consent: Consent = { given: undefined, used: 0 };
  #state: McpState;
  #detail: string | undefined;
  #link: Link | undefined;
  #life: AbortController | undefined;
  #attempt: Promise<void> = Promise.resolve();
  #settle = (): void => undefined;
  #tools: readonly FoundTool[] = [];
  #notes: readonly string[] = [];
  #launchNotes: readonly string[] = [];
  #resources: readonly McpResource[] = [];
  #prompts: readonly McpPrompt[] = [];
  #dirty = new Set<'tools' | 'resources' | 'prompts'>();
  #timer: NodeJS.Timeout | undefined;
  #quietMs = QUIET_MS;
  #refreshedAt = 0;

  constructor(configured: ConfiguredServer, slug: string, doors: ServerDoors) {
    this.configured = configured;
    this.slug = slug;
    this.#doors = doors;
    this.#state = configured.approval === 'given' ? 'connecting' : configured.approval === 'off' ? 'off' : 'unapproved';
    this.#detail = configured.approval === 'given' ? undefined : configured.why;
  }

  get state(): McpState { return this.#state; }
  get detail(): string | undefined { return this.#detail; }
  get link(): Link | undefined { return this.#link; }
  /** What it offers; kept while a lost connection is sought again. */
  get tools(): readonly FoundTool[] { return this.#tools; }
  get resources(): readonly McpResource[] { return this.#resources; }
  get prompts(): readonly McpPrompt[] { return this.#prompts; }

  view(): McpServer {
    const { name, scope, from, config } = this.configured;
    const { instructions } = this.#link ?? {};
    return {
      name, scope, from, transport: config.type, state: this.#state, ...(this.#detail !== undefined && { detail: this.#detail }),
      ...(instructions !== undefined && { instructions }), tools: this.#tools.map((tool) => tool.name),
      resources: this.#state === 'connected' ? this.#resources : [], prompts: this.#state === 'connected' ? this.#prompts : [],
      notes: [...this.#launchNotes, ...this.#notes],
    };
  }

  /** Connects, unless it may not start or is at it already. */
  start(): void {
    if (this.configured.approval !== 'given' || this.#life !== undefined) return;
    const life = new AbortController();
    this.#life = life;
    this.#begin();
    void this.#live(life.signal);
  }

  #begin(): void {
    this.#settle();
    this.#attempt = new Promise((resolve) => { this.#settle = resolve; });
  }

  /** Resolves once the try that is under way has come to something, or the signal aborts. */
  async settled(signal: AbortSignal): Promise<void> {
    await Promise.race([this.#attempt, new Promise<void>((resolve) => { if (signal.aborted) resolve(); else signal.addEventListener('abort', () => { resolve(); }, { once: true }); })]);
  }

  /** Begins anew. One line: what came of it. */
  async reconnect(signal: AbortSignal): Promise<string> {
    const { name, approval, why } = this.configured;
    if (approval !== 'given') return `${name} may not start: ${why ?? 'it is switched off'}.`;
    await this.close();
    this.start();
    await this.settled(signal);
    if (signal.aborted) return `Interrupted; ${name} goes on connecting.`;
    return this.#state === 'connected' ? `${name} is connected: ${count(this.#tools.length, 'tool')}.` : `${name} could not be connected: ${this.#detail ?? 'no reason is known'}.`;
  }

  /** Working folders are others than they were. */
  rootsChanged(): void {
    void this.#link?.client.notification({ method: 'notifications/roots/list_changed' }).catch(() => undefined);
  }

  async close(): Promise<void> {
    const link = this.#stop();
    await link?.close();
  }

  kill(): void {
    this.#stop()?.kill();
  }

  #stop(): Link | undefined {
    clearTimeout(this.#timer);
    this.#life?.abort(new Error('it was let go'));
    this.#life = undefined;
    const link = this.#link;
    this.#link = undefined;
    return link;
  }

  async #live(signal: AbortSignal): Promise<void> {
    const backoff = this.#doors.backoffMs ?? BACKOFF_MS;
    let failures = 0;
    let before: string | undefined;
    for (;;) {
      this.#set('connecting', before);
      const since = performance.now();
      const lost = await this.#once(signal, before !== undefined);
      if (signal.aborted || lost === undefined) break;
      before = lost;
      if (this.#state === 'connected') {
        this.#begin();
        this.#set('connecting', lost);
      }
      failures = performance.now() - since > STEADY_MS ? 0 : failures;
      const wait = backoff[failures];
      failures += 1;
      if (wait === undefined) {
        this.#fail(`${lost}; it was tried ${count(failures, 'time')}. /mcp reconnect ${this.configured.name} tries again`);
        break;
      }
      this.log.write(`[${lost}; next try in ${wait / 1000} s]`);
      await pause(wait, signal);
      if (signal.aborted) break;
    }
    if (this.#life?.signal === signal || this.#life === undefined) this.#settle();
  }

  /** One connection from its beginning to its end. Gives why it ended where it is to be sought again. */
  async #once(signal: AbortSignal, again: boolean): Promise<string | undefined> {
    let link: Link;
    try {
      link = await this.#open(signal);
    } catch (error) {
      if (signal.aborted) return undefined;
      if (error instanceof LoginNeeded) {
        this.#forget();
        this.#set('login', `it wants a login: /mcp login ${this.configured.name}`);
        this.log.write('[it wants a login]');
        return undefined;
      }
      if (again) return messageOf(error);
      this.#fail(messageOf(error));
      return undefined;
    }
    if (signal.aborted) {
      await link.close();
      return undefined;
    }
    this.#link = link;
    try {
      await this.#readAll(link, signal);
      this.log.write(`[connected${link.title === '' ? '' : `: ${link.title}`}; ${count(this.#tools.length, 'tool')}]`);
      this.#set('connected', undefined);
      this.#settle();
      const why = await link.closed;
      if (!signal.aborted) this.log.write(`[lost: ${why}]`);
      return `the connection was lost: ${why}`;
    } catch (error) {
      await link.close();
      const why = messageOf(error);
      if (again || signal.aborted) return why;
      this.#fail(why);
      return undefined;
    } finally {
      if (this.#link === link) this.#link = undefined;
    }
  }

  async #open(signal: AbortSignal): Promise<Link> {
    const { configured } = this;
    const launch = this.#doors.launch(configured);
    this.#launchNotes = launch.notes;
    if (launch.problem !== undefined) throw new Error(launch.problem);
    const { config } = launch;
    const remote = config.type === 'stdio' ? {} : await this.#remote(config.url, config.headersHelper, launch, signal);
    return await connect({
      config, env: launch.env, cwd: launch.cwd, log: this.log, version: this.#doors.version, timeoutMs: this.#doors.connectMs(), capabilities: CAPABILITIES, ...(this.#doors.guard !== undefined && { guard: this.#doors.guard }), ...remote,
      prepare: (client) => {
        hangRequests(client, { server: configured.name, log: this.log, doors: this.#doors, consent: this.#consent, underway: () => this.underway, onListChanged: (what) => { this.#changed(what); } });
      },
    }, signal);
  }

  async #remote(url: string, helper: string | undefined, launch: Launch, signal: AbortSignal) {
    const [headers, auth, fetch] = await Promise.all([
      helper === undefined ? undefined : headersFrom(helper, { launch, name: this.configured.name, signal }),
      this.#doors.auth?.(this.configured, launch), this.#doors.fetch?.(url),
    ]);
    return { ...(headers !== undefined && { headers }), ...(auth !== undefined && { auth }), ...(fetch !== undefined && { fetch }) };
  }

  async #readAll(link: Link, signal: AbortSignal): Promise<void> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(LIST_MS)]);
    await this.#readTools(link, limit);
    await Promise.all([this.#readOthers(link, 'resources', limit), this.#readOthers(link, 'prompts', limit)]);
  }

  async #readTools(link: Link, signal: AbortSignal): Promise<void> {
    const found = link.has('tools') ? await listTools(link.client, this.slug, signal) : { tools: [], notes: [] };
    const before = new Map(this.#tools.map((tool) => [tool.name, tool]));
    this.#tools = found.tools;
    for (const note of found.notes) if (!this.#notes.includes(note)) this.log.write(`[${note}]`);
    this.#notes = found.notes;
    const changed = found.tools.filter((tool) => before.has(tool.name) && JSON.stringify(before.get(tool.name)) !== JSON.stringify(tool));
    for (const { name } of changed) this.log.write(`[it says something else of the tool ${name} now]`);
    if (changed.length > 0) this.#doors.onToolsChanged?.(this.configured.name, changed);
  }

  /** Without them the tools are as good. */
  async #readOthers(link: Link, what: 'resources' | 'prompts', signal: AbortSignal): Promise<void> {
    try {
      if (what === 'resources') this.#resources = link.has(what) ? await listResources(link.client, this.configured.name, signal) : [];
      else this.#prompts = link.has(what) ? await listPrompts(link.client, this.configured.name, signal) : [];
    } catch (error) {
      this.log.write(`[its ${what} cannot be listed: ${messageOf(error)}]`);
    }
  }

  #changed(what: 'tools' | 'resources' | 'prompts'): void {
    this.#dirty.add(what);
    if (this.#timer !== undefined || this.#life === undefined) return;
    const calm = performance.now() - this.#refreshedAt > 4 * this.#quietMs;
    this.#quietMs = calm ? QUIET_MS : Math.min(MOST_QUIET_MS, this.#quietMs * 2);
    this.#timer = setTimeout(() => { void this.#refresh(); }, this.#quietMs);
    this.#timer.unref();
  }

  async #refresh(): Promise<void> {
    const link = this.#link;
    const signal = this.#life?.signal;
    const dirty = this.#dirty;
    this.#dirty = new Set();
    try {
      if (link === undefined || signal === undefined) return;
      const limit = AbortSignal.any([signal, AbortSignal.timeout(LIST_MS)]);
      if (dirty.has('tools')) await this.#readTools(link, limit);
      for (const what of ['resources', 'prompts'] as const) if (dirty.has(what)) await this.#readOthers(link, what, limit);
      this.#doors.onChange();
    } catch (error) {
      this.log.write(`[its tools cannot be listed: ${messageOf(error)}]`);
    } finally {
      this.#refreshedAt = performance.now();
      this.#timer = undefined;
      const [again] = this.#dirty;
      if (again !== undefined) this.#changed(again);
    }
  }

  #fail(why: string): void {
    this.#forget();
    this.log.write(`[failed: ${why}]`);
    this.#set('failed', why);
    this.#doors.notice(`MCP server ${this.configured.name}: ${why}.`);
  }

  #forget(): void {
    this.#tools = [];
    this.#resources = [];
    this.#prompts = [];
  }

  #set(state: McpState, detail: string | undefined): void {
    this.#state = state;
    this.#detail = detail;
    this.#doors.onChange();
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    timer.unref();
    signal.addEventListener('abort', () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}
