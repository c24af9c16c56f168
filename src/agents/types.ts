import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '#lib/errors.ts';
import { oneLine } from '#lib/names.ts';
import { readSmallFile } from '#lib/small-file.ts';
import { count } from '#lib/text.ts';
import { isWithin, realPathOf } from '#lib/within.ts';
import type { AgentType } from '#domain/agents.ts';
import { BUILT_IN } from './built-in.ts';
import { type Definition, definitionOf } from './definition.ts';

/** A folder that may hold types of sub-agents: absolute; it need not be there. */
export interface TypeFolder {
  readonly path: string;
  readonly scope: 'user' | 'project';
  /** Files that lead out of this folder by a link are left out. */
  readonly within?: string;
}

export interface Types {
  /** What there is now: the first folder's before the second's, a name once. Looks at the disk; reads what has changed. */
  list(signal: AbortSignal): Promise<readonly AgentType[]>;
  /** What was wrong with files at the last look, one line each. */
  problems(): readonly string[];
}

const MOST_FILES = 200;
const DEEPEST = 5;
const LARGEST_FILE = 256 * 1024;

interface Read extends Definition {
  readonly stamp: string;
}

/** Types of sub-agents in folders (asked at every look, strongest first), and the built-in ones. */
export function createTypes(folders: () => readonly TypeFolder[], shown: (path: string) => string = (path) => path): Types {
  const known = new Map<string, Read>();
  let problems: readonly string[] = [];
  const read = async (file: string, scope: TypeFolder['scope']): Promise<Definition> => {
    const stamp = stampOf(file);
    const before = known.get(file);
    if (before !== undefined && before.stamp === stamp) return before;
    const made = await readOne(file, scope);
    known.set(file, { ...made, stamp });
    return made;
  };
  return {
    problems: () => problems,
    async list(signal) {
      const found = new Map<string, { readonly type: AgentType; readonly folder: string }>();
      const wrong: string[] = [];
      const seen = new Set<string>();
      for (const { path, scope, within } of folders()) {
        const { files, left } = markdownBelow(path);
        if (left > 0) wrong.push(`${oneLine(shown(path))}: ${count(left, 'file')} left out; ${MOST_FILES} are the most`);
        for (const file of files) {
          signal.throwIfAborted();
          const real = realPathOf(file);
          if (seen.has(real)) continue;
          seen.add(real);
          if (within !== undefined && !isWithin(realPathOf(within), real)) {
            wrong.push(`${oneLine(shown(file))}: left out: it is a link that leads out of the project`);
            continue;
          }
          const { type, problems: own } = await read(real, scope);
          const before = type === undefined ? undefined : found.get(keyOf(type.name));
          const twice = before?.folder === path ? [`there is another agent "${before.type.name}" in this folder, which counts`] : [];
          wrong.push(...[...own, ...twice].map((line) => `${oneLine(shown(file))}: ${line}`));
          if (type !== undefined && before === undefined) found.set(keyOf(type.name), { type, folder: path });
        }
      }
      problems = wrong;
      const own = [...found.values()].map(({ type }) => type);
      return [...own, ...BUILT_IN.filter(({ name }) => !found.has(keyOf(name)))].sort((a, b) => (a.name < b.name ? -1 : 1));
    },
  };
}

/** Names that differ in case only are one: a person writes them as they come. */
export function keyOf(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

async function readOne(file: string, scope: TypeFolder['scope']): Promise<Definition> {
  try {
    return await definitionOf(readSmallFile(file, LARGEST_FILE), file, scope);
  } catch (error) {
    return { type: undefined, problems: [messageOf(error)] };
  }
}

function stampOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.mtimeMs}:${stats.size}:${stats.ino}`;
}

/** Markdown files below a folder, by name. Linked folders are not entered: they may lead anywhere, or round in a circle. */
function markdownBelow(folder: string): { readonly files: readonly string[]; readonly left: number } {
  const files: string[] = [];
  const walk = (at: string, depth: number): void => {
    for (const entry of entriesOf(at)) {
      if (entry.isDirectory() && depth < DEEPEST) walk(join(at, entry.name), depth + 1);
      else if (entry.name.endsWith('.md') && (entry.isFile() || entry.isSymbolicLink())) files.push(join(at, entry.name));
    }
  };
  walk(folder, 0);
  return { files: files.slice(0, MOST_FILES), left: Math.max(0, files.length - MOST_FILES) };
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}

/** The same without the types that a rule forbids: nobody is told of what may not be used. */
export function withoutDenied(types: Types, denied: (name: string) => boolean): Types {
  return {
    problems: () => types.problems(),
    list: async (signal) => (await types.list(signal)).filter(({ name }) => !denied(name)),
  };
}
