import { count } from '#lib/text.ts';
import type { ElicitationVerdict, HookNews, HookPort, HookSaid } from '#domain/hooks.ts';
import type { Question } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import { type HookOptions, isQuiet } from './hooks/sources.ts';
import type { HookWing, StartedBy } from './hooks/wing.ts';

const SILENT: HookSaid = { entries: [] };

/** The rooms of the wing, loaded at the first event that a hook could want to hear of. */
async function openRooms(options: HookOptions, feed: (news: HookNews) => void) {
  const [{ createDesk }, { createHookGate }, { createSessionHooks }, { runHooked }, about, { tellInstructions }] = await Promise.all([
    import('./hooks/desk.ts'), import('./hooks/gate.ts'), import('./hooks/session.ts'), import('./hooks/tools.ts'), import('./hooks/events.ts'), import('./hooks/instructions.ts'),
  ]);
  const desk = createDesk(options, feed);
  return { desk, gate: createHookGate(desk), session: createSessionHooks(desk), about, runHooked, tellInstructions };
}
type Rooms = Awaited<ReturnType<typeof openRooms>>;

/** How the rest of the wing reaches its rooms. */
interface Entry {
  readonly options: HookOptions;
  /** Undefined until they were needed. */
  rooms(): Rooms | undefined;
  open(): Promise<Rooms>;
  quiet(session: Session): boolean;
  /** Nothing is loaded for a session without hooks. */
  hear<T>(session: Session, otherwise: T, task: (rooms: Rooms) => Promise<T>): Promise<T>;
  /** Beside everything else. */
  behind(session: Session, task: (rooms: Rooms) => Promise<unknown>): void;
  close(): void;
}

export function wireHooks(options: HookOptions): HookWing {
  const listeners = new Set<(news: HookNews) => void>();
  const entry = createEntry(options, (news) => { for (const listen of listeners) listen(news); });
  const { hear, open, quiet } = entry;
  const beginnings = createBeginnings(quiet, open);
  const ofFolder = (): boolean => options.configuration.settings().hooks.some(({ own }) => !own);
  // A prompt that comes while an agreement is written down waits for it.
  let agreed = Promise.resolve();
  const agree = (once: boolean, written?: Promise<void>): Promise<void> => agreed = agreed.catch(() => undefined).then(() => written).then(async () => { if (ofFolder()) await (await open()).desk.agree(once); });
  options.configuration.whenBelieved(agree);
  return {
    feed: { listen(tell) {
      listeners.add(tell);
      return () => { listeners.delete(tell); };
    } },
    ...wrapping(entry), ...telling(entry),
    quiet, port: portOf(entry), close: entry.close,
    env: () => entry.rooms()?.desk.env() ?? {},
    start() { beginnings.start(readied(entry, agree)); },
    begin: beginnings.begin,
    async ready(session, signal) {
      await agreed.catch(() => undefined);
      const begun = await beginnings.of(session);
      return begun === undefined ? SILENT : begun.session.ready(session, signal);
    },
    prompt: (prompt, session, signal) => hear(session, SILENT, ({ desk, about }) => about.askAboutPrompt(desk, prompt, session, signal)),
    stop: (session, active, signal) => hear(session, { entries: [], goOn: false }, ({ desk, about }) => about.askAtStop(desk, session, active, signal)),
    subagent: (session, signal) => hear(session, SILENT, ({ desk, about }) => about.tellSubagent(desk, session, signal)),
    end: (reason, session) => hear(session, undefined, ({ session: at }) => at.end(reason, session)),
    elicitation: async (event, server, fields, of, signal) => {
      const session = of ?? options.held();
      return session === undefined ? undefined : hear<ElicitationVerdict | undefined>(session, undefined, ({ desk, about }) => about.askElicitation(desk, event, server, fields, session, signal));
    },
    configChanged: (file, session) => hear<string | undefined>(session, undefined, ({ desk, about }) => about.askAboutConfig(desk, sourceOf(options, file), file, session)),
    view: async (session) => (await open()).desk.view(session),
    pending: async (refusedToo = false) => (ofFolder() ? linesOf(await open(), refusedToo) : []),
    agree: (once) => agree(once),
    refuse: async (agreedToo = false) => { await (await open()).desk.refuse(agreedToo); },
  };
}

function createEntry(options: HookOptions, feed: (news: HookNews) => void): Entry {
  let rooms: Rooms | undefined;
  let opening: Promise<Rooms> | undefined;
  let closed = false;
  const quiet = (session: Session): boolean => isQuiet(options, session);
  const close = (): void => {
    closed = true;
    process.off('exit', close);
    rooms?.session.close();
    rooms?.desk.close();
  };
  const open = (): Promise<Rooms> => opening ??= openRooms(options, feed).then((made) => {
    rooms = made;
    if (closed) made.desk.close();
    else process.on('exit', close);
    return made;
  });
  const hear = async <T>(session: Session, otherwise: T, task: (at: Rooms) => Promise<T>): Promise<T> => (quiet(session) ? otherwise : task(await open()));
  return {
    options, rooms: () => rooms, open, quiet, hear, close,
    behind(session, task) {
      if (!closed) void hear<unknown>(session, undefined, task).catch((error: unknown) => { options.onNotice(`hooks: ${String(error)}`); });
    },
  };
}

