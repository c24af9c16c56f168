import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { createMessageConnection, type MessageConnection, StreamMessageWriter } from 'vscode-jsonrpc/node';
import { messageOf } from '#lib/errors.ts';
import type { GroupGuard } from '#lib/group-guard.ts';
import { BoundedReader } from './frames.ts';
import type { ServerLog } from './log.ts';

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A server's process with its line to it, in a group of its own. */
export interface ServerProcess {
  readonly connection: MessageConnection;
  /** Resolves with one line when it is gone or of no use any more: why. */
  readonly over: Promise<string>;
  /** Bytes that it has not read yet. */
  unread(): number;
  /** Asks it to end, and ends it with all that it started when it does not: within `ms` and a little. */
  end(ms: number): Promise<void>;
  /** Ends it at once. */
  kill(why: string): void;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

let started = 0;

/** Starts a server; never throws: what cannot be started is `over` at once. */
export function startProcess(command: ServerCommand, log: ServerLog, guard: GroupGuard | undefined): ServerProcess {
  const child: Child = spawn(command.command, [...command.args], { cwd: command.cwd, env: { ...command.env }, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const mark = `lsp-${process.pid}-${started += 1}`;
  if (child.pid !== undefined) guard?.watch(mark, child.pid);
  child.stderr.on('data', (chunk: Buffer) => { log.add(chunk.toString('utf8')); });
  // A pipe that broke is told by the process's end.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => undefined);
  const { over, settle } = ending(child);
  const reader = new BoundedReader(child.stdout, (line) => { log.add(line); });
  const connection = createMessageConnection(reader, new StreamMessageWriter(child.stdin), { error: (line) => { log.add(line); }, warn: (line) => { log.add(line); }, info: () => undefined, log: () => undefined });
  const kill = (why: string): void => {
    settle(why);
    signal(child, 'SIGKILL');
  };
  reader.onError((error) => { kill(messageOf(error)); });
  connection.onError(([error]) => { log.add(messageOf(error)); });
  void over.then((why) => {
    log.add(why);
    guard?.release(mark);
    connection.dispose();
  });
  return { connection, over, kill, unread: () => child.stdin.writableLength, end: (ms) => end(child, connection, ms) };
}

function ending(child: Child): { readonly over: Promise<string>; readonly settle: (why: string) => void } {
  let settle = (_why: string): void => undefined;
  const over = new Promise<string>((resolve) => { settle = resolve; });
  child.once('error', (error: NodeJS.ErrnoException) => { settle(error.code === 'ENOENT' ? 'it cannot be started: there is no such program' : `it cannot be started: ${messageOf(error)}`); });
  child.once('exit', (code, by) => { settle(code === null ? `it was ended by ${by ?? 'a signal'}` : `it ended with exit code ${code}`); });
  return { over, settle };
}

async function end(child: Child, connection: MessageConnection, ms: number): Promise<void> {
  const gone = new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) resolve();
    else child.once('exit', () => { resolve(); });
  });
  const polite = (async () => {
    await connection.sendRequest('shutdown');
    await connection.sendNotification('exit');
  })().catch(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => { timer = setTimeout(resolve, ms); });
  await Promise.race([late, Promise.all([polite, gone])]);
  clearTimeout(timer);
  signal(child, 'SIGKILL');
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
}

/** To the whole group: what the server has started goes with it, also where it has ended itself. */
function signal({ pid }: Child, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch {
    return;
  }
}
