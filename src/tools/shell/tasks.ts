import { constants } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { tasksOf } from '#domain/folds.ts';
import { readUpTo, taskStartsOf } from '#domain/task-folds.ts';
import { onOneLine } from '#domain/task-words.ts';
import type { Entry } from '#domain/entry.ts';
import type { Session } from '#domain/session.ts';
import type { TaskRecord, TaskView } from '#domain/tasks.ts';
import { messageOf } from '#lib/errors.ts';
import { oneLine } from '#lib/names.ts';
import { createGuard } from './guard.ts';
import { collectOutput, type Output } from './output.ts';
import { type Exit, type ShellProcess, startProcess } from './process.ts';
import { runShell, type ShellRequest, type ShellResult, type SoFar } from './run.ts';
import { makeTaskFile, type TaskFile } from './task-file.ts';
import { createLooks, type Look, readOutput, type Reading } from './task-output.ts';

export interface ShellTasksOptions {
  /** Output lies below this folder, in one of the session. */
  readonly folder: string;
  readonly shell: string;
  readonly env: () => Readonly<Record<string, string>>;
  readonly cwd: (session: Session) => string;
  /** An entry came into a session's log beside its turn. */
  readonly tell: (session: Session, entry: Entry) => void;
}

export type Problem = { readonly problem: string };

export interface ForegroundRequest extends Omit<ShellRequest, 'guard' | 'handOver' | 'env' | 'shell'> {
  /** Whether the time-out sends it to the background; else that ends it. */
  readonly staysAtTimeout: boolean;
}

/** Shell commands of all sessions: those in the background, and those in the foreground that may go there. */
export interface ShellTasks {
  foreground(request: ForegroundRequest, session: Session): Promise<ShellResult>;
  start(command: string, title: string, session: Session, cwd?: string): Promise<TaskRecord | Problem>;
  list(session: Session): readonly TaskView[];
  read(id: string, session: Session): Promise<Reading | Problem>;
  stop(id: string, session: Session): Promise<{ readonly task: TaskRecord } | Problem>;
  /** Sends the commands that run in the foreground to the background. False when there are none. */
  background(session: Session): boolean;
  /** Records of what runs for a session. */
  running(session: Session): readonly TaskRecord[];
  /** What runs goes on under another session, which takes its place. */
  move(from: Session, to: Session): void;
  /** Ends what runs for a session that is left. Nothing is written: its log says `running` until it is gone on with. */
  leave(session: Session): void;
  /** Ends all that runs, at the end of the program; nothing is awaited. */
  close(): void;
}

interface Live {
  record: TaskRecord;
  session: Session;
  readonly process: ShellProcess;
  readonly file: TaskFile;
  readonly output: Output;
  readonly startedAtMs: number;
  stopping: boolean;
  /** Its log is no longer ours to write. */
  left: boolean;
  ended: Promise<void>;
}

const LONGEST_TITLE = 200;
const LAST_LINES = 4000;
/** How often it is looked whether what the shell left behind still lives. */
const LOOK_MS = 500;

export function createShellTasks(options: ShellTasksOptions): ShellTasks {
  const guard = createGuard();
  const running = new Map<string, Live>();
  const front = new WeakMap<Session, Set<() => void>>();
  const next = createNumbers();
  const keep = ({ session, record, left }: Live): void => {
    if (!left) options.tell(session, session.append({ type: 'task', task: record }));
  };
  const adopt = (process: ShellProcess, title: string, session: Session, soFar?: SoFar): TaskRecord => {
    const id = `shell-${next(session)}`;
    const path = join(options.folder, session.id.replace(/[^\w-]/g, '-'), `${id}.log`);
    const live = begin({ id, kind: 'shell', title: onOneLine(title, LONGEST_TITLE), state: 'running', file: path }, session, process, makeTaskFile(path, soFar));
    running.set(keyOf(session, id), live);
    keep(live);
    live.ended = follow(live).then((record) => {
      running.delete(keyOf(live.session, id));
      live.record = record;
      keep(live);
    });
    return live.record;
  };
  const find = (id: string, session: Session): Live | undefined => running.get(keyOf(session, id));
  const those = (session: Session): readonly Live[] => [...running.values()].filter((live) => live.session === session);
  const look = createLooks();
  const views = (session: Session, only?: string): readonly TaskView[] => viewsOf(session, (id) => find(id, session), look, only);
  return {
    async foreground({ staysAtTimeout, ...request }, session) {
      let send = (): void => undefined;
      const wanted = new Promise<void>((resolve) => { send = resolve; });
      const all = front.get(session) ?? new Set();
      front.set(session, all.add(send));
      try {
        return await runShell({
          ...request, env: options.env(), shell: options.shell, guard,
          handOver: { wanted, atTimeout: staysAtTimeout, take: (process, soFar) => tried(() => adopt(process, request.command, session, soFar)) },
        });
      } finally {
        all.delete(send);
      }
    },
    async start(command, title, session, cwd = options.cwd(session)) {
      try {
        const process = await startProcess({ command, cwd, env: options.env(), shell: options.shell, guard });
        return tried(() => adopt(process, title, session), (error) => {
          void process.end().then(() => { process.release(); });
          process.drop();
          return { problem: `its output could not be kept: ${messageOf(error)}` };
        });
      } catch (error) {
        return { problem: `the shell could not be started: ${messageOf(error)}` };
      }
    },
    list: (session) => views(session),
    async read(id, session) {
      const task = views(session, id)[0];
      return task === undefined ? unknown(id, session) : readOutput(task, find(id, session)?.file.problem());
    },
    async stop(id, session) {
      const live = find(id, session);
      if (live?.process.lives() !== true) {
        await live?.ended;
        return hasEnded(id, session);
      }
      live.stopping = true;
      await Promise.all([live.process.end(), live.ended]);
      return { task: live.record };
    },
    background(session) {
      const all = [...front.get(session) ?? []];
      for (const send of all) send();
      return all.length > 0;
    },
    running: (session) => those(session).map(({ record }) => record),
    move(from, to) {
      for (const live of those(from)) {
        running.delete(keyOf(from, live.record.id));
        live.session = to;
        running.set(keyOf(to, live.record.id), live);
        keep(live);
      }
    },
    leave(session) {
      for (const live of those(session)) {
        live.left = true;
        void live.process.end();
      }
    },
    close() {
      for (const live of running.values()) {
        live.left = true;
        live.process.abandon();
      }
      guard.close();
    },
  };
}

