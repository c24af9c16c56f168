import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readFrontMatter } from '#lib/front-matter.ts';
import { fsPath, oneLine } from '#lib/names.ts';
import { pathGlob } from '#lib/path-glob.ts';
import { cutToLength } from '#lib/text.ts';
import { isWithin } from '#lib/within.ts';
import type { BlobHash } from '#domain/content.ts';
import type { PathPort } from '#domain/documents.ts';
import type { MemoryFile } from '#domain/world.ts';
import { importsOf, insertImports, stripComments, type Import, type Imported } from './memory-text.ts';
import type { MemoryText, MemoryTexts } from './memory-texts.ts';

/** Where instruction files may come from. */
export interface Bounds {
  /** The session's directory, real path. */
  readonly cwd: string;
  /** Top of the repository that `cwd` lies in, real path; undefined outside a repository. */
  readonly repository: string | undefined;
  /** The user's home directory, real path. */
  readonly home: string;
  /** Further directories of the workspace, from which files may be imported. */
  readonly roots: readonly string[];
  readonly paths: PathPort;
  /** Whether the folder is trusted: its files may then import texts of the home directory. */
  readonly trusted: () => boolean;
  /** What the user said to the import of a file outside the project (real path); undefined when they were not asked. */
  readonly approved: (real: string) => boolean | undefined;
}

/** A file outside the project that an instruction file wants to bring along. */
export interface Wanted {
  readonly real: string;
  /** Real path of the instruction file. */
  readonly by: string;
}

export interface Reading {
  readonly bounds: Bounds;
  readonly texts: MemoryTexts;
  readonly excluded: (path: string) => boolean;
  /** Real paths that were read: each file is told once. */
  readonly seen: Set<string>;
  /** Is told of each file that the user would have to approve. */
  readonly want: (wanted: Wanted) => void;
}

/** Where an instruction file is looked for. `rule`: it may have front matter that says for which files of `base` it holds. */
export interface Candidate {
  readonly path: string;
  readonly scope: MemoryFile['scope'];
  readonly rule: boolean;
  /** The folder to which it belongs. */
  readonly base: string;
}

/** Globs of a rule, relative to `base`. */
export interface Condition {
  readonly base: string;
  readonly globs: readonly ((path: string) => boolean)[];
}

/** A rule that holds only once a file that fits was touched: `tell` then gives it with its imports, of which those in `seen` are told elsewhere. */
export interface Waiting {
  readonly condition: Condition;
  tell(seen: Set<string>): Promise<MemoryFile>;
}

/** `file` without imports while it waits. */
export interface Read {
  readonly file: MemoryFile;
  readonly waiting?: Waiting;
}

/** An import of an import of an import of an import is the last one followed. */
const MOST_HOPS = 4;
/** What may come from outside the project: texts, so that a repository cannot fetch a key. */
const PROSE = /\.(?:md|mdx|mdc|markdown|txt|rst|adoc)$/i;
const MOST_GLOBS = 50;
/** Characters of a glob that are shown. */
const LONGEST_SHOWN = 100;

/** One file on its way, with what is said of it. */
interface Job extends Reading {
  readonly file: string;
  readonly scope: MemoryFile['scope'];
  /** The folder that it was found in: what the user keeps beside their own instructions is theirs. */
  readonly folder: string;
  readonly notes: string[];
  readonly imports: string[];
}

/** An instruction file with its imports in place; undefined where there is none, or it was read under another name. */
export async function readMemory({ path, scope, rule, base }: Candidate, reading: Reading): Promise<Read | undefined> {
  const { bounds, seen } = reading;
  const found = await bounds.paths.lookUp(path, dirname(path));
  if (found.kind !== 'file' || seen.has(found.real) || reading.excluded(path) || reading.excluded(found.real)) return undefined;
  seen.add(found.real);
  const leftOut = (why: string): Read => ({ file: { path: found.real, scope, text: '', notes: [`left out: ${why}`] } });
  if (found.denied) return leftOut('a permission rule denies reading it');
  const job: Job = { ...reading, file: found.real, scope, folder: dirname(path), notes: [], imports: [] };
  if (scope !== 'user' && found.real !== path && !isWithin(dirname(path), found.real)) {
    const why = whyNotFrom(found.real, job);
    if (why !== undefined) return leftOut(`it is a link that leads out of the project, to ${oneLine(found.real)}${why}`);
  }
  if (scope !== 'user' && !await isTrusted(found.real, bounds)) return leftOut('it lies above the repository and belongs to another user');
  const text = await readText(found.real, '', job);
  if (text === undefined) return { file: fileOf(job, '') };
  if (!rule) return { file: await withImports(text.text, text, job, 0) };
  const { when, condition, body } = await ruleOf(text, base, job.notes);
  if (condition === undefined) return { file: await withImports(body, text, job, 0) };
  const tell = async (told: Set<string>): Promise<MemoryFile> => ({ ...await withImports(body, text, { ...job, seen: told, notes: [...job.notes], imports: [] }, 0), when });
  return { file: { ...fileOf(job, body.trim(), text.hash), when }, waiting: { condition, tell } };
}

function fileOf({ file, scope, notes, imports }: Job, text: string, hash?: BlobHash): MemoryFile {
  return { path: file, scope, text, notes, ...(hash !== undefined && { hash }), ...(imports.length > 0 && { imports }) };
}

