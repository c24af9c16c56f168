import { type TodoItem, TODO_LIST_ID } from '#domain/attachment.ts';
import type { Card } from '#domain/card.ts';
import type { Entry, EntryOf } from '#domain/entry.ts';
import { faultLine } from '#domain/fault.ts';
import { QUEUE_SOURCE } from '#domain/folds.ts';
import type { Moment } from '#domain/reminder.ts';
import type { TaskRecord } from '#domain/tasks.ts';
import type { Call, CallId } from '#domain/tool.ts';
import { never } from '#lib/brand.ts';
import { answerOf, type Block, type BlockBody, blocksOf, endingOf, isFolded, type Said, saidOf, taskLine, thoughtsOf } from './blocks.ts';
import type { ScreenEvent, Status, Waiting } from './contract.ts';
import { type Dialog, openDialog } from './dialog.ts';
import { stillWaiting } from './dialog-queue.ts';
import { beyond, type Piece, splitMarkdown } from './markdown-split.ts';
import { tokens } from './numbers.ts';

/** A tool at work. */
export interface Running {
  readonly call: Call;
  readonly card: Card;
  /** What it said last of what it does, or the end of its output so far. */
  readonly tail: string;
  readonly since: number;
}

/** An answer on its way. `seen` is all of it, `rest` what is not finished yet. */
export interface Answer {
  readonly seen: string;
  readonly rest: string;
  readonly joined: boolean;
  /** Whether some of it stands in `done` already. */
  readonly begun: boolean;
  /** The thoughts that were printed before it. */
  readonly thought: string;
}

/** All that is to be seen. `done` only grows within one `generation` and is printed once; the rest is drawn anew each time. */
export interface Screen {
  readonly generation: number;
  readonly done: readonly Block[];
  readonly answer: Answer | undefined;
  readonly thinking: { readonly text: string; readonly tokens: number | undefined } | undefined;
  readonly writing: { readonly tool: string; readonly chars: number } | undefined;
  readonly running: readonly Running[];
  readonly waiting: { readonly attempt: number; readonly reason: string; readonly until: number } | undefined;
  readonly doing: string | undefined;
  readonly busySince: number | undefined;
  /** Output tokens of this turn's finished replies, as measured. */
  readonly written: number;
  readonly queued: readonly EntryOf<'queued'>[];
  /** Commands that run when the work in hand is done. */
  readonly held: readonly Waiting[];
  /** Reminders of the moment that is under way. */
  readonly said: readonly Said[];
  readonly moment: Moment | undefined;
  /** Open questions, pickers and secrets, oldest first: the first one has the keyboard. */
  readonly dialogs: readonly Dialog[];
  readonly todos: readonly TodoItem[];
  /** Background tasks by their ids, each in the state that was told. */
  readonly tasks: ReadonlyMap<string, TaskRecord['state']>;
  readonly status: Status | undefined;
  /** The person's own status line. */
  readonly statusLines: readonly string[];
  readonly model: string | undefined;
  readonly expanded: boolean;
  readonly showTodos: boolean;
  readonly lastFault: string | undefined;
}

export const blank: Screen = {
  generation: 0, done: [], answer: undefined, thinking: undefined, writing: undefined, running: [], waiting: undefined, doing: undefined,
  busySince: undefined, written: 0, queued: [], held: [], said: [], moment: undefined, dialogs: [], todos: [], tasks: new Map(), status: undefined, statusLines: [], model: undefined,
  expanded: false, showTodos: true, lastFault: undefined,
};

/** What the person does to the view alone. */
export type ViewEvent =
  | { readonly type: 'toggle'; readonly what: 'expanded' | 'todos' }
  | { readonly type: 'dialog'; readonly dialog: Dialog };

const UNBEGUN: Answer = { seen: '', rest: '', joined: false, begun: false, thought: '' };

/** A tool's output is kept on the screen only so far. */
const TAIL_CHARS = 4000;
/** A resumed session shows this many of its last blocks. */
export const REPLAYED_BLOCKS = 400;

