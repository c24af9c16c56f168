import { defineFold } from '#lib/fold.ts';
import type { Json } from '#lib/brand.ts';
import type { PinTarget } from '#domain/attachment.ts';
import { attachmentsOf, conversationOf, inViewOf, knownFilesOf, undeliveredOf } from '#domain/folds.ts';
import type { Entry } from '#domain/entry.ts';
import type { FileTouch } from '#domain/tool.ts';
import type { World } from '#domain/world.ts';

/** What the model has been given of files in the conversation as it stands: what a rewind took back it no longer knows. */
export function knownNow(log: readonly Entry[]): ReadonlyMap<string, FileTouch> {
  return knownFilesOf(standing(log));
}

/** Files that the model knows otherwise than by a pin. */
export function knownWithoutPins(log: readonly Entry[]): ReadonlySet<string> {
  return toldBesidePins(standing(log));
}

const TAKES_BACK: ReadonlySet<Entry['type']> = new Set(['rewind', 'exclude']);

/** The log itself where it will do: folds over it carry on from where they stood. */
function standing(log: readonly Entry[]): readonly Entry[] {
  return log.some(({ type }) => TAKES_BACK.has(type)) ? inViewOf(log) : log;
}

const toldBesidePins = defineFold<Entry, ReadonlySet<string>>(new Set(), (now, entry) => {
  if (entry.type === 'compaction') return new Set();
  const touched = entry.type === 'toolResult' ? entry.result.files : entry.type === 'reminder' && entry.source !== 'pins' ? entry.files : undefined;
  return touched === undefined || touched.length === 0 ? now : new Set([...now, ...touched.map(({ path }) => path)]);
});

/** A live pin of a file: its real path, and the lines of it that are in view; all of them where `lines` is undefined. */
export interface FilePin {
  readonly path: string;
  readonly lines: { readonly from: number; readonly to: number } | undefined;
}

/**
 * Files of which a live pin speaks: no other source tells of a change in the lines that it shows. A pin that was cut shows the
 * first lines; a pin of the path only, or of a frozen text, does not tell of changes.
 */
export function filePinsOf(log: readonly Entry[]): readonly FilePin[] {
  const shown = shownLines(log);
  return livePins(log).map(({ id, target }): FilePin => ({ path: target.path, lines: target.lines ?? shown.get(id) }));
}

/** The last line that a cut pin showed when it last spoke, by the pin's id. */
function shownLines(log: readonly Entry[]): ReadonlyMap<string, { readonly from: number; readonly to: number }> {
  return new Map(lastSaid(log, 'pins').flatMap((pin) => (typeof pin['id'] === 'string' && typeof pin['upTo'] === 'number' ? [[pin['id'], { from: 1, to: pin['upTo'] }] as const] : [])));
}

function livePins(log: readonly Entry[]): readonly { readonly id: string; readonly target: Extract<PinTarget, { readonly type: 'file' }> }[] {
  return attachmentsOf(log).flatMap((at) => (at.kind === 'file' && at.form === 'live' && at.target.type === 'file' ? [{ id: at.id, target: at.target }] : []));
}

/** Real paths of the instruction files that are in view. */
export function instructionPaths(log: readonly Entry[]): readonly string[] {
  return pathsIn(lastSaid(log, 'memory'));
}

/** Real paths of the instruction files that files below brought along: that source tells of their changes. */
export function nestedPaths(log: readonly Entry[]): readonly string[] {
  return pathsIn(lastSaid(log, 'nested_memory'));
}


const INSTRUCTORS: ReadonlySet<string> = new Set(['memory', 'nested_memory']);

/** Real paths of the instruction files of which the model was told that they went, and nothing since. */
export function goneInstructions(log: readonly Entry[]): ReadonlySet<string> {
  const told = new Map<string, readonly string[]>();
  const gone = new Set<string>();
  for (const entry of conversationOf(log)) {
    if (entry.type === 'reminder' && INSTRUCTORS.has(entry.source)) {
      const now = pathsIn(recordsIn(entry.snapshot));
      for (const path of told.get(entry.source) ?? []) gone.add(path);
      for (const path of now) gone.delete(path);
      told.set(entry.source, now);
    } else if (entry.type === 'reminder' || entry.type === 'toolResult') {
      for (const { path } of (entry.type === 'reminder' ? entry.files : entry.result.files) ?? []) gone.delete(path);
    }
  }
  return gone;
}

function pathsIn(records: readonly Said[]): readonly string[] {
  return records.flatMap(({ path }) => (typeof path === 'string' ? [path] : []));
}

type Said = Readonly<Record<string, Json>>;

/** The snapshot of a source's last word, where it is a list of records. */
function lastSaid(log: readonly Entry[], source: string): readonly Said[] {
  const last = conversationOf(log).findLast((entry) => entry.type === 'reminder' && entry.source === source);
  return last?.type === 'reminder' ? recordsIn(last.snapshot) : [];
}

function recordsIn(snapshot: Json): readonly Said[] {
  return Array.isArray(snapshot) ? snapshot.filter((one): one is Said => one !== null && typeof one === 'object' && !Array.isArray(one)) : [];
}

/**
 * Whatever of this moment may hold mentions: the prompt, words that were queued while the model worked, and prompts that were
 * interrupted before any source had spoken for them.
 */
export function mentioningText({ log, prompt, moment }: World): string {
  // A prompt to which the user went back lost what was said for it.
  const now = conversationOf(log);
  const served = now.findLastIndex(({ type }) => type === 'assistant' || type === 'reminder');
  const unserved = moment === 'step' ? [] : now.slice(served + 1).filter((entry) => entry.type === 'prompt' && entry.id !== prompt?.id);
  return [...unserved, ...(prompt === undefined ? [] : [prompt]), ...undeliveredOf(log)].map(wordsOf).join('\n');
}

/** Of a skill's text what its commands put out is nobody's mention. */
function wordsOf(entry: Entry): string {
  if (entry.type === 'prompt') return entry.mentions ?? entry.skill?.mentions ?? entry.text;
  return entry.type === 'queued' ? entry.text : '';
}
