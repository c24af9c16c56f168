import type { ElicitationVerdict, HookFeed, HookNews, HookPort, HookSaid, HooksView } from '#domain/hooks.ts';
import type { Json } from '#lib/brand.ts';
import { count } from '#lib/text.ts';
import type { Asker, GatePort, Outcome, Question, ReminderPort, ToolPort } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { PromptBody } from '#loop/query.ts';
import type { EndedBy, Opening, StartedBy, Stopping } from './hook-session.ts';
import { type HookOptions, isQuiet } from './hook-sources.ts';

/** Programs of the user's that are told what happens, and may say something to it. Nothing of it is loaded where there are no hooks. */
export interface HookWing {
  /** The runs of hooks, as they happen. */
  readonly feed: HookFeed;
  readonly port: HookPort;
  /** Whether there are none for a session. */
  quiet(session: Session): boolean;
  /** Asks hooks before the gate; deny and ask rules hold whatever they say. */
  gate(gate: GatePort): GatePort;
  /** Tells hooks what tools came to. */
  tools(tools: ToolPort): ToolPort;
  /** Tells hooks of questions to the person, which some may answer. */
  asker(asker: Asker): Asker;
  /** Tells hooks of the instruction files that were brought along. */
  reminders(reminders: ReminderPort): ReminderPort;
  /** Variables that hooks have set for commands. */
  env(): Readonly<Record<string, string>>;
  /** The folder's trust is settled: hooks of a session that has begun run from now on. */
  start(): void;
  /** A session begins or is gone on with: its hooks run in the background, as soon as {@link start} was called. */
  begin(how: StartedBy, session: Session): void;
  /** What hooks said of the session's start, once each; waits for them a while. */
  ready(session: Session, signal: AbortSignal): Promise<Opening>;
  /** `stop`: why a prompt is not to be sent (one line). */
  prompt(prompt: PromptBody, session: Session, signal: AbortSignal): Promise<HookSaid>;
  /** A turn has ended with an answer. `active`: it went on because of hooks already. */
  stop(session: Session, active: boolean, signal: AbortSignal): Promise<Stopping>;
  /** A turn has failed. */
  failed(outcome: Extract<Outcome, { readonly kind: 'failed' }>, session: Session): void;
  /** A sub-agent begins: what hooks have to say to it. */
  subagent(session: Session, signal: AbortSignal): Promise<HookSaid>;
  /** Waits for the hooks of a session's end, within their budget. */
  end(reason: EndedBy, session: Session): Promise<void>;
  /** Something that the person may want to hear of while looking elsewhere. */
  notify(type: 'permission_prompt' | 'idle_prompt' | 'auth_success' | 'elicitation_dialog' | 'elicitation_complete' | 'elicitation_response', message: string, session: Session): void;
  elicitation(event: 'Elicitation' | 'ElicitationResult', server: string, fields: Readonly<Record<string, Json>>, session: Session, signal: AbortSignal): Promise<ElicitationVerdict | undefined>;
  /** A settings file was saved. Why it is not to be taken up (one line). */
  configChanged(file: string, session: Session): Promise<string | undefined>;
  /** Settings were read anew. */
  reloaded(session: Session): void;
  /** The user's own command led to another directory. */
  moved(from: string, to: string, session: Session): void;
  view(session: Session): Promise<HooksView>;
  /** What the folder's hooks that nobody agreed to or refused would do, one line each; `refusedToo`: those that were refused as well. */
  pending(refusedToo?: boolean): Promise<readonly string[]>;
  agree(once: boolean): Promise<void>;
  refuse(): Promise<void>;
  close(): void;
}

const SILENT: HookSaid = { entries: [] };

/** The rooms of the wing, loaded at the first event that a hook could want to hear of. */
async function openRooms(options: HookOptions, feed: (news: HookNews) => void) {
  const [{ createDesk }, { createHookGate }, { createSessionHooks, ...about }, { runHooked }] = await Promise.all([import('./hook-desk.ts'), import('./hook-gate.ts'), import('./hook-session.ts'), import('./hook-tools.ts')]);
  const desk = createDesk(options, feed);
  return { desk, gate: createHookGate(desk), session: createSessionHooks(desk), about, runHooked };
}
type Rooms = Awaited<ReturnType<typeof openRooms>>;

