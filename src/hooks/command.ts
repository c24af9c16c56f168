import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { messageOf } from '#lib/errors.ts';
import type { GroupGuard } from '#lib/group-guard.ts';
import { failedRun, MOST_OUTPUT, type Ran } from './ran.ts';

export interface CommandRun {
  /** With `args` a program, without a shell; else a line for `shell`. */
  readonly command: string;
  readonly args?: readonly string[];
  readonly shell: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** What it reads from its standard input. */
  readonly input: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** What it has put out so far, at most five times a second. */
  readonly onOutput?: (stdout: string, stderr: string) => void;
}

/** From asking a hook to end to ending it. */
const KILL_AFTER_MS = 1000;
/** What it started may hold its output open: that is not waited for any longer than this. */
const DRAIN_MS = 200;
const TICK_MS = 200;

/** Groups of processes that were started and have not ended. */
export interface Groups {
  add(pid: number): void;
  delete(pid: number): void;
  /** Ends them all at once. */
  end(): void;
}

/** `guard`: ends them also where this program is killed. */
export function createGroups(guard?: GroupGuard): Groups {
  const alive = new Set<number>();
  return {
    add(pid) {
      alive.add(pid);
      guard?.watch(`hook-${pid}`, pid);
    },
    delete(pid) {
      alive.delete(pid);
      guard?.release(`hook-${pid}`);
    },
    end() {
      for (const pid of alive) send(pid, 'SIGKILL');
      alive.clear();
    },
  };
}

/**
 * Runs a hook's command in a session of its own, so without a terminal. At its time-out, and at once on the signal, it is ended
 * with all of its group. What it leaves running in the background when it ends by itself goes on. Never rejects.
 */
export async function runCommand(run: CommandRun, groups: Groups): Promise<Ran> {
  if (run.signal.aborted) return { kind: 'cancelled', stdout: '', stderr: '' };
  const [program = '', ...before] = run.args === undefined ? run.shell : [run.command];
  const words = run.args === undefined ? [...before, run.command] : run.args;
  let child: ChildProcess;
  try {
    // bash takes a socket as input for a login from afar and reads the person's start-up files, unless it stands in another shell.
    child = spawn(program, words, { cwd: run.cwd, env: { SHLVL: '1', ...run.env }, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  } catch (error) {
    return failedRun(messageOf(error));
  }
  const out = gather(child.stdout);
  const err = gather(child.stderr);
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(`${run.input}\n`);
  return await watch(child, { run, out, err, groups });
}

interface Watched {
  readonly run: CommandRun;
  readonly out: Gathered;
  readonly err: Gathered;
  readonly groups: Groups;
}

function watch(child: ChildProcess, { run: { timeoutMs, signal, onOutput }, out, err, groups }: Watched): Promise<Ran> {
  const { pid } = child;
  if (pid !== undefined) groups.add(pid);
  return new Promise((resolve) => {
    let ended = false;
    let said = '';
    const tick = onOutput === undefined ? undefined : setInterval(() => {
      const now = `${out.text()}\0${err.text()}`;
      if (now !== said && now.length > 1) onOutput(out.text(), err.text());
      said = now;
    }, TICK_MS);
    const finish = (how: Pick<Ran, 'kind' | 'exitCode' | 'problem'>): void => {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      clearInterval(tick);
      signal.removeEventListener('abort', abort);
      for (const stream of [child.stdout, child.stderr]) release(stream);
      child.unref();
      resolve({ ...how, stdout: out.text(), stderr: err.text() });
    };
    const kill = (kind: 'timedOut' | 'cancelled'): void => {
      if (pid !== undefined) endGroup(pid, groups);
      finish({ kind });
    };
    const abort = (): void => { kill('cancelled'); };
    const timer = setTimeout(() => { kill('timedOut'); }, timeoutMs);
    signal.addEventListener('abort', abort, { once: true });
    child.once('error', (error) => { finish({ kind: 'failed', problem: messageOf(error) }); });
    child.once('exit', (code, endedBy) => {
      if (pid !== undefined && !ended) groups.delete(pid);
      const how: Pick<Ran, 'kind' | 'exitCode' | 'problem'> = code === null ? { kind: 'failed', problem: `ended by ${endedBy ?? 'a signal'}` } : { kind: 'done', exitCode: code };
      const late = setTimeout(() => { finish(how); }, DRAIN_MS);
      void Promise.all([out.closed, err.closed]).then(() => {
        clearTimeout(late);
        finish(how);
      });
    });
  });
}

interface Gathered {
  text(): string;
  readonly closed: Promise<void>;
}

function gather(stream: Readable | null): Gathered {
  const decoder = new StringDecoder('utf8');
  let text = '';
  stream?.on('data', (chunk: Buffer) => { if (text.length < MOST_OUTPUT) text = (text + decoder.write(chunk)).slice(0, MOST_OUTPUT); });
  stream?.on('error', () => undefined);
  return { text: () => text, closed: stream === null ? Promise.resolve() : new Promise((resolve) => { stream.once('close', () => { resolve(); }); }) };
}

/** What still comes is read and dropped, and keeps nobody alive. */
function release(stream: Readable | null): void {
  stream?.removeAllListeners('data');
  stream?.resume();
  if (stream !== null && 'unref' in stream && typeof stream.unref === 'function') stream.unref();
}

function endGroup(pid: number, groups: Groups): void {
  send(pid, 'SIGTERM');
  setTimeout(() => {
    send(pid, 'SIGKILL');
    groups.delete(pid);
  }, KILL_AFTER_MS).unref();
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended already.
  }
}
