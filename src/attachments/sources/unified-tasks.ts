import type { Json } from '#lib/brand.ts';
import { bytes as size } from '#lib/numbers.ts';
import { cutToBytes } from '#lib/text.ts';
import type { Entry, EntryId, EntryOf } from '#domain/entry.ts';
import { conversationOf, stepsSince } from '#domain/folds.ts';
import { isAfter, taskReadsOf } from '#domain/task-folds.ts';
import { onOneLine, stateOf } from '#domain/task-words.ts';
import type { TaskView } from '#domain/tasks.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';

const ID = 'unified_tasks';
/** New output of a task that runs is news after so many steps. */
const EVERY_STEPS = 5;
/** Of what has ended and was told of before a summary, so many are named again where there is output to read. */
const MOST_NAMED = 5;
const LONGEST_TITLE = 160;
const RESULT_BYTES = 8000;
/** What is told at one moment; the rest is told at the next one. */
const MOST_BYTES = 18_000;

/** What was told of a task: how many entries the log had of it then, and how much output it had. */
interface Told {
  readonly id: string;
  readonly at: number;
  readonly bytes: number;
}

interface News extends Told {
  readonly text: string;
}

/** Commands and sub-agents beside the conversation: that one runs, that it has new output, and once how it ended. */
export default defineSource<readonly News[]>({
  id: ID, on: ['prompt', 'step'], threads: 'main', cadence: 'onChange', limits: { tokens: 8000 },
  async observe({ log, tasks }) {
    const all = await tasks();
    const news = all.length === 0 ? [] : withinLimit(newsOf(all, log));
    return news.length === 0 ? absent : news;
  },
  keep: (now) => now.map(({ id, at, bytes }) => ({ id, at, bytes })),
  revive: (stored) => toldIn(stored)?.map((told) => ({ ...told, text: '' })),
  full: words,
  delta: (_, now) => words(now),
});

function words(news: readonly News[]): string {
  return ['Background tasks, as the program reports them (not the user\'s words):', ...news.map(({ text }) => text)].join('\n');
}

function withinLimit(news: readonly News[]): readonly News[] {
  let room = MOST_BYTES;
  return news.filter(({ text }, i) => (room -= Buffer.byteLength(text)) >= 0 || i === 0);
}

interface Standing {
  readonly entry: EntryOf<'task'>;
  readonly at: number;
}

interface Memory {
  readonly log: readonly Entry[];
  readonly conversation: readonly Entry[];
  /** Of each task the entry that says how it stands, and which of its entries that is. */
  readonly newest: ReadonlyMap<string, Standing>;
  /** What was said since the last summary, and all that was ever said and not taken back. */
  readonly here: readonly Told[];
  readonly ever: readonly Told[];
}

function newsOf(tasks: readonly TaskView[], log: readonly Entry[]): readonly News[] {
  const newest = new Map<string, Standing>();
  for (const entry of log) if (entry.type === 'task') newest.set(entry.task.id, { entry, at: (newest.get(entry.task.id)?.at ?? 0) + 1 });
  const memory: Memory = { log, conversation: conversationOf(log), newest, ...saidIn(log) };
  const told = tasks.map((task): News | undefined => {
    const standing = newest.get(task.id);
    const text = standing === undefined ? undefined : task.state === 'running' ? runningWords(task, memory) : endedWords(task, standing, memory);
    return standing === undefined || text === undefined ? undefined : { id: task.id, at: standing.at, bytes: task.bytes, text };
  });
  return told.filter((one) => one !== undefined).concat(unreadAfterSummary(tasks, memory));
}

function runningWords(task: TaskView, { log, conversation, here }: Memory): string | undefined {
  const said = here.filter(({ id }) => id === task.id);
  const known = said.length > 0 || conversation.some((entry) => (task.kind === 'shell' ? entry.type === 'taskRead' && entry.task === task.id : entry.type === 'task' && entry.task.id === task.id));
  const news = task.bytes - Math.max(task.readBytes, ...said.map(({ bytes }) => bytes));
  if (known && (news <= 0 || stepsSince(conversation, (entry) => isAbout(entry, task.id)) < EVERY_STEPS)) return undefined;
  const output = news > 0 ? `, ${size(news)} of new output` : '';
  const last = task.doing === undefined ? '' : `\n${quoted(task.doing)}`;
  return `${task.id} is running${known ? '' : since(task, log)}${output}: ${onOneLine(task.title, LONGEST_TITLE)}${last}`;
}

