import type { Arguments } from '#cli/arguments.ts';
import type { Early } from '#ui/early.ts';
import { startScreen } from '#ui/start.tsx';
import { themeOf } from '#ui/theme.ts';
import type { Workers } from './house.ts';
import { openInteractive } from './opening.ts';

/** The interactive program on a screen: takes over from the first frame, and gives the terminal back when the user leaves. */
export async function screen(args: Arguments, workers: Workers, early: Early): Promise<number> {
  const opened = await openInteractive(args, workers);
  const { interactive, keys, settings } = opened;
  const { terminal, composer } = early;
  early.handOver();
  composer.bind(keys);
  const running = startScreen({ terminal, controller: interactive, composer, keys, theme: themeOf(settings.theme, process.env), env: process.env });
  terminal.beforeLeaving(opened.closeLog);
  const beginning = opened.begin((event) => { running.dispatch(event); }, () => terminal.screen.window);
  await Promise.race([opened.left, beginning.then(() => opened.left)]);
  await running.stop();
  terminal.close();
  await opened.close();
  return 0;
}
