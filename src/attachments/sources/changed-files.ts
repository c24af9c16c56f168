import { count } from '#lib/text.ts';
import type { Entry } from '#domain/entry.ts';
import { conversationOf } from '#domain/folds.ts';
import type { FileTouch } from '#domain/tool.ts';
import { absent, type FileChange, type World } from '#domain/world.ts';
import { defineSource } from '../define.ts';
import { type FilePin, filePinsOf, goneInstructions, instructionPaths, knownNow, knownWithoutPins, mentioningText, nestedPaths } from '../known.ts';
import { pathLine } from '../words.ts';

/** From so many on, changes are counted, not listed: a checkout. */
const MANY = 50;
/** Where more than {@link MANY} files could not be looked at in time, the rest of a checkout is still to come. */
const MANY_OF_PART = 10;
/** Most characters of all diffs of one reminder together; the rest is told by name. */
const DIFF_CHARS = 6000;
/** A file that changes again and again (a build's output) is told of so often in one turn, then not before the next prompt. */
const NOTICES_A_TURN = 3;

interface Seen {
  readonly changes: readonly FileChange[];
  /** Known files that there was no time to look at. */
  readonly skipped: number;
  /** Paths of which nothing more is said in this turn. */
  readonly lastWord: ReadonlySet<string>;
  /** Those that changed while a command of the model's last reply ran. */
  readonly ran: ReadonlySet<string>;
  /** What was known of the changed files before. */
  readonly before: ReadonlyMap<string, FileTouch>;
}

/** Files that differ on disk from what the model was last given. Facts only: who changed them is not known. */
export default defineSource<Seen>({
  id: 'changed_files', on: ['prompt', 'step'], threads: 'all', cadence: 'always', limits: { tokens: 4000 },
  async observe(world, signal) {
    const notices = world.moment === 'step' ? noticesThisTurn(world.log) : new Map<string, number>();
    const known = await worthALook(world, (path) => (notices.get(path) ?? 0) >= NOTICES_A_TURN);
    if (known.size === 0) return absent;
    const { changes: all, skipped, settling } = await world.changes.look(known, signal);
    const pins = filePinsOf(world.log);
    const instructions = await newInstructions(world, all, signal);
    const went = goneInstructions(world.log);
    const changes = all.filter((change) => !instructions.has(change.path) && !(went.has(change.path) && onlyWent(change)) && !pins.some((pin) => pin.path === change.path && tellsAll(pin, change)));
    if (settling || (changes.length === 0 && (skipped === 0 || saidPartial(world.log)))) return absent;
    return {
      changes, skipped, before: known, ran: changedByCommand(world, changes),
      lastWord: new Set(changes.map(({ path }) => path).filter((path) => notices.get(path) === NOTICES_A_TURN - 1)),
    };
  },
  keep: ({ changes, skipped }) => ({ changes: changes.length, partial: skipped > 0 }),
  revive: () => undefined,
  full: ({ changes, skipped, lastWord, ran }) => {
    const lines = areMany(changes, skipped) ? [counted(changes)] : listed(changes, ran);
    const again = changes.filter(({ path }) => lastWord.has(path)).map(({ label }) => `${pathLine(label)} changes again and again: told next at the user's next prompt.`);
    return [...lines, ...again, ...(skipped > 0 ? [`${count(skipped, 'file')} that you know could not be looked at in time.`] : [])].join('\n');
  },
  files: ({ changes, before, skipped }) => {
    const shown = new Set(areMany(changes, skipped) ? [] : withDiffs(changes).flatMap(({ path, patch }) => (patch === undefined ? [] : [path])));
    return changes.map(({ path, hash, kept }): FileTouch => ({ path, hash, how: shown.has(path) && knewAll(before.get(path)) ? 'notice' : 'heard', kept }));
  },
});

function areMany(changes: readonly FileChange[], skipped: number): boolean {
  return changes.length > (skipped > MANY ? MANY_OF_PART : MANY);
}

function knewAll(touch: FileTouch | undefined): boolean {
  return touch !== undefined && touch.how !== 'partial' && touch.how !== 'heard';
}

/** Known files but those of which another source speaks: what a pin shows whole, instruction files, and what is mentioned just now. */
async function worthALook(world: World, noisy: (path: string) => boolean): Promise<ReadonlyMap<string, FileTouch>> {
  const { log } = world;
  const pins = filePinsOf(log);
  const others = knownWithoutPins(log);
  const text = mentioningText(world);
  const mentioned = text.includes('@') && world.thread === 'main' ? await world.mentions.named(text) : new Set<string>();
  const voiced = new Set([...instructionPaths(log), ...nestedPaths(log), ...pins.flatMap(({ path, lines }) => (lines === undefined || !others.has(path) ? [path] : []))]);
  return new Map([...knownNow(log)].filter(([path]) => !voiced.has(path) && !mentioned.has(path) && !noisy(path)));
}

