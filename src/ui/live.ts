import { sanitise, width } from '#lib/terminal.ts';
import { activityLine } from './activity-line.ts';
import { drawAnswer } from './block-lines.ts';
import { cardLine, drawTitle } from './card-lines.ts';
import { drawDialog } from './dialog.ts';
import { clip, hang, tail, wrapProse } from './lines.ts';
import { splitMarkdown } from './markdown-split.ts';
import type { Pen } from './pen.ts';
import type { Running, Screen } from './screen.ts';
import { shortStatusLine, statusLine } from './status-line.ts';
import { drawStatusLines } from './status-line-output.ts';
import { drawTodos } from './todo-lines.ts';

/** The live region above and below the composer, as finished lines. */
export interface Live {
  readonly above: readonly string[];
  readonly dialog: readonly string[];
  readonly status: readonly string[];
}

const PROGRESS_LINES = 3;
/** So many tools have a line each where there is little room. */
const MOST_BRIEF = 4;
/** With more tools at once each has its title and the last line of its output. */
const MOST_WITH_OUTPUT = 2;
/** The tool that runs a sub-agent. */
const AGENT = 'Task';
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
  const status = drawStatus(screen, rows, pen);
  let room = rows - status.length;
  const take = (lines: readonly string[]): readonly string[] => {
    const taken = lines.slice(0, Math.max(0, room));
    room -= taken.length;
    return taken;
  };
  const [dialog] = screen.dialogs;
  const drawnDialog = dialog === undefined ? [] : take(withOthers(drawDialog(dialog, dialogRoom(screen, rows), pen), screen.dialogs.length - 1, pen));
  // With a dialog the work waits for the person: to turn a spinner would be a lie, and Esc means something else.
  const activity = dialog === undefined ? activityLine(screen, now, pen) : undefined;
  const activityLines = take(activity === undefined ? [] : ['', activity]);
  const queued = take(drawQueued(screen, pen));
  const panel = screen.showTodos && dialog === undefined ? drawTodos(screen.todos, Math.min(MOST_TODOS, Math.floor(room / 2)), pen) : [];
  const todos = take(activity === undefined && panel.length > 0 && panel.length < room ? ['', ...panel] : panel);
  const brief = dialog !== undefined || room < BRIEF_BELOW;
  const running = take(drawRunning(screen.running, brief, room, pen));
  const { text, unseen } = near(screen.answer?.rest ?? '');
  const answer = tail(drawAnswerTail(screen, text, pen), room, pen.theme, unseen);
  return { above: [...answer, ...running, ...activityLines, ...todos, ...queued], dialog: drawnDialog, status };
}

/** A person's own status line has at most a quarter of the rows. */
function statusRows({ status, statusLines }: Screen, rows: number): number {
  return rows < 1 ? 0 : Math.min(statusLines.length, Math.floor(rows / 4)) + (status === undefined ? 0 : 1);
}

/** The person's own status line, and ours below it: short then. Where there is no room for theirs ours is whole. */
function drawStatus(screen: Screen, rows: number, { columns, theme }: Pen): readonly string[] {
  const { status, statusLines } = screen;
  const bar = status === undefined || rows < 1 ? 0 : 1;
  const own = drawStatusLines(statusLines, statusRows(screen, rows) - bar, columns, theme);
  return [...own, ...(status === undefined || bar === 0 ? [] : [(own.length > 0 ? shortStatusLine : statusLine)(status, columns, theme)])];
}

/** Rows that a dialog may take of `rows`: some of what stands above it stays in sight where there is room. */
export function dialogRoom(screen: Screen, rows: number): number {
  const room = rows - statusRows(screen, rows);
  return Math.max(Math.min(room, LEAST_DIALOG), room - 3);
}

/** Says in a dialog's rule that others wait behind it. */
function withOthers(lines: readonly string[], others: number, { theme, columns }: Pen): readonly string[] {
  if (others === 0 || lines.length === 0) return lines;
  const words = `── ${others === 1 ? '1 more waits' : `${others} more wait`} `;
  return [theme('accent', clip(words + '─'.repeat(Math.max(0, columns - words.length)), columns)), ...lines.slice(1)];
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

/** A sub-agent says what it is at in one line: its two lines stand from the beginning, so that nothing jumps while several work. */
function drawRunning(running: readonly Running[], brief: boolean, room: number, pen: Pen): readonly string[] {
  if (!brief && running.length <= MOST_WITH_OUTPUT) return running.flatMap((one) => ['', ...drawAtLength(one, pen)]);
  const two = !brief && running.length * 2 < room;
  const most = brief ? MOST_BRIEF : Math.max(MOST_BRIEF, Math.floor(room / 2));
  const lines = running.slice(0, most).flatMap((one) => (two ? drawShort(one, pen) : [drawBrief(one, pen)]));
  const shown = two ? ['', ...lines] : lines;
  const more = running.length - most;
  return more > 0 ? [...shown, clip(pen.theme('dim', `  … and ${more} more`), pen.columns)] : shown;
}

function drawAtLength({ call, card, tail: output }: Running, pen: Pen): readonly string[] {
  const title = drawTitle(card, pen, '○').slice(0, 2);
  return [...title, ...(call.tool === AGENT ? drawProgress(lastLine(output) || 'begins', pen) : drawProgress(output, pen))];
}

function drawShort({ call, card, tail: output }: Running, pen: Pen): readonly string[] {
  const doing = lastLine(output) || (call.tool === AGENT ? 'begins' : '');
  return [clip(`${pen.theme('accent', '○')} ${cardLine(card, pen.columns - 2)}`, pen.columns), ...drawProgress(doing, pen)];
}

/** Of one line what it does has about half. */
function drawBrief({ call, card, tail: output }: Running, { theme, columns }: Pen): string {
  const doing = call.tool === AGENT ? sanitise(lastLine(output), { newlines: false, tabs: 4, dropColours: true }) : '';
  const room = columns - 2;
  const title = cardLine(card, doing === '' ? room : Math.max(Math.ceil(room / 2), room - 3 - width(doing)));
  return clip(`${theme('accent', '○')} ${title}${doing === '' ? '' : theme('dim', ` · ${doing}`)}`, columns);
}

function lastLine(output: string): string {
  return output.trimEnd().split('\n').at(-1) ?? '';
}

function drawProgress(output: string, pen: Pen): readonly string[] {
  const text = output.trimEnd();
  if (text === '') return [];
  const lines = sanitise(text, { tabs: 4, dropColours: true }).split('\n').slice(-PROGRESS_LINES).map((line) => clip(line, pen.columns - 4));
  return hang(lines.map((line) => pen.theme('dim', line)), '  ⎿ ');
}

function drawQueued({ queued, held }: Screen, pen: Pen): readonly string[] {
  const lines = [...queued, ...held].map(({ text }) => text);
  const key = pen.keys.label('queue');
  const shown = lines.slice(-MOST_QUEUED).map((text) => clip(pen.theme('dim', `  ⧗ ${sanitise(text, { newlines: false, tabs: 4 })}`), pen.columns));
  return lines.length > MOST_QUEUED ? [clip(pen.theme('dim', `  ⧗ ${lines.length - MOST_QUEUED} more are queued${key === undefined ? '' : ` · ${key} lists them`}`), pen.columns), ...shown] : shown;
}
