import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Json } from '#lib/brand.ts';
import { messageOf } from '#lib/errors.ts';
import type { GroupGuard } from '#lib/group-guard.ts';
import type { StatusLineSetting } from '#domain/settings.ts';
import { onOneLine } from '#domain/task-words.ts';

export interface StatusLineOptions {
  /** The setting that may run now; undefined: none. */
  readonly setting: () => StatusLineSetting | undefined;
  /** What the command is given on its standard input. */
  readonly input: () => Promise<Json>;
  /** When the command is to be asked although nothing happened, in milliseconds since the epoch. */
  readonly due: () => number | undefined;
  readonly place: () => { readonly cwd: string; readonly env: Readonly<Record<string, string>>; readonly shell: string };
  readonly size: () => { readonly columns: number; readonly rows: number };
  /** What the command wrote; undefined: it wrote nothing, or there is none. */
  readonly show: (output: string | undefined) => void;
  readonly onFault: (message: string) => void;
  readonly guard?: GroupGuard;
  /** Milliseconds that a run may take; for tests. */
  readonly limitMs?: number;
}

export interface StatusLineCommand {
  /** Something that it may show has changed: it is run soon, once for all that happens meanwhile. */
  touch(): void;
  close(): void;
}

const DEBOUNCE_MS = 300;
const LIMIT_MS = 5000;
/** What a command left running in the background may still write. */
const DRAIN_MS = 100;
/** Past the moment itself, so that it is behind. */
const AFTER_MS = 50;
const MOST_BYTES = 64 * 1024;
const MOST_ERROR = 2000;
/** A timer beyond this would run at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Runs a person's status line command: soon after something happened, every so many seconds where they want it, one run at a time.
 * An older run gives way to a newer one. What fails is said once for each command.
 */
export function createStatusLine(options: StatusLineOptions): StatusLineCommand {
  const faults = new Set<string>();
  /** Groups of which something still ran when the command itself had ended: a script may refresh what it shows next time. */
  const left = new Set<number>();
  let soon: NodeJS.Timeout | undefined;
  let later: NodeJS.Timeout | undefined;
  let run: Run | undefined;
  let runs = 0;
  let closed = false;
  const leave = (): void => {
    run?.stop();
    for (const group of left) end(group);
    left.clear();
  };

  const ask = async (): Promise<void> => {
    clearTimeout(later);
    run?.stop();
    run = undefined;
    const setting = options.setting();
    const turn = (runs += 1);
    if (setting === undefined) return options.show(undefined);
    const input = await options.input();
    if (closed || turn !== runs) return undefined;
    run = start(setting, options, JSON.stringify(input), left);
    const ended = await run.ended;
    if (closed || turn !== runs) return undefined;
    run = undefined;
    if ('output' in ended) options.show(indented(ended.output, setting.padding));
    else {
      options.show(undefined);
      if (!faults.has(setting.command)) options.onFault(`the status line command ${ended.problem}: ${onOneLine(setting.command, 120)}`);
      faults.add(setting.command);
    }
    return wait(setting);
  };
  const tryToAsk = (): void => { ask().catch((error: unknown) => { options.onFault(`the status line cannot be drawn: ${messageOf(error)}`); }); };
  const wait = (setting: StatusLineSetting): void => {
    const ms = nextIn(setting, options.due());
    if (ms !== undefined) later = setTimeout(tryToAsk, ms).unref();
  };
  process.on('exit', leave);
  tryToAsk();
  return {
    touch() {
      if (closed) return;
      soon ??= setTimeout(() => {
        soon = undefined;
        tryToAsk();
      }, DEBOUNCE_MS).unref();
    },
    close() {
      closed = true;
      clearTimeout(soon);
      clearTimeout(later);
      leave();
      process.off('exit', leave);
    },
  };
}

/** Milliseconds until it is to be asked although nothing happens. */
function nextIn({ refreshSeconds }: StatusLineSetting, due: number | undefined): number | undefined {
  const now = Date.now();
  const waits = [...(refreshSeconds === undefined ? [] : [refreshSeconds * 1000]), ...(due === undefined || due <= now ? [] : [due - now + AFTER_MS])];
  return waits.length === 0 ? undefined : Math.min(LONGEST_TIMER_MS, ...waits);
}

interface Run {
  readonly ended: Promise<{ readonly output: string } | { readonly problem: string }>;
  stop(): void;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** Ends a process group, or does nothing when it is gone. False: it is. */
function end(group: number, signal: NodeJS.Signals | 0 = 'SIGKILL'): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}

/** In a process group of its own. What it leaves running in the background goes into `left`, and what that writes is not waited for. */
function start({ command }: StatusLineSetting, { place, size, guard, limitMs = LIMIT_MS }: StatusLineOptions, input: string, left: Set<number>): Run {
  const { cwd, env, shell } = place();
  const { columns, rows } = size();
  // bash takes a socket as input for a login from afar and reads the person's start-up files, unless it stands in another shell.
  const child: Child = spawn(shell, ['-c', command], { cwd, env: { SHLVL: '1', ...env, COLUMNS: String(columns), LINES: String(rows) }, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const { pid } = child;
  if (pid !== undefined) guard?.watch(`line-${pid}`, pid);
  const stop = (): void => { if (pid !== undefined) end(pid); };
  let late = false;
  const limit = setTimeout(() => {
    late = true;
    stop();
  }, limitMs);
  // A command that does not read its input breaks the pipe.
  child.stdin.on('error', () => undefined);
  child.stdin.end(`${input}\n`);
  const output = collect(child.stdout, MOST_BYTES);
  const errors = collect(child.stderr, MOST_ERROR);
  const ended = new Promise<{ readonly output: string } | { readonly problem: string }>((resolve) => {
    child.once('error', (error) => { resolve({ problem: `cannot be started (${messageOf(error)})` }); });
    child.once('exit', () => {
      if (pid === undefined || !end(pid, 0)) return guard?.release(`line-${pid ?? 0}`);
      left.add(pid);
      setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, DRAIN_MS);
    });
    child.once('close', (code, signal) => {
      if (late) resolve({ problem: `had no answer within ${limitMs / 1000} s` });
      else if (code === 0) resolve({ output: output() });
      else resolve({ problem: `failed (${code === null ? String(signal) : `exit code ${code}`}${errors().trim() === '' ? '' : `, ${onOneLine(errors(), 200)}`})` });
    });
  });
  return { stop, ended: ended.finally(() => { clearTimeout(limit); }) };
}

function collect(stream: Readable, most: number): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    if (bytes < most) chunks.push(chunk.subarray(0, most - bytes));
    bytes += chunk.length;
  });
  stream.on('error', () => undefined);
  return () => Buffer.concat(chunks).toString('utf8');
}

function indented(output: string, padding: number): string | undefined {
  if (output.trim() === '') return undefined;
  return padding === 0 ? output : output.replace(/^(?=[^\r\n])/gm, ' '.repeat(padding));
}