export function wireHooks(options: HookOptions): HookWing {
  const listeners = new Set<(news: HookNews) => void>();
  const feed = (news: HookNews): void => { for (const listen of listeners) listen(news); };
  let rooms: Rooms | undefined;
  let opening: Promise<Rooms> | undefined;
  let closed = false;
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
  const quiet = (session: Session): boolean => isQuiet(options, session);
  /** Nothing is loaded for a session without hooks. */
  const hear = async <T>(session: Session, otherwise: T, task: (rooms: Rooms) => Promise<T>): Promise<T> => (quiet(session) ? otherwise : task(await open()));
  const behind = (session: Session, task: (rooms: Rooms) => Promise<unknown>): void => {
    if (!closed) void hear<unknown>(session, undefined, task).catch((error: unknown) => { options.onNotice(`hooks: ${String(error)}`); });
  };
  const beginnings = createBeginnings(quiet, open);
  const agreeing = async (once: boolean): Promise<void> => { if (options.configuration.settings().hooks.some(({ own }) => !own)) await (await open()).desk.agree(once); };
  options.configuration.whenBelieved(agreeing);
  return {
    feed: { listen(tell) {
      listeners.add(tell);
      return () => { listeners.delete(tell); };
    } },
    port: {
      beforeCompact: (trigger, keep, session, signal) => hear(session, SILENT, ({ session: at }) => at.beforeCompact(trigger, keep, session, signal)),
      afterCompact: (trigger, summary, session, signal) => hear(session, SILENT, ({ session: at }) => at.afterCompact(trigger, summary, session, signal)),
      afterCalls: (calls, session, signal) => hear(session, SILENT, ({ session: at }) => at.afterCalls(calls, session, signal)),
    },
    quiet,
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
    asker: (asker) => ({ ask: async (question, signal) => await answerFor(rooms, question, signal) ?? asker.ask(question, signal) }),
    reminders: (reminders) => ({
      async collect(moment, session, signal) {
        const collected = await reminders.collect(moment, session, signal);
        behind(session, ({ desk, about }) => about.tellInstructions(desk, collected.reminders, session));
        return collected;
      },
    }),
    env: () => rooms?.desk.env() ?? {},
    start() {
      beginnings.start(readied(options, open, agreeing));
    },
    begin: beginnings.begin,
    async ready(session, signal) {
      const begun = await beginnings.of(session);
      return begun === undefined ? SILENT : begun.session.ready(session, signal);
    },
    prompt: (prompt, session, signal) => hear(session, SILENT, ({ desk, about }) => about.askAboutPrompt(desk, prompt, session, signal)),
    stop: (session, active, signal) => hear(session, { entries: [], goOn: false }, ({ desk, about }) => about.askAtStop(desk, session, active, signal)),
    failed: (outcome, session) => { behind(session, ({ desk, about }) => about.tellFailure(desk, outcome, session)); },
    subagent: (session, signal) => hear(session, SILENT, ({ desk, about }) => about.tellSubagent(desk, session, signal)),
    end: (reason, session) => hear(session, undefined, ({ session: at }) => at.end(reason, session)),
    notify: (type, message, session) => { behind(session, ({ desk, about }) => about.notify(desk, type, message, undefined, session)); },
    elicitation: (event, server, fields, session, signal) => hear<ElicitationVerdict | undefined>(session, undefined, ({ desk, about }) => about.askElicitation(desk, event, server, fields, session, signal)),
    configChanged: (file, session) => hear<string | undefined>(session, undefined, ({ desk, about }) => about.askAboutConfig(desk, sourceOf(options, file), file, session)),
    reloaded(session) {
      behind(session, async ({ desk, session: at }) => {
        desk.all(session);
        at.follow(session, undefined);
      });
    },
    moved: (from, to, session) => {
      if (from !== to) behind(session, async ({ desk }) => { desk.deliver(session, (await desk.hear('CwdChanged', session, { fields: { old_cwd: from, new_cwd: to } }, new AbortController().signal)).entries); });
    },
    view: async (session) => (await open()).desk.view(session),
    pending: async (refusedToo = false) => (options.configuration.settings().hooks.some(({ own }) => !own) ? linesOf(await open(), refusedToo) : []),
    agree: agreeing,
    refuse: async () => { await (await open()).desk.refuse(); },
    close,
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
async function readied({ args, configuration, onNotice }: HookOptions, open: () => Promise<Rooms>, agree: (once: boolean) => Promise<void>): Promise<void> {
  if (configuration.settings().hooks.length === 0 || configuration.settings().disableAllHooks) return;
  if (args.trust) await agree(true);
  const rooms = await open();
  for (const problem of rooms.desk.problems()) onNotice(problem);
  const waiting = rooms.desk.pending().length;
  if (waiting > 0) onNotice(`${count(waiting, 'hook')} of this folder ${waiting === 1 ? 'is' : 'are'} new or changed since you agreed, and ${waiting === 1 ? 'does' : 'do'} not run. In a terminal, /hooks approve agrees; --trust does for one run.`);
}

function linesOf({ desk }: Rooms, refusedToo: boolean): readonly string[] {
  return desk.pending(refusedToo).map(({ event, matcher, from, handler }) => `at ${event}${matcher === '' ? '' : ` (${matcher})`} runs ${desk.describe(handler)} (${from})`);
}

/** Hooks answer questions about calls; of all others that a person must answer they are told. */
async function answerFor(rooms: Rooms | undefined, question: Question, signal: AbortSignal) {
  if (rooms === undefined || question.kind !== 'permission') return undefined;
  return rooms.gate.answer(question, signal);
}

const SOURCES: readonly (readonly [RegExp, string])[] = [[/settings\.local\.json$/, 'local_settings'], [/settings\.json$/, 'project_settings']];

function sourceOf({ configuration }: HookOptions, file: string): string {
  if (!file.startsWith(`${configuration.project}/`)) return 'user_settings';
  return SOURCES.find(([pattern]) => pattern.test(file))?.[1] ?? 'project_settings';
}

export type { HookOptions };
