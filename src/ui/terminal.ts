import { messageOf, UserError } from '#lib/errors.ts';
import type { InputEvent } from './contract.ts';
import type { Measure } from './editor-layout.ts';
import type { CursorReflow } from './frame.ts';
import { createReader } from './input.ts';
import { createStdout, type Stdout } from './stdout.ts';

/** Modes in the order in which they are set; they are undone from the last to the first. */
const MODES = [
  { on: '\x1b[?2004h', off: '\x1b[?2004l' },
  // Keys that legacy encodings cannot tell apart (Shift-Enter, Ctrl-I, Esc); unknown to a terminal, it is ignored.
  { on: '\x1b[>1u', off: '\x1b[<u' },
] as const;
const FOCUS = { on: '\x1b[?1004h', off: '\x1b[?1004l' };
/** Never set by us; a program that had the terminal meanwhile may have left them on. */
const LEFT_BY_OTHERS = '\x1b[?1000;1002;1003;1006l';

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129, SIGQUIT: 131 } as const;
/** Asks a terminal what it is (DA2), and what xterm.js answers. */
const WHAT_ARE_YOU = '\x1b[>c';
const XTERM_JS = '\x1b[>0;276;0c';
const LF = 0x0a;
const CR = 0x0d;
/** How long an answer may take, in ms; a terminal that knows the question answers at once. */
const ANSWER_MS = 100;
/** How often a terminal is asked that does not answer. */
const MOST_ASKED = 3;
/** If a stop signal has not stopped us after this long, nothing will, in ms. */
const STOP_MS = 50;

export interface TerminalOptions {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly measure: Measure;
  readonly onInput: (event: InputEvent) => void;
  /** Ask for events when the window gains or loses the keyboard. Default: no. */
  readonly focus?: boolean;
  /** Told all bytes of frames and text that go out. */
  readonly record?: (bytes: string) => void;
}

/**
 * Owns the terminal from `openTerminal` to `close`. However the process ends meanwhile (a signal, an error nobody caught,
 * a terminal that is gone, `process.exit`), the terminal is given back first, once, in the reverse order of set-up.
 */
export interface Terminal {
  /** What ink draws to. */
  readonly screen: Stdout;
  /** Who is told of keys from now on. */
  listen(onInput: (event: InputEvent) => void): void;
  /** Stops the process as Ctrl-Z does everywhere; when it goes on, modes and screen are set up again. */
  suspend(): void;
  /** Gives the terminal to a program that wants it (an editor), and takes it back when the task has ended. */
  lend<T>(task: () => Promise<T>): Promise<T>;
  /** Gives the terminal back for good; the last frame stays. Again: nothing. */
  close(): void;
  /** Called once before the process ends by {@link Terminal.leave}, a signal or an error: synchronous work only. */
  beforeLeaving(task: () => void): void;
  /** Closes, says a line on stderr, ends the process with the code. */
  leave(code: number, line?: string): void;
}

export function openTerminal(options: TerminalOptions): Terminal {
  return new TerminalOwner(options);
}

class TerminalOwner implements Terminal {
  readonly screen: Stdout;
  readonly #options: TerminalOptions;
  readonly #modes: readonly { readonly on: string; readonly off: string }[];
  #reader: ReturnType<typeof createReader>;
  #onInput: (event: InputEvent) => void;
  #state: 'open' | 'stopped' | 'lent' | 'closed' = 'open';
  #lastWork: (() => void)[] = [];
  #leaving = false;
  /** Whether anything was read yet. */
  #heard = false;
  #reflow: CursorReflow | undefined;
  #asked = 0;
  readonly #undo: (() => void)[] = [];