/** The screen after an event. Pure; `now` (ms) is when it came. Entries of a resumed session go through it as living ones do. */
export function reduce(screen: Screen, event: ScreenEvent | ViewEvent, now: number): Screen {
  switch (event.type) {
    case 'entry': return settle(screen, event.entry);
    case 'replay': return replay(screen, event.entries);
    case 'textDelta': return stream(live(screen), event.text);
    case 'thinkingDelta': return { ...live(screen), thinking: { text: (screen.thinking?.text ?? '') + event.text, tokens: event.tokens ?? screen.thinking?.tokens } };
    case 'callDelta': return { ...live(screen), writing: { tool: event.tool, chars: event.chars } };
    case 'discarded': return discard(screen);
    case 'toolStarted': return { ...live(screen), writing: undefined, running: [...without(screen.running, event.call.id), { call: event.call, card: event.card, tail: '', since: now }] };
    case 'toolProgress': return progress(screen, event.callId, event.text);
    case 'waiting': return { ...screen, waiting: { attempt: event.attempt, reason: event.reason, until: now + event.ms } };
    case 'doing': return { ...live(screen), doing: event.what };
    case 'fault': return fault(screen, faultLine(event));
    case 'busy': return { ...screen, busySince: event.since, written: 0, lastFault: undefined };
    case 'idle': return rest(screen);
    case 'status': return { ...screen, status: event.status };
    case 'statusLines': return { ...screen, statusLines: event.lines };
    case 'card': return push(screen, { type: 'card', card: event.card });
    case 'line': return push({ ...screen, lastFault: undefined }, { type: 'command', line: event.line });
    case 'held': return withQueue({ ...screen, held: event.lines });
    case 'compacted': return push(screen, compacted(event));
    case 'ask': case 'pick': case 'secret': case 'queue': return { ...screen, dialogs: [...screen.dialogs.filter(({ id }) => id !== event.id), openDialog(event)] };
    case 'settled': return { ...screen, dialogs: screen.dialogs.filter(({ id }) => id !== event.id) };
    case 'dialog': return { ...screen, dialogs: screen.dialogs.map((dialog) => (dialog.id === event.dialog.id ? event.dialog : dialog)) };
    case 'draft': case 'insert': case 'edit': return screen;
    case 'toggle': return event.what === 'todos' ? { ...screen, showTodos: !screen.showTodos } : expand(screen);
    default: return never(event);
  }
}

/** Appends finished blocks; the reminders of the moment before them come first. */
function push(screen: Screen, ...bodies: readonly BlockBody[]): Screen {
  const base = closeMoment(screen);
  if (bodies.length === 0) return base;
  const last = base.done.at(-1);
  const follows = last?.type === 'command' && last.card === undefined;
  const keyed = bodies.map((body, index): Block => ({
    ...body, key: `${base.generation}.${base.done.length + index}`, full: base.expanded, ...(follows && index === 0 && body.type !== 'prompt' && body.type !== 'command' && { tight: true as const }),
  }));
  return { ...base, done: [...base.done, ...keyed] };
}

function closeMoment(screen: Screen): Screen {
  if (screen.moment === undefined) return screen;
  const open = { ...screen, said: [], moment: undefined };
  return screen.said.length === 0 ? open : push(open, { type: 'reminders', said: screen.said });
}

/** Something comes in again: nobody waits any more. */
function live(screen: Screen): Screen {
  const base = closeMoment(screen);
  return base.waiting === undefined ? base : { ...base, waiting: undefined };
}

