import { lstatSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { PathLookup } from '#domain/documents.ts';
import { fsPath } from '#lib/names.ts';
import { foldsCase, isWithin, realPathOf } from '#lib/within.ts';
import type { Anchors, Ends } from './match.ts';
import { protectedAs } from './protect.ts';

/** A written path, looked up: where it leads and what that means for the gate. */
export interface Place extends Ends {
  readonly kind: PathLookup['kind'];
  readonly label: string;
  /** The working folder that holds both ends of it; undefined outside of all. */
  readonly root: string | undefined;
  /** What makes it a path that is never written without a question. */
  readonly guarded: string | undefined;
  /** A file of the kernel (`/proc`, `/dev`), whose meaning depends on who opens it. */
  readonly kernel: boolean;
  /** Whether it lies in a folder of texts that are the conversation's own: looking at them needs no question. */
  readonly open: boolean;
}

export interface PlaceOptions {
  /** The start folder first, then the further working folders; absolute. */
  readonly roots: () => readonly string[];
  readonly home: string;
  /** Folders of the program's own state: never written without a question. */
  readonly state?: readonly string[];
  /** Folders outside of the working folders that hold texts of conversations, such as plans. */
  readonly open?: readonly string[];
  /** The folder outside of the working folders in which the model keeps notes: absolute, or undefined for none. */
  readonly notes?: () => string | undefined;
}

export interface Places {
  anchors(): Anchors;
  /** `cwd` is absolute. Never throws; what cannot be looked at is missing. */
  look(written: string, cwd: string): Place;
}

export function createPlaces({ roots, home, state = [], open = [], notes = () => undefined }: PlaceOptions): Places {
  const folding = new Map<string, boolean>();
  const folds = (root: string): boolean => {
    const known = folding.get(root) ?? foldsCase(root);
    folding.set(root, known);
    return known;
  };
  const anchors = (): Anchors => {
    const now = roots();
    return { roots: now, home, folds: folds(now[0] ?? '/') };
  };
  return {
    anchors,
    look(written, cwd) {
      const { roots: folders, folds: folded } = anchors();
      const ends = endsOf(written, cwd, home);
      const holds = (root: string): boolean => {
        const real = realPathOf(root);
        return isWithin(real, ends.real, folded) && (isWithin(root, ends.lexical, folded) || isWithin(real, ends.lexical, folded));
      };
      const within = folders.find(holds);
      const noted = within === undefined ? noteFolderOf(ends, notes(), [...state, home, ...folders]) : undefined;
      const root = within ?? noted;
      return {
        ...ends,
        root,
        kind: kindOf(ends.real),
        label: within === undefined ? ends.real : relative(realPathOf(within), ends.real).split(sep).join('/') || '.',
        guarded: guardedAs(ends, folders, root, noted === undefined ? state : []),
        open: open.some((folder) => isWithin(realPathOf(folder), ends.real, folded) && (isWithin(folder, ends.lexical, folded) || isWithin(realPathOf(folder), ends.lexical, folded))),
        kernel: /^\/(?:proc|dev|sys)(?:\/|$)/.test(ends.lexical) || /^\/(?:proc|dev|sys)(?:\/|$)/.test(ends.real),
      };
    },
  };
}

/** `~` stands for home. The resolved end takes `..` after links, as the kernel does. */
function endsOf(written: string, cwd: string, home: string): Ends {
  const expanded = written === '~' || written.startsWith('~/') ? join(home, written.slice(1)) : written;
  const lexical = resolve(cwd, expanded);
  return { lexical, real: realPathOf(expanded.startsWith('/') ? expanded : `${cwd}/${expanded}`) };
}

function guardedAs(ends: Ends, roots: readonly string[], root: string | undefined, state: readonly string[]): string | undefined {
  const own = state.find((folder) => isWithin(folder, ends.lexical) || isWithin(realPathOf(folder), ends.real));
  if (own !== undefined) return 'a file of the program itself';
  const from = root ?? roots.find((each) => isWithin(each, ends.lexical));
  return protectedAs(ends.lexical, from) ?? protectedAs(ends.real, root === undefined ? undefined : realPathOf(root));
}

function kindOf(real: string): PathLookup['kind'] {
  try {
    const stats = statSync(fsPath(real));
    return stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : 'other';
  } catch {
    return 'missing';
  }
}

/** Whether a file has further names (hard links). Never throws. */
export function hasTwins(path: string): boolean {
  try {
    const stats = lstatSync(path);
    return stats.isFile() && stats.nlink > 1;
  } catch {
    return false;
  }
}

/**
 * The folder of notes, for a Markdown file that lies directly in it and nowhere else: no link, no second name. None where the
 * folder holds more than notes: the program's own files, a working folder, the home.
 */
function noteFolderOf({ lexical, real }: Ends, notes: string | undefined, others: readonly string[]): string | undefined {
  if (notes === undefined || !/^[^.].*\.md$/i.test(basename(real))) return undefined;
  const folder = realPathOf(notes);
  if (dirname(real) !== folder || basename(lexical) !== basename(real) || realPathOf(dirname(lexical)) !== folder || hasTwins(real)) return undefined;
  return others.some((other) => isWithin(folder, other) || isWithin(folder, realPathOf(other))) ? undefined : folder;
}
