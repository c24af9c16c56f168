import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Readable } from 'node:stream';
import { nameFromBytes } from '#lib/names.ts';
import type { Guard } from './guard.ts';
import { familyOf, groupLives, livesOn, MARK, type ProcessLine, signalQuietly } from './processes.ts';

/** Milliseconds from asking a process to end to ending it. */
const KILL_AFTER_MS = 2000;
/** Output is awaited this long after the shell has ended and nothing more has come, … */
export const DRAIN_MS = 100;
/** … and this long at most. */
const DRAIN_MOST_MS = 500;
const LOOK_MS = 50;
/** Folders that hold where a shell was at its end are called so, in the folder for temporary files. */
export const SHELL_FOLDER = 'pinion-shell-';

/** Variables that keep programs from waiting for a person who is not there. They win over everything else. */
const GUARDS: Readonly<Record<string, string>> = { GIT_TERMINAL_PROMPT: '0', GIT_EDITOR: 'true', GIT_SEQUENCE_EDITOR: 'true', PAGER: 'cat', GIT_PAGER: 'cat', PINION: '1' };

export interface ShellStart {
  readonly command: string;
  /** Absolute; must exist. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Absolute path of a POSIX shell. */
  readonly shell: string;
  /** Ends the command when this program is gone. */
  readonly guard?: Guard;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Takes output as it comes, both streams in one. A promise holds back what comes next until it resolves. */
export type Sink = (chunk: Buffer) => Promise<void> | undefined;

/** A command line in a shell of its own session, so without a terminal and without input. */
export interface ShellProcess {
  readonly pid: number;
  readonly exit: Promise<Exit>;
  /** From now on output goes here. */
  pour(into: Sink): void;
  /** Resolves when all has come, or nothing more comes: to be called after the shell's end. */
  drained(): Promise<void>;
  /** What still comes is read and dropped: whoever writes it does not fail, and nothing keeps this program alive. */
  drop(): void;
  /** All that it started and that still lives. */
  family(): readonly ProcessLine[];
  /** Whether its group, or what descends from it, still lives. */
  lives(): boolean;
  /** TERM to all that it started, KILL after two seconds to what is left. Resolves when that is done. */
  end(): Promise<void>;
  /** TERM at once; nothing is awaited, the guard does the rest when this program is gone. */
  abandon(): void;
  /** The guard need not look after it any more. */
  release(): void;
  /** Where the shell was at its end (real path); undefined when it could not say. Asked once. */
  cwd(): string | undefined;
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** Starts a command. Rejects when the shell cannot be started. */
export async function startProcess(request: ShellStart): Promise<ShellProcess> {
  const folder = mkdtempSync(join(tmpdir(), SHELL_FOLDER));
  const clear = (): void => { rmSync(folder, { recursive: true, force: true }); };
  const mark = randomUUID();
  try {
    request.guard?.watch(mark);
    const child = spawnShell(request, join(folder, 'cwd'), mark);
    if (child.pid !== undefined) request.guard?.watch(mark, child.pid);
    const exit = exitOf(child);
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    if (child.pid === undefined) throw new Error('the shell has no process');
    return processOf({ child, pid: child.pid, exit, mark, folder, clear, guard: request.guard });
  } catch (error) {
    request.guard?.release(mark);
    clear();
    throw error;
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** The shell says at its end where it is, and sends both streams down one pipe so that their order is kept. */
function spawnShell({ command, cwd, env, shell }: ShellStart, cwdFile: string, mark: string): Child {
  const prologue = `trap ${quoted(`pwd -P >|${quoted(cwdFile)}`)} EXIT; exec 2>&1; `;
  return spawn(shell, ['-c', prologue + command], { cwd, env: { ...env, ...GUARDS, [MARK]: mark }, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
}

function exitOf(child: Child): Promise<Exit> {
  return new Promise((resolve) => { child.once('exit', (code, signal) => { resolve({ code, signal }); }); });
}

interface Made {
  readonly child: Child;
  readonly pid: number;
  readonly exit: Promise<Exit>;
  readonly mark: string;
  readonly folder: string;
  readonly clear: () => void;
  readonly guard: Guard | undefined;
}

function processOf({ child, pid, exit, mark, folder, clear, guard }: Made): ShellProcess {
  const reading = read([child.stdout, child.stderr]);
  const family = (): readonly ProcessLine[] => familyOf(pid, mark);
  let ending: Promise<void> | undefined;
  return {
    pid, exit, family,
    pour: reading.pour,
    drained: reading.drained,
    drop() {
      reading.drop();
      child.unref();
    },
    lives: () => groupLives(pid) || familyOf(pid).length > 0,
    end: () => ending ??= endFamily(pid, family),
    abandon() {
      reading.drop();
      child.unref();
      signalQuietly(-pid, 'SIGTERM');
      for (const member of family()) signalQuietly(member.pid, 'SIGTERM');
      clear();
    },
    release: () => { guard?.release(mark); },
    cwd() {
      const at = readCwd(join(folder, 'cwd'));
      clear();
      return at;
    },
  };
}

/** Both streams into one sink; until there is one, what comes waits. */
function read(streams: readonly Readable[]): Pick<ShellProcess, 'pour' | 'drained' | 'drop'> {
  let sink: Sink | undefined;
  let last = Date.now();
  let hurried = false;
  const ends = streams.map((stream) => new Promise<void>((resolve) => {
    stream.once('error', () => { resolve(); });
    stream.once('close', () => { resolve(); });
  }));
  const take = (stream: Readable, chunk: Buffer): void => {
    last = Date.now();
    const wait = sink?.(chunk);
    if (wait === undefined || hurried) return;
    stream.pause();
    void wait.then(() => { stream.resume(); });
  };
  return {
    pour(into) {
      const first = sink === undefined;
      sink = into;
      if (first) for (const stream of streams) stream.on('data', (chunk: Buffer) => { take(stream, chunk); });
    },
    async drained() {
      const until = Date.now() + DRAIN_MOST_MS;
      last = Date.now();
      hurried = true;
      for (const stream of streams) stream.resume();
      let all = false;
      const over = Promise.all(ends).then(() => { all = true; });
      while (!all && Date.now() < until && Date.now() - last < DRAIN_MS) await Promise.race([over, pause(DRAIN_MS / 4)]);
    },
    drop() {
      this.pour(() => undefined);
      for (const stream of streams) {
        stream.resume();
        if ('unref' in stream && typeof stream.unref === 'function') stream.unref();
      }
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

/** What is started while it ends is found at the later look, and has no time to leave. */
async function endFamily(pid: number, family: () => readonly ProcessLine[]): Promise<void> {
  const known = new Map<string, ProcessLine>();
  const look = (): readonly ProcessLine[] => {
    for (const member of family()) known.set(`${member.pid} ${member.since}`, member);
    return [...known.values()].filter(livesOn);
  };
  const send = (signal: NodeJS.Signals): void => {
    signalQuietly(-pid, signal);
    for (const member of look()) signalQuietly(member.pid, signal);
  };
  send('SIGTERM');
  const deadline = Date.now() + KILL_AFTER_MS;
  const alive = (): boolean => groupLives(pid) || [...known.values()].some(livesOn);
  while (alive() && Date.now() < deadline) await pause(LOOK_MS);
  for (let tries = 0; tries < 3 && (alive() || look().length > 0); tries += 1) {
    send('SIGKILL');
    await pause(DRAIN_MS);
  }
}
