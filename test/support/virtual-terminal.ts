import { spawn } from '@lydell/node-pty';
import { Unicode11Addon } from '@xterm/addon-unicode11';
import xterm from '@xterm/headless';

export interface VirtualTerminalOptions {
  readonly command: string;
  readonly args?: readonly string[];
  readonly columns?: number;
  readonly rows?: number;
  readonly cwd?: string;
  /** On top of this process's environment; an undefined value takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Leaves this process's environment out. */
  readonly alone?: boolean;
}

/** A program in a real pty, and a real terminal emulator that shows what it writes. */
export interface VirtualTerminal {
  readonly pid: number;
  /** The window's lines, without spaces at their ends. */
  screen(): readonly string[];
  /** Lines that scrolled out above the window, oldest first. */
  scrollback(): readonly string[];
  /** Both, as one list. */
  lines(): readonly string[];
  /** Lines that were wider than the window, so that the terminal broke them: what came on the next line. */
  broken(): readonly string[];
  /** The cursor, counted from 0 in the window. */
  cursor(): { readonly column: number; readonly row: number };
  /** Every byte that the program wrote. */
  raw(): string;
  type(keys: string): void;
  resize(columns: number, rows: number): void;
  /** Resolves as soon as the text stands in the window (or the test of its lines holds); rejects with the window after so many ms. */
  waitFor(what: string | RegExp | ((screen: readonly string[]) => boolean), ms?: number): Promise<void>;
  /** Resolves when nothing was written for so many ms. */
  settled(ms?: number): Promise<void>;
  /** How the program ended. */
  readonly ended: Promise<{ readonly code: number; readonly signal: number | undefined }>;
  /** Ends the program if it still runs. */
  close(): Promise<void>;
}

export function openVirtualTerminal({ command, args = [], columns = 80, rows = 24, cwd, env = {}, alone = false }: VirtualTerminalOptions): VirtualTerminal {
  const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true });
  terminal.loadAddon(new Unicode11Addon());
  terminal.unicode.activeVersion = '11';
  const pty = spawn(command, [...args], {
    name: env['TERM'] ?? 'xterm-256color', cols: columns, rows, cwd: cwd ?? process.cwd(),
    // CI decides for some libraries whether to draw at all.
    env: definedIn({ ...(alone ? {} : process.env), CI: undefined, NO_COLOR: undefined, TERM: 'xterm-256color', ...env }),
  });
  let raw = '';
  let lastWrite = Date.now();
  const watchers = new Set<() => void>();
  const notify = (): void => { for (const watcher of watchers) watcher(); };
  pty.onData((data) => {
    raw += data;
    lastWrite = Date.now();
    terminal.write(data, notify);
  });
  terminal.onData((reply) => { pty.write(reply); });
  let running = true;
  const ended = new Promise<{ code: number; signal: number | undefined }>((resolve) => {
    pty.onExit(({ exitCode, signal }) => {
      running = false;
      // What it wrote last may still be on its way through the emulator.
      setTimeout(() => {
        notify();
        resolve({ code: exitCode, signal });
      }, 50);
    });
  });
  const read = (from: number, to: number): string[] =>
    Array.from({ length: to - from }, (_, index) => terminal.buffer.active.getLine(from + index)?.translateToString(true) ?? '');
  const screen = (): string[] => read(terminal.buffer.active.baseY, terminal.buffer.active.baseY + terminal.rows);
  const holds = (what: Parameters<VirtualTerminal['waitFor']>[0]): boolean => {
    if (typeof what === 'function') return what(screen());
    const text = screen().join('\n');
    return typeof what === 'string' ? text.includes(what) : what.test(text);
  };

  return {
    pid: pty.pid,
    screen,
    scrollback: () => read(0, terminal.buffer.active.baseY),
    lines: () => read(0, terminal.buffer.active.baseY + terminal.rows),
    broken: () => Array.from({ length: terminal.buffer.active.length }, (_, at) => terminal.buffer.active.getLine(at))
      .flatMap((line) => (line?.isWrapped === true ? [line.translateToString(true)] : [])),
    cursor: () => ({ column: terminal.buffer.active.cursorX, row: terminal.buffer.active.cursorY }),
    raw: () => raw,
    type: (keys) => { pty.write(keys); },
    resize(to, toRows) {
      terminal.resize(to, toRows);
      pty.resize(to, toRows);
    },
    waitFor: (what, ms = 30_000) => new Promise((resolve, reject) => {
      const settle = (act: () => void): void => {
        clearTimeout(limit);
        watchers.delete(look);
        act();
      };
      const look = (): void => { if (holds(what)) settle(resolve); };
      const limit = setTimeout(() => {
        settle(() => { reject(new Error(`not seen within ${ms} ms: ${String(what)}\nthe window:\n${screen().join('\n')}`)); });
      }, ms);
      watchers.add(look);
      look();
    }),
    async settled(ms = 150) {
      const from = Date.now();
      const left = (): number => ms - (Date.now() - Math.max(from, lastWrite));
      while (left() > 0) await new Promise((resolve) => { setTimeout(resolve, left()); });
    },
    ended,
    async close() {
      if (running) pty.kill('SIGKILL');
      await ended;
      terminal.dispose();
    },
  };
}

/** The pty would hand an undefined value on as the word `undefined`. */
function definedIn(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined));
}
