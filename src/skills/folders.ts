import { statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { defineFold } from '#lib/fold.ts';
import { isWithin, relativeWithin } from '#lib/within.ts';
import type { Entry } from '#domain/entry.ts';
import type { SkillView } from '#domain/skills.ts';
import { isIgnored } from './ignored.ts';

/** Where skills and commands may be. All paths are absolute and real. */
export interface Places {
  /** The user's own folders, the first goes before the others. */
  readonly userSkills: readonly string[];
  readonly userCommands: readonly string[];
  /** Where the session started. */
  readonly start: string;
  /** Top of the repository that `start` lies in, else `start`. */
  readonly top: string;
  /** Further working folders. */
  readonly added: () => readonly string[];
  /** Whether what a folder brings along may be used. */
  readonly trusted: (folder: string) => boolean;
  readonly respectsIgnores: () => boolean;
}

export interface Folder {
  readonly path: string;
  readonly form: SkillView['form'];
  readonly scope: SkillView['scope'];
  /** Patterns of paths are measured from here. */
  readonly base: string;
  /** Where files must really lie, links resolved; undefined: anywhere. */
  readonly within: readonly string[] | undefined;
  /** Of a nested one, its place below the start folder. */
  readonly from?: string;
}

const SKILLS = ['.pinion/skills', '.claude/skills', '.agents/skills'];
const COMMANDS = ['.pinion/commands', '.claude/commands'];

/** Every file of which the session's calls and mentions gave bytes; compaction and rewind change nothing here. */
export const touchedOf = defineFold<Entry, ReadonlySet<string>>(new Set(), (now, entry) => {
  const files = entry.type === 'toolResult' ? entry.result.files : entry.type === 'reminder' ? entry.files : undefined;
  const fresh = (files ?? []).filter(({ path }) => !now.has(path));
  return fresh.length === 0 ? now : new Set([...now, ...fresh.map(({ path }) => path)]);
});

/**
 * Folders in the order in which their names count: of two things with one name the first is taken. The user's own go before the
 * project's, the nearest before those farther up, skills before commands. `untrusted` are folders that are there and not used.
 */
export function foldersOf(places: Places, touched: ReadonlySet<string>): { readonly folders: readonly Folder[]; readonly untrusted: readonly string[] } {
  const { userSkills, userCommands, start, top, added, trusted } = places;
  const untrusted: string[] = [];
  const within = [top, ...added()];
  const project = (bases: readonly string[], names: readonly string[], form: Folder['form']): Folder[] => bases.flatMap((base) => {
    const there = names.map((name) => join(base, name));
    if (!trusted(base)) untrusted.push(...there.filter(isFolder));
    return trusted(base) ? there.map((path): Folder => ({ path, form, scope: 'project', base, within })) : [];
  });
  const user = (paths: readonly string[], form: Folder['form']): Folder[] => paths.map((path) => ({ path, form, scope: 'user', base: start, within: undefined }));
  const bases = [...new Set([...upTo(start, top), ...added()])];
  const nested = nestedOf(places, touched, bases);
  if (nested.length > 0 && !trusted(start)) untrusted.push(...nested.map(({ path }) => path));
  return {
    folders: [
      ...user(userSkills, 'skill'), ...project(bases, SKILLS, 'skill'), ...(trusted(start) ? nested.map((folder) => ({ ...folder, within })) : []),
      ...user(userCommands, 'command'), ...project(bases, COMMANDS, 'command'),
    ],
    untrusted,
  };
}

/** Folders of skills beside touched files, or between them and the start folder. */
function nestedOf({ start, top, respectsIgnores }: Places, touched: ReadonlySet<string>, bases: readonly string[]): Omit<Folder, 'within'>[] {
  const known = new Set(bases);
  const parents = new Set<string>();
  for (const path of touched) {
    for (let at = dirname(path); !known.has(at) && !parents.has(at) && isWithin(start, at) && at !== dirname(at); at = dirname(at)) parents.add(at);
  }
  return [...parents].sort().flatMap((base) => {
    const there = SKILLS.map((name) => join(base, name)).filter(isFolder);
    if (there.length === 0 || isIgnored(base, top, respectsIgnores())) return [];
    const from = relative(start, base);
    return there.map((path) => ({ path, form: 'skill' as const, scope: 'nested' as const, base, from }));
  });
}

function upTo(start: string, top: string): readonly string[] {
  const folders = [start];
  for (let at = start; at !== top && relativeWithin(top, at) !== undefined && at !== dirname(at);) {
    at = dirname(at);
    folders.push(at);
  }
  return folders;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}
