import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { CancellationTokenSource, ConnectionError, ErrorCodes, ResponseError } from 'vscode-jsonrpc/node';
import type { Json } from '#lib/brand.ts';
import { withDeadline } from '#lib/deadline.ts';
import { messageOf } from '#lib/errors.ts';
import type { GroupGuard } from '#lib/group-guard.ts';
import { answerServer } from './client-side.ts';
import { createLog, type ServerLog } from './log.ts';
import { type ServerProcess, startProcess } from './process.ts';
import { type Capabilities, capabilitiesOf, CLIENT_CAPABILITIES } from './protocol.ts';
import type { FileChangeKind, Watched } from './watched.ts';

/** All that a server is started with. */
export interface ServerPlan {
  readonly name: string;
  /** The folder it works in: absolute. */
  readonly root: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly initializationOptions?: Json;
  readonly settings?: Json;
}

export interface ServerDoors {
  readonly onPublish: (params: unknown) => void;
  /** Ask again for all files. */
  readonly onRefresh: () => void;
  readonly guard?: GroupGuard;
  readonly log?: ServerLog;
  /** Milliseconds until a start counts as failed. */
  readonly startMs?: number;
}

const START_MS = 45_000;
/** A server that answers nothing so many times in a row is given up. */
const MOST_SILENCES = 3;
/** Milliseconds of patience from which on silence counts: what is asked while somebody types is given up earlier, and says nothing of the server. */
const PATIENT_MS = 5000;
const CALM_LOOK_MS = 50;
const MOST_WORKS = 100;
/** Bytes that a server may leave unread. */
const MOST_UNREAD = 32 * 1024 * 1024;

/** One server at work. It never restarts: who wants one again starts another. */
export interface Server {
  readonly plan: ServerPlan;
  readonly log: ServerLog;
  /** Resolves when it can be asked; rejects with why it cannot. */
  readonly ready: Promise<Capabilities>;
  /** Resolves with why it is gone. */
  readonly over: Promise<string>;
  /** Whether it takes requests now. */
  isReady(): boolean;
  /** Rejects at the limit, with the signal's reason, or with the server's error. */
  request(method: string, params: unknown, ms: number, signal?: AbortSignal): Promise<unknown>;
  notify(method: string, params: unknown): void;
  /** Whether it is asked for diagnostics, rather than saying them. */
  pulls(): boolean;
  /** Whether it wants to hear of a file's change on disk. */
  watches(path: string, kind: FileChangeKind): boolean;
  watchesAny(): boolean;
  /** Resolves when it has no work under way that it told of (loading a project), or after `ms`. What it says meanwhile is not all. */
  calm(ms: number): Promise<void>;
  end(ms: number): Promise<void>;
  kill(why: string): void;
}

export function startServer(plan: ServerPlan, doors: ServerDoors): Server {
  const log = doors.log ?? createLog();
  log.add(`started: ${[plan.command, ...plan.args].join(' ')} in ${plan.root}`);
  const process_ = startProcess({ command: plan.command, args: plan.args, cwd: plan.root, env: plan.env }, log, doors.guard);
  const watched = new Map<string, readonly Watched[]>();
  const works = new Set<string>();
  const any = (): readonly Watched[] => [...watched.values()].flat();
  const state = { capabilities: undefined as Capabilities | undefined, over: false, pull: false, silences: 0 };
  answerServer(process_.connection, {
    log, root: plan.root, settings: plan.settings, onPublish: doors.onPublish, onRefresh: doors.onRefresh,
    onPull: () => { state.pull = true; },
    onWork: (token, begins) => {
      if (begins && works.size < MOST_WORKS) works.add(token);
      else works.delete(token);
    },
    onWatch: (id, wanted) => {
      if (wanted === undefined) watched.delete(id);
      else watched.set(id, wanted);
    },
  });
  process_.connection.listen();
  void process_.over.then(() => { state.over = true; });
  const request = requester(process_, state);
  const ready = initialize(plan, process_, request, doors.startMs ?? START_MS).then((capabilities) => {
    state.capabilities = capabilities;
    state.pull ||= capabilities.pull;
    return capabilities;
  });
  ready.catch((error: unknown) => { process_.kill(messageOf(error)); });
  return {
    plan, log, ready, request, over: process_.over,
    isReady: () => state.capabilities !== undefined && !state.over,
    notify: (method, params) => { notify(process_, method, params); },
    pulls: () => state.pull,
    watches: (path, kind) => any().some((one) => one.fits(path, kind)),
    watchesAny: () => watched.size > 0,
    async calm(ms) {
      const until = Date.now() + ms;
      while (works.size > 0 && !state.over && Date.now() < until) await pause(CALM_LOOK_MS);
    },
    end: (ms) => process_.end(ms),
    kill: (why) => { process_.kill(why); },
  };
}

type Request = Server['request'];

function requester(process_: ServerProcess, state: { over: boolean; silences: number }): Request {
  return async (method, params, ms, signal = new AbortController().signal) => {
    if (state.over) throw new Error(`it is gone: ${await process_.over}`);
    refuseUnread(process_);
    try {
      const answer = await withDeadline(ms, signal, (late) => {
        const token = new CancellationTokenSource();
        late.addEventListener('abort', () => { if (!state.over) token.cancel(); }, { once: true });
        return process_.connection.sendRequest<unknown>(method, params, token.token);
      });
      state.silences = 0;
      return answer;
    } catch (error) {
      if (ms >= PATIENT_MS && error instanceof Error && error.name === 'DeadlineError' && (state.silences += 1) >= MOST_SILENCES) process_.kill('it does not answer any more');
      // Its end rejects what was asked, before it is known why it ended.
      if (isDisposed(error)) throw new Error(`it is gone: ${await process_.over}`, { cause: error });
      throw error;
    }
  };
}

function isDisposed(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof ResponseError && error.code === ErrorCodes.PendingResponseRejected);
}

function notify(process_: ServerProcess, method: string, params: unknown): void {
  refuseUnread(process_);
  try {
    process_.connection.sendNotification(method, params).catch(() => undefined);
  } catch {
    // It is gone, which is told elsewhere.
  }
}

function refuseUnread(process_: ServerProcess): void {
  if (process_.unread() > MOST_UNREAD) process_.kill('it does not read what it is sent');
}

async function initialize(plan: ServerPlan, process_: ServerProcess, request: Request, ms: number): Promise<Capabilities> {
  const uri = pathToFileURL(plan.root).href;
  const result = await request('initialize', {
    processId: process.pid, clientInfo: { name: 'Pinion' }, rootUri: uri, rootPath: plan.root, workspaceFolders: [{ uri, name: 'workspace' }],
    capabilities: CLIENT_CAPABILITIES, ...(plan.initializationOptions !== undefined && { initializationOptions: plan.initializationOptions }),
  }, ms);
  notify(process_, 'initialized', {});
  if (plan.settings !== undefined) notify(process_, 'workspace/didChangeConfiguration', { settings: plan.settings });
  return capabilitiesOf(result);
}