  constructor(options: TerminalOptions) {
    this.#options = options;
    this.#onInput = options.onInput;
    this.#modes = options.focus === true ? [...MODES, FOCUS] : MODES;
    this.#reader = createReader((event) => { this.#onInput(event); });
    this.screen = createStdout({ target: options.stdout, measure: options.measure, reflow: () => this.#askReflow(), ...(options.record === undefined ? {} : { record: options.record }) });
    this.#guard();
    this.#take();
  }

  listen(onInput: (event: InputEvent) => void): void {
    this.#onInput = onInput;
  }

  beforeLeaving(task: () => void): void {
    this.#lastWork.push(task);
  }

  /** Raw mode and modes on, keys wanted. */
  #take(): void {
    const { stdin } = this.#options;
    // Only a change of mode reaches the terminal, and another program may have changed it behind our back.
    if (stdin.isTTY) stdin.setRawMode(false).setRawMode(true);
    this.#write(this.#modes.map((mode) => mode.on).join(''));
    stdin.on('data', this.#onData);
    stdin.resume();
  }

  #giveBack(): void {
    const { stdin } = this.#options;
    stdin.off('data', this.#onData);
    stdin.pause();
    this.#write([...this.#modes].reverse().map((mode) => mode.off).join('') + LEFT_BY_OTHERS);
    try {
      if (stdin.isTTY) stdin.setRawMode(false);
    } catch {
      // The terminal is gone; there is nothing left to give back.
    }
  }

  /**
   * The answer is swallowed by the tokenizer like every reply; here it is only overheard. Undefined when none came in time: one
   * that comes later holds for the next question, and a terminal that is silent is asked again a few times only.
   */
  #askReflow(): Promise<CursorReflow | undefined> {
    const { stdin } = this.#options;
    if (this.#reflow !== undefined || this.#asked === MOST_ASKED) return Promise.resolve(this.#reflow);
    this.#asked += 1;
    return new Promise((resolve) => {
      let heard = '';
      const listen = (bytes: Uint8Array | string): void => {
        heard = (heard + (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('latin1'))).slice(-256);
        if (!/\x1b\[>[0-9;]*c/.test(heard)) return;
        this.#reflow = heard.includes(XTERM_JS) ? 'drifts' : 'follows';
        clearTimeout(limit);
        stdin.off('data', listen);
        resolve(this.#reflow);
      };
      // A busy process finds its timers due before it has read what came meanwhile: read first, then give up.
      const limit = setTimeout(() => { setImmediate(() => { resolve(this.#reflow); }); }, ANSWER_MS);
      stdin.on('data', listen);
      this.#write(WHAT_ARE_YOU);
    });
  }

  readonly #onData = (bytes: Uint8Array | string): void => {
    // What was typed before the program took the terminal comes first, and as the terminal edits lines: an Enter is a line feed there.
    this.#reader.push(this.#heard ? bytes : Buffer.from(bytes).map((byte) => (byte === LF ? CR : byte)));
    this.#heard = true;
  };

  #write(bytes: string): void {
    try {
      this.#options.stdout.write(bytes);
    } catch {
      // The terminal is gone.
    }
  }

  suspend(): void {
    if (this.#state !== 'open') return;
    this.#state = 'stopped';
    this.screen.release();
    this.#giveBack();
    // Something must be left to wake up for. The second round is for the word that we go on, which comes after the timers.
    let rounds = 0;
    const alive = setInterval(() => {
      rounds += 1;
      if (this.#state === 'stopped' && rounds < 3) return;
      clearInterval(alive);
      if (this.#state === 'stopped') this.#stopAlone();
    }, STOP_MS);
    // The whole group, as the terminal itself would: whoever started us (npm, a script) belongs to the job.
    process.kill(0, 'SIGTSTP');
  }

  /** Without a shell that watches the group the system ignores the gentle signal. */
  #stopAlone(): void {
    this.#write(`Stopped. kill -CONT ${process.pid} goes on.\r\n`);
    const alive = setInterval(() => {
      clearInterval(alive);
      if (this.#state === 'stopped') this.#goOn();
    }, STOP_MS * 4);
    process.kill(process.pid, 'SIGSTOP');
  }

  #goOn(): void {
    if (this.#state === 'open') {
      // Stopped by another hand: the shell has had the terminal, and what it shows is not what we left.
      this.#giveBack();
      this.#take();
      this.screen.redraw();
    } else if (this.#state === 'stopped') {
      this.#state = 'open';
      this.#take();
      this.screen.reclaim();
    }
  }

  async lend<T>(task: () => Promise<T>): Promise<T> {
    if (this.#state !== 'open') throw new UserError('the terminal is in use; try again');
    this.#state = 'lent';
    this.screen.release();
    this.#giveBack();
    try {
      return await task();
    } finally {
      if (this.#state === 'lent') {
        this.#state = 'open';
        this.#take();
        this.screen.reclaim();
      }
    }
  }

  close(): void {
    if (this.#state === 'closed') return;
    const had = this.#state === 'open';
    this.#state = 'closed';
    this.screen.finish();
    if (had) this.#giveBack();
    this.#reader.close();
    for (const undo of this.#undo.splice(0).reverse()) undo();
  }

  leave(code: number, line?: string): void {
    if (this.#leaving) return;
    this.#leaving = true;
    for (const task of this.#lastWork.splice(0)) {
      try {
        task();
      } catch (error) {
        line ??= `pinion: ${messageOf(error)}`;
      }
    }
    this.close();
    try {
      if (line !== undefined) process.stderr.write(`${line}\n`);
    } catch {
      // Nobody is there to read it.
    }
    process.exit(code);
  }

  /** Every way out leads through `leave` or `close`. */
  #guard(): void {
    const on = (name: string, listener: (...args: never[]) => void): void => {
      process.on(name, listener as (...args: unknown[]) => void);
      this.#undo.push(() => { process.off(name, listener as (...args: unknown[]) => void); });
    };
    for (const [signal, code] of Object.entries(SIGNALS)) {
      on(signal, () => {
        // Typed at the program that has the terminal, and meant for it.
        if (this.#state === 'lent' && (signal === 'SIGINT' || signal === 'SIGQUIT')) return;
        this.leave(code);
      });
    }
    on('SIGCONT', () => { this.#goOn(); });
    const fail = (error: unknown): void => {
      this.leave(1, `pinion: ${error instanceof UserError ? '' : 'unexpected error: '}${messageOf(error)}`);
    };
    on('uncaughtException', fail);
    on('unhandledRejection', fail);
    on('exit', () => { this.close(); });
    const { stdin, stdout } = this.#options;
    const gone = (): void => { this.leave(SIGNALS.SIGHUP); };
    // Stays: a terminal that is gone may say so once more, after we have closed.
    stdout.on('error', gone);
    for (const event of ['end', 'error'] as const) {
      stdin.on(event, gone);
      this.#undo.push(() => { stdin.off(event, gone); });
    }
  }
}
