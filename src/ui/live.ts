import { sanitise } from '#lib/terminal.ts';
import { activityLine } from './activity-line.ts';
import { drawAnswer } from './block-lines.ts';
import { cardLine, drawTitle } from './card-lines.ts';
import { drawDialog } from './dialog.ts';
import { clip, hang, tail, wrapProse } from './lines.ts';
import { splitMarkdown } from './markdown-split.ts';
import type { Pen } from './pen.ts';
import type { Running, Screen } from './screen.ts';
import { statusLine } from './status-line.ts';
import { drawTodos } from './todo-lines.ts';

/** The live region above and below the composer, as finished lines. */
export interface Live {
  readonly above: readonly string[];
  readonly dialog: readonly string[];
  readonly status: string | undefined;
}

const PROGRESS_LINES = 3;
const MOST_RUNNING = 4;
/** With more tools at once each has one line, without its output. */
const MOST_WITH_OUTPUT = 2;
const MOST_QUEUED = 3;
const MOST_TODOS = 8;
const MOST_THINKING = 2;
const LEAST_DIALOG = 14;
/** With fewer lines left, tools at work have one line each. */
const BRIEF_BELOW = 8;
const NEAR_LINES = 120;
const NEAR_CHARS = 20_000;

/**
 * What moves, in at most `rows` lines together with the status line. `rows` is what the composer leaves of the window.
 * A dialog comes first, then the line of activity, queue, todos and tools; the streaming text takes what is left.
 */
export function drawLive(screen: Screen, rows: number, pen: Pen, now: number): Live {
  const status = screen.status === undefined || rows < 1 ? undefined : statusLine(screen.status, pen.columns, pen.theme);
  let room = rows - (status === undefined ? 0 : 1);
  const take = (lines: readonly string[]): readonly string[] => {
    const taken = lines.slice(0, Math.max(0, room));
    room -= taken.length;
    return taken;
  };
  const [dialog] = screen.dialogs;
  const drawnDialog = dialog === undefined ? [] : take(drawDialog(dialog, dialogRoom(screen, rows), pen));
  // With a dialog the work waits for the person: to turn a spinner would be a lie, and Esc means something else.
  const activity = dialog === undefined ? activityLine(screen, now, pen) : undefined;
  const activityLines = take(activity === undefined ? [] : ['', activity]);
  const queued = take(drawQueued(screen, pen));
  const panel = screen.showTodos && dialog === undefined ? drawTodos(screen.todos, Math.min(MOST_TODOS, Math.floor(room / 2)), pen) : [];
  const todos = take(activity === undefined && panel.length > 0 && panel.length < room ? ['', ...panel] : panel);
  const brief = dialog !== undefined || room < BRIEF_BELOW || screen.running.length > MOST_WITH_OUTPUT;
  const running = take(drawRunning(screen.running, brief, pen));
  const { text, unseen } = near(screen.answer?.rest ?? '');
  const answer = tail(drawAnswerTail(screen, text, pen), room, pen.theme, unseen);
  return { above: [...answer, ...running, ...activityLines, ...todos, ...queued], dialog: drawnDialog, status };
}

/** Rows that a dialog may take of `rows`: some of what stands above it stays in sight where there is room. */
export function dialogRoom(screen: Screen, rows: number): number {
  const room = rows - (screen.status === undefined ? 0 : 1);
  return Math.max(Math.min(room, LEAST_DIALOG), room - 3);
}

function drawAnswerTail({ answer, thinking }: Screen, text: string, pen: Pen): readonly string[] {
  if (answer === undefined) {
    const words = thinking?.text.trim() ?? '';
    if (words === '') return [];
    const lines = wrapProse(sanitise(words.slice(-1000), { tabs: 4 }), pen.columns - 2).slice(-MOST_THINKING);
    return ['', ...hang(lines.map((line) => pen.theme('dim', line)), `${pen.theme('dim', '✻')} `)];
  }
  const { pieces } = splitMarkdown(text, answer.joined, true);
  return pieces.flatMap(({ raw, joined }, index) => [...(joined ? [] : ['']), ...drawAnswer(raw, index === 0 && !answer.begun, pen)]);
}

/**
 * Of an unfinished block that is very long only the end can be seen, so only that is laid out: a frame must not take longer the
 * more there is above it. A table keeps its head, to stay one.
 */
function near(text: string): { readonly text: string; readonly unseen: number } {
  const lines = text.split('\n');
  const unseen = Math.max(0, lines.length - NEAR_LINES);
  if (unseen === 0) return { text: lines.length === 1 ? text.slice(-NEAR_CHARS) : text, unseen };
  const head = /^[\s|:-]+$/.test(lines[1] ?? '') ? lines.slice(0, 2) : [];
  return { text: [...head, ...lines.slice(-NEAR_LINES)].join('\n'), unseen };
}

function drawRunning(running: readonly Running[], brief: boolean, pen: Pen): readonly string[] {
  const shown = running.slice(0, MOST_RUNNING).flatMap(({ card, tail: output }) => {
    if (brief) return [clip(`${pen.theme('accent', '○')} ${cardLine(card, pen.columns - 2)}`, pen.columns)];
    return ['', ...drawTitle(card, pen, '○').slice(0, 2), ...drawProgress(output, pen)];
  });
  const more = running.length - MOST_RUNNING;
  return more > 0 ? [...shown, clip(pen.theme('dim', `  … and ${more} more`), pen.columns)] : shown;
}

function drawProgress(output: string, pen: Pen): readonly string[] {
  const text = output.trimEnd();
  if (text === '') return [];
  const lines = sanitise(text, { tabs: 4, dropColours: true }).split('\n').slice(-PROGRESS_LINES).map((line) => clip(line, pen.columns - 4));
  return hang(lines.map((line) => pen.theme('dim', line)), '  ⎿ ');
}

function drawQueued({ queued, held }: Screen, pen: Pen): readonly string[] {
  const lines = [...queued.map(({ text }) => text), ...held];
  const shown = lines.slice(-MOST_QUEUED).map((text) => clip(pen.theme('dim', `  ⧗ ${sanitise(text, { newlines: false, tabs: 4 })}`), pen.columns));
  return lines.length > MOST_QUEUED ? [clip(pen.theme('dim', `  ⧗ ${lines.length - MOST_QUEUED} more are queued`), pen.columns), ...shown] : shown;
}
