import { render } from 'ink';
import { width } from '#lib/terminal.ts';
import { App } from './app.tsx';
import type { Composer } from './composer-store.ts';
import type { Controller, InputEvent, ScreenEvent } from './contract.ts';
import { Desk } from './desk.ts';
import { createHighlighter } from './highlight.ts';
import type { KeyTable } from './keys.ts';
import type { Stdout } from './stdout.ts';
import type { Theme } from './theme.ts';

/** What the screen needs of the terminal besides its output. */
export interface ScreenTerminal {
  /** From now on input goes to this listener; what was read before comes first. */
  onInput(listener: (event: InputEvent) => void): void;
  /** Gives the terminal back to the shell until the program is continued. */
  suspend(): void;
  /** Text out to the person's editor; undefined when it was left as it is. Never rejects. */
  openEditor(text: string): Promise<string | undefined>;
}

export interface ScreenOptions {
  readonly terminal: ScreenTerminal;
  readonly stdout: Stdout;
  readonly controller: Controller;
  /** The composer, with whatever was typed before the screen was there. */
  readonly composer: Composer;
  readonly keys: KeyTable;
  readonly theme: Theme;
  /** Milliseconds since the epoch; the system's clock without it. */
  readonly now?: () => number;
}

export interface RunningScreen {
  dispatch(event: ScreenEvent): void;
  /** Prints what is still to be printed, takes the rest away, and ends all timers. The terminal's modes stay as they are. */
  stop(): Promise<void>;
}

/** ink draws at most this often; deltas are gathered before. */
const MOST_FPS = 60;

/** Puts the screen into the terminal. Everything it is to show comes in by `dispatch`, everything that is to happen goes out by the controller. */
export function startScreen(options: ScreenOptions): RunningScreen {
  const { stdout, terminal, controller, composer, keys, theme } = options;
  composer.measureWith(width);
  stdout.measureWith(width);
  const desk = new Desk({
    controller, composer, keys, theme, highlight: createHighlighter(), measure: width, now: options.now ?? Date.now,
    size: () => stdout.window,
    suspend: () => { terminal.suspend(); },
    redraw: () => { stdout.redraw(); },
    openEditor: (text) => terminal.openEditor(text),
  });
  const instance = render(<App pictures={desk.pictures} />, { stdout, exitOnCtrlC: false, patchConsole: false, maxFps: MOST_FPS });
  const resized = (): void => { desk.resized(); };
  stdout.on('resize', resized);
  terminal.onInput((event) => { desk.input(event); });
  resized();
  return {
    dispatch: (event) => { desk.dispatch(event); },
    async stop() {
      desk.close();
      stdout.off('resize', resized);
      terminal.onInput(() => undefined);
      composer.close();
      // React commits the last picture in a microtask; ink writes it on unmount.
      await new Promise((resolve) => { setImmediate(resolve); });
      instance.unmount();
      await instance.waitUntilExit();
    },
  };
}
