import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { HeadBody, PermissionMode } from '#domain/entry.ts';
import type { Asker, BlobPort, Ports } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { Source } from '#attachments/define.ts';
import type { Arguments } from '#cli/arguments.ts';
import { boundedProgram } from '#lib/bounded-program.ts';
import { HARMLESS_GIT } from '#lib/git-files.ts';
import { systemBlocks } from '#loop/system.ts';
import { createBlobs } from '#session/blobs.ts';
import type { Skills } from '#skills/skills.ts';
import type { Tool } from '#tools/define.ts';
import { createGuard, type Guard } from '#tools/shell/guard.ts';
import type { Buffers } from './acp/buffers.ts';
import type { AgentWing } from './agent-wing.ts';
import type { Beside, Overhearing } from './beside.ts';
import type { Configuration } from './configuration.ts';
import type { Place } from './place.ts';
import { createPurses, type Purses } from './purse.ts';
import { wireAgents } from './wire-agents.ts';
import { type EditorWing, wireEditor } from './wire-editor.ts';
import type { HookWing } from './hooks/wing.ts';
import { wireHooks } from './wire-hooks.ts';
import { type LanguageWing, wireLanguages } from './wire-languages.ts';
import { type McpWing, wireMcp } from './wire-mcp.ts';
import { type ModeWing, wireModes } from './wire-modes.ts';
import { createModelDesk, type ModelDesk } from './wire-model.ts';
import { type ReminderWing, wireReminders } from './wire-reminders.ts';
import { wireSkills } from './wire-skills.ts';
import { type TaskWing, wireTasks } from './wire-tasks.ts';
import { modeIn, type ToolWing, wireTools } from './wire-tools.ts';

/** Everything that is hung once for all sessions of a process. */
export interface House extends Beside {
  readonly place: Place;
  readonly args: Arguments;
  readonly configuration: Configuration;
  readonly desk: ModelDesk;
  readonly purses: Purses;
  readonly tools: ToolWing;
  readonly reminders: ReminderWing;
  readonly skills: Skills;
  readonly agents: AgentWing;
  readonly tasks: TaskWing;
  readonly modes: ModeWing;
  readonly mcp: McpWing;
  readonly hooks: HookWing;
  readonly languages: LanguageWing;
  readonly editor: EditorWing;
  /** Ends programs of others where this one is killed. */
  readonly guard: Guard;
  readonly blobs: BlobPort;
  /** What requests begin with now. */
  head(): HeadBody;
  mode(session: Session): PermissionMode;
  /** Tells which session is being held. */
  hold(session: Session): void;
  ports(session: Session): Ports;
  /** Connects to programs of others, in the background; what the folder brings along only if it is trusted by now. */
  start(): void;
  close(): void;
}

/** Addresses of the built worker files: they lie beside the program's entry. */
export interface Workers {
  readonly counter: URL;
  readonly index: URL;
  readonly pdf: URL;
  readonly page: URL;
}

export interface HouseOptions extends Beside {
  readonly place: Place;
  readonly args: Arguments;
  readonly configuration: Configuration;
  readonly workers: Workers;
  readonly asker: Asker;
  readonly onNotice: (text: string) => void;
  /** A mention that an editor wants put into the line that is being written. */
  readonly onMention?: (text: string) => void;
  /** One line that is good to know, and nothing is wrong. */
  readonly onHint?: (text: string) => void;
  /** The editor that is connected, or what is marked in it, is another now. */
  readonly onEditor?: () => void;
  /** Sends a hook's safe sequence (a title, a bell, a message to the desktop) to the terminal. */
  readonly emit?: (sequence: string) => void;
  readonly overhear?: Overhearing;
  /** Tools and sources of whoever holds the house, beside our own. */
  readonly own?: { readonly tools: readonly Tool[]; readonly sources: readonly Source[] };
  /** What an editor holds of files, saved or not. */
  readonly buffers?: Buffers;
}

