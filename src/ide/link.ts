import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '#lib/errors.ts';
import { type EditorLock, findEditors } from './locks.ts';
import { isFields, type Marked, type News, newsOf, selectionIn } from './messages.ts';
import { openWire, type Wire } from './wire.ts';

export interface LinkOptions {
  /** Folders in which editors lay their lock files. */
  readonly folders: readonly string[];
  /** Where the session began: absolute, real. */
  readonly cwd: string;
  readonly version: string;
  /** Connection, selection or open file are others now. */
  onChange(): void;
  /** `folder`: the editor's own, from which a path that is not absolute is measured. */
  onMention(mention: Extract<News, { readonly type: 'mention' }>, folder: string | undefined): void;
  onDiagnostics(paths: readonly string[]): void;
  /** One line for the person. */
  say(text: string): void;
}

/** Whom to connect to without being asked. */
export interface Wish {
  /** The port of the editor in whose terminal this runs. */
  readonly port?: number;
  /** `--ide`. */
  readonly asked: boolean;
  /** To whichever fits. */
  readonly auto: boolean;
}

/** What a tool of the editor's answered: its texts in order. */
export interface ToolAnswer {
  readonly texts: readonly string[];
  readonly failed: boolean;
}

interface Connection {
  readonly lock: EditorLock;
  readonly wire: Wire;
  /** It has answered our greeting. */
  ready: boolean;
  path: string | undefined;
  marked: Marked | undefined;
  /** It has said itself where its cursor is. */
  told: boolean;
}

/** An editor that is waited for. `ms`: until the next look. */
interface Sought {
  readonly fits: (lock: EditorLock) => boolean;
  readonly ms: number;
  readonly again: boolean;
}

const PROTOCOL = '2025-03-26';
const HELLO_MS = 5000;
const LOOK_MS = 500;
/** Milliseconds until the next look for an editor that went: twice as long each time. */
const AGAIN_MS = { first: 1000, most: 30_000 };
const MOST_ANSWERS = 20;

/** The one connection to an editor: looked for, kept, and made again when the editor comes back. Nothing here throws. */
export class EditorLink {
  readonly #options: LinkOptions;
  #connection: Connection | undefined;
  #problem: string | undefined;
  /** What goes on is given up with it. */
  #attempt = new AbortController();
  #closed = false;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  find(): readonly EditorLock[] {
    return findEditors(this.#options.folders, this.#options.cwd);
  }

