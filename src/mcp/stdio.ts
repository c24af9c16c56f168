import { randomUUID } from 'node:crypto';
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { deserializeMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { messageOf } from '#lib/errors.ts';
import type { GroupGuard } from '#lib/group-guard.ts';
import { isTooDeep } from '#lib/json-depth.ts';
import { bytes as size } from '#lib/numbers.ts';
import { createLines } from './lines.ts';
import type { ServerLog } from './log.ts';
import { errorForLong, MOST_MESSAGE_BYTES } from './too-long.ts';

export interface StdioOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the program. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly log: ServerLog;
  readonly guard?: GroupGuard;
}

/** Lines that are taken in one second: a server that writes more waits for the rest of it. */
const MOST_LINES_PER_SECOND = 2000;
const MOST_STDERR_PER_SECOND = 256 * 1024;
const LONGEST_STDERR_LINE = 16 * 1024;
/** After its input was closed, and after TERM. */
const PATIENCE_MS = 400;

/**
 * A server that is a program of ours: it leads a process group, which is ended with it and with this program. What it writes on
 * standard error, and whatever on standard output is no message, goes to the log.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: StdioOptions;
  /** Ids that an answer is awaited for. */
  readonly #waiting = new Set<number>();
  #child: ChildProcess | undefined;
  #ending: string | undefined;
  readonly #mark = `mcp-${randomUUID()}`;

  constructor(options: StdioOptions) {
    this.#options = options;
  }

  /** How the program ended, one line; undefined while it runs. */
  ending(): string | undefined { return this.#ending; }

  start(): Promise<void> {
    const { command, args, cwd, env, log, guard } = this.#options;
    guard?.watch(this.#mark);
    return new Promise((resolve, reject) => {
      const child = spawn(command, args, { cwd, env: { ...env, ...guard?.environment(this.#mark) }, stdio: ['pipe', 'pipe', 'pipe'], detached: process.platform !== 'win32', windowsHide: true });
      this.#child = child;
      if (child.pid !== undefined) guard?.watch(this.#mark, child.pid);
      child.once('spawn', () => {
        running.add(child);
        resolve();
      });
      child.once('error', (error) => {
        this.#ending ??= `it cannot be started: ${messageOf(error)}`;
        reject(new Error(this.#ending));
        this.#finish(child);
      });
      child.once('exit', (code, signal) => { this.#ending ??= signal === null ? `it ended with exit code ${code ?? 0}` : `it was ended by ${signal}`; });
      child.once('close', () => { this.#finish(child); });
      child.stdin.on('error', (error) => { log.write(`[cannot write to it: ${messageOf(error)}]`); });
      this.#listen(child.stdout);
      this.#hearErrors(child.stderr);
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin?.writable !== true) throw new Error(this.#ending ?? 'it is not running');
    if ('id' in message && 'method' in message) this.#waiting.add(Number(message.id));
    const failed = await new Promise<Error | undefined>((resolve) => { stdin.write(`${JSON.stringify(message)}\n`, (error) => { resolve(error ?? undefined); }); });
    if (failed === undefined) return;
    // A program that has ended breaks its pipe first: why it ended is what matters.
    await this.#exited();
    throw this.#ending === undefined ? failed : new Error(this.#ending);
  }

  async #exited(): Promise<void> {
    const child = this.#child;
    if (child === undefined || isOver(child)) return;
    await within(new Promise<void>((resolve) => { child.once('exit', () => { resolve(); }); }), PATIENCE_MS);
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const gone = new Promise<void>((resolve) => { if (isOver(child)) resolve(); else child.once('exit', () => { resolve(); }); });
    child.stdin?.end();
    if (!await within(gone, PATIENCE_MS)) {
      signalGroup(child, 'SIGTERM');
      await within(gone, PATIENCE_MS);
    }
    // Whatever it has started and left behind goes too.
    signalGroup(child, 'SIGKILL');
    this.#finish(child);
  }

  /** Ends it without waiting: at the end of our own program. */
  kill(): void {
    if (this.#child === undefined) return;
    this.#child.stdin?.end();
    signalGroup(this.#child, 'SIGTERM');
  }

  #finish(child: ChildProcess): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    const forget = (): void => {
      running.delete(child);
      this.#options.guard?.release(this.#mark);
    };
    if (isOver(child) || child.pid === undefined) {
      signalGroup(child, 'SIGKILL');
      forget();
    } else child.once('exit', forget);
    for (const stream of [child.stdout, child.stderr, child.stdin]) stream?.destroy();
    this.onclose?.();
  }

  #listen(stdout: Readable): void {
    const { log } = this.#options;
    const lines = createLines(MOST_MESSAGE_BYTES, {
      line: (text) => { this.#take(text); },
      tooLong: (head, tail, bytes) => {
        log.write(`[a line of ${size(bytes)} was thrown away]`);
        const error = errorForLong(head, tail, bytes, this.#waiting);
        if (error !== undefined) this.#deliver(error);
      },
    });
    const pace = createPace(MOST_LINES_PER_SECOND, stdout);
    stdout.on('data', (chunk: Buffer) => {
      lines.push(chunk);
      pace(countLines(chunk));
    }).once('end', () => { lines.end(); });
  }

  #hearErrors(stderr: Readable): void {
    const { log } = this.#options;
    const lines = createLines(LONGEST_STDERR_LINE, { line: (text) => { log.write(text); }, tooLong: (head) => { log.write(`${head.slice(0, 200)} …`); } });
    const pace = createPace(MOST_STDERR_PER_SECOND, stderr);
    stderr.on('data', (chunk: Buffer) => {
      lines.push(chunk);
      pace(chunk.length);
    }).once('end', () => { lines.end(); });
  }

  #take(text: string): void {
    if (text.trim() === '') return;
    const { log } = this.#options;
    if (!text.trimStart().startsWith('{') || isTooDeep(text)) {
      log.write(text);
      return;
    }
    try {
      this.#deliver(deserializeMessage(text));
    } catch {
      log.write(text);
    }
  }

  #deliver(message: JSONRPCMessage): void {
    if ('id' in message && !('method' in message)) this.#waiting.delete(Number(message.id));
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(messageOf(error)));
    }
  }
}

function isOver({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function countLines(chunk: Buffer): number {
  let lines = 0;
  for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
  return lines;
}

/** Holds a stream up for the rest of a second in which more came than `most`. */
function createPace(most: number, stream: Readable): (amount: number) => void {
  let began = 0;
  let amount = 0;
  return (more) => {
    const now = performance.now();
    if (now - began > 1000) {
      began = now;
      amount = 0;
    }
    amount += more;
    if (amount <= most || stream.isPaused()) return;
    stream.pause();
    setTimeout(() => { stream.resume(); }, 1000 - (now - began)).unref();
  };
}

/** Programs that run: they end with ours, however that ends. */
const running = new (class {
  readonly #all = new Set<ChildProcess>();
  readonly #killAll = (): void => { for (const child of this.#all) signalGroup(child, 'SIGKILL'); };
  add(child: ChildProcess): void {
    if (this.#all.size === 0) process.once('exit', this.#killAll);
    this.#all.add(child);
  }
  delete(child: ChildProcess): void {
    this.#all.delete(child);
    if (this.#all.size === 0) process.off('exit', this.#killAll);
  }
})();

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // It is gone already.
  }
}

async function within(promise: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<false>((resolve) => { timer = setTimeout(() => { resolve(false); }, ms); });
  try {
    return await Promise.race([promise.then(() => true), passed]);
  } finally {
    clearTimeout(timer);
  }
}
