import type { Entry, EntryOf, HeadBody, PermissionMode } from '#domain/entry.ts';
import { entryOf } from '#domain/folds.ts';
import type { AgentPort } from '#domain/agents.ts';
import type { Asker, BlobPort, ReminderPort, TaskPort } from '#domain/ports.ts';
import type { SkillPort } from '#domain/skills.ts';
import type { Moment } from '#domain/reminder.ts';
import type { Session } from '#domain/session.ts';
import type { EnvironmentFacts, FilePort, MemoryPort, MentionPort, Outside, UsageFacts, World } from '#domain/world.ts';
import { oneLine } from '#lib/names.ts';
import { costOf } from '#accounting/cost.ts';
import { createCollector } from '#attachments/collect.ts';
import type { Source } from '#attachments/define.ts';
import { createPins, type Pins } from '#attachments/pins.ts';
import { sources } from '#attachments/sources/list.ts';
import { createMentions } from '#mentions/resolve.ts';
import { createWatch, type Watch } from '#watch/watch.ts';
import type { Configuration } from './configuration.ts';
import { branchNow, type Place } from './place.ts';
import type { Purses } from './purse.ts';
import type { ModeWing } from './wire-modes.ts';
import { type MemoryWing, wireMemory } from './wire-memory.ts';
import { type ModelDesk, nextRequest } from './wire-model.ts';
import type { ToolWing } from './wire-tools.ts';

export interface ReminderWing {
  /** Asks nobody anything: for a look at what would be said. */
  readonly reminders: ReminderPort;
  /** For turns: what only the user can decide is asked first. */
  readonly asking: ReminderPort;
  readonly memory: MemoryWing;
  readonly watch: Watch;
  pins(session: Session): Pins;
}

export interface ReminderOptions {
  /** Beside those of the shelf, after them. */
  readonly own?: readonly Source[];
  readonly place: Place;
  readonly configuration: Configuration;
  readonly tools: ToolWing;
  readonly blobs: BlobPort;
  readonly asker: Asker;
  readonly mode: (session: Session) => PermissionMode;
  readonly desk: ModelDesk;
  readonly purses: Purses;
  readonly skills: SkillPort;
  readonly agents: AgentPort;
  readonly tasks: TaskPort;
  readonly modes: ModeWing;
  readonly outside: Outside;
  /** Addresses that connected MCP servers list. */
  readonly resources: () => ReadonlyMap<string, ReadonlySet<string>>;
  readonly head: () => HeadBody;
  /** Files below the start directory that are not ignored. */
  readonly files: (signal: AbortSignal) => Promise<readonly string[]>;
  readonly onNotice: (text: string) => void;
}

export function wireReminders(options: ReminderOptions): ReminderWing {
  const { place, configuration, tools, blobs } = options;
  const watch = createWatch({
    blobs, onNotice: options.onNotice, label: (path) => tools.paths.look(path, place.cwd).label,
    ...(place.repository !== undefined && { gitDirectory: place.repository.gitDirectory }),
  });
  const memoryWing = wireMemory({ place, configuration, tools, desk: options.desk, asker: options.asker, isMain: (session) => options.agents.self(session) === undefined });
  const { memory } = memoryWing;
  const pinsOf = new WeakMap<Session, Pins>();
  const pins = (session: Session): Pins => {
    const made = pinsOf.get(session) ?? createPins({
      paths: tools.paths, documents: tools.documents, blobs, cwd: place.cwd, log: () => session.log, files: options.files,
      run: async (command, signal) => {
        const { how, output, exitCode } = await tools.shell(session, command, signal);
        if (how === 'notStarted') throw new Error(output);
        return { output, exitCode: how === 'exited' ? exitCode : null };
      },
    });
    pinsOf.set(session, made);
    return made;
  };
  const world = (moment: Moment, session: Session): World => ({
    moment, thread: options.agents.self(session) === undefined ? 'main' : 'sub', log: session.log, blobs,
    memory: speaking(memory, configuration.settings().remindersOff),
    prompt: moment === 'prompt' ? promptOf(session) : undefined,
    mode: options.mode(session),
    now: new Date(),
    files: filesFor(options),
    mentions: mentionsFor(options, session),
    pins: pins(session),
    environment: () => environmentOf(place, configuration),
    changes: watch,
    tools: { has: (name) => tools.definitions(options.agents.self(session)?.type).some((tool) => tool.name === name),
      deferred: () => tools.deferred(session).map(({ definition, summary }) => ({ name: definition.name, summary })) },
    skills: (signal) => options.skills.list(session, signal),
    agents: {
      types: (signal) => options.agents.types(signal), self: () => options.agents.self(session),
      members: () => options.agents.members(session), mail: (signal) => options.agents.mail(session, signal),
    },
    tasks: () => options.tasks.list(session),
    style: () => options.modes.style(session),
    outside: marking(options.outside, configuration.settings().remindersOff),
    usage: once(() => Promise.resolve(usageOf(options, session))),
  });
  const reminders = createCollector({ sources: [...sources, ...options.own ?? []], world, off: () => configuration.settings().remindersOff, on: () => configuration.settings().remindersOn });
  return { reminders, asking: memoryWing.asking(reminders), memory: memoryWing, watch, pins };
}