function portOf({ hear }: Entry): HookPort {
  return {
    beforeCompact: (trigger, keep, session, signal) => hear(session, SILENT, ({ session: at }) => at.beforeCompact(trigger, keep, session, signal)),
    afterCompact: (trigger, summary, session, signal) => hear(session, SILENT, ({ session: at }) => at.afterCompact(trigger, summary, session, signal)),
    afterCalls: (calls, session, signal) => hear(session, SILENT, ({ session: at }) => at.afterCalls(calls, session, signal)),
  };
}

/** Doors of the house with hooks in front of them. */
function wrapping({ rooms, open, quiet, behind }: Entry): Pick<HookWing, 'gate' | 'tools' | 'asker' | 'reminders'> {
  return {
    gate: (gate) => ({
      ask: async (call, session, signal, advice) => (quiet(session) ? gate.ask(call, session, signal, advice) : (await open()).gate.ask(gate, call, session, signal, advice)),
      goOn: (what, session, signal) => gate.goOn(what, session, signal),
    }),
    tools: (tools) => ({
      ...tools,
      async *run(call, session, signal) {
        if (quiet(session)) return yield* tools.run(call, session, signal);
        const { desk, runHooked } = await open();
        return yield* runHooked(desk, tools, call, session, signal);
      },
    }),
    asker: (asker) => ({ ask: async (question, signal) => await answerFor(rooms(), question, signal) ?? asker.ask(question, signal) }),
    reminders: (reminders) => ({
      async collect(moment, session, signal) {
        const collected = await reminders.collect(moment, session, signal);
        const before = session.log.length;
        behind(session, ({ desk, tellInstructions }) => tellInstructions(desk, collected.reminders, session.log.slice(0, before), session));
        return collected;
      },
    }),
  };
}

/** What hooks are only told of. */
function telling({ behind, options: { held } }: Entry): Pick<HookWing, 'failed' | 'notify' | 'reloaded' | 'moved'> {
  return {
    failed(outcome, session) { behind(session, ({ desk, about }) => about.tellFailure(desk, outcome, session)); },
    notify(type, message, of) {
      const session = of ?? held();
      if (session !== undefined) behind(session, ({ desk, about }) => about.notify(desk, type, message, undefined, session));
    },
    reloaded(session) {
      behind(session, async ({ desk, session: at }) => {
        desk.all(session);
        at.follow(session, undefined);
      });
    },
    moved(from, to, session) {
      if (from !== to) behind(session, async ({ desk }) => { desk.deliver(session, (await desk.hear('CwdChanged', session, { fields: { old_cwd: from, new_cwd: to } }, new AbortController().signal)).entries); });
    },
  };
}

/** Beginnings of sessions wait until the folder's trust is settled. */
function createBeginnings(quiet: (session: Session) => boolean, open: () => Promise<Rooms>) {
  const begun = new WeakMap<Session, Promise<Rooms>>();
  let started: Promise<void> | undefined;
  let waiting: { readonly how: StartedBy; readonly session: Session } | undefined;
  const run = (how: StartedBy, session: Session): void => {
    if (quiet(session) || started === undefined) return;
    begun.set(session, started.then(open).then((rooms) => {
      rooms.session.begin(how, session);
      return rooms;
    }));
  };
  return {
    of: (session: Session) => begun.get(session),
    begin(how: StartedBy, session: Session): void {
      if (started !== undefined) run(how, session);
      else waiting = { how, session };
    },
    /** `ready`: what must be done before the first of them. */
    start(ready: Promise<void>): void {
      if (started !== undefined) return;
      started = ready;
      if (waiting !== undefined) run(waiting.how, waiting.session);
    },
  };
}

/** At the start: what is wrong with the files is said, and that some hooks do not run because nobody has agreed to them. */
async function readied({ options: { args, configuration, onNotice }, open }: Entry, agree: (once: boolean) => Promise<void>): Promise<void> {
  if (configuration.settings().hooks.length === 0 || configuration.settings().disableAllHooks) return;
  if (args.trust) await agree(true);
  const { desk } = await open();
  for (const problem of desk.problems()) onNotice(problem);
  const waiting = desk.pending().length;
  if (waiting > 0) onNotice(`${count(waiting, 'hook')} of this folder ${waiting === 1 ? 'is' : 'are'} new or changed since you agreed, and ${waiting === 1 ? 'does' : 'do'} not run. In a terminal, /hooks approve agrees; --trust does for one run.`);
}

function linesOf({ desk }: Rooms, refusedToo: boolean): readonly string[] {
  return desk.pending(refusedToo).map(({ event, matcher, from, handler }) => `at ${event}${matcher === '' ? '' : ` (${matcher})`} runs ${desk.describe(handler)} (${from})`);
}

/** Hooks answer questions about calls. */
async function answerFor(rooms: Rooms | undefined, question: Question, signal: AbortSignal) {
  return rooms === undefined || question.kind !== 'permission' ? undefined : rooms.gate.answer(question, signal);
}

function sourceOf({ configuration }: HookOptions, file: string): string {
  if (!file.startsWith(`${configuration.project}/`)) return 'user_settings';
  return file.endsWith('settings.local.json') ? 'local_settings' : 'project_settings';
}
