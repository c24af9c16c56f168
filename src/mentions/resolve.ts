import type { DocumentPort, PathLookup, PathPort } from '#domain/documents.ts';
import type { Loaded, MentionPort } from '#domain/world.ts';
import { messageOf } from '#lib/errors.ts';
import { oneLine } from '#lib/names.ts';
import { count } from '#lib/text.ts';
import { mentionedAgents } from './agents.ts';
import type { Candidate } from './candidates.ts';
import { findMentions } from './parse.ts';
import type { Mention } from './parse.ts';
import type { LineRange } from './readings.ts';
import { resourceIn, type ResourceIndex } from './resources.ts';

interface Options {
  readonly paths: PathPort;
  readonly documents: DocumentPort;
  /** Where relative paths are looked up; absolute. */
  readonly cwd: () => string;
  /** Most bytes of text that one mention attaches; 48 KiB by default. */
  readonly limitBytes?: number;
  /** Connected MCP servers: what names a resource of theirs is no file. */
  readonly servers?: () => ResourceIndex;
}

interface Target {
  readonly place: PathLookup;
  readonly lines?: LineRange;
}

const NO_SERVERS: ResourceIndex = new Map();
const LIMIT_BYTES = 48 * 1024;
/** Most things that one prompt attaches; people name few, pasted lists many. */
const MOST_TARGETS = 50;
/** A note names no more than this of what the user typed. */
const NOTE_CHARACTERS = 80;

/** Mentions of files and directories: found in the text, looked up, loaded once each. What cannot be attached is a note. */
export function createMentions({ paths, documents, cwd, limitBytes = LIMIT_BYTES, servers = () => NO_SERVERS }: Options): MentionPort {
  const elsewhere = (candidate: Candidate): boolean => resourceIn(candidate, servers()) !== undefined;
  return {
    async load(text, signal, pinned = new Set()) {
      const from = cwd();
      const { mentions, unresolved, gaveUp } = await findMentions(text, (path) => lookUp(paths, path, from), elsewhere);
      const { targets, notes } = sort(mentions, pinned);
      const loading = targets.slice(0, MOST_TARGETS).map((target) => loadOne(documents, target, limitBytes, signal));
      const left = targets.length - loading.length;
      return join(await Promise.all(loading), [
        ...notes,
        ...unresolved.map((raw) => `${oneLine(raw, NOTE_CHARACTERS)}: no such file or directory`),
        ...(left > 0 ? [`${count(left, 'further mention')} not attached: ${MOST_TARGETS} are the most for one prompt`] : []),
        ...(gaveUp ? ['not everything that begins with @ was looked up: the text holds too much of it'] : []),
      ]);
    },
    agents: mentionedAgents,
    async named(text) {
      const from = cwd();
      const { mentions } = await findMentions(text, (path) => lookUp(paths, path, from), elsewhere);
      return new Set(mentions.flatMap(({ found, lines }) => (lines === undefined && !found.denied && !found.outside ? [found.real] : [])));
    },
  };
}

async function lookUp(paths: PathPort, path: string, cwd: string): Promise<PathLookup | undefined> {
  if (path === '.' || path === '..') return undefined;
  const place = await paths.lookUp(path, cwd);
  return place.kind === 'missing' || (path.endsWith('/') && place.kind !== 'directory') ? undefined : place;
}

/** Each place and range once, a file's ranges not beside the whole of it; places that may not be read, or are pinned, are notes. */
function sort(mentions: readonly Mention<PathLookup>[], pinned: ReadonlySet<string>): { readonly targets: readonly Target[]; readonly notes: readonly string[] } {
  const targets = new Map<string, Target>();
  const notes = new Set<string>();
  for (const { found: place, lines } of mentions) {
    const refusal = place.denied ? 'a deny rule keeps it from being read' : place.outside ? 'not attached, it is outside of the working folders' : undefined;
    if (refusal === undefined && lines === undefined && pinned.has(place.real)) notes.add(`${oneLine(place.label, NOTE_CHARACTERS)}: pinned, in view already`);
    else if (refusal !== undefined) notes.add(`${oneLine(place.label, NOTE_CHARACTERS)}: ${refusal}`);
    else targets.set(`${place.real}\0${lines === undefined ? '' : `${lines.from}-${lines.to}`}`, { place, ...(lines === undefined ? {} : { lines }) });
  }
  return { targets: [...targets.values()].filter(({ place, lines }) => lines === undefined || !targets.has(`${place.real}\0`)), notes: [...notes] };
}

async function loadOne(documents: DocumentPort, { place, lines }: Target, limitBytes: number, signal: AbortSignal): Promise<Loaded> {
  try {
    return await documents.load(place.real, place.label, { limitBytes, ...(lines === undefined ? {} : { lines }) }, signal);
  } catch (error) {
    return { parts: [], files: [], notes: [`${oneLine(place.label, NOTE_CHARACTERS)}: ${messageOf(error)}`] };
  }
}

function join(loaded: readonly Loaded[], notes: readonly string[]): Loaded {
  return {
    parts: loaded.flatMap(({ parts }) => parts),
    files: loaded.flatMap(({ files }) => files),
    notes: [...loaded.flatMap((one) => one.notes), ...notes],
  };
}
