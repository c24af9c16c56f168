import { render } from 'ink';
import { messageOf } from '#lib/errors.ts';
import { width } from '#lib/terminal.ts';
import { App } from './app.tsx';
import type { Composer } from './composer-store.ts';
import type { Controller, ScreenEvent } from './contract.ts';
import { Desk } from './desk.ts';
import { editFile, editOutside } from './external-editor.ts';
import { createHighlighter } from './highlight.ts';
import type { KeyTable } from './keys.ts';
import { createLineNames } from './line-names.ts';
import type { Terminal } from './terminal.ts';
import type { Theme } from './theme.ts';

export interface ScreenOptions {
  readonly terminal: Pick<Terminal, 'screen' | 'listen' | 'suspend' | 'beforeLeaving' | 'lend'>;
  readonly controller: Controller;
  /** The composer, with whatever was typed before the screen was there. */
  readonly composer: Composer;
  readonly keys: KeyTable;
  readonly theme: Theme;
  /** The environment as the person's shell gave it: which editor to open. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since the epoch; the system's clock without it. */
  readonly now?: () => number;
}

export interface RunningScreen {
  dispatch(event: ScreenEvent): void;
  /** Prints what is still to be printed, takes the rest away, and ends all timers. The terminal stays open. */
  stop(): Promise<void>;
}

/** ink draws at most this often; deltas are gathered before. */
const MOST_FPS = 60;

/**
 * Puts the screen into the terminal. Everything it is to show comes in by `dispatch`, everything that is to happen goes out by
 * the controller. When the terminal is left in a hurry, what is still to be printed is printed first.
 */
export function startScreen(options: ScreenOptions): RunningScreen {
  const { terminal, controller, composer, keys, theme, env } = options;
  const { screen } = terminal;
  composer.bind(keys);
  composer.measureWith(width);
  screen.measureWith(width);
  const openEditor = async (text: string): Promise<string | undefined> => {
    const edited = await terminal.lend(() => editOutside(text, env)).catch((error: unknown) => ({ ok: false, message: messageOf(error) }) as const);
    if (edited.ok) return edited.text;
    desk.dispatch({ type: 'fault', where: 'not edited', message: edited.message });
    return undefined;
  };
  const openFile = async (file: string): Promise<string | undefined> => {
    const edited = await terminal.lend(() => editFile(file, env)).catch((error: unknown) => ({ ok: false, message: messageOf(error) }) as const);
    return edited.ok ? undefined : edited.message;
  };
  const desk: Desk = new Desk({
    controller, composer, keys, theme, openEditor, openFile, highlight: createHighlighter(), measure: width, now: options.now ?? Date.now,
    size: () => screen.window,
    suspend: () => { terminal.suspend(); },
    redraw: () => { screen.redraw(); },
  });
  // The first picture is there before ink is: what stood there before must not vanish for a moment.
  desk.resized();
  desk.draw();
  const names = createLineNames();
  screen.readWith(names.read);
  const app = <App pictures={desk.pictures} names={names} />;
  const instance = render(app, { stdout: screen, exitOnCtrlC: false, patchConsole: false, maxFps: MOST_FPS });
  // Fails when something cannot be drawn: whoever owns the terminal then ends the program with the reason.
  const exited = instance.waitUntilExit();
  const resized = (): void => { desk.resized(); };
  screen.on('resize', resized);
  terminal.listen((event) => { desk.input(event); });

  let ended = false;
  const end = (): void => {
    if (ended) return;
    ended = true;
    desk.close();
    screen.off('resize', resized);
    terminal.listen(() => undefined);
    composer.close();
    // Drawing once more commits the last picture at once: the process may have no other moment.
    instance.rerender(app);
    instance.unmount();
  };
  terminal.beforeLeaving(end);
  return {
    dispatch: (event) => { desk.dispatch(event); },
    async stop() {
      end();
      await exited;
    },
  };
}
