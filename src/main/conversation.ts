import type { Command, CommandContext } from '#domain/command.ts';
import type { EntryBody, Event, PermissionMode } from '#domain/entry.ts';
import { attachmentsOf, modeOf, optionsOf, todosOf, undeliveredOf } from '#domain/folds.ts';
import type { Limits, Outcome } from '#domain/ports.ts';
import { todoEntry } from '#domain/todos.ts';
import { costOf } from '#accounting/cost.ts';
import { commands } from '#commands/list.ts';
import { compact } from '#loop/compact.ts';
import { type PromptBody, query } from '#loop/query.ts';
import { listSessions } from '#session/list.ts';
import { forkSession, newSession, type OpenSession, resumeSession } from '#session/open.ts';
import type { LogSession } from '#session/session.ts';
import type { House } from './house.ts';
import { shells } from '#session/import/shells.ts';
import { settingsView } from './settings/config-view.ts';
import { hookedTurn } from './hooks/turn.ts';
import { branchNow } from './place.ts';
import { promptTurn, withPrompts } from './prompt-commands.ts';
import { withSkills } from './skill-commands.ts';
import { skillTurn } from './skill-turn.ts';
import { contextOf } from './upcoming.ts';
import { usageOf } from './wire-reminders.ts';

/** The session that is being held, and what can be done with it. Screen and print mode both stand on it. */
export interface Conversation {
  readonly session: LogSession;
  /** Absolute path of its log; the file is made with the first entry. */
  readonly file: string;
  readonly notices: readonly string[];
  unsaved(): string | undefined;
  /** One turn; without a prompt what is queued is delivered. */
  turn(prompt: string | PromptBody | undefined, signal: AbortSignal, shown?: string): AsyncGenerator<Event, Outcome>;
  /** A turn with what a skill, or a prompt of an MCP server, makes of its arguments; `line` is what the user entered. Refuses with one line why it cannot be. */
  invoke(skill: string, args: string, line: string, signal: AbortSignal, refuse: (message: string) => void): AsyncGenerator<Event, Outcome>;
  /** All slash commands as they are now, those of skills among them; the context that is made next has them too. */
  commands(): Promise<readonly Command[]>;
  compact(keep: string, signal: AbortSignal): AsyncGenerator<Event, Outcome>;
  /** Changes the mode; the entry is written at once if the session has begun, else with the first turn. */
  setMode(mode: PermissionMode): void;
  mode(): PermissionMode;
  append(entries: readonly EntryBody[]): void;
  /** A new session; pins and the user's open todos come along unless `all`. */
  clear(all: boolean): void;
  /** Goes on with a stored session. */
  resume(file: string): void;
  /** Pins what the command line names. Returns why something could not be pinned. */
  pin(paths: readonly string[]): Promise<readonly string[]>;
  context(surface: CommandContext['surface'], keys: CommandContext['keys']): CommandContext;
  /** Lets hooks of the session's end run, within their budget: before the house is closed. */
  leave(reason: 'prompt_input_exit' | 'logout' | 'other'): Promise<void>;
  close(): void;
}

const MOST_STEPS = 500;