/** A carried-over task is new to the conversation, not to the world. */
function since({ startedAtMs }: TaskView, log: readonly Entry[]): string {
  const first = Date.parse(log[0]?.at ?? '');
  return startedAtMs < first ? ' (started before this conversation)' : '';
}

/** Whether the model was told something of the task there, or it began there. */
function isAbout(entry: Entry, task: string): boolean {
  if (entry.type === 'task') return entry.task.id === task;
  if (entry.type === 'taskRead') return entry.task === task;
  return entry.type === 'reminder' && entry.source === ID && (toldIn(entry.snapshot) ?? []).some(({ id }) => id === task);
}

function endedWords(task: TaskView, { entry, at }: Standing, { log, ever }: Memory): string | undefined {
  if (ever.some((told) => told.id === task.id && told.at === at)) return undefined;
  if (taskReadsOf(log).some((read) => read.ended === true && read.task === task.id && isAfter(read.id, entry.id))) return undefined;
  const head = `${task.id} ${stateOf(task)}: ${onOneLine(task.title, LONGEST_TITLE)}`;
  if (task.result !== undefined) return `${head}\n${cutToBytes(task.result, RESULT_BYTES)}`;
  if (task.kind === 'agent') return head;
  const unread = task.bytes - task.readBytes;
  if (unread <= 0) return `${head}\n(${task.bytes === 0 ? 'no output' : 'all of its output was read'})`;
  const tail = task.tail ?? '';
  const whole = task.readBytes === 0 && Buffer.byteLength(tail) + 1 >= task.bytes;
  return `${head}\n${whole ? 'Its output:' : `${size(unread)} of output not read (TaskOutput with the id ${task.id} gives it). Last lines:`}\n${quoted(tail)}`;
}

/** What has ended and was told of before a summary, where its output was not read. */
function unreadAfterSummary(tasks: readonly TaskView[], { here, ever, newest }: Memory): readonly News[] {
  if (here.length > 0) return [];
  const left = tasks.filter(({ id, state, kind, bytes, readBytes }) => kind === 'shell' && state !== 'running' && bytes > readBytes && ever.some((told) => told.id === id && told.at === newest.get(id)?.at));
  return left.slice(-MOST_NAMED).map((task) => ({
    id: task.id, at: newest.get(task.id)?.at ?? 0, bytes: task.bytes,
    text: `${task.id} ${stateOf(task)}, as told before; ${size(task.bytes - task.readBytes)} of its output were not read: ${onOneLine(task.title, LONGEST_TITLE)}`,
  }));
}

/** What this source said: a rewind takes it back, and so does leaving it out; a summary ends what stands in the conversation. */
function saidIn(log: readonly Entry[]): Pick<Memory, 'here' | 'ever'> {
  let said: { readonly id: EntryId; readonly told: readonly Told[] }[] = [];
  let summary: EntryId | undefined;
  const excluded = new Set<EntryId>();
  for (const entry of log) {
    if (entry.type === 'reminder' && entry.source === ID) said.push({ id: entry.id, told: toldIn(entry.snapshot) ?? [] });
    else if (entry.type === 'rewind') said = said.filter(({ id }) => !isAfter(id, entry.to));
    else if (entry.type === 'compaction') summary = entry.id;
    else if (entry.type === 'exclude' && entry.what === 'entry') excluded.add(entry.target);
    else if (entry.type === 'restore') excluded.delete(entry.target);
  }
  const ever = said.filter(({ id }) => !excluded.has(id));
  const here = ever.filter(({ id }) => summary === undefined || isAfter(id, summary));
  return { ever: ever.flatMap(({ told }) => told), here: here.flatMap(({ told }) => told) };
}

/** Each line begins with a bar: nothing that a program puts out can pass for what stands beside it. */
function quoted(output: string): string {
  return output.split(/\r\n|[\n\r\u2028\u2029]/).map((line) => `| ${line}`).join('\n');
}

function toldIn(stored: Json): readonly Told[] | undefined {
  if (!Array.isArray(stored)) return undefined;
  const told = stored.map((one) => {
    if (one === null || typeof one !== 'object' || !('id' in one)) return undefined;
    const { id, at, bytes } = one;
    return typeof id === 'string' && typeof at === 'number' && typeof bytes === 'number' ? { id, at, bytes } : undefined;
  });
  return told.every((one) => one !== undefined) ? told : undefined;
}
