import { dirname } from 'node:path';
import picomatch from 'picomatch';
import { cutToLength } from '#lib/text.ts';
import { isWithin, relativeWithin } from '#lib/within.ts';
import type { MemoryFile, MemoryPort } from '#domain/world.ts';
import { createNotes, type Notes, type NotesOptions } from './memory-notes.ts';
import { directoriesBetween, directoriesTo, filesIn, isThere, rulesIn, type Found } from './memory-places.ts';
import { readMemory, type Bounds, type Read, type Reading, type Wanted, type Waiting } from './memory-read.ts';
import { createMemoryTexts } from './memory-texts.ts';

/** Read anew at every look: settings and trust may change. */
export interface MemoryOptions extends Bounds {
  /** The user's own instruction files, absolute, in order: `<pinion home>/AGENTS.md`, `~/.claude/CLAUDE.md`. */
  readonly userFiles: readonly string[];
  /** Folders of the user's own rules, absolute. */
  readonly userRules: readonly string[];
  /** Globs of absolute paths that are left out. */
  readonly excludes: readonly string[];
  /** Where notes are kept; undefined: none are recalled. */
  readonly kept: NotesOptions | undefined;
}

export interface Memory extends MemoryPort {
  /** Files outside the project that instruction files would bring along if the user approved, each once. */
  wanted(signal: AbortSignal): Promise<readonly Wanted[]>;
  /** Everything that there is: also rules that wait for a file, and all kept notes. */
  overview(paths: readonly string[], signal: AbortSignal): Promise<{ readonly files: readonly MemoryFile[]; readonly nested: readonly MemoryFile[]; readonly waiting: readonly MemoryFile[]; readonly notes: readonly MemoryFile[] }>;
}

/** What is told from the start, the rules that wait, and every real path that was read for it. */
interface Start {
  readonly files: readonly MemoryFile[];
  readonly waiting: readonly (Read & { readonly waiting: Waiting })[];
  readonly seen: ReadonlySet<string>;
}

/** Of one file below the start directory no more is told, in characters and lines. */
const LONGEST_NESTED = 40_000;
const MOST_NESTED_LINES = 3000;
/** Directories that are looked through for instruction files because of files that were touched, oldest first. */
const MOST_DIRECTORIES = 400;

/**
 * Instruction files of the user, then of the project: AGENTS.md, CLAUDE.md, their kin in `.claude` and `.pinion`, rules, and the
 * local ones of every directory from the root down to `cwd`, each real file once; last the index of kept notes. `@path` in them
 * stands for that file's text (relative to the file it stands in, at most four hops); block comments of HTML are left out.
 */
export function createMemory(options: MemoryOptions): Memory {
  const texts = createMemoryTexts();
  const wanted = new Map<string, Wanted>();
  const excludes = compiler();
  const notes: Notes = createNotes({ texts, paths: options.paths, kept: () => options.kept });
  const reading = (seen: Set<string>): Reading => ({ bounds: options, texts, seen, excluded: excludes(options.excludes), want: (one) => { wanted.set(one.real, one); } });
  let looking: Promise<Start> | undefined;
  // Two sources ask at each moment: one look serves both.
  const start = (): Promise<Start> => (looking ??= lookFrom(startingPlaces(options), reading(new Set())).finally(() => { looking = undefined; }));
  const nested = async (paths: readonly string[], { seen, waiting }: Start): Promise<Start> => {
    const told = new Set(seen);
    const { files, waiting: below } = await lookFrom(together(placesBelow(paths, options)), reading(told));
    // A rule that was told goes on holding: it is then among the paths itself.
    const fitting = [...waiting, ...below].filter(({ file, waiting: { condition } }) => paths.includes(file.path) || covers(condition, paths));
    const rules: MemoryFile[] = [];
    for (const rule of fitting) rules.push(await rule.waiting.tell(told));
    return { files: [...files, ...rules].map(cut), waiting: [...waiting, ...below].filter((rule) => !fitting.includes(rule)), seen: told };
  };
  return {
    async files(signal) {
      const { files } = await start();
      signal.throwIfAborted();
      return [...files, ...await notes.index()];
    },
    async nested(paths, signal) {
      if (paths.length === 0) return [];
      const from = await start();
      signal.throwIfAborted();
      return (await nested(paths, from)).files;
    },
    recall: (text, except, signal) => notes.recall(text, except, signal),
    async wanted(signal) {
      await start();
      signal.throwIfAborted();
      return [...wanted.values()].filter(({ real }) => options.approved(real) === undefined && isThere(real));
    },
    async overview(paths) {
      const from = await start();
      const { files, waiting } = await nested(paths, from);
      return { files: [...from.files, ...await notes.index()], nested: files, waiting: waiting.map(({ file }) => file), notes: await notes.all() };
    },
  };
}

