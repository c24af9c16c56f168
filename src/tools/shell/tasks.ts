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
import { type ShellProcess, startProcess } from './process.ts';
import { runShell, type ShellRequest, type ShellResult, type SoFar } from './run.ts';
import { makeTaskFile, type TaskFile } from './task-file.ts';
import { createLooks, readOutput, type Reading } from './task-output.ts';

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
const MOST_TRIES = 1000;

export function createShellTasks(options: ShellTasksOptions): ShellTasks {
  return new Shells(options);
}

class Shells implements ShellTasks {
  readonly #options: ShellTasksOptions;
  readonly #guard = createGuard();
  readonly #next = createNumbers();
  readonly #look = createLooks();
  readonly #running = new Map<string, Live>();
  /** What sends each command that runs in the foreground to the background. */
  readonly #front = new WeakMap<Session, Set<() => void>>();

  constructor(options: ShellTasksOptions) {
    this.#options = options;
  }

  async foreground({ staysAtTimeout, ...request }: ForegroundRequest, session: Session): Promise<ShellResult> {
    let send = (): void => undefined;
    const wanted = new Promise<void>((resolve) => { send = resolve; });
    const all = this.#front.get(session) ?? new Set();
    this.#front.set(session, all.add(send));
    const take = (process: ShellProcess, soFar: SoFar): TaskRecord | undefined => {
      const task = this.#adopt(process, request.command, session, soFar);
      return 'problem' in task ? undefined : task;
    };
    try {
      const { env, shell } = this.#options;
      return await runShell({ ...request, env: env(), shell, guard: this.#guard, handOver: { wanted, atTimeout: staysAtTimeout, take } });
    } finally {
      all.delete(send);
    }
  }

  async start(command: string, title: string, session: Session, cwd = this.#options.cwd(session)): Promise<TaskRecord | Problem> {
    const { env, shell } = this.#options;
    let process: ShellProcess;
    try {
      process = await startProcess({ command, cwd, env: env(), shell, guard: this.#guard });
    } catch (error) {
      return { problem: `the shell could not be started: ${messageOf(error)}` };
    }
    const task = this.#adopt(process, title, session);
    if ('problem' in task) {
      process.drop();
      await process.end();
      process.release();
    }
    return task;
  }

  list(session: Session): readonly TaskView[] {
    return this.#views(session);
  }

  async read(id: string, session: Session): Promise<Reading | Problem> {
    const task = this.#views(session, id)[0];
    return task === undefined ? unknown(id, session) : readOutput(task, this.#find(id, session)?.file.problem());
  }

  async stop(id: string, session: Session): Promise<{ readonly task: TaskRecord } | Problem> {
    const live = this.#find(id, session);
    if (live?.process.lives() !== true) {
      await live?.ended;
      return hasEnded(id, session);
    }
    live.stopping = true;
    await Promise.all([live.process.end(), live.ended]);
    return { task: live.record };
  }

  background(session: Session): boolean {
    const all = [...this.#front.get(session) ?? []];
    for (const send of all) send();
    return all.length > 0;
  }

  running(session: Session): readonly TaskRecord[] {
    return this.#those(session).map(({ record }) => record);
  }

  move(from: Session, to: Session): void {
    for (const live of this.#those(from)) {
      this.#running.delete(keyOf(from, live.record.id));
      live.session = to;
      this.#running.set(keyOf(to, live.record.id), live);
      this.#keep(live);
    }
  }

  leave(session: Session): void {
    for (const live of this.#those(session)) {
      live.left = true;
      void live.process.end();
    }
  }

  close(): void {
    for (const live of this.#running.values()) {
      live.left = true;
      live.process.abandon();
    }
    this.#guard.close();
  }

  /** Makes a task of a command that runs. Nothing is waited for: no output is lost between the two. */
  #adopt(process: ShellProcess, title: string, session: Session, soFar?: SoFar): TaskRecord | Problem {
    const made = this.#makeFile(session, soFar);
    if ('problem' in made) return made;
    const { id, file } = made;
    const live = begin({ id, kind: 'shell', title: onOneLine(title, LONGEST_TITLE), state: 'running', file: file.path }, session, process, file);
    this.#running.set(keyOf(session, id), live);
    this.#keep(live);
    live.ended = this.#follow(live);
    return live.record;
  }

  /** Of a task that the log does not know, for it was lost with the program, the file may be there: the next number is free. */
  #makeFile(session: Session, soFar: SoFar | undefined): { readonly id: string; readonly file: TaskFile } | Problem {
    for (let tries = 1; ; tries += 1) {
      const id = `shell-${this.#next(session)}`;
      try {
        return { id, file: makeTaskFile(join(this.#options.folder, session.id.replace(/[^\w-]/g, '-'), `${id}.log`), soFar) };
      } catch (error) {
        const taken = error instanceof Error && 'code' in error && error.code === 'EEXIST';
        if (!taken || tries === MOST_TRIES) return { problem: `its output could not be kept: ${messageOf(error)}` };
      }
    }
  }

  async #follow(live: Live): Promise<void> {
    const record = await endOf(live);
    this.#running.delete(keyOf(live.session, live.record.id));
    live.record = record;
    this.#keep(live);
  }

  #keep({ session, record, left }: Live): void {
    if (!left) this.#options.tell(session, session.append({ type: 'task', task: record }));
  }

  #find(id: string, session: Session): Live | undefined {
    return this.#running.get(keyOf(session, id));
  }

  #those(session: Session): readonly Live[] {
    return [...this.#running.values()].filter((live) => live.session === session);
  }

  #views(session: Session, only?: string): readonly TaskView[] {
    const starts = taskStartsOf(session.log);
    const shells = tasksOf(session.log).filter(({ id, kind }) => kind === 'shell' && (only === undefined || id === only));
    return shells.map((record) => {
      const live = this.#find(record.id, session);
      const { bytes, tail } = this.#look(record.file, live !== undefined);
      const doing = live?.output.tail().split('\n').at(-1) ?? '';
      return {
        ...record, ...(live === undefined && record.state === 'running' && { state: 'lost' as const }), bytes, readBytes: readUpTo(session.log, record.id) ?? 0,
        startedAtMs: live?.startedAtMs ?? Date.parse(starts.get(record.id)?.at ?? ''),
        ...(tail !== '' && { tail }), ...(doing !== '' && { doing }),
      };
    });
  }
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
async function endOf(live: Live): Promise<TaskRecord> {
  const { process, file, output } = live;
  const { code, signal } = await process.exit;
  while (process.lives()) await pause(LOOK_MS, undefined, { ref: false });
  await process.drained();
  process.drop();
  process.release();
  process.cwd();
  file.close();
  output.end();
  const exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
  return { ...live.record, state: live.stopping ? 'stopped' : exitCode === 0 ? 'done' : 'failed', exitCode };
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