const keyOf = (session: Session, id: string): string => `${session.id} ${id}`;

/** Numbers are unique in a session, also between two tasks of which neither is in the log yet. */
function createNumbers(): (session: Session) => number {
  const given = new WeakMap<Session, number>();
  return (session) => {
    const used = tasksOf(session.log).map(({ id }) => Number(/-(\d{1,9})$/.exec(id)?.[1] ?? 0));
    const number = Math.max(0, given.get(session) ?? 0, ...used) + 1;
    given.set(session, number);
    return number;
  };
}

function tried<T>(does: () => T): T | undefined;
function tried<T, E>(does: () => T, otherwise: (error: unknown) => E): T | E;
function tried<T, E>(does: () => T, otherwise?: (error: unknown) => E): T | E | undefined {
  try {
    return does();
  } catch (error) {
    return otherwise?.(error);
  }
}

function begin(record: TaskRecord, session: Session, process: ShellProcess, file: TaskFile): Live {
  const output = collectOutput({ shown: LAST_LINES });
  const live: Live = { record, session, process, file, output, startedAtMs: Date.now(), stopping: false, left: false, ended: Promise.resolve() };
  process.pour((chunk) => {
    output.push(chunk);
    return file.push(chunk);
  });
  return live;
}

/** A task has ended when its shell has, and all that the shell left running in its group. Its record as it stands then. */
async function follow(live: Live): Promise<TaskRecord> {
  const { process, file, output } = live;
  const exit = await process.exit;
  while (process.lives()) await pause(LOOK_MS, undefined, { ref: false });
  await process.drained();
  process.drop();
  process.release();
  process.cwd();
  file.close();
  output.end();
  return endOf(live, exit);
}

function endOf({ record, stopping }: Live, { code, signal }: Exit): TaskRecord {
  const exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
  return { ...record, state: stopping ? 'stopped' : exitCode === 0 ? 'done' : 'failed', exitCode };
}

function viewsOf(session: Session, find: (id: string) => Live | undefined, look: (path: string, runs: boolean) => Look, only?: string): readonly TaskView[] {
  const starts = taskStartsOf(session.log);
  return tasksOf(session.log).filter(({ id, kind }) => kind === 'shell' && (only === undefined || id === only)).map((record) => {
    const live = find(record.id);
    const { bytes, tail } = look(record.file, live !== undefined);
    const doing = live === undefined ? undefined : live.output.tail().split('\n').at(-1);
    return {
      ...record, bytes, readBytes: readUpTo(session.log, record.id) ?? 0,
      startedAtMs: live?.startedAtMs ?? Date.parse(starts.get(record.id)?.at ?? ''),
      ...(tail !== '' && { tail }), ...(doing !== undefined && doing !== '' && { doing }),
    };
  });
}

function unknown(id: string, session: Session): Problem {
  const ids = tasksOf(session.log).map((task) => task.id);
  return { problem: `there is no task ${oneLine(id, 40)}; ${ids.length === 0 ? 'none was started' : `there are ${ids.slice(-20).join(', ')}`}` };
}

function hasEnded(id: string, session: Session): Problem {
  const task = tasksOf(session.log).find((one) => one.id === id);
  if (task === undefined) return unknown(id, session);
  return { problem: `${id} does not run: it is ${task.state}${task.exitCode === undefined ? '' : `, exit code ${task.exitCode}`}` };
}
