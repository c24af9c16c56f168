import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Event, PermissionMode } from '#domain/entry.ts';
import { attachmentsOf, cwdOf } from '#domain/folds.ts';
import { DEMO_MODEL, SMALL_MODEL } from '#domain/model.ts';
import type { Asker, BlobPort, Outcome, Ports } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { Person, Thread } from '#agents/agent.ts';
import { type AgentDesk, type AgentDoors, Desk } from '#agents/desk.ts';
import { headOfThread } from '#agents/head.ts';
import { modeWithin } from '#agents/mode.ts';
import { createTypes, type TypeFolder, withoutDenied } from '#agents/types.ts';
import { coversCall } from '#gate/calls.ts';
import { readRules } from '#gate/rules.ts';
import { query } from '#loop/query.ts';
import { openThread } from '#session/open.ts';
import { modelId } from '#session/settings.ts';
import type { CallId } from '#domain/tool.ts';
import { UserError } from '#lib/errors.ts';
import { oneLine } from '#lib/names.ts';
import { isWithin, realPathOf } from '#lib/within.ts';
import type { AgentWing } from './agent-wing.ts';
import type { Beside, Overhearing } from './beside.ts';
import type { Configuration } from './configuration.ts';
import { besideLog, keepText } from './kept-text.ts';
import { branchNow, type Place } from './place.ts';
import { hookedThread, type Run } from './hooks/turn.ts';
import type { HookWing } from './hooks/wing.ts';
import type { ModelDesk } from './wire-model.ts';
import type { ReminderWing } from './wire-reminders.ts';
import type { TaskWing } from './wire-tasks.ts';
import type { ToolWing } from './wire-tools.ts';

export interface AgentOptions extends Beside {
  readonly place: Place;
  readonly configuration: Configuration;
  readonly asker: Asker;
  readonly hooks: HookWing;
  readonly desk: ModelDesk;
  readonly blobs: BlobPort;
  readonly tools: () => ToolWing;
  readonly reminders: () => ReminderWing;
  readonly tasks: () => TaskWing;
  /** A turn of a thread is over: what was granted for it is taken back. */
  readonly settle: (session: Session) => void;
  readonly overhear?: Overhearing;
}

const SEND = 'SendMessage';

/** Sub-agents, each a thread with a session and log of its own, on the conversation's tools, gate and sources. */
export function wireAgents(options: AgentOptions): AgentWing {
  const { place, configuration, asker, tell, wake } = options;
  const types = withoutDenied(
    createTypes(() => foldersOf(place, configuration), (path) => path.replace(place.userHome, '~')),
    (name) => readRules(configuration.rules().deny, 'deny').rules.some((rule) => coversCall(rule, 'deny', { id: '' as CallId, tool: 'Task', input: { subagent_type: name } })),
  );
  const desk: AgentDesk = new Desk({
    types, tell, wake,
    async *query(session, prompt, ports, signal, limits) {
      const run: Run = (words) => heard(query(session, words, ports, signal, limits), session, options.overhear);
      try {
        return yield* hookedThread(options.hooks, session, prompt, run, signal);
      } finally {
        options.settle(session);
      }
    },
    open: (order) => openAgent(options, order, () => desk),
    mailbox: (lead, name) => join(place.home.teams, lead.id, `${name.toLowerCase()}.jsonl`),
    // The file holds nothing but a sub-agent's own words.
    keepText: (lead, id, text) => keepText(configuration, join(threadsFolder(place, lead), 'results'), `${id}.md`, text),
    lastNumber: (lead) => lastNumber(join(threadsFolder(place, lead), 'subagents')),
    label: (path) => options.tools().paths.look(path, place.cwd).label,
    confirm: async (title, lines, signal) => (await asker.ask({ kind: 'confirm', title, lines }, signal))?.kind === 'yes',
  });
  const who = (session: Session): string | undefined => {
    const self = desk.self(session);
    return self === undefined ? undefined : `${self.name} (${self.type.name})`;
  };
  return Object.assign(desk, {
    who,
    mode(session: Session, conversation: (session: Session) => PermissionMode): PermissionMode {
      const lead = desk.lead(session);
      return lead === undefined ? conversation(session) : modeWithin(conversation(lead), desk.self(session)?.type.mode);
    },
  });
}

async function* heard(turn: AsyncGenerator<Event, Outcome>, session: Session, overhear: Overhearing | undefined): AsyncGenerator<Event, Outcome> {
  try {
    for (;;) {
      const next = await turn.next();
      if (next.done === true) return next.value;
      await overhear?.agent?.(session, next.value);
      yield next.value;
    }
  } finally {
    await turn.return({ kind: 'interrupted' });
  }
}

/** Strongest first: the trusted project's folders from the start directory up to its top, those of further working folders, then the user's. */
function foldersOf({ cwd, repository, userHome, home }: Place, configuration: Configuration): readonly TypeFolder[] {
  const user: readonly TypeFolder[] = [join(dirname(home.settings), 'agents'), join(userHome, '.claude', 'agents')].map((path) => ({ path, scope: 'user' }));
  const trusts = (root: string): boolean => (isWithin(configuration.project, root) ? configuration.isTrusted() : configuration.trust.isTrusted(root));
  const added = configuration.roots().slice(1).filter(trusts).flatMap((root) => typesIn(root, root));
  if (!configuration.isTrusted()) return [...added, ...user];
  const project: TypeFolder[] = [];
  const top = repository?.root ?? cwd;
  for (let at = cwd; ; at = dirname(at)) {
    // The user's own folder stays the user's where the project is the home folder.
    project.push(...typesIn(at, top).filter(({ path }) => !user.some((own) => own.path === path)));
    if (at === top || at === dirname(at)) break;
  }
  return [...project, ...added, ...user];
}