function startingPlaces(options: MemoryOptions): Found {
  const { userFiles, userRules, cwd, repository, home } = options;
  return together([
    { candidates: userFiles.filter(isThere).map((path) => ({ path, scope: 'user', rule: false, base: cwd })), problems: [] },
    // The user's rules name files of whatever project they are in.
    ...userRules.map((folder) => rulesIn(folder, { scope: 'user', base: repository ?? cwd, tops: [home, dirname(folder)] })),
    ...directoriesTo(cwd).map((directory) => filesIn(directory, topsOf(options))),
  ]);
}

/** Directories between the workspace's folders and these files, but those on the way to `cwd`: these are told from the start. */
function placesBelow(paths: readonly string[], options: MemoryOptions): readonly Found[] {
  const { cwd } = options;
  const tops = topsOf(options);
  const directories = new Set<string>();
  for (const path of paths) {
    for (const directory of tops.flatMap((top) => directoriesBetween(top, path))) if (!isWithin(directory, cwd)) directories.add(directory);
    if (directories.size > MOST_DIRECTORIES) break;
  }
  const found = [...directories].slice(0, MOST_DIRECTORIES).map((directory) => filesIn(directory, tops));
  return directories.size <= MOST_DIRECTORIES ? found : [...found, { candidates: [], problems: [{ path: cwd, note: `only ${MOST_DIRECTORIES} directories below were looked through for instruction files` }] }];
}

function topsOf({ cwd, repository, roots }: MemoryOptions): readonly string[] {
  return [cwd, ...(repository === undefined ? [] : [repository]), ...roots];
}

function together(found: readonly Found[]): Found {
  return { candidates: found.flatMap(({ candidates }) => candidates), problems: found.flatMap(({ problems }) => problems) };
}

async function lookFrom({ candidates, problems }: Found, reading: Reading): Promise<Start> {
  const files: MemoryFile[] = [];
  const waiting: (Read & { readonly waiting: Waiting })[] = [];
  for (const candidate of candidates) {
    const read = await readMemory(candidate, reading);
    if (read?.waiting !== undefined) waiting.push({ file: read.file, waiting: read.waiting });
    else if (read !== undefined && (read.file.text !== '' || read.file.notes.length > 0)) files.push(read.file);
  }
  const left = problems.filter(({ path }) => !reading.excluded(path)).map(({ path, note }): MemoryFile => ({ path, scope: 'project', text: '', notes: [note] }));
  return { files: [...files, ...left], waiting, seen: reading.seen };
}

function covers({ base, globs }: Waiting['condition'], paths: readonly string[]): boolean {
  return paths.some((path) => {
    const below = relativeWithin(base, path);
    return below !== undefined && globs.some((fits) => fits(below));
  });
}

function cut(file: MemoryFile): MemoryFile {
  const lines = file.text.split('\n');
  if (file.text.length <= LONGEST_NESTED && lines.length <= MOST_NESTED_LINES) return file;
  const text = cutToLength(lines.slice(0, MOST_NESTED_LINES).join('\n'), LONGEST_NESTED);
  const { hash: _, ...rest } = file;
  return { ...rest, text, notes: [...file.notes, `cut: the first ${text.length} of ${file.text.length} characters are told`] };
}

/** The matcher of a list of globs, made anew when the list is another one. */
function compiler(): (globs: readonly string[]) => (path: string) => boolean {
  let made: { readonly globs: readonly string[]; readonly fits: (path: string) => boolean } | undefined;
  return (globs) => {
    if (made?.globs !== globs) made = { globs, fits: globs.length === 0 ? () => false : picomatch([...globs], { dot: true }) };
    return made.fits;
  };
}