function settle(screen: Screen, entry: Entry): Screen {
  switch (entry.type) {
    case 'assistant': return settleAnswer(screen, entry);
    case 'reminder': return settleReminder(screen, entry);
    case 'queued': return { ...screen, queued: [...screen.queued, entry] };
    case 'unqueued': return withQueue({ ...screen, queued: screen.queued.filter(({ id }) => id !== entry.target) });
    case 'attach': return entry.attachment.kind === 'todo' && entry.attachment.id === TODO_LIST_ID ? { ...screen, todos: entry.attachment.items } : screen;
    case 'detach': return entry.attachmentId === TODO_LIST_ID ? { ...screen, todos: [] } : screen;
    case 'head': return settleHead(screen, entry.model);
    case 'task': return settleTask(screen, entry.task);
    case 'toolResult': return push({ ...live(screen), running: without(screen.running, entry.callId) }, ...blocksOf(entry));
    case 'compaction': return push({ ...live(screen), doing: undefined }, ...blocksOf(entry));
    case 'shell': return push({ ...live(screen), running: [] }, ...blocksOf(entry));
    default: return push(screen, ...blocksOf(entry));
  }
}

/** A dialog of the queue offers what waits still. */
function withQueue(screen: Screen): Screen {
  if (!screen.dialogs.some(({ type }) => type === 'queue')) return screen;
  const ids = new Set<string>([...screen.queued, ...screen.held].map(({ id }) => id));
  return { ...screen, dialogs: screen.dialogs.map((dialog) => (dialog.type === 'queue' ? stillWaiting(dialog, ids) : dialog)) };
}

/** A task is told of when it has ended, once. */
function settleTask(screen: Screen, task: TaskRecord): Screen {
  if (screen.tasks.get(task.id) === task.state) return screen;
  const line = taskLine(task);
  const told = { ...screen, tasks: new Map(screen.tasks).set(task.id, task.state) };
  return line === undefined ? told : push(told, { type: 'mark', text: line });
}

function settleHead(screen: Screen, model: string): Screen {
  const changed = screen.model !== undefined && screen.model !== model;
  const base = { ...screen, model };
  return changed ? push(base, { type: 'mark', text: `model: ${model}` }) : base;
}

/** What an entry tells beyond what streamed already is shown; thoughts come before words where they still can. */
function settleAnswer(screen: Screen, entry: EntryOf<'assistant'>): Screen {
  const base = { ...live(screen), thinking: undefined, writing: undefined, doing: undefined, answer: undefined, written: screen.written + entry.usage.output };
  const { seen, rest, joined, begun, thought } = screen.answer ?? UNBEGUN;
  const unsaid = thoughtBlocks(beyond(thoughtsOf(entry), thought));
  const { pieces } = splitMarkdown(rest + beyond(answerOf(entry), seen), joined, true);
  const words = answerBlocks(pieces, begun);
  const ending = endingOf(entry);
  return push(base, ...(begun ? [...words, ...unsaid] : [...unsaid, ...words]), ...(ending === undefined ? [] : [ending]));
}

function thoughtBlocks(text: string): readonly BlockBody[] {
  return text.trim() === '' ? [] : [{ type: 'thought', text: text.trim() }];
}

function answerBlocks(pieces: readonly Piece[], begun: boolean): readonly BlockBody[] {
  return pieces.map((piece, index) => ({ type: 'answer', piece, first: !begun && index === 0 }));
}

function settleReminder(screen: Screen, entry: EntryOf<'reminder'>): Screen {
  const base = screen.moment === entry.moment ? screen : closeMoment(live(screen));
  const said = entry.parts.length === 0 ? base.said : [...base.said, saidOf(entry)];
  const open = { ...base, said, moment: entry.moment };
  const words = (entry.userTexts ?? []).map((text): BlockBody => ({ type: 'prompt', text, media: [] }));
  if (words.length === 0 && entry.source !== QUEUE_SOURCE) return open;
  const last = open.queued.findIndex(({ id }) => id === entry.snapshot);
  return push(withQueue({ ...open, queued: open.queued.slice(last + 1) }), ...words);
}

