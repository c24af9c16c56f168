import { messageOf } from '#lib/errors.ts';
import type { TaskRecord } from '#domain/tasks.ts';
import { collectOutput, type Output } from './output.ts';
import { type Exit, type ShellProcess, type ShellStart, startProcess } from './process.ts';

const TICK_MS = 100;
/** Most bytes of output of which the record in the background begins, if it comes to that. */
const KEPT_BYTES = 1024 * 1024;

export interface ShellRequest extends ShellStart {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Most UTF-16 units of output that are kept. */
  readonly mostOutput: number;
  /** The last lines of output so far, at most ten times a second. */
  readonly onProgress?: (tail: string) => void;
  readonly handOver?: HandOver;
}

/** How a command goes on in the background. */
export interface HandOver {
  /** Resolves when the user wants it. */
  readonly wanted: Promise<void>;
  /** Whether its time-out sends it there; else that ends it. */
  readonly atTimeout: boolean;
  /** Takes the command over, with what it put out so far; undefined when that cannot be. */
  take(process: ShellProcess, soFar: SoFar): TaskRecord | undefined;
}

/** Output so far: its last bytes, and how many came before them. */
export interface SoFar {
  readonly before: number;
  readonly bytes: Buffer;
}

export interface ShellResult {
  /** `background`: it goes on there, as `task`. */
  readonly how: 'exited' | 'timedOut' | 'interrupted' | 'notStarted' | 'background';
  /** Both streams in the order in which they were written; the beginning and the end if it is long. */
  readonly output: string;
  readonly bytes: number;
  /** Null when a signal ended the shell, and unless `how` is `exited`. */
  readonly exitCode: number | null;
  readonly endedBy: NodeJS.Signals | null;
  /** What goes on in the background, such as `1234 (sleep)`; also what outlives a kill is named. */
  readonly running: readonly string[];
  /** Where the shell was at its end (real path); undefined when it could not say. */
  readonly cwd: string | undefined;
  readonly task?: TaskRecord;
  /** Why it is in the background. */
  readonly sentBy?: 'user' | 'timeout';
}

/**
 * Runs a command line in a shell of its own session, so without a terminal and without input. Resolves when the shell has
 * ended, whatever still runs in the background; at the time-out or the signal it ends the whole family (TERM, then KILL after
 * two seconds) and resolves at once on the signal, or when the shell is gone. With a {@link HandOver} it may resolve while the
 * command goes on. Never rejects.
 */
export async function runShell(request: ShellRequest): Promise<ShellResult> {
  const output = collectOutput({ shown: request.mostOutput });
  try {
    return await watch(await startProcess(request), request, output);
  } catch (error) {
    return { how: 'notStarted', output: messageOf(error), bytes: 0, exitCode: null, endedBy: null, running: [], cwd: undefined };
  }
}

type Event = { readonly type: 'exit'; readonly exit: Exit } | { readonly type: 'timeout' | 'abort' | 'wanted' };

async function watch(process: ShellProcess, request: ShellRequest, output: Output): Promise<ShellResult> {
  const { signal, timeoutMs, onProgress, handOver } = request;
  const kept = handOver === undefined ? undefined : keepLast(KEPT_BYTES);
  process.pour((chunk) => {
    output.push(chunk);
    kept?.push(chunk);
    return undefined;
  });
  const ticker = onProgress === undefined ? undefined : setInterval(() => { onProgress(output.tail()); }, TICK_MS);
  const clock = alarms(timeoutMs, signal);
  const exit = process.exit.then((exit): Event => ({ type: 'exit', exit }));
  const wanted = handOver?.wanted.then((): Event => ({ type: 'wanted' }));
  let mayGo = wanted;
  try {
    for (;;) {
      const event = await Promise.race([exit, clock.aborted, clock.passed, ...(mayGo === undefined ? [] : [mayGo])]);
      if (event.type === 'exit') return await exited(process, event.exit, output);
      if (event.type === 'abort') return interrupted(process, output);
      const sentBy = event.type === 'wanted' ? 'user' : 'timeout';
      if (sentBy === 'user' || handOver?.atTimeout === true) {
        const task = kept === undefined ? undefined : handOver?.take(process, kept.all());
        if (task !== undefined) return { ...blank('background', output), task, sentBy };
      }
      if (sentBy === 'timeout') return await timedOut(process, output, clock.aborted);
      mayGo = undefined;
    }
  } finally {
    clearInterval(ticker);
    clock.clear();
  }
}

function blank(how: ShellResult['how'], output: Output): ShellResult {
  const { text, bytes } = output.end();
  return { how, output: text, bytes, exitCode: null, endedBy: null, running: [], cwd: undefined };
}

async function exited(process: ShellProcess, { code, signal }: Exit, output: Output): Promise<ShellResult> {
  await process.drained();
  process.drop();
  process.release();
  return { ...blank('exited', output), exitCode: code, endedBy: signal, running: named(process), cwd: process.cwd() };
}

/** The answer does not wait; the end of the command goes on by itself. */
function interrupted(process: ShellProcess, output: Output): ShellResult {
  void process.end().then(() => { process.release(); });
  process.drop();
  return { ...blank('interrupted', output), cwd: process.cwd() };
}

async function timedOut(process: ShellProcess, output: Output, aborted: Promise<Event>): Promise<ShellResult> {
  const over = process.end().then(() => { process.release(); });
  const event = await Promise.race([over, aborted]);
  if (event !== undefined) return interrupted(process, output);
  await process.drained();
  process.drop();
  return { ...blank('timedOut', output), running: named(process), cwd: process.cwd() };
}

function named(process: ShellProcess): readonly string[] {
  return process.family().map(({ pid, name }) => `${pid} (${name})`);
}

function alarms(timeoutMs: number, signal: AbortSignal): { readonly passed: Promise<Event>; readonly aborted: Promise<Event>; clear(): void } {
  let timer: NodeJS.Timeout | undefined;
  let onAbort = (): void => undefined;
  const passed = new Promise<Event>((resolve) => { timer = setTimeout(() => { resolve({ type: 'timeout' }); }, timeoutMs); });
  const aborted = new Promise<Event>((resolve) => { onAbort = () => { resolve({ type: 'abort' }); }; });
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return {
    passed, aborted,
    clear() {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    },
  };
}

/** The last bytes, in pieces as they came. */
function keepLast(most: number): { push(chunk: Buffer): void; all(): SoFar } {
  const chunks: Buffer[] = [];
  let held = 0;
  let before = 0;
  return {
    push(chunk) {
      chunks.push(chunk);
      held += chunk.length;
      while (held > most && chunks.length > 1) {
        const gone = chunks.shift()?.length ?? 0;
        held -= gone;
        before += gone;
      }
    },
    all: () => ({ before, bytes: Buffer.concat(chunks) }),
  };
}
