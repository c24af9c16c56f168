import { sanitise, width } from '#lib/terminal.ts';
import { clip } from './lines.ts';
import type { Pen } from './pen.ts';
import { duration, tokens } from './numbers.ts';
import type { Screen } from './screen.ts';

const FRAMES = ['·', '✢', '✳', '✶', '✻', '✽', '✻', '✶', '✳', '✢'] as const;
/** Milliseconds that one picture of the spinner stands. */
export const TICK_MS = 120;
/** Characters of text that make a token, roughly: only for the count that runs while an answer streams. */
const CHARS_PER_TOKEN = 4;

/** What the program is busy with, for how long, and what came so far. Undefined when it rests. */
export function activityLine(screen: Screen, now: number, pen: Pen): string | undefined {
  const { busySince, waiting, written } = screen;
  if (busySince === undefined) return undefined;
  const { theme, columns, keys } = pen;
  const frame = FRAMES[Math.floor(now / TICK_MS) % FRAMES.length] ?? '·';
  const coming = comingTokens(screen);
  const total = written + coming;
  const came = total === 0 ? [] : [`${coming > 0 ? '~' : ''}${tokens(total)} tokens`];
  const facts = (shown: readonly string[]): string => [duration(now - busySince), ...shown, `${keys.label('cancel') ?? 'Ctrl-C'} interrupts`].join(' · ');
  const what = waiting === undefined ? `${doing(screen)}…`
    : `${sanitise(waiting.reason, { newlines: false })}; tries again in ${duration(waiting.until - now + 999)}${waiting.attempt > 1 ? ` (retry ${waiting.attempt})` : ''} ·`;
  // How to stop it is worth more than how much has come.
  const room = columns - width(what) - 3;
  return clip(`${theme('accent', frame)} ${theme(waiting === undefined ? 'accent' : 'warning', what)} ${theme('dim', width(facts(came)) <= room ? facts(came) : facts([]))}`, columns);
}

function doing({ doing, writing, thinking, answer, running }: Screen): string {
  if (doing !== undefined) return sanitise(doing.charAt(0).toUpperCase() + doing.slice(1), { newlines: false });
  if (writing !== undefined) return `Writing a ${sanitise(writing.tool, { newlines: false })} call`;
  if (answer !== undefined) return 'Answering';
  if (running.length > 0) return 'Running';
  return thinking === undefined ? 'Working' : 'Thinking';
}

function comingTokens({ thinking, answer, writing }: Screen): number {
  const chars = (answer?.seen.length ?? 0) + (writing?.chars ?? 0) + (thinking?.tokens === undefined ? thinking?.text.length ?? 0 : 0);
  return (thinking?.tokens ?? 0) + Math.round(chars / CHARS_PER_TOKEN);
}