function typesIn(folder: string, within: string): readonly TypeFolder[] {
  return ['.pinion', '.claude'].map((name) => ({ path: join(folder, name, 'agents'), scope: 'project', within }));
}

/** Where the threads of a conversation lie: beside its own log. */
function threadsFolder(place: Place, lead: Session): string {
  return besideLog(place, lead);
}

function lastNumber(folder: string): number {
  try {
    return Math.max(0, ...readdirSync(folder).map((name) => Number(/^agent-(\d+)\.jsonl$/.exec(name)?.[1] ?? 0)));
  } catch {
    return 0;
  }
}

/** A model for a thread: the one that was asked for where it can be had, else the conversation's. */
function modelFor({ place, desk }: AgentOptions, { type }: Person, asked: string | undefined) {
  let fallen = false;
  const wanted = (): string => {
    const own = desk.id();
    const named = place.env['CLAUDE_CODE_SUBAGENT_MODEL'] || asked || type.model;
    if (fallen || own === DEMO_MODEL || named === undefined || named === 'inherit') return own;
    return named === 'cheap' ? (desk.facts().known ? SMALL_MODEL : own) : modelId(named);
  };
  return {
    id: wanted,
    fallBack(): boolean {
      const before = wanted();
      fallen = true;
      return before !== wanted();
    },
  };
}

function openAgent(options: AgentOptions, { id, person, model: asked, file }: Parameters<AgentDoors['open']>[0], desk: () => AgentDesk): Thread {
  const { place, tell } = options;
  const { lead, type } = person;
  const tools = options.tools();
  const branch = branchNow(place);
  // The log says where it lies: what was put there by hand is not written into.
  if (file !== undefined && !isWithin(realPathOf(place.home.sessions), realPathOf(file))) throw new UserError(`its log ${oneLine(file)} does not lie with the others`);
  const opened = openThread(file ?? join(threadsFolder(place, lead), 'subagents', `${id}.jsonl`), `${lead.id}-${id}`, { home: place.home, cwd: place.cwd, ...(branch !== undefined && { branch }) });
  const { session } = opened;
  if (session.log.length === 0) beginAs(session, lead);
  const model = modelFor(options, person, asked);
  return {
    session, file: opened.file,
    ports: portsOf(options, { session, person, id, model: model.id, desk }),
    fallBack() {
      const before = model.id();
      if (!model.fallBack()) return false;
      tell(lead, { type: 'entry', entry: lead.append({ type: 'notice', level: 'warning', text: `The model ${before} is not there: the sub-agent ${person.name ?? id} (${type.name}) goes on with ${model.id()}.` }) });
      return true;
    },
    close() {
      // Nothing is written into a log that is closed.
      options.tasks().shells.leave(session);
      opened.close();
    },
  };

  function beginAs(child: Session, parent: Session): void {
    for (const attachment of attachmentsOf(parent.log)) if (attachment.kind !== 'todo') child.append({ type: 'attach', attachment, by: 'user' });
    const cwd = cwdOf(parent.log);
    if (cwd !== undefined && cwd !== place.cwd) child.append({ type: 'cwd', path: tools.cwd(parent) });
  }
}

interface Threaded {
  readonly session: Session;
  readonly person: Person;
  readonly id: string;
  readonly model: () => string;
  readonly desk: () => AgentDesk;
}

function portsOf(options: AgentOptions, { session, person, id, model, desk }: Threaded): Ports {
  const { blobs, configuration } = options;
  const tools = options.tools();
  const definitions = () => {
    const own = tools.definitions(person.type, session.log);
    const send = person.name === undefined || own.some(({ name }) => name === SEND) ? undefined : [...tools.definitions(), ...(tools.tools.deferred?.() ?? []).map(({ definition }) => definition)].find(({ name }) => name === SEND);
    return send === undefined ? own : [...own, send].sort((a, b) => (a.name < b.name ? -1 : 1));
  };
  const deferred = () => tools.deferred(session).filter(({ definition: { name } }) => !definitions().some((one) => one.name === name));
  const has = (name: string): boolean => definitions().some((one) => one.name === name) || deferred().some(({ definition }) => definition.name === name);
  return {
    model: options.desk.port(session, model, options.overhear),
    tools: {
      definitions, deferred,
      effect: (call) => (has(call.tool) ? tools.tools.effect(call) : undefined),
      preview: (call, at) => tools.tools.preview(call, at),
      run: (call, at, signal) => tools.tools.run(call, at, signal),
    },
    reminders: options.reminders().reminders,
    hooks: options.hooks.port,
    gate: {
      ask: (call, at, signal) => tools.gate.ask(call, at, signal),
      goOn: (what, at, signal) => tools.gate.goOn(`${desk().self(at)?.name ?? id}: ${what}`, at, signal),
    },
    world: {
      now: () => new Date(), blobs,
      head: () => headOfThread(person, definitions(), { ...options.desk.factsOf(model()), id: model() }, configuration.settings().effort),
    },
  };
}