function stream(screen: Screen, text: string): Screen {
  const started = screen.answer === undefined ? startAnswer(screen) : screen;
  const before = started.answer ?? UNBEGUN;
  const grown = { ...before, seen: before.seen + text, rest: before.rest + text };
  // A block can only be finished by a line's end; most deltas hold none.
  if (!text.includes('\n')) return { ...started, answer: grown };
  const { pieces, rest, joined } = splitMarkdown(grown.rest, grown.joined, false);
  if (pieces.length === 0) return { ...started, answer: grown };
  return push({ ...started, answer: { ...grown, rest, joined, begun: true } }, ...answerBlocks(pieces, before.begun));
}

function startAnswer(screen: Screen): Screen {
  const thought = screen.thinking?.text ?? '';
  return push({ ...screen, thinking: undefined, answer: { ...UNBEGUN, thought } }, ...thoughtBlocks(thought));
}

function discard(screen: Screen): Screen {
  const base = { ...screen, answer: undefined, thinking: undefined, writing: undefined };
  const printed = screen.answer?.begun === true || (screen.answer?.thought ?? '').trim() !== '';
  return printed ? push(base, { type: 'mark', text: 'starts again; the unfinished answer above is void' }) : base;
}

function compacted({ kept, of, tokensBefore, tokensAfter }: Extract<ScreenEvent, { type: 'compacted' }>): BlockBody {
  const text = `${of === 0 ? '' : `${kept}/${of} pins kept, `}${tokens(tokensBefore)} → ~${tokens(tokensAfter)} tokens`;
  return kept < of ? { type: 'notice', level: 'error', text } : { type: 'mark', text };
}

function progress(screen: Screen, callId: CallId, text: string): Screen {
  return { ...screen, running: screen.running.map((at) => (at.call.id === callId ? { ...at, tail: text.slice(-TAIL_CHARS) } : at)) };
}

function without(running: readonly Running[], id: CallId): readonly Running[] {
  return running.filter(({ call }) => call.id !== id);
}

function fault(screen: Screen, text: string): Screen {
  return text === screen.lastFault ? screen : push({ ...screen, lastFault: text }, { type: 'notice', level: 'warning', text });
}

/** The turn is over. Words that no entry took up are still shown, and said to be lost. */
function rest(screen: Screen): Screen {
  const still = {
    ...closeMoment(screen), answer: undefined, thinking: undefined, writing: undefined, running: [], waiting: undefined, doing: undefined, busySince: undefined,
  };
  const { answer } = screen;
  if (answer === undefined || answer.seen.trim() === '') return still;
  const { pieces } = splitMarkdown(answer.rest, answer.joined, true);
  return push(still, ...answerBlocks(pieces, answer.begun), { type: 'mark', text: 'this answer broke off; it is not kept' });
}

/** Folded things since the last prompt are shown again in full, and what comes after them is not folded until the next toggle: that is said. */
function expand(screen: Screen): Screen {
  const expanded = !screen.expanded;
  const base = { ...closeMoment(screen), expanded };
  if (!expanded) return push(base, { type: 'mark', text: 'output is short from here on' });
  const from = Math.max(0, base.done.findLastIndex(({ type }) => type === 'prompt'));
  const folded = base.done.slice(from).filter(isFolded);
  return push(base, { type: 'mark', text: `output is whole from here on${folded.length === 0 ? '' : '; what was short:'}` }, ...folded);
}

function replay(screen: Screen, entries: readonly Entry[]): Screen {
  const start: Screen = {
    ...blank, generation: screen.generation + 1, dialogs: screen.dialogs, status: screen.status, statusLines: screen.statusLines, expanded: screen.expanded, showTodos: screen.showTodos, busySince: screen.busySince, held: screen.held,
  };
  const { done, ...state } = closeMoment(entries.reduce(settle, start));
  const left = done.length - REPLAYED_BLOCKS;
  if (left <= 0) return { ...state, done };
  const mark: Block = { type: 'mark', text: `${left} earlier blocks are not shown`, key: `${state.generation}.earlier`, full: false };
  return { ...state, done: [mark, ...done.slice(left)] };
}