/** Of an instruction file that is gone or empty its source has told. */
function onlyWent({ kind, addedLines }: FileChange): boolean {
  return kind === 'deleted' || addedLines === 0;
}

/** Files that become instructions with this moment: they are told as such, with the change in them. */
async function newInstructions(world: World, changes: readonly FileChange[], signal: AbortSignal): Promise<ReadonlySet<string>> {
  const texts = changes.flatMap(({ path, kind }) => (kind === 'changed' && /\.md$/i.test(path) ? [path] : []));
  if (texts.length === 0) return new Set();
  const files = await Promise.all([world.memory.files(signal), world.memory.nested(texts, signal)]);
  return new Set(files.flat().map(({ path }) => path));
}

/** Whether nothing changed but lines that the pin shows. Without a diff it cannot be known. */
function tellsAll({ lines }: FilePin, { patch }: FileChange): boolean {
  if (lines === undefined || patch === undefined) return false;
  const { from, to } = lines;
  let [was, is] = [0, 0];
  for (const line of patch.split('\n')) {
    const [, old, now] = /^@@ -(\d+),\d+ \+(\d+),/.exec(line) ?? [];
    if (old !== undefined) [was, is] = [Number(old), Number(now)];
    else if ((line.startsWith('-') && (was < from || was > to)) || (line.startsWith('+') && (is < from || is > to))) return false;
    else if (!line.startsWith('\\')) {
      if (!line.startsWith('+')) was += 1;
      if (!line.startsWith('-')) is += 1;
    }
  }
  return true;
}

/** The clock of a file system may lag behind by so many milliseconds. */
const CLOCK_LAG_MS = 10;

/** Paths of files that changed after the model's last reply, if that reply ran a command. Who changed them is likely, not certain. */
function changedByCommand({ log, moment }: World, changes: readonly FileChange[]): ReadonlySet<string> {
  const at = moment === 'step' ? log.findLastIndex(({ type }) => type === 'assistant') : -1;
  const reply = log[at];
  if (reply === undefined || !log.slice(at).some((entry) => entry.type === 'toolResult' && entry.tool === 'Bash' && entry.result.kind !== 'refused')) return new Set();
  const since = Date.parse(reply.at) - CLOCK_LAG_MS;
  return new Set(changes.filter(({ changedAtMs }) => changedAtMs !== undefined && changedAtMs >= since).map(({ path }) => path));
}

function noticesThisTurn(log: readonly Entry[]): ReadonlyMap<string, number> {
  const notices = new Map<string, number>();
  for (let i = log.length - 1; i >= 0; i -= 1) {
    const entry = log[i];
    if (entry === undefined || entry.type === 'prompt') break;
    if (entry.type !== 'reminder' || entry.source !== 'changed_files') continue;
    for (const { path } of entry.files ?? []) notices.set(path, (notices.get(path) ?? 0) + 1);
  }
  return notices;
}

function saidPartial(log: readonly Entry[]): boolean {
  const last = conversationOf(log).findLast((entry) => entry.type === 'reminder' && entry.source === 'changed_files');
  return last?.type === 'reminder' && last.snapshot !== null && typeof last.snapshot === 'object' && 'partial' in last.snapshot && last.snapshot['partial'] === true;
}

function listed(changes: readonly FileChange[], ran: ReadonlySet<string>): readonly string[] {
  const told = withDiffs(changes);
  const own = told.filter(({ path }) => ran.has(path)).map(line);
  return [...told.filter(({ path }) => !ran.has(path)).map(line), ...(own.length > 0 ? ['While your command ran:', ...own] : [])];
}

/** As many diffs as there is room for. */
function withDiffs(changes: readonly FileChange[]): readonly FileChange[] {
  let left = DIFF_CHARS;
  return changes.map((change) => {
    const { patch, ...rest } = change;
    if (patch === undefined || patch.length > left) return rest;
    left -= patch.length;
    return change;
  });
}

function line(change: FileChange): string {
  const label = pathLine(change.label);
  if (change.kind === 'deleted') return `${label} is no longer there.`;
  if (change.kind === 'unreadable') return `${label} cannot be read any more.`;
  const lines = change.addedLines === undefined || change.removedLines === undefined ? '' : ` (+${change.addedLines} -${change.removedLines})`;
  return change.patch === undefined ? `${label} changed on disk${lines}.` : `${label} changed on disk${lines}:\n${change.patch}`;
}

function counted(changes: readonly FileChange[]): string {
  const gone = changes.filter(({ kind }) => kind !== 'changed').length;
  const some = changes.slice(0, 5).map(({ label }) => pathLine(label)).join(', ');
  return `${changes.length} files that you know changed on disk (${changes.length - gone} changed, ${gone} gone), among them ${some}.`;
}