  /** That of the editor which is connected. */
  lock(): EditorLock | undefined { return this.#connection?.ready === true ? this.#connection.lock : undefined; }

  problem(): string | undefined { return this.#problem; }

  marked(): Marked | undefined { return this.#connection?.marked; }

  path(): string | undefined { return this.#connection?.path; }

  /** Connects to the one that was wished for, once it is there, or says in one line what could be. */
  async begin({ port, asked, auto }: Wish): Promise<void> {
    const found = this.find();
    const fitting = found.filter(({ fits }) => fits);
    const own = port === undefined ? undefined : found.find((lock) => lock.port === port);
    const best = own ?? (asked || auto ? fitting[0] : undefined);
    if (best !== undefined) {
      const others = own === undefined ? fitting.length - 1 : 0;
      const problem = await this.#connectTo(best);
      if (problem !== undefined) this.#options.say(problem);
      else if (this.lock()?.port === best.port) this.#options.say(`Connected to ${best.name}${others > 0 ? `; ${others === 1 ? 'another editor runs' : `${others} more editors run`} for this folder (/ide)` : ''}.`);
    } else if (asked || auto) {
      if (asked) this.#options.say('--ide: no editor has said yet that it runs for this folder. One with a plug-in for this is connected when it opens the folder.');
      void this.#lookOut({ fits: (lock) => lock.fits || lock.port === port, ms: AGAIN_MS.first, again: false }, this.#attempt.signal);
    } else if (fitting.length > 0) this.#options.say(fitting.length === 1 ? `/ide connects to ${fitting[0]?.name ?? ''}.` : `/ide connects to an editor; ${fitting.length} run for this folder.`);
  }

  /** Connects to the editor on a port, in place of any other. One line: what is wrong. */
  connect(port: number): Promise<string | undefined> {
    const lock = this.find().find((one) => one.port === port);
    return lock === undefined ? Promise.resolve(`There is no editor on port ${port}.`) : this.#connectTo(lock);
  }

  /** False when none was connected. */
  disconnect(): boolean {
    this.#attempt.abort(new Error('interrupted'));
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.wire.close();
    if (connection?.ready !== true) return false;
    this.#options.onChange();
    return true;
  }

  close(): void {
    this.#closed = true;
    this.disconnect();
  }

  /** Calls a tool of the editor's. Rejects with one line when there is no editor, it refuses, or the signal aborts. */
  async call(name: string, args: object, signal: AbortSignal): Promise<ToolAnswer> {
    if (this.#connection?.ready !== true) throw new Error('no editor is connected');
    return answerIn(await this.#connection.wire.request('tools/call', { name, arguments: args }, signal));
  }

  /** As {@link call}, within milliseconds; undefined where it rejects. */
  async ask(name: string, args: object, ms: number, signal?: AbortSignal): Promise<ToolAnswer | undefined> {
    const limit = AbortSignal.timeout(ms);
    try {
      const answer = await this.call(name, args, signal === undefined ? limit : AbortSignal.any([signal, limit]));
      return answer.failed ? undefined : answer;
    } catch {
      return undefined;
    }
  }

  /** What is marked, asked anew; undefined when the editor does not say. */
  async look(ms: number, signal?: AbortSignal): Promise<Marked | undefined> {
    const connection = this.#connection;
    const [text] = (await this.ask('getCurrentSelection', {}, ms, signal))?.texts ?? [];
    const said = text === undefined ? undefined : fieldsIn(text);
    if (said === undefined || said['success'] === false || connection === undefined) return undefined;
    this.#moved(connection, selectionIn(said));
    return connection.marked;
  }

  async #connectTo(lock: EditorLock): Promise<string | undefined> {
    this.disconnect();
    if (this.#closed) return undefined;
    const attempt = new AbortController();
    this.#attempt = attempt;
    this.#problem = undefined;
    let connection: Connection | undefined;
    try {
      const wire = await openWire({
        port: lock.port, token: lock.token,
        onNotification: (method, params) => { if (connection !== undefined) this.#heard(connection, method, params); },
        onClosed: (why) => { if (connection?.ready === true) this.#lost(connection, why); },
      }, attempt.signal);
      if (attempt.signal.aborted) {
        wire.close();
        return undefined;
      }
      connection = { lock, wire, ready: false, path: undefined, marked: undefined, told: false };
      this.#connection = connection;
      await this.#greet(wire, attempt.signal);
      connection.ready = true;
    } catch (error) {
      if (attempt.signal.aborted) return undefined;
      if (this.#connection === connection) this.#connection = undefined;
      connection?.wire.close();
      this.#problem = `${lock.name} (port ${lock.port}) could not be connected: ${messageOf(error)}.`;
      return this.#problem;
    }
    this.#options.onChange();
    if (!connection.told) await this.look(LOOK_MS, attempt.signal);
    return undefined;
  }

  async #greet(wire: Wire, signal: AbortSignal): Promise<void> {
    const hello = { protocolVersion: PROTOCOL, capabilities: {}, clientInfo: { name: 'pinion', version: this.#options.version } };
    await wire.request('initialize', hello, AbortSignal.any([signal, AbortSignal.timeout(HELLO_MS)]));
    wire.notify('notifications/initialized', {});
    wire.notify('ide_connected', { pid: process.pid });
  }

  #heard(connection: Connection, method: string, params: unknown): void {
    if (this.#connection !== connection) return;
    const news = newsOf(method, params);
    if (news?.type === 'selection') this.#moved(connection, news);
    else if (news?.type === 'mention') this.#options.onMention(news, connection.lock.folders[0]);
    else if (news?.type === 'diagnostics') this.#options.onDiagnostics(news.paths);
  }

  #moved(connection: Connection, { path, marked }: Extract<News, { readonly type: 'selection' }>): void {
    if (this.#connection !== connection) return;
    connection.told = true;
    // Whoever hears of a change looks anew: what is the same is none.
    if (connection.path === path && isDeepStrictEqual(connection.marked, marked)) return;
    connection.path = path;
    connection.marked = marked;
    if (connection.ready) this.#options.onChange();
  }

  /** An editor that was connected may come back: on the same port, or as another process of the same name for this folder. */
  #lost(connection: Connection, why: string): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    this.#problem = `${connection.lock.name}: ${why}.`;
    this.#options.say(`${connection.lock.name} is not connected any more: ${why}.`);
    this.#options.onChange();
    const { port, name } = connection.lock;
    void this.#lookOut({ fits: (lock) => lock.port === port || (lock.fits && lock.name === name), ms: AGAIN_MS.first, again: true }, this.#attempt.signal);
  }

  /** Until there is one that fits, or somebody decides otherwise. */
  async #lookOut(sought: Sought, signal: AbortSignal): Promise<void> {
    const waited = await sleep(sought.ms, true, { signal, ref: false }).catch(() => false);
    if (!waited || this.#closed) return;
    const later = { ...sought, ms: Math.min(AGAIN_MS.most, sought.ms * 2) };
    const found = this.find().find(sought.fits);
    if (found === undefined) return this.#lookOut(later, signal);
    const problem = await this.#connectTo(found);
    if (problem !== undefined) return this.#lookOut(later, this.#attempt.signal);
    if (this.lock()?.port === found.port) this.#options.say(`Connected to ${found.name}${sought.again ? ' again' : ''}.`);
  }
}

function answerIn(result: unknown): ToolAnswer {
  const content = isFields(result) && Array.isArray(result['content']) ? result['content'] as readonly unknown[] : [];
  const texts = content.slice(0, MOST_ANSWERS).flatMap((part) => (isFields(part) && typeof part['text'] === 'string' ? [part['text']] : []));
  return { texts, failed: isFields(result) && result['isError'] === true };
}

function fieldsIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