export function buildHouse(options: HouseOptions): House {
  const { place, args, configuration, workers, tell, wake, onNotice } = options;
  const blobs = createBlobs(place.home.blobs);
  let held: Session | undefined;
  const purses = createPurses({ standing: () => configuration.settings().budgetUsd, payer: (session) => agents.lead(session) ?? session });
  const desk = createModelDesk({ place, purses, settings: () => configuration.settings(), asked: askedModel(args, configuration), counter: workers.counter, blobs, pins: async () => (held === undefined ? [] : reminders.pins(held).views(new AbortController().signal)) });
  const first = args.permissionMode ?? configuration.settings().permissions.defaultMode ?? 'default';
  const mode = (session: Session): PermissionMode => agents.mode(session, (own) => modeIn(own, first, configuration.settings().disableAutoMode));
  if (first === 'auto' && configuration.settings().disableAutoMode) onNotice('auto mode is switched off by "disableAutoMode" in the settings; what needs consent is asked about.');
  const editor = wireEditor({ place, args, configuration, tools: () => tools, ...(options.onMention !== undefined && { onMention: options.onMention }), onNotice, onHint: options.onHint ?? (() => undefined), onChange: options.onEditor ?? (() => undefined) });
  const guard = createGuard();
  const hooks = wireHooks({
    guard, place, args, configuration, desk, mode, agents: () => agents, skills: () => skills, tasks: () => tasks, tools: () => tools, tell, wake, onNotice,
    servers: () => mcp.servers(), held: () => held, emit: options.emit ?? (() => undefined),
  });
  const asker = hooks.asker(editor.asker(options.asker));
  const languages = wireLanguages({ trusts: args.trust, place, configuration, blobs, paths: () => tools.paths, files: (signal) => listFiles(place, tools, signal), onNotice });
  const mcp = wireMcp({ guard, place, args, configuration, desk, asker, hooks, tell, documents: () => tools.documents, onNotice });
  const outside = { mcp, editor, languages };
  const modes = wireModes(place, configuration, onNotice);
  const skills = wireSkills({ place, configuration, tools: () => tools, reminders: () => reminders, onNotice: onNotice });
  const agents: AgentWing = wireAgents({ place, configuration, asker, hooks, desk, blobs, tell, wake, ...(options.overhear !== undefined && { overhear: options.overhear }), tools: () => tools, reminders: () => reminders, tasks: () => tasks, settle: (session) => { skills.settle(session); } });
  const tasks = wireTasks({ place, configuration, hooks, agents, tell, wake, cwd: (session) => tools.cwd(session) });
  const tools: ToolWing = wireTools({ ...(options.own !== undefined && { own: options.own.tools }), place, configuration, desk, blobs, pdfWorker: workers.pdf, pageWorker: workers.page, asker, mode, skills, agents, tasks, modes, mcp, hooks, languages, editor, ...(options.buffers !== undefined && { buffers: options.buffers }) });
  const reminders = wireReminders({ ...(options.own !== undefined && { own: options.own.sources }), place, configuration, tools, blobs, asker, mode, desk, purses, skills, agents, tasks, modes, outside, resources: () => mcp.resources(), head: () => head(), files: (signal) => listFiles(place, tools, signal), onNotice: onNotice });
  const head = (session = held): HeadBody => {
    const { id, defaultEffort } = desk.facts();
    const effort = configuration.settings().effort ?? defaultEffort;
    return { type: 'head', system: systemBlocks(args.appendSystemPrompt, args.systemPrompt), tools: tools.definitions(undefined, session?.log), model: id, ...(effort !== undefined && { effort }) };
  };
  const ports = (session: Session): Ports => ({
    model: desk.port(session, undefined, options.overhear), tools: tools.tools, reminders: hooks.reminders(reminders.asking), gate: tools.gate,
    world: { now: () => new Date(), blobs, head: () => head(session) }, hooks: hooks.port,
  });
  return {
    place, args, configuration, desk, purses, tools, reminders, skills, agents, tasks, modes, mcp, hooks, languages, editor, guard, blobs, head, mode, tell, wake, ports,
    hold(session) {
      held = session;
      agents.hold(session);
    },
    start() {
      hooks.start();
      mcp.start();
      languages.start();
      editor.start();
    },
    close() {
      hooks.close();
      mcp.close();
      editor.close();
      languages.close();
      agents.close();
      tasks.close();
      desk.close();
      reminders.watch.close();
      guard.close();
    },
  };
}

function askedModel({ model }: Arguments, configuration: Configuration): string | undefined {
  return model === undefined ? undefined : configuration.settings().model;
}

const run = promisify(execFile);
const LISTING_BYTES = 64 * 1024 * 1024;

/** Files below the start directory that are not ignored, relative: git knows them, else ripgrep, else none are offered to a glob. */
async function listFiles({ cwd, repository, env }: Place, tools: ToolWing, signal: AbortSignal): Promise<readonly string[]> {
  const options = { cwd, signal, maxBuffer: LISTING_BYTES, env: { ...env, ...HARMLESS_GIT.env } };
  const rows = (out: string): readonly string[] => out.split('\0').filter((name) => name !== '').map((name) => name.replace(/^\.\//, ''));
  if (repository !== undefined) {
    const listed = await run('git', [...HARMLESS_GIT.args, 'ls-files', '-z', '-co', '--exclude-standard'], options).catch(() => undefined);
    if (listed !== undefined) return rows(listed.stdout);
  }
  const ripgrep = await tools.ripgrep();
  if (ripgrep === undefined) return [];
  const listed = await run(...boundedProgram(ripgrep, ['--files', '-0', '--hidden', '--no-config', '-g', '!.git', './']), options).catch(() => undefined);
  return listed === undefined ? [] : rows(listed.stdout);
}
