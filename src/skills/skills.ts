import { dirname } from 'node:path';
import { nearest } from '#lib/nearest.ts';
import { oneLine } from '#lib/names.ts';
import type { ScopedRule } from '#domain/settings.ts';
import type { Session } from '#domain/session.ts';
import type { LoadedSkill, SkillPort, SkillView } from '#domain/skills.ts';
import type { Loaded } from '#domain/world.ts';
import { type Catalogue, type CatalogueOptions, catalogueOf, type Skill } from './catalogue.ts';
import { createReader } from './files.ts';
import { touchedOf } from './folders.ts';
import { type Doors, render } from './render.ts';
import { fill, piecesOf } from './template.ts';

export interface SkillsOptions extends Omit<CatalogueOptions, 'reader'>, Doors {
  /** What the mentions of a text bring along. */
  readonly mentions: (text: string, session: Session, signal: AbortSignal) => Promise<Loaded>;
  /** Whether a file (real path) is one that the model may change without a question: what it writes there grants nothing. */
  readonly isOpen: (real: string) => boolean;
  /** Is told, once each, what cannot be used. */
  readonly onNotice: (text: string) => void;
}

export interface Skills extends SkillPort {
  /** What the last look found: for those who cannot wait. */
  known(session: Session): readonly SkillView[];
  /** What the last look found that cannot be used or called, one line each. */
  notes(session: Session): readonly string[];
  /** Rules that hold in a session because of the skills that it is following. */
  grants(session: Session): readonly ScopedRule[];
  /** The turn is over: what was granted for it is taken back. */
  settle(session: Session): void;
}

interface Held {
  catalogue: Catalogue;
  looking: Promise<Catalogue> | undefined;
  grants: readonly ScopedRule[];
}

const MOST_NOTICES = 10;

/** Skills and Markdown commands: found on the disk at each look, loaded with arguments and the output of their commands in place. */
export function createSkills(options: SkillsOptions): Skills {
  const reader = createReader();
  const told = new Set<string>();
  const helds = new WeakMap<Session, Held>();
  const held = (session: Session): Held => {
    const made = helds.get(session) ?? { catalogue: { skills: [], notes: [] }, looking: undefined, grants: [] };
    helds.set(session, made);
    return made;
  };
  const tell = ({ notes }: Catalogue): void => {
    for (const { text, loud } of notes) {
      if (!loud || told.has(text)) continue;
      told.add(text);
      if (told.size <= MOST_NOTICES) options.onNotice(`skills: ${text}`);
      else if (told.size === MOST_NOTICES + 1) options.onNotice('skills: there is more that cannot be used; /skills lists it');
    }
  };
  /** Those who look at one moment share one look. */
  const look = (session: Session, signal: AbortSignal): Promise<Catalogue> => {
    const at = held(session);
    at.looking ??= catalogueOf({ ...options, reader }, touchedOf(session.log), signal).then((catalogue) => {
      at.catalogue = catalogue;
      tell(catalogue);
      return catalogue;
    }).finally(() => { at.looking = undefined; });
    return at.looking;
  };
  return {
    async list(session, signal) {
      const { skills } = await look(session, signal);
      return skills.map(({ view }) => view);
    },
    known: (session) => held(session).catalogue.skills.map(({ view }) => view),
    notes: (session) => held(session).catalogue.notes.map(({ text }) => text),
    grants: (session) => held(session).grants,
    settle(session) { held(session).grants = []; },
    async load(name, args, by, session, signal) {
      const { skills } = await look(session, signal);
      const found = choose(skills, name, by);
      if ('problem' in found) return found;
      const at = held(session);
      const granted = grantsOf(found, options);
      // Before its commands run: they are what it was granted for.
      at.grants = [...at.grants, ...granted];
      const loaded = await loadOne(found, args, by, session, signal, options);
      if ('problem' in loaded) at.grants = at.grants.filter((rule) => !granted.includes(rule));
      return loaded;
    },
  };
}

const OPEN = 'allowed-tools has no effect: the file lies where it may be changed without a question';

function choose(skills: readonly Skill[], written: string, by: 'user' | 'model'): Skill | { readonly problem: string } {
  const name = written.trim().replace(/^\//, '');
  const skill = skills.find(({ view }) => view.name === name);
  const may = ({ view }: Skill): boolean => (by === 'user' ? view.userMayUse : view.modelMayUse);
  if (skill === undefined) {
    const near = nearest(name, skills.filter(may).map(({ view }) => view.name));
    return { problem: `there is no skill "${oneLine(name, 60)}"${near === undefined ? '' : `; did you mean "${near}"?`}` };
  }
  if (may(skill)) return skill;
  return { problem: by === 'user' ? `${name} is for the model to use, it cannot be called` : `${name} is for the user to call` };
}

/** Its own rules, and reading what lies beside it: a skill of the user's is outside of the working folders. */
function grantsOf({ file, view }: Skill, { places, isOpen }: SkillsOptions): readonly ScopedRule[] {
  const folder = dirname(file.real);
  const beside = view.form === 'skill' && !/[*?[\]!\\{}()]|^\s|\s$/.test(folder) ? [`Read(/${folder}/**)`] : [];
  const own = isOpen(file.real) ? [] : file.header.allowedTools;
  return [...beside, ...own].map((rule) => ({ rule, root: places.start, scope: 'session', file: file.path }));
}

async function loadOne({ file, view }: Skill, args: string, by: 'user' | 'model', session: Session, signal: AbortSignal, options: SkillsOptions): Promise<LoadedSkill | { readonly problem: string }> {
  const own = dirname(file.real);
  const values = Object.fromEntries(['CLAUDE', 'PINION'].flatMap((who) => [
    [`${who}_SESSION_ID`, session.id], [`${who}_SKILL_DIR`, own], [`${who}_PROJECT_DIR`, options.places.start],
  ]));
  const pieces = fill(piecesOf(file.body.trim()), { args: args.trim(), names: file.header.argumentNames, values });
  const rendered = await render(pieces, options, session, signal);
  if (rendered === undefined) return { problem: 'interrupted' };
  const loaded = by === 'user' ? { parts: [], files: [], notes: [] } : await options.mentions(rendered.mentions, session, signal);
  if (signal.aborted) return { problem: 'interrupted' };
  return {
    view, text: `${headingOf(view, own)}${rendered.text}`, mentions: rendered.mentions,
    parts: loaded.parts, files: loaded.files, notes: [...rendered.notes, ...loaded.notes, ...(file.header.allowedTools.length > 0 && options.isOpen(file.real) ? [OPEN] : [])],
  };
}

/** A skill may speak of files beside it; a Markdown command is a prompt and nothing else. */
function headingOf({ name, form }: SkillView, own: string): string {
  return form === 'command' ? '' : `Skill ${name}. The files that it speaks of lie in ${oneLine(own, 4096)}.\n\n`;
}
