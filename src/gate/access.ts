import { existsSync, readdirSync, type Dirent } from 'node:fs';
import { dirname, join } from 'node:path';
import { isWithin, realPathOf } from '#lib/within.ts';
import type { Place, Places } from './places.ts';
import type { Rulebook } from './rulebook.ts';
import { whereOf } from './rules.ts';

/** What the path rules say to one access. `hard`: it must be asked in every mode. `ruled`: a rule of the user asks. */
export type PathVerdict =
  | { readonly kind: 'ok' }
  | { readonly kind: 'ask'; readonly why: string; readonly hard: boolean; readonly ruled?: true }
  | { readonly kind: 'deny'; readonly why: string };

const OK: PathVerdict = { kind: 'ok' };
/** Devices that hold nothing and go nowhere. */
const HARMLESS = /^\/dev\/(?:null|zero|stdin|stdout|stderr)$/;

export interface Access {
  readonly places: Places;
  readonly book: Rulebook;
  /** Writing inside the working folders needs no question. */
  readonly edits: boolean;
}

/** Looking at one path with the named tool. `tool` matters only for rules that name it (`Grep(…)`); Read rules hold for all. */
export function readVerdict(access: Access, tool: string, written: string, cwd: string): PathVerdict {
  return readVerdictOn(access, tool, written, access.places.look(written, cwd));
}

/** As {@link readVerdict}, on a path that was looked up already. */
export function readVerdictOn({ book }: Access, tool: string, written: string, place: Place): PathVerdict {
  const denied = book.path('deny', tool, 'read', place);
  if (denied !== undefined) return { kind: 'deny', why: `reading ${place.label} is forbidden by ${named(denied)}` };
  const asked = book.path('ask', tool, 'read', place);
  if (asked !== undefined) return { kind: 'ask', why: `${named(asked)} asks before reading ${place.label}`, hard: true, ruled: true };
  if (HARMLESS.test(place.lexical) && HARMLESS.test(written)) return OK;
  if (book.path('allow', tool, 'read', place) !== undefined) return OK;
  if (place.kernel) return { kind: 'ask', why: `${place.lexical} is a file of the kernel`, hard: false };
  if (place.open) return OK;
  return place.root === undefined ? { kind: 'ask', why: `${shown(place)} is outside of the working folders`, hard: false } : OK;
}

/** Changing one path with the named tool. */
export function writeVerdict(access: Access, tool: string, written: string, cwd: string): PathVerdict {
  return writeVerdictOn(access, tool, written, access.places.look(written, cwd));
}

/** As {@link writeVerdict}, on a path that was looked up already. */
export function writeVerdictOn({ book, edits }: Access, tool: string, written: string, place: Place): PathVerdict {
  if (HARMLESS.test(place.lexical) && HARMLESS.test(written)) return OK;
  const denied = book.path('deny', tool, 'write', place);
  if (denied !== undefined) return { kind: 'deny', why: `writing ${place.label} is forbidden by ${named(denied)}` };
  const asked = book.path('ask', tool, 'write', place);
  if (asked !== undefined) return { kind: 'ask', why: `${named(asked)} asks before writing ${place.label}`, hard: true, ruled: true };
  if (place.guarded !== undefined) return { kind: 'ask', why: `${place.label} is ${place.guarded}`, hard: true };
  if (place.kernel) return { kind: 'ask', why: `${place.lexical} is a file of the kernel`, hard: false };
  if (book.path('allow', tool, 'write', place) !== undefined) return OK;
  if (place.root === undefined) return { kind: 'ask', why: `${shown(place)} is outside of the working folders`, hard: false };
  return edits ? OK : { kind: 'ask', why: `it changes ${place.label}`, hard: false };
}

/** A word of a command that an allow rule covers, taken for a path: outside of the working folders it asks if there is such a place. */
export function wordVerdict(access: Access, written: string, cwd: string): PathVerdict {
  const verdict = readVerdict(access, 'Bash', written, cwd);
  if (verdict.kind !== 'ask' || verdict.hard) return verdict;
  const { lexical, real } = access.places.look(written, cwd);
  const folder = dirname(real);
  return existsSync(lexical) || (folder !== '/' && existsSync(folder)) ? verdict : OK;
}

function named(rule: { readonly tool: string; readonly spec: string | undefined; readonly source: Parameters<typeof whereOf>[0] }): string {
  return `the rule ${rule.source.rule} (${whereOf(rule.source)})`;
}

/** Both ends of a path where they differ. */
function shown({ lexical, real }: Place): string {
  return lexical === real ? lexical : `${lexical} (in truth ${real})`;
}

/** Most entries of a folder tree that are looked at. */
const MOST_ENTRIES = 4000;

/**
 * Whether reading a folder through to the bottom meets something that must not be read, and why; undefined when it does not.
 * `hard`: it does for certain; a tree that is too large to look through may. Links inside are not followed, but one that leads
 * to a denied file counts.
 */
export function treeProblem({ places, book }: Access, written: string, cwd: string, hidden: boolean): { readonly why: string; readonly hard: boolean } | undefined {
  if (!book.deniesPaths) return undefined;
  const top = places.look(written, cwd);
  const waiting = [top.real];
  let looked = 0;
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of entriesOf(folder)) {
      if (!hidden && entry.name.startsWith('.')) continue;
      looked += 1;
      if (looked > MOST_ENTRIES) return { why: `${top.label} is too large to make sure that nothing forbidden is read`, hard: false };
      const path = join(folder, entry.name);
      const real = entry.isSymbolicLink() ? realPathOf(path) : path;
      if (book.path('deny', 'Bash', 'read', { lexical: path, real }) !== undefined) return { why: `${top.label} holds ${entry.name}, which must not be read (Grep leaves it out)`, hard: true };
      if (entry.isDirectory() && isWithin(top.real, path)) waiting.push(path);
    }
  }
  return undefined;
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
