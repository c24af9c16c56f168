import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Readable } from 'node:stream';
import { messageOf } from '#lib/errors.ts';
import { nameFromBytes } from '#lib/names.ts';
import { collectOutput, type Output } from './output.ts';
import { familyOf, groupLives, livesOn, type ProcessLine, signalQuietly } from './processes.ts';

/** Milliseconds from asking a process to end to ending it. */
const KILL_AFTER_MS = 2000;
/** Output is awaited this long after the shell has ended and nothing more has come, … */
const DRAIN_MS = 100;
/** … and this long at most. */
const DRAIN_MOST_MS = 500;
const TICK_MS = 100;

export interface ShellRequest {
  readonly command: string;
  /** Absolute; must exist. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Absolute path of a POSIX shell. */
  readonly shell: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Most UTF-16 units of output that are kept. */
  readonly mostOutput: number;
  /** The last lines of output so far, at most ten times a second. */
  readonly onProgress?: (tail: string) => void;
}

export interface ShellResult {
  readonly how: 'exited' | 'timedOut' | 'interrupted' | 'notStarted';
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
}

/** Variables that keep programs from waiting for a person who is not there. They win over everything else. */
const GUARDS: Readonly<Record<string, string>> = { GIT_TERMINAL_PROMPT: '0', GIT_EDITOR: 'true', GIT_SEQUENCE_EDITOR: 'true', PAGER: 'cat', GIT_PAGER: 'cat', PINION: '1' };

type Child = ChildProcessByStdio<null, Readable, Readable>;

/**
 * Runs a command line in a shell of its own session, so without a terminal and without input. Resolves when the shell has
 * ended, whatever still runs in the background; at the time-out or the signal it ends the whole family (TERM, then KILL after
 * two seconds) and resolves at once on the signal, or when the shell is gone. Never rejects.
 */
export async function runShell(request: ShellRequest): Promise<ShellResult> {
  const output = collectOutput({ shown: request.mostOutput });
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), 'pinion-shell-'));
    const cwdFile = join(folder, 'cwd');
    return await watch(start(request, cwdFile), request, output, cwdFile);
  } catch (error) {
    return { how: 'notStarted', output: messageOf(error), bytes: 0, exitCode: null, endedBy: null, running: [], cwd: undefined };
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** The shell says at its end where it is, and sends both streams down one pipe so that their order is kept. */
function start({ command, cwd, env, shell }: ShellRequest, cwdFile: string): Child {
  const prologue = `trap ${quoted(`pwd -P >|${quoted(cwdFile)}`)} EXIT; exec 2>&1; `;
  return spawn(shell, ['-c', prologue + command], { cwd, env: { ...env, ...GUARDS }, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function watch(child: Child, request: ShellRequest, output: Output, cwdFile: string): Promise<ShellResult> {
  const { signal, timeoutMs, onProgress } = request;
  const reading = read([child.stdout, child.stderr], output);
  const ticker = onProgress === undefined ? undefined : setInterval(() => { onProgress(output.tail()); }, TICK_MS);
  const limits = limitsOf(child, timeoutMs, signal);
  try {
    const ended = await Promise.race([exitOf(child), limits.interrupted, limits.givenUp]);
    if (limits.how() === 'timedOut') await Promise.race([limits.givenUp, limits.interrupted]);
    if (limits.how() !== 'interrupted') await reading.drained();
    const how = limits.how();
    const { text, bytes } = reading.stop();
    const running = child.pid === undefined || how === 'interrupted' ? [] : familyOf(child.pid).map(({ pid, name }) => `${pid} (${name})`);
    return { how, output: text, bytes, exitCode: how === 'exited' ? ended?.code ?? null : null, endedBy: ended?.signal ?? null, running, cwd: readCwd(cwdFile) };
  } finally {
    clearInterval(ticker);
    limits.clear();
    child.unref();
  }
}

/**
 * Both streams into one output. Once it is stopped, what the background still writes is read and dropped: it neither fails
 * nor keeps this process alive.
 */
function read(streams: readonly Readable[], output: Output): { drained(): Promise<void>; stop(): ReturnType<Output['end']> } {
  let last = Date.now();
  let stopped = false;
  const ends = streams.map((stream) => new Promise<void>((resolve) => {
    stream.on('data', (chunk: Buffer) => {
      last = Date.now();
      if (!stopped) output.push(chunk);
    });
    stream.once('error', () => { resolve(); });
    stream.once('close', () => { resolve(); });
  }));
  return {
    async drained() {
      const until = Date.now() + DRAIN_MOST_MS;
      last = Date.now();
      let all = false;
      const over = Promise.all(ends).then(() => { all = true; });
      while (!all && Date.now() < until && Date.now() - last < DRAIN_MS) await Promise.race([over, pause(DRAIN_MS / 4)]);
    },
    stop() {
      stopped = true;
      for (const stream of streams) if ('unref' in stream && typeof stream.unref === 'function') stream.unref();
      return output.end();
    },
  };
}

function readCwd(file: string): string | undefined {
  try {
    return nameFromBytes(readFileSync(file)).replace(/\n$/, '') || undefined;
  } catch {
    return undefined;
  }
}

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

function exitOf(child: Child): Promise<Exit> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => { resolve({ code, signal }); });
  });
}

function limitsOf(child: Child, timeoutMs: number, signal: AbortSignal): { readonly interrupted: Promise<undefined>; readonly givenUp: Promise<undefined>; how(): 'exited' | 'timedOut' | 'interrupted'; clear(): void } {
  let how: 'exited' | 'timedOut' | 'interrupted' = 'exited';
  let giveUp = (): void => undefined;
  let stop = (): void => undefined;
  const givenUp = new Promise<undefined>((resolve) => { giveUp = () => { resolve(undefined); }; });
  const interrupted = new Promise<undefined>((resolve) => { stop = () => { resolve(undefined); }; });
  const onTimeout = (): void => {
    how = 'timedOut';
    endFamily(child, giveUp);
  };
  const onAbort = (): void => {
    if (how === 'exited') endFamily(child, () => undefined);
    how = 'interrupted';
    stop();
  };
  const timer = setTimeout(onTimeout, timeoutMs);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return {
    interrupted,
    givenUp,
    how: () => how,
    clear() {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    },
  };
}

/** TERM to the group and to all that descends from the shell; KILL to what is left of them. Goes on by itself. */
function endFamily(child: Child, then: () => void): void {
  const { pid } = child;
  if (pid === undefined) {
    then();
    return;
  }
  const family = familyOf(pid);
  const deadline = Date.now() + KILL_AFTER_MS;
  const left = (): readonly ProcessLine[] => family.filter(livesOn);
  const send = (signal: NodeJS.Signals): void => {
    signalQuietly(-pid, signal);
    for (const member of left()) signalQuietly(member.pid, signal);
  };
  send('SIGTERM');
  const poll = setInterval(() => {
    const alive = groupLives(pid) || left().length > 0;
    if (alive && Date.now() < deadline) return;
    clearInterval(poll);
    if (alive) send('SIGKILL');
    setTimeout(then, alive ? DRAIN_MS : 0);
  }, TICK_MS / 2);
}
