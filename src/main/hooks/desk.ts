import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { EntryBody } from '#domain/entry.ts';
import type { HookEvent, HookNews, HooksView, HookView } from '#domain/hooks.ts';
import type { Session } from '#domain/session.ts';
import { type Approvals, createApprovals } from '#hooks/approvals.ts';
import { NOTHING, type Verdicts } from '#hooks/combine.ts';
import { ruleOf } from '#hooks/events.ts';
import { type Hook, type HookSource, type ReadHooks, readHooks, whatOf } from '#hooks/read.ts';
import { createRunner, type Occasion } from '#hooks/runner.ts';
import { createVariables, type Variables } from '#hooks/variables.ts';
import { commonFields, createDoors, hooking } from './doors.ts';
import { type HookOptions, sourcesOf } from './sources.ts';

/** What hooks are told of: see {@link Occasion}. */
export type Told = Pick<Occasion, 'fields'> & Partial<Pick<Occasion, 'names' | 'call'>>;

/** Hooks as they stand now, and all that is needed to run them. */
export interface HookDesk {
  readonly options: HookOptions;
  listens(event: HookEvent, session: Session): boolean;
  hear(event: HookEvent, session: Session, told: Told, signal: AbortSignal): Promise<Verdicts>;
  /** All hooks that stand anywhere for a session, whether they may run or not. */
  all(session: Session): readonly Hook[];
  /** Entries go into the log of a session that has one; else what the user is to know is told, and the rest is given back. */
  deliver(session: Session, entries: readonly EntryBody[]): readonly EntryBody[];
  /** What hooks have set for later commands. */
  env(): Readonly<Record<string, string>>;
  /** The folder's hooks that the user has neither agreed to nor refused, as they are now. */
  pending(refusedToo?: boolean): readonly Hook[];
  agree(once: boolean): Promise<void>;
  /** `agreedToo`: takes back what was agreed to. */
  refuse(agreedToo: boolean): Promise<void>;
  view(session: Session): HooksView;
  /** What is wrong with the settings' hooks, one line each; each is told once. */
  problems(): readonly string[];
  /** What a hook does, whole. */
  describe(handler: Hook['handler']): string;
  close(): void;
}

export function createDesk(options: HookOptions, feed: (news: HookNews) => void): HookDesk {
  const { configuration, place, onNotice } = options;
  const approvals = createApprovals({ file: place.home.trust, project: configuration.project });
  const read = createReading();
  const told = new Set<string>();
  const once = (text: string): void => {
    if (told.has(text)) return;
    told.add(text);
    onNotice(text);
  };
  const all = (session: Session): readonly Hook[] => {
    const found = read(sourcesOf(options, session));
    for (const problem of found.problems) once(problem);
    return found.hooks;
  };
  /** Of skills and agents: known once they would have run. */
  const met = new Map<string, Hook>();
  const ofFolder = (): readonly Hook[] => [...read(sourcesOf(options)).hooks.filter(({ own }) => !own), ...met.values()];
  const mayRun = (hook: Hook): boolean => {
    const state = hook.own ? 'given' : approvals.stateOf(hook);
    if (state === 'open' && hook.scope !== undefined) met.set(hook.id, hook);
    if (state === 'open') once(`the ${hook.event} hook ${JSON.stringify(whatOf(hook.handler)).slice(0, 120)} of ${hook.from} is new or changed since you agreed to it, and does not run; /hooks shows it.`);
    return state === 'given';
  };
  const variables = createSettings();
  const last = new Map<string, NonNullable<HookView['last']>>();
  const runner = createRunner({
    ...createDoors(options, variables), hooks: (session) => (configuration.settings().disableAllHooks ? [] : all(session)), mayRun, news: feed,
    common: (event, session) => commonFields(options, event, session),
    ran(hook, name, ms, said) {
      last.set(hook.id, { at: new Date(), name, ms: Math.round(ms), said });
      if (options.args.verbose) onNotice(`${name} hook ${whatOf(hook.handler).slice(0, 80)}: ${said.split('\n')[0] ?? ''} (${Math.round(ms)} ms)`);
    },
  }, options.guard);
  return {
    options, all, env: variables.now,
    listens: (event, session) => hooking.getStore() !== true && runner.listens(event, session),
    async hear(event, session, { fields, names = [], call }, signal) {
      if (hooking.getStore() === true || !runner.listens(event, session)) return NOTHING;
      const said = await runner.run({ event, session, fields, names, ...(call !== undefined && { call }) }, signal);
      const problem = ruleOf(event).env ? await variables.read(place.shell, { ...place.env, ...configuration.settings().env }) : undefined;
      if (problem !== undefined) once(problem);
      return said;
    },
    deliver: (session, entries) => delivered(options, session, entries),
    pending: (refusedToo = false) => ofFolder().filter((hook) => approvals.stateOf(hook) === 'open' || (refusedToo && approvals.stateOf(hook) === 'refused')),
    agree: (only) => approvals.give(ofFolder(), only),
    refuse: (agreedToo) => approvals.refuse(ofFolder().filter((hook) => agreedToo || approvals.stateOf(hook) === 'open')),
    problems: () => read(sourcesOf(options)).problems.filter((problem) => !told.has(problem) && told.add(problem)),
    describe: whatOf,
    view: (session) => viewOf(read(sourcesOf(options, session)), approvals, last, configuration.settings().disableAllHooks),
    close() {
      runner.close();
      variables.close();
    },
  };
}

