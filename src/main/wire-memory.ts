import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { oneLine } from '#lib/names.ts';
import type { MemoryItem, MemoryView } from '#domain/command.ts';
import type { PathPort } from '#domain/documents.ts';
import type { Asker, ReminderPort } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { MemoryFile } from '#domain/world.ts';
import { knownNow, nestedPaths } from '#attachments/known.ts';
import { createMemory, type Memory } from '#attachments/memory-files.ts';
import type { NotesOptions } from '#attachments/memory-notes.ts';
import type { Wanted } from '#attachments/memory-read.ts';
import { createImports, type Imports } from '#gate/imports.ts';
import type { Configuration } from './configuration.ts';
import { notesFolderOf } from './notes-folder.ts';
import type { Place } from './place.ts';
import type { ModelDesk } from './wire-model.ts';

export interface MemoryWing {
  readonly memory: Memory;
  /** The same port, which asks the user first about files outside of the project that a prompt would bring along. */
  asking(reminders: ReminderPort): ReminderPort;
  view(session: Session): Promise<MemoryView>;
}

export interface MemoryWingOptions {
  readonly place: Place;
  readonly configuration: Configuration;
  readonly tools: { readonly paths: PathPort };
  readonly desk: ModelDesk;
  readonly asker: Asker;
  /** Whether the session is the main conversation. */
  readonly isMain: (session: Session) => boolean;
}

export function wireMemory(options: MemoryWingOptions): MemoryWing {
  const { place, configuration, tools, asker } = options;
  const imports = createImports({ file: place.home.trust, project: configuration.project });
  const memory = createMemory({
    cwd: place.cwd, repository: place.repository?.root, home: place.userHome, paths: tools.paths,
    userFiles: [place.home.memory, join(place.userHome, '.claude', 'CLAUDE.md')],
    userRules: [join(dirname(place.home.memory), 'rules'), join(place.userHome, '.claude', 'rules')],
    get roots() { return configuration.roots().slice(1); },
    get excludes() { return configuration.settings().memoryExcludes; },
    trusted: () => configuration.isTrusted(),
    approved: (real) => imports.approved(real),
    get kept() { return keptOf(place, configuration); },
  });
  const asked = new Set<string>();
  return {
    memory,
    asking: (reminders) => ({
      async collect(moment, session, signal) {
        if (moment === 'prompt' && options.isMain(session) && speaks(configuration)) await approve({ memory, imports, asker, asked, file: place.home.trust }, signal);
        return reminders.collect(moment, session, signal);
      },
    }),
    view: (session) => viewOf(options, memory, session),
  };
}

/** Notes that another program keeps of this folder are read where they are there. */
function keptOf(place: Place, configuration: Configuration): NotesOptions | undefined {
  const folder = notesFolderOf(place, configuration);
  if (folder === undefined) return undefined;
  const names = new Set([configuration.project, place.cwd].map((path) => path.replace(/[^A-Za-z0-9]/g, '-')));
  const others = [...names].map((name) => join(place.userHome, '.claude', 'projects', name, 'memory'));
  return { folder, others: others.filter((path) => path !== folder && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) };
}

/** Whether anything is told of instruction files. */
function speaks(configuration: Configuration): boolean {
  const { remindersOff } = configuration.settings();
  return !remindersOff.includes('memory') || !remindersOff.includes('nested_memory');
}

interface Approving {
  readonly memory: Memory;
  readonly imports: Imports;
  readonly asker: Asker;
  /** Real paths that were asked about in this process: without an answer they are left out until the next. */
  readonly asked: Set<string>;
  /** Where answers are kept. */
  readonly file: string;
}

/** An approved file may import further ones: so many rounds of questions at most. */
const MOST_ROUNDS = 5;
const MOST_LINES = 100;

async function approve({ memory, imports, asker, asked, file }: Approving, signal: AbortSignal): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const open = (await memory.wanted(signal)).filter(({ real }) => !asked.has(real)).slice(0, MOST_LINES);
    if (open.length === 0) return;
    for (const { real } of open) asked.add(real);
    const answer = await asker.ask({ kind: 'confirm', title: 'Instruction files import texts from outside the project. Give them to the model?', lines: [...open.map(line), `Your answer is kept in ${oneLine(file)}.`] }, signal);
    if (answer?.kind === 'yes' || answer?.kind === 'always') await imports.remember(open.map(({ real }) => real), true);
    else if (answer?.kind === 'no') await imports.remember(open.map(({ real }) => real), false);
    else return;
  }
}

function line({ real, by }: Wanted): string {
  return `${oneLine(real)} (for ${oneLine(by)})`;
}

async function viewOf({ place, configuration, desk }: MemoryWingOptions, memory: Memory, session: Session): Promise<MemoryView> {
  const { files, nested, waiting, notes } = await memory.overview([...knownNow(session.log).keys(), ...nestedPaths(session.log)], new AbortController().signal);
  const all = [files, nested, waiting, notes];
  const weights = await desk.meter.weigh(all.flat().map(({ text }) => text));
  let at = 0;
  const weighed = (some: readonly MemoryFile[]): readonly MemoryItem[] => some.map((file) => ({ ...file, tokens: weights[at++] ?? 0 }));
  const { autoMemory, remindersOff } = configuration.settings();
  const off = !autoMemory ? 'autoMemoryEnabled is false' : remindersOff.includes('relevant_memories') ? 'relevant_memories is switched off' : undefined;
  return { files: weighed(files), nested: weighed(nested), waiting: weighed(waiting), notes: weighed(notes), places: placesOf(place, configuration), ...(off !== undefined && { off }) };
}

/** Where the user writes each kind; an existing CLAUDE.md goes before an AGENTS.md that is not there. */
function placesOf(place: Place, configuration: Configuration): MemoryView['places'] {
  const { project } = configuration;
  const firstOf = (...files: readonly string[]): string => files.find((file) => existsSync(file)) ?? files[0] ?? project;
  const notes = notesFolderOf(place, configuration);
  return [
    { name: 'project', what: 'the project\'s, shared with others', file: firstOf(join(project, 'AGENTS.md'), join(project, 'CLAUDE.md'), join(project, '.claude/CLAUDE.md')) },
    { name: 'local', what: 'your own for this project', file: firstOf(join(project, 'AGENTS.local.md'), join(project, 'CLAUDE.local.md')) },
    { name: 'user', what: 'your own for every project', file: firstOf(place.home.memory, join(place.userHome, '.claude', 'CLAUDE.md')) },
    ...(notes === undefined ? [] : [{ name: 'notes', what: 'the index of kept notes', file: join(notes, 'MEMORY.md') }]),
  ].map((one) => ({ ...one, exists: existsSync(one.file) }));
}