/** What comes into the log at any moment, beside what a turn writes: by agents and tasks, and by the user meanwhile. */
const BESIDE: ReadonlySet<Entry['type']> = new Set(['queued', 'unqueued', 'attach', 'detach', 'exclude', 'restore', 'mode', 'option', 'spent', 'task', 'taskRead', 'command', 'hookContext', 'notice']);

/** Without what is switched off: other kinds ask, to leave its words to it. */
function speaking(memory: MemoryPort, off: readonly string[]): MemoryPort {
  const none = () => Promise.resolve([]);
  return { ...memory, ...(off.includes('memory') && { files: none }), ...(off.includes('nested_memory') && { nested: none }) };
}

/** A selection that is not told is none to the kind that stands back behind it. */
function marking(outside: Outside, off: readonly string[]): Outside {
  return off.includes('ide_selection') ? { ...outside, editor: { ...outside.editor, selection: () => Promise.resolve(undefined) } } : outside;
}

/**
 * The prompt that this moment belongs to: the newest entry of the turn, or after a compaction within a turn the one that is still open.
 * None when only queued words are delivered.
 */
export function promptOf({ log }: Session): EntryOf<'prompt' | 'queued'> | undefined {
  const last = log.findLast(({ type }) => !BESIDE.has(type));
  if (last?.type === 'prompt') return last;
  const open = last?.type === 'compaction' && last.openPrompt !== undefined ? entryOf(log, last.openPrompt) : undefined;
  return open?.type === 'prompt' || open?.type === 'queued' ? open : undefined;
}

/** What the next request weighs, by the cheap estimate, and what was spent. */
export function usageOf({ desk, head, blobs, configuration, purses }: Pick<ReminderOptions, 'desk' | 'head' | 'blobs' | 'configuration' | 'purses'>, session: Session): UsageFacts {
  const { log } = session;
  const cost = costOf(log);
  const settings = configuration.settings();
  return {
    used: desk.meter.glance(nextRequest(log, head(), blobs), log).tokens, limit: desk.meter.limit(), window: desk.facts().window, autoCompact: settings.autoCompact,
    output: cost.output, usd: cost.usd, budgetUsd: purses.budgetUsd(session),
  };
}

function filesFor({ tools, place }: ReminderOptions): FilePort {
  return {
    async load(path, limitBytes, signal) {
      const { real, label, kind, denied } = await tools.paths.lookUp(path, place.cwd);
      if (denied || kind !== 'file') return { parts: [], files: [], notes: [`${oneLine(label)}: ${denied ? 'a deny rule keeps it from being read' : 'no such file'}`] };
      return tools.documents.load(real, label, { limitBytes }, signal);
    },
  };
}

function mentionsFor({ tools, resources }: ReminderOptions, session: Session): MentionPort {
  return createMentions({ paths: tools.paths, documents: tools.documents, cwd: () => tools.cwd(session), servers: resources });
}

function environmentOf(place: Place, configuration: Configuration): EnvironmentFacts {
  const branch = branchNow(place);
  return {
    directory: place.cwd, extraDirectories: configuration.roots().slice(1), repository: place.repository !== undefined,
    platform: process.platform, shell: place.shell, ...(branch !== undefined && { branch }),
  };
}

/** Several sources of a moment want it: it is reckoned once. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
