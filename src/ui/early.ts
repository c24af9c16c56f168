import { markControls } from '#lib/marks.ts';
import { composerLines } from './composer-lines.ts';
import { type Composer, type ComposerDoors, createComposer } from './composer-store.ts';
import { keyTable } from './keys.ts';
import { openTerminal, type Terminal } from './terminal.ts';
import { themeOf } from './theme.ts';

export interface EarlyOptions {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Told all bytes of frames and text that go out. */
  readonly record?: (bytes: string) => void;
}

/** The composer before anything else is loaded: drawn at once, taking keys at once. */
export interface Early {
  readonly terminal: Terminal;
  readonly composer: Composer;
  /**
   * The screen is loaded and takes terminal and composer over: nothing is drawn here any more. The frame stays until the
   * screen's first one replaces it; what was sent meanwhile goes out when the composer is connected.
   */
  handOver(): void;
}

/** Imports next to nothing, so that a person sees where to type some 100 ms after the start; stays so by a test. */
export function startEarly({ stdin, stdout, env, record }: EarlyOptions): Early {
  const keys = keyTable();
  const theme = themeOf('dark', env);
  let drawing = false;
  let over = false;

  const terminal = openTerminal({ stdin, stdout, measure: roughWidth, onInput: (event) => { composer.input(event); }, ...(record === undefined ? {} : { record }) });
  const composer = createComposer({ keys, columns: terminal.screen.columns, measure: roughWidth, doors: earlyDoors(terminal, env) });
  const draw = (): void => {
    drawing = false;
    if (over) return;
    const { columns, rows } = terminal.screen.window;
    composer.resize(columns);
    const above = composer.waiting().map((text) => theme('dim', `> ${markControls(text.split('\n', 1)[0] ?? '')}`.slice(0, columns)));
    terminal.screen.draw([...above, ...composerLines(composer.get(), { columns, rows, theme, measure: roughWidth, keys })].join('\n'));
  };
  const drawSoon = (): void => {
    if (drawing || over) return;
    drawing = true;
    queueMicrotask(draw);
  };
  const unsubscribe = composer.subscribe(drawSoon);
  terminal.screen.on('resize', drawSoon);
  draw();
  return {
    terminal,
    composer,
    handOver() {
      over = true;
      unsubscribe();
      terminal.screen.off('resize', drawSoon);
    },
  };
}

/** What can be done without the rest; all else waits in the composer. */
function earlyDoors(terminal: Terminal, env: EarlyOptions['env']): Partial<ComposerDoors> {
  return {
    exit() { terminal.leave(0); },
    view(action) {
      if (action === 'suspend') terminal.suspend();
      if (action === 'redraw') terminal.screen.redraw();
    },
    async openEditor(text) {
      const { editOutside } = await import('./external-editor.ts');
      const edited = await terminal.lend(() => editOutside(text, env));
      return edited.ok ? edited.text : undefined;
    },
  };
}

/** Columns of a text, near enough for a moment: the tables that know better come with the screen. */
export function roughWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  const base = text.replace(/[\p{M}\p{Cf}]/gu, '');
  return Array.from(base).length + (base.match(/[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/gu)?.length ?? 0);
}
