import picomatch from 'picomatch';
import { oneLine } from '#lib/names.ts';
import { count } from '#lib/text.ts';
import { isWithin, relativeWithin } from '#lib/within.ts';
import type { SkillView } from '#domain/skills.ts';
import type { Found, Reader, SkillFile } from './files.ts';
import { type Folder, foldersOf, type Places } from './folders.ts';
import type { Header } from './header.ts';

/** A skill or command as it may be called. */
export interface Skill {
  readonly view: SkillView;
  readonly file: SkillFile;
  readonly folder: Folder;
}

export interface Catalogue {
  readonly skills: readonly Skill[];
  /** What cannot be used or called. `loud`: the user is told of it unasked, once. */
  readonly notes: readonly { readonly text: string; readonly loud: boolean }[];
}

export interface CatalogueOptions {
  readonly places: Places;
  readonly reader: Reader;
  /** Names of built-in commands, which go before others of the same name. */
  readonly reserved: ReadonlySet<string>;
  /** Whether a rule keeps a file (real path) from being read. */
  readonly denied: (path: string) => Promise<boolean>;
  /** How paths are shown. */
  readonly label: (path: string) => string;
}

/** Most skills and commands in all. */
const MOST = 2000;

/** Everything that may be used now, names unique, in the order of {@link foldersOf}. Never throws but for the signal. */
export async function catalogueOf(options: CatalogueOptions, touched: ReadonlySet<string>, signal: AbortSignal): Promise<Catalogue> {
  const { places, reader, reserved, denied, label } = options;
  const { folders, untrusted } = foldersOf(places, touched);
  const skills = new Map<string, Skill>();
  const taken = new Set<string>();
  const notes: { text: string; loud: boolean }[] = untrusted.length === 0 ? [] : [{ text: `${list(untrusted.map(label))}: not used, the folder is not trusted`, loud: true }];
  for (const folder of folders) {
    const found: Found = folder.form === 'skill' ? await reader.skills(folder.path, signal) : await reader.commands(folder.path, signal);
    for (const { path, why } of found.broken) notes.push({ text: `${label(path)}: left out: ${why}`, loud: true });
    for (const file of found.files) {
      if (taken.has(file.real)) continue;
      taken.add(file.real);
      const why = skills.size >= MOST ? `there are more than ${MOST}` : await problemOf(file, folder, denied);
      if (why !== undefined) notes.push({ text: `${label(file.path)}: left out: ${why}`, loud: true });
      else put(skills, file, folder, notes, label);
      if (why === undefined && file.problem !== undefined) notes.push({ text: `${label(file.path)}: ${file.problem}`, loud: true });
    }
  }
  for (const { view } of skills.values()) {
    if (view.userMayUse && reserved.has(view.name)) notes.push({ text: `/${view.name} is a built-in command: you cannot call the ${view.form} ${label(view.file)} by that name${view.modelMayUse ? ' (the model can)' : ''}`, loud: true });
  }
  return { skills: [...skills.values()].map((skill) => awake(skill, touched)), notes };
}

const LISTED = 3;

function list(names: readonly string[]): string {
  return names.length <= LISTED ? names.join(', ') : `${names.slice(0, LISTED).join(', ')} and ${count(names.length - LISTED, 'more', 'more')}`;
}

async function problemOf({ real }: SkillFile, { within }: Folder, denied: (path: string) => Promise<boolean>): Promise<string | undefined> {
  if (within !== undefined && !within.some((root) => isWithin(root, real))) return `it is a link that leads out of the project, to ${oneLine(real)}`;
  return await denied(real) ? 'a permission rule denies reading it' : undefined;
}

function put(skills: Map<string, Skill>, file: SkillFile, folder: Folder, notes: { text: string; loud: boolean }[], label: (path: string) => string): void {
  const first = skills.get(file.name);
  // A nested one has a folder to be told apart by.
  const name = first === undefined || folder.from === undefined ? file.name : `${folder.from.split('/').map(plain).join(':')}:${file.name}`;
  const other = skills.get(name);
  if (other === undefined) skills.set(name, { view: viewOf(name, file, folder), file, folder });
  else notes.push({ text: `${label(file.path)}: not used, ${label(other.file.path)} has the same name`, loud: false });
}

const plain = (name: string): string => name.replace(/[^\p{L}\p{N}._-]+/gu, '-');

function viewOf(name: string, file: SkillFile, { form, scope, from }: Folder): SkillView {
  const { header } = file;
  return {
    name, form, scope, description: file.description, file: file.real, bytes: Buffer.byteLength(file.body), userMayUse: header.userMayUse,
    // Of a command that does not say what it is for the model could not tell when to use it.
    modelMayUse: header.modelMayUse && (form === 'skill' || header.description !== undefined),
    ...(from !== undefined && { from }), ...(header.argumentHint !== undefined && { argumentHint: header.argumentHint }), ...(header.hooks !== undefined && { hooks: header.hooks }),
  };
}

const matchers = new WeakMap<Header, (path: string) => boolean>();

function awake(skill: Skill, touched: ReadonlySet<string>): Skill {
  const { file: { header }, folder: { base } } = skill;
  if (header.paths.length === 0) return skill;
  const fits = matchers.get(header) ?? matcherOf(header.paths);
  matchers.set(header, fits);
  for (const path of touched) {
    const below = relativeWithin(base, path);
    if (below !== undefined && fits(below)) return skill;
  }
  return { ...skill, view: { ...skill.view, dormant: true } };
}

/** A pattern without a slash fits a name in any folder. */
function matcherOf(patterns: readonly string[]): (path: string) => boolean {
  const fits = patterns.map((pattern) => picomatch(pattern.replace(/^(?:\.\/|\/)+/, ''), { dot: true, basename: !pattern.includes('/') }));
  return (path) => fits.some((one) => one(path));
}
