import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import type { Entry } from '#domain/entry.ts';
import { historyFaults } from './messages-server/history.ts';
import { type MessagesServer, type Recorded, type ServerOptions, startServer } from './messages-server/server.ts';
import { blocksOf, list, obj, type Obj, text } from './messages-server/shape.ts';
import { tempFolder } from './temp.ts';
import { openVirtualTerminal, type VirtualTerminal } from './virtual-terminal.ts';

/** The launcher of this checkout. It runs what was built last: `npm test` builds before it tests. */
export const PINION = fileURLToPath(new URL('../../bin/pinion.js', import.meta.url));

export interface Finished {
  /** 128 plus the signal's number where a signal ended it, as a shell says it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly pid: number;
  readonly ended: Promise<Finished>;
  kill(signal: NodeJS.Signals): void;
  /** Into its standard input, where that was left open; `end` closes it. */
  write(text: string): void;
  end(): void;
  /** What it wrote so far. */
  stdout(): string;
  stderr(): string;
}

export interface RunOptions {
  /** What is piped in; without it there is no input. */
  readonly input?: string;
  /** Leaves the pipe open. */
  readonly open?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Runs as a user that owns nothing, where the tests run as root, who may write everywhere. */
  readonly asNobody?: boolean;
}

export interface OpenOptions {
  readonly args?: readonly string[];
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface InTerminal extends VirtualTerminal {
  /** Types a line and Enter. */
  enter(line: string): void;
  /** Resolves when the program has ended well and left the terminal as it was. */
  expectLeft(): Promise<void>;
}

/** The built program in a project, a home and an environment of its own. */
export interface Product {
  /** The project, as its real path. */
  readonly cwd: string;
  /** `PINION_HOME`. */
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  start(args: readonly string[], options?: RunOptions): Running;
  run(args: readonly string[], options?: RunOptions): Promise<Finished>;
  /** A line of shell in which `pinion` is the program. */
  shell(line: string): Promise<Finished>;
  /** The program in a terminal, between two looks at the terminal's settings. Gone when the test is over. */
  open(options?: OpenOptions): InTerminal;
  /** Session logs, by the time of their making. */
  logs(): readonly string[];
  /** The entries of one log, or of the only one there is. Fails where a line is damaged. */
  entries(file?: string): readonly Entry[];
}

/** Files go into the project; `server` is where the program finds its model, without one the demo model answers. */
export function product(files: Readonly<Record<string, string | Uint8Array>> = {}, server?: Pick<MessagesServer, 'url'>, more: Readonly<Record<string, string>> = {}): Product {
  const cwd = tempFolder(files);
  const userHome = tempFolder();
  const home = join(userHome, 'pinion');
  const env = {
    PATH: process.env['PATH'] ?? '', HOME: userHome, PINION_HOME: home, LANG: 'C.UTF-8', GIT_CONFIG_NOSYSTEM: '1',
    ...(server !== undefined && { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'sk-ant-test' }), ...more,
  };
  const logs = (): readonly string[] => logsBelow(join(home, 'sessions'));
  const start = (args: readonly string[], options: RunOptions = {}): Running => startIn(cwd, { ...env, ...options.env }, [process.execPath, PINION, ...args], options);
  return {
    cwd, home, env, logs, start,
    run: (args, options) => start(args, options).ended,
    shell: (line) => startIn(cwd, env, ['/bin/bash', '-c', `pinion() { ${quoted([process.execPath, PINION])} "$@"; }; ${line}`], {}).ended,
    open: (options = {}) => openIn(options.cwd ?? cwd, { ...env, ...options.env }, options),
    entries(file) {
      const [only, second] = logs();
      if (file === undefined && second !== undefined) throw new Error('there is more than one session: say which');
      return entriesOf(file ?? only ?? '');
    },
  };
}

function startIn(cwd: string, env: Readonly<Record<string, string>>, [command = '', ...args]: readonly string[], options: RunOptions): Running {
  const piped = options.input !== undefined || options.open === true;
  const user = options.asNobody === true && process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  const child = spawn(command, args, { cwd: options.cwd ?? cwd, env, stdio: [piped ? 'pipe' : 'ignore', 'pipe', 'pipe'], ...user });
  onTestFinished(() => { if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL'); });
  if (options.input !== undefined) child.stdin?.write(options.input);
  if (options.open !== true) child.stdin?.end();
  // A program that ends without reading breaks the pipe.
  child.stdin?.on('error', () => undefined);
  let [stdout, stderr] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (words: string) => { stdout += words; });
  child.stderr?.setEncoding('utf8').on('data', (words: string) => { stderr += words; });
  const ended = new Promise<Finished>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => { resolve({ code: code ?? 128 + (signal === null ? 0 : constants.signals[signal]), stdout, stderr: stderr }); });
  });
  return { pid: child.pid ?? 0, ended, kill: (signal) => { child.kill(signal); }, write: (text) => { child.stdin?.write(text); }, end: () => { child.stdin?.end(); }, stdout: () => stdout, stderr: () => stderr };
}