export function openConversation(house: House, resumed: string | undefined): Conversation {
  let open = openFirst(house, resumed);
  const modes = modeDesk(house, () => open.session, resumed !== undefined);
  const take = (): void => { taken(house, open.session); };
  take();
  settleBudget(house, open.session);
  house.hooks.begin(resumed === undefined ? 'startup' : house.args.forkSession ? 'fork' : 'resume', open.session);
  const swap = (next: OpenSession): void => {
    open.close();
    open = next;
  };
  const working = createWorking();
  const begin = (prompt: PromptBody | undefined, signal: AbortSignal): AsyncGenerator<Event, Outcome> => {
    const { session } = open;
    modes.settle();
    return working.during(turnOf(house, session, prompt, signal), () => { house.skills.settle(session); });
  };
  return {
    get session() { return open.session; },
    get file() { return open.file; },
    get notices() { return open.notices; },
    unsaved: () => open.unsaved(),
    turn: (prompt, signal, shown) => begin(typeof prompt === 'string' ? { text: prompt, ...(shown !== undefined && { shown }) } : prompt, signal),
    invoke(name, args, line, signal, refuse) {
      modes.settle();
      const prompt = house.mcp.prompts().find(({ command }) => command === name)?.prompt;
      if (prompt !== undefined) return promptTurn({ prompt, args, line }, house.mcp, (body) => begin(body, signal), signal, refuse);
      return skillTurn({ name, args, line }, house.skills, open.session, (prompt) => begin(prompt, signal), signal, refuse);
    },
    commands: () => commandsNow(house, open.session),
    compact: (keep, signal) => compact(open.session, house.ports(open.session), signal, { trigger: 'manual', keep }),
    setMode: modes.set,
    mode: modes.now,
    append(entries) {
      for (const entry of entries) open.session.append(entry);
    },
    clear(all) {
      const now = modes.now();
      const left = open.session;
      swap(newSession(sessionPlace(house)));
      carryOver(house, left, open.session, all);
      house.hold(open.session);
      modes.want(now);
      changed(house, left, open.session, 'clear');
    },
    resume(file) {
      const { session: left } = open;
      house.tasks.shells.leave(left);
      swap(resumeSession(file, sessionPlace(house)));
      modes.want(undefined);
      take();
      changed(house, left, open.session, 'resume');
    },
    pin: (paths) => pinAll(house, open.session, paths),
    context: (surface, keys) => commandContext(house, { session: () => open.session, file: () => open.file, mode: modes.now, working: working.now }, surface, keys),
    leave: (reason) => house.hooks.end(reason, open.session),
    close: () => { open.close(); },
  };
}

function turnOf(house: House, session: LogSession, prompt: PromptBody | undefined, signal: AbortSignal): AsyncGenerator<Event, Outcome> {
  const limits: Limits = { maxSteps: house.args.maxTurns ?? MOST_STEPS };
  return hookedTurn(house.hooks, session, prompt, (words) => query(session, words, house.ports(session), signal, limits), signal);
}

function taken(house: House, session: LogSession): void {
  house.hold(session);
  house.tasks.settle(session);
  house.desk.follow(session.log);
}

/** Hooks are told that one session ends and another one begins. */
function changed({ hooks }: House, from: LogSession, to: LogSession, how: 'clear' | 'resume'): void {
  void hooks.end(how, from);
  hooks.begin(how, to);
}

/** What was set in the session before gives way to what the command line says now. */
function settleBudget({ args: { maxBudgetUsd } }: House, session: LogSession): void {
  if (maxBudgetUsd !== undefined && optionsOf(session.log).budgetUsd !== undefined) session.append({ type: 'option', name: 'budgetUsd', value: maxBudgetUsd });
}

/** The session that the command line asks for. */
function openFirst(house: House, resumed: string | undefined): OpenSession {
  const { sessionId, forkSession: fork } = house.args;
  const place = sessionPlace(house);
  if (resumed === undefined) return newSession(place, [], undefined, sessionId);
  return fork ? forkSession(resumed, place, sessionId) : resumeSession(resumed, place);
}

async function commandsNow({ skills, mcp }: House, session: LogSession): Promise<readonly Command[]> {
  return withPrompts(withSkills(commands, await skills.list(session, new AbortController().signal)), mcp);
}

async function pinAll(house: House, session: LogSession, paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(paths.map((path) => house.reminders.pins(session).lookUp(path, { snapshot: false, pathOnly: false, whole: false })));
  for (const one of found) if (one.ok) session.append(one.entry);
  return found.flatMap((one) => (one.ok ? [] : [one.message]));
}

