import { dirname, join } from 'node:path';
import { isWithin, realPathOf } from '#lib/within.ts';
import { commands } from '#commands/list.ts';
import { createMentions } from '#mentions/resolve.ts';
import { createSkills, type Skills } from '#skills/skills.ts';
import type { Configuration } from './configuration.ts';
import type { Place } from './place.ts';
import type { ReminderWing } from './wire-reminders.ts';
import type { ToolWing } from './wire-tools.ts';

export interface SkillOptions {
  readonly place: Place;
  readonly configuration: Configuration;
  readonly tools: () => ToolWing;
  readonly reminders: () => ReminderWing;
  readonly onNotice: (text: string) => void;
}

/** Skills and Markdown commands of the user and, once it is trusted, of the folder. */
export function wireSkills({ place, configuration, tools, reminders, onNotice }: SkillOptions): Skills {
  const own = dirname(place.home.settings);
  const inHome = (...names: readonly string[]): string => join(place.userHome, ...names);
  return createSkills({
    places: {
      userSkills: [join(own, 'skills'), inHome('.claude', 'skills'), inHome('.agents', 'skills'), inHome('.config', 'agents', 'skills')],
      userCommands: [join(own, 'commands'), inHome('.claude', 'commands')],
      start: place.cwd, top: configuration.project,
      added: () => configuration.roots().slice(1).map(realPathOf),
      // A folder that was added is trusted as a part of this project, or for itself.
      trusted: (folder) => (isWithin(configuration.project, folder) ? configuration.isTrusted() : configuration.trust.isTrusted(folder)),
      respectsIgnores: () => configuration.settings().respectGitignore,
    },
    reserved: new Set(commands.flatMap(({ id, aliases = [] }) => [id, ...aliases])),
    denied: async (path) => configuration.rules().deny.length > 0 && (await tools().paths.lookUp(path, place.cwd)).denied,
    isOpen: (real) => {
      const { root, guarded } = tools().paths.places.look(real, place.cwd);
      return root !== undefined && guarded === undefined;
    },
    label: (path) => (isWithin(place.userHome, path) && !isWithin(place.cwd, path) ? path.replace(place.userHome, '~') : tools().paths.look(path, place.cwd).label),
    ask: (call, session, signal) => tools().gate.ask(call, session, signal),
    run: (command, session, signal) => tools().shell(session, command, signal),
    async mentions(text, session, signal) {
      const views = await reminders().pins(session).views(signal);
      const pinned = new Set(views.flatMap(({ files }) => files.filter(({ how }) => how !== 'partial' && how !== 'heard').map(({ path }) => path)));
      return createMentions({ paths: tools().paths, documents: tools().documents, cwd: () => tools().cwd(session) }).load(text, signal, pinned);
    },
    onNotice,
  });
}