/** Above the repository only the user's own and the system's files count: anybody can put a file into a shared folder. */
async function isTrusted(real: string, { repository, cwd, roots }: Bounds): Promise<boolean> {
  if ([repository ?? cwd, ...roots].some((root) => isWithin(root, real)) || process.getuid === undefined) return true;
  const { uid } = await stat(fsPath(real)).catch(() => ({ uid: -1 }));
  return uid === process.getuid() || uid === 0;
}

async function readText(real: string, named: string, { texts, notes }: Job): Promise<MemoryText | undefined> {
  const text = await texts(real);
  const note = (why: string): undefined => { notes.push(named === '' ? why : `@${oneLine(named)}: ${why}`); };
  if (typeof text === 'string') return note(text);
  if (text.removed > 0) note(`${text.removed} invisible characters were taken out`);
  return text;
}

/** The text without comments, imports in place; with the hash of the bytes where it is made of them alone. */
async function withImports(text: string, { hash }: MemoryText, job: Job, hops: number): Promise<MemoryFile> {
  const body = stripComments(text).trim();
  const imported = await readImports(body, dirname(job.file), job, hops);
  return imported.length === 0 ? fileOf(job, body, hash) : fileOf(job, insertImports(body, imported));
}

async function readImports(body: string, from: string, job: Job, hops: number): Promise<readonly Imported[]> {
  const texts: Imported[] = [];
  for (const wanted of importsOf(body)) {
    const imported = await readImport(wanted, from, job, hops);
    if (imported !== undefined) texts.push(imported);
  }
  return texts;
}

async function readImport(wanted: Import, from: string, job: Job, hops: number): Promise<Imported | undefined> {
  const { bounds, notes, seen, excluded } = job;
  const note = (path: string, why: string): undefined => { notes.push(`@${oneLine(path)}: not imported, ${why}`); };
  for (const path of wanted.candidates) {
    const found = await bounds.paths.lookUp(path, from);
    if (found.kind === 'missing') continue;
    if (found.kind !== 'file') return wanted.certain ? note(path, 'it is no file') : undefined;
    if (excluded(found.real) || seen.has(found.real)) return undefined;
    if (found.denied) return note(path, 'a permission rule denies reading it');
    const why = whyNotFrom(found.real, job);
    if (why !== undefined) return note(path, `it lies outside the project${why}`);
    if (hops >= MOST_HOPS) return note(path, `it is more than ${MOST_HOPS} imports deep`);
    seen.add(found.real);
    const text = await readText(found.real, path, job);
    if (text === undefined) return undefined;
    job.imports.push(found.real);
    const body = stripComments(text.text).trim();
    const inner = insertImports(body, await readImports(body, dirname(found.real), job, hops + 1));
    return { line: wanted.line, path, text: `[${oneLine(path)}]\n${inner}\n[end of ${oneLine(path)}]` };
  }
  return wanted.certain ? note(wanted.candidates.at(-1) ?? '', 'no such file') : undefined;
}

/** Why a file may not be brought along, as the rest of a sentence; undefined when it may. */
function whyNotFrom(real: string, { bounds, scope, folder, file, want }: Job): string | undefined {
  const { cwd, repository, roots, home, trusted, approved } = bounds;
  const tops = [cwd, ...(repository === undefined ? [] : [repository]), ...roots];
  if (tops.some((top) => isWithin(top, real))) return undefined;
  if (scope === 'user' && isWithin(home, real)) return undefined;
  if (!PROSE.test(real)) return ' and is no text such as .md';
  // What lies above the project is no part of it: the user put it there, and what is beside it too.
  const own = tops.every((top) => !isWithin(top, folder));
  if ((own && isWithin(folder, real)) || (trusted() && isWithin(home, real)) || approved(real) === true) return undefined;
  if (approved(real) === undefined) want({ real, by: file });
  return ', not approved by the user';
}

/** Front matter is for the program. A rule whose `paths` cannot be used holds for no file, and says so. */
async function ruleOf(text: MemoryText, base: string, notes: string[]): Promise<{ readonly body: string; readonly when: readonly string[]; readonly condition?: Condition }> {
  const known = parsed.get(text) ?? await readFrontMatter(text.text);
  parsed.set(text, known);
  const { fields, body, problem } = known;
  if (problem !== undefined) notes.push(oneLine(problem));
  const named = fields['paths'];
  if (named === undefined || named === null || (Array.isArray(named) && named.length === 0)) return { body, when: [] };
  const written = (Array.isArray(named) ? named : typeof named === 'string' ? split(named) : [named]).slice(0, MOST_GLOBS);
  const when = written.map((one) => cutToLength(typeof one === 'string' ? one : JSON.stringify(one), LONGEST_SHOWN));
  const globs = written.flatMap((one, i) => {
    const glob = typeof one === 'string' ? pathGlob(one) : undefined;
    if (glob === undefined) notes.push(`paths: ${oneLine(when[i] ?? '')} cannot be used`);
    return glob === undefined ? [] : [glob];
  });
  return { body, when, condition: { base, globs } };
}

const parsed = new WeakMap<MemoryText, Awaited<ReturnType<typeof readFrontMatter>>>();

/** At commas outside of braces. */
function split(list: string): readonly string[] {
  const out = [''];
  let depth = 0;
  for (const character of list) {
    if (character === '{') depth += 1;
    else if (character === '}') depth -= 1;
    if (character === ',' && depth <= 0) out.push('');
    else out[out.length - 1] = (out.at(-1) ?? '') + character;
  }
  return out.map((one) => one.trim()).filter((one) => one !== '');
}