/** The mode until it stands in the log: a session without a word has no log yet. */
function modeDesk(house: House, session: () => LogSession, resumed: boolean) {
  let wanted: PermissionMode | undefined = resumed ? house.args.permissionMode : undefined;
  const now = (): PermissionMode => wanted ?? house.mode(session());
  const settle = (): void => {
    const { log } = session();
    const mode = now();
    if (mode !== (modeOf(log) ?? 'default')) session().append({ type: 'mode', mode });
    wanted = undefined;
  };
  return {
    now, settle,
    want(mode: PermissionMode | undefined): void { wanted = mode; },
    set(mode: PermissionMode): void {
      wanted = mode;
      if (session().log.length > 0) settle();
    },
  };
}

function sessionPlace({ place }: House) {
  const branch = branchNow(place);
  return { home: place.home, cwd: place.cwd, ...(branch !== undefined && { branch }) };
}

/** What a new session takes along; what is left behind ends. */
function carryOver({ tasks }: House, from: LogSession, to: LogSession, all: boolean): void {
  if (all) return tasks.shells.leave(from);
  for (const entry of carriedOver(from)) to.append(entry);
  return tasks.shells.move(from, to);
}

/** Pins as they are, and of the todos what the user still wants done. */
function carriedOver({ log }: LogSession): readonly EntryBody[] {
  const pins = attachmentsOf(log).filter(({ kind }) => kind !== 'todo').map((attachment): EntryBody => ({ type: 'attach', attachment, by: 'user' }));
  const todos = todosOf(log).filter(({ by, state }) => by === 'user' && state !== 'done');
  return todos.length === 0 ? pins : [...pins, todoEntry(todos, 'user')];
}

/** Whether a turn is being taken. */
function createWorking() {
  let turns = 0;
  return {
    now: () => turns > 0,
    async* during(turn: AsyncGenerator<Event, Outcome>, after: () => void): AsyncGenerator<Event, Outcome> {
      turns += 1;
      try {
        return yield* turn;
      } finally {
        turns -= 1;
        after();
      }
    },
  };
}

interface Held {
  readonly session: () => LogSession;
  readonly file: () => string;
  readonly mode: () => PermissionMode;
  readonly working: () => boolean;
}

function commandContext(house: House, { session, file, mode, working }: Held, surface: CommandContext['surface'], keys: CommandContext['keys']): CommandContext {
  const { desk, place, reminders, tools } = house;
  return {
    session: session(), commands: withPrompts(withSkills(commands, house.skills.known(session())), house.mcp), surface, keys,
    cwd: tools.cwd(session()), model: desk.facts(), mode: mode(),
    context: () => contextOf(house, session(), working()),
    cost: () => costOf(session().log),
    models: () => desk.models(),
    sessions: () => listSessions(place.home, place.cwd),
    lookUpPin: (text, options) => reminders.pins(session()).lookUp(text, options, tools.cwd(session())),
    skills: () => house.skills.list(session(), new AbortController().signal),
    skillNotes: () => house.skills.notes(session()),
    agents: () => house.agents.types(new AbortController().signal),
    team: () => ({ working: house.agents.live(session()), members: house.agents.members(session()), problems: house.agents.problems() }),
    tasks: () => house.tasks.list(session()),
    waiting: () => undeliveredOf(session().log),
    memory: () => reminders.memory.view(session()),
    styles: () => house.modes.styles(session()),
    plan: () => Promise.resolve(house.modes.plan(session())),
    mcp: () => house.mcp,
    hooks: () => house.hooks.view(session()),
    languages: () => house.languages,
    settings: () => settingsView(house),
    importers: () => shells,
    statusLine: async () => ({ setting: house.configuration.settings().statusLine, input: await (await import('./status-line/facts.ts')).statusLineInput(house, { session: session(), file: file() }) }),
    editors: () => house.editor.list(),
    usage: () => Promise.resolve(usageOf(house, session())),
    async pins() {
      const views = await reminders.pins(session()).views(new AbortController().signal);
      const weights = await desk.meter.weigh(views.map(({ text }) => text ?? ''));
      return views.map((view, i) => ({ ...view, tokens: weights[i] ?? 0 }));
    },
  };
}