/** Variables that hooks set, in a file that is made when the first of them may want it. */
function createSettings(): Variables & { close(): void } {
  let folder: string | undefined;
  let made: Variables | undefined;
  return {
    file: () => (made ??= createVariables(join(folder ??= mkdtempSync(join(tmpdir(), 'pinion-hooks-')), 'env.sh'))).file(),
    read: (shell, base) => made?.read(shell, base) ?? Promise.resolve(undefined),
    now: () => made?.now() ?? {},
    close() { if (folder !== undefined) rmSync(folder, { recursive: true, force: true }); },
  };
}

function delivered({ tell, onNotice }: HookOptions, session: Session, entries: readonly EntryBody[]): readonly EntryBody[] {
  if (session.log.length > 0) {
    for (const body of entries) tell(session, { type: 'entry', entry: session.append(body) });
    return [];
  }
  for (const body of entries) if (body.type === 'notice') onNotice(body.text);
  return entries.filter(({ type }) => type !== 'notice');
}

function viewOf({ hooks, problems }: ReadHooks, approvals: Approvals, last: ReadonlyMap<string, NonNullable<HookView['last']>>, off: boolean): HooksView {
  const state = (hook: Hook): HookView['state'] => (hook.own ? 'ready' : ({ given: 'ready', open: 'new', refused: 'off' } as const)[approvals.stateOf(hook)]);
  return {
    hooks: hooks.map((hook) => {
      const ran = last.get(hook.id);
      return { id: hook.id, event: hook.event, matcher: hook.matcher, type: hook.handler.type, what: whatOf(hook.handler), from: hook.from, state: state(hook), ...(ran !== undefined && { last: ran }) };
    }),
    problems, ...(off && { off: 'switched off by "disableAllHooks" in your settings' }),
  };
}

/** Reads what stands in files once for as long as it is the same. */
function createReading() {
  const known = new WeakMap<object, ReturnType<typeof readHooks>>();
  return (sources: readonly HookSource[]) => {
    const read = sources.map((source) => {
      const { hooks } = source;
      if (typeof hooks !== 'object' || hooks === null) return readHooks(source);
      const before = known.get(hooks) ?? readHooks(source);
      known.set(hooks, before);
      return before;
    });
    return { hooks: read.flatMap(({ hooks }) => hooks), problems: read.flatMap(({ problems }) => problems) };
  };
}

/** The literal names of `FileChanged` matchers, in a directory. */
export function watchedNames(hooks: readonly Hook[], cwd: string): readonly string[] {
  return hooks.filter(({ event }) => event === 'FileChanged').flatMap(({ matcher }) => matcher.split('|')).map((name) => name.trim())
    .filter((name) => name !== '' && name !== '*' && basename(name) === name).map((name) => join(cwd, name));
}