function openIn(cwd: string, env: Readonly<Record<string, string>>, { args = [], columns = 80, rows = 24 }: OpenOptions): InTerminal {
  const words = quoted([process.execPath, PINION, ...args]);
  const script = `stty -a > "$HOME/before"; ${words}; echo "code $?"; stty -a > "$HOME/after"; cmp "$HOME/before" "$HOME/after" && echo 'as before'`;
  const terminal = openVirtualTerminal({ command: '/bin/bash', args: ['-c', script], cwd, columns, rows, alone: true, env });
  onTestFinished(() => terminal.close());
  return {
    ...terminal,
    enter: (line) => { terminal.type(`${line}\r`); },
    async expectLeft() {
      await terminal.ended;
      expect(terminal.lines().filter((line) => line !== '').slice(-2)).toEqual(['code 0', 'as before']);
      expect(terminal.raw()).not.toMatch(/\x1b\[[23]J/);
      expect(terminal.broken()).toEqual([]);
    },
  };
}

function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
}

function logsBelow(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true }).filter(({ name }) => name.endsWith('.jsonl'))
      .map(({ parentPath, name }) => join(parentPath, name)).sort((a, b) => headOf(a).localeCompare(headOf(b)));
  } catch {
    return [];
  }
}

const linesOf = (file: string): readonly string[] => readFileSync(file, 'utf8').split('\n').filter((line) => line !== '');
const headOf = (file: string): string => text(obj(JSON.parse(linesOf(file)[0] ?? '{}'))['at']);

function entriesOf(file: string): readonly Entry[] {
  return linesOf(file).slice(1).map((line) => JSON.parse(line) as Entry);
}

const FIELDS = ['duration_api_ms', 'duration_ms', 'is_error', 'model', 'modelUsage', 'num_turns', 'permission_denials', 'result', 'session_id', 'stop_reason', 'subtype', 'terminal_reason', 'total_cost_usd', 'type', 'usage', 'uuid'];

export interface Result {
  readonly subtype: string;
  readonly is_error: boolean;
  readonly result: string;
  readonly session_id: string;
  readonly num_turns: number;
  readonly total_cost_usd: number;
  readonly usage: Readonly<Record<string, number>>;
  readonly model: string;
  readonly permission_denials: readonly { readonly tool_name: string; readonly tool_use_id: string; readonly tool_input: unknown }[];
}

/** Standard output as the one object that `--output-format json` prints, and nothing besides. */
export function resultIn(stdout: string): Result {
  expect(stdout).toMatch(/^[^\n]+\n$/);
  const value = obj(JSON.parse(stdout));
  expect(Object.keys(value).filter((key) => key !== 'errors').sort()).toEqual(FIELDS);
  expect('errors' in value).toBe(value['is_error']);
  expect(value).toMatchObject({ type: 'result', session_id: expect.stringMatching(/^[\w-]{36}$/) as string, duration_ms: expect.any(Number) as number });
  expect(Object.keys(obj(value['usage'])).sort()).toEqual(['cache_creation_input_tokens', 'cache_read_input_tokens', 'input_tokens', 'output_tokens']);
  return value as unknown as Result;
}

/** A strict server that answers by a script; gone when the test is over. */
export async function serve(script: NonNullable<ServerOptions['script']>, more: Omit<ServerOptions, 'script'> = {}): Promise<MessagesServer> {
  const server = await startServer({ script, ...more });
  onTestFinished(() => server.close());
  return server;
}

/** Resolves as soon as it holds. */
export function until(holds: () => boolean, ms = 30_000): Promise<void> {
  return expect.poll(holds, { timeout: ms, interval: 10 }).toBe(true);
}

/** The composer is empty and no turn runs. What is typed sooner may be held, or taken for the rest of a paste. */
export function idle(screen: readonly string[]): boolean {
  return screen.some((line) => line.startsWith('> Ask')) && !screen.some((line) => line.includes('Esc interrupts'));
}

/** Whether a process of this number runs. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** No request was refused, and each has a sound history. */
export function expectValid(server: MessagesServer): void {
  expect(server.all.flatMap(({ refusal }) => (refusal === undefined ? [] : [refusal]))).toEqual([]);
  expect(server.requests.flatMap(({ body }) => historyFaults(body))).toEqual([]);
}

/** All text of a request's messages, tool results included, in order. */
export function wordsOf({ body }: Recorded): string {
  return list(body['messages']).map(obj).flatMap(({ content }) => blocksOf(content)).map(textOf).join('\n');
}

function textOf(block: Obj): string {
  return block['type'] === 'tool_result' ? blocksOf(block['content']).map(textOf).join('\n') : text(block['text']);
}

/** The one item of a list; fails where there are none or more. */
export function only<T>(items: readonly T[]): T {
  const [first, second] = items;
  if (first === undefined || second !== undefined) throw new Error(`${items.length} where one was expected`);
  return first;
}

/** The last item of a list; fails where there is none. */
export function last<T>(items: readonly T[]): T {
  const item = items.at(-1);
  if (item === undefined) throw new Error('an empty list has no last item');
  return item;
}
