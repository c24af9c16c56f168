import type { Json } from '#lib/brand.ts';
import { count } from '#lib/text.ts';
import type { Entry } from '#domain/entry.ts';
import { conversationOf } from '#domain/folds.ts';
import type { FileTouch } from '#domain/tool.ts';
import { absent, type FileChange } from '#domain/world.ts';
import { defineSource } from '../define.ts';
import { knownNow, partlyPinnedPathsOf, pinnedPathsOf } from '../known.ts';
import { pathLine } from '../words.ts';

/** From so many on, changes are counted, not listed: a checkout. */
const MANY = 50;
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
}

/** Files that differ on disk from what the model was last given. Facts only: who changed them is not known. */
export default defineSource<Seen>({
  id: 'changed_files', on: ['prompt', 'step'], threads: 'all', cadence: 'always', limits: { tokens: 4000 },
  async observe(world, signal) {
    const notices = world.moment === 'step' ? noticesThisTurn(world.log) : new Map<string, number>();
    const known = worthALook(world.log, (path) => (notices.get(path) ?? 0) >= NOTICES_A_TURN);
    if (known.size === 0) return absent;
    const { changes, skipped, settling } = await world.changes.look(known, signal);
    if (settling || (changes.length === 0 && (skipped === 0 || saidPartial(world.log)))) return absent;
    return { changes, skipped, lastWord: new Set(changes.map(({ path }) => path).filter((path) => notices.get(path) === NOTICES_A_TURN - 1)) };
  },
  keep: ({ changes, skipped }) => ({ changes: changes.length, partial: skipped > 0 }),
  revive: () => undefined,
  full: ({ changes, skipped, lastWord }) => {
    const lines = changes.length > MANY ? [counted(changes)] : listed(changes);
    const again = changes.filter(({ path }) => lastWord.has(path)).map(({ label }) => `${pathLine(label)} changes again and again: told next at the user's next prompt.`);
    return [...lines, ...again, ...(skipped > 0 ? [`${count(skipped, 'file')} that you know could not be looked at in time.`] : [])].join('\n');
  },
  files: ({ changes }) => changes.map(({ path, hash, kept }): FileTouch => ({ path, hash, how: 'notice', kept })),
});

/** Known files but those of which another source speaks: pins and instruction files. */
function worthALook(log: readonly Entry[], noisy: (path: string) => boolean): ReadonlyMap<string, FileTouch> {
  const voiced = new Set([...pinnedPathsOf(log), ...instructionPaths(log)]);
  const partly = partlyPinnedPathsOf(log);
  return new Map([...knownNow(log)].filter(([path, touch]) => !voiced.has(path) && !noisy(path) && !(touch.how === 'pin' && partly.has(path))));
}

function instructionPaths(log: readonly Entry[]): readonly string[] {
  const last = conversationOf(log).findLast((entry) => entry.type === 'reminder' && entry.source === 'memory');
  const files = last?.type === 'reminder' && Array.isArray(last.snapshot) ? last.snapshot : [];
  return files.flatMap((file: Json) => (file !== null && typeof file === 'object' && 'path' in file && typeof file['path'] === 'string' ? [file['path']] : []));
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

function listed(changes: readonly FileChange[]): readonly string[] {
  let left = DIFF_CHARS;
  return changes.map((change) => {
    const label = pathLine(change.label);
    if (change.kind === 'deleted') return `${label} is no longer there.`;
    if (change.kind === 'unreadable') return `${label} cannot be read any more.`;
    const lines = change.addedLines === undefined || change.removedLines === undefined ? '' : ` (+${change.addedLines} -${change.removedLines})`;
    if (change.patch === undefined || change.patch.length > left) return `${label} changed on disk${lines}.`;
    left -= change.patch.length;
    return `${label} changed on disk${lines}:\n${change.patch}`;
  });
}

function counted(changes: readonly FileChange[]): string {
  const gone = changes.filter(({ kind }) => kind !== 'changed').length;
  const some = changes.slice(0, 5).map(({ label }) => pathLine(label)).join(', ');
  return `${changes.length} files that you know changed on disk (${changes.length - gone} changed, ${gone} gone), among them ${some}.`;
}
