import { randomUUID } from 'node:crypto';
import type { Json } from '#lib/brand.ts';
import { messageOf } from '#lib/errors.ts';
import type { GroupGuard } from '#lib/group-guard.ts';
import type { EntryBody, Event } from '#domain/entry.ts';
import type { HookEvent, HookNews } from '#domain/hooks.ts';
import type { Session } from '#domain/session.ts';
import type { Call } from '#domain/tool.ts';
import { answerOf, type Fields, fieldsOf, type HookAnswer, judgementOf } from './answer.ts';
import { combine, contextEntry, NOTHING, noticeOf, type Verdicts } from './combine.ts';
import { createGroups, type Groups, runCommand } from './command.ts';
import { END_MS, MOST_END_MS, ruleOf } from './events.ts';
import { runHttp } from './http.ts';
import { questionOf } from './judge.ts';
import { failedRun, type Ran } from './ran.ts';
import { defaultMs, type Handler, handlerKey, type Hook, shortName } from './read.ts';

/** Something that happened, as hooks are told of it. */
export interface Occasion {
  readonly event: HookEvent;
  readonly session: Session;
  /** What matchers look at: all names of one thing, ours first. Empty where there is no matcher. */
  readonly names: readonly string[];
  /** What this event has beside the common fields. */
  readonly fields: Fields;
  /** What `if` is measured against. */
  readonly call?: Call;
}

/** Where a hook runs. */
export interface HookPlace {
  readonly cwd: string;
  readonly project: string;
  readonly env: Readonly<Record<string, string>>;
  readonly shell: string;
  readonly powershell: string;
}

export interface Doors {
  /** All that stand anywhere now; empty while they are switched off. */
  hooks(session: Session): readonly Hook[];
  /** Whether it may run: the user's own, or agreed to as it is now. Says so where it may not. */
  mayRun(hook: Hook): boolean;
  /** Fields that all events have. */
  common(event: HookEvent, session: Session): Fields;
  place(hook: Hook, event: HookEvent, session: Session): HookPlace;
  covers(rule: string, call: Call, session: Session): Promise<boolean>;
  /** Puts a text that is too long into a file, and gives its beginning with the file's name. */
  keepLong(text: string, session: Session): string;
  /** Asks a model; `agent`: one that may look around with tools. */
  judge(question: string, how: { readonly agent: boolean; readonly model?: string; readonly title: string }, session: Session, signal: AbortSignal): Promise<{ readonly text: string; readonly spent?: EntryBody } | { readonly problem: string }>;
  callTool(server: string, tool: string, input: Json, session: Session, signal: AbortSignal): Promise<{ readonly text: string; readonly failed: boolean }>;
  readonly allowedUrls: () => readonly string[] | undefined;
  readonly allowedVariables: () => readonly string[] | undefined;
  tell(session: Session, event: Event): void;
  wake(session: Session): void;
  news(news: HookNews): void;
  /** A hook has run: what it came to, in a few words. */
  ran(hook: Hook, name: string, ms: number, said: string): void;
  /** Sends a sequence that was found to be safe to the terminal. */
  emit(sequence: string): void;
}

export interface Runner {
  /** Whether any hook might want to hear of it: a look at the settings only. */
  listens(event: HookEvent, session: Session): boolean;
  /** Tells all hooks whose matchers match, at once, and gives what they say. Never rejects; after an abort nothing is said. */
  run(occasion: Occasion, signal: AbortSignal): Promise<Verdicts>;
  /** Ends what still runs. */
  close(): void;
}

/** When a person is told what is waited for. */
const PATIENCE_MS = 1000;

export function createRunner(doors: Doors, guard?: GroupGuard): Runner {
  const groups = createGroups(guard);
  const over = new AbortController();
  const fired = new WeakMap<Session, Set<string>>();
  const firstTime = (hook: Hook, session: Session): boolean => {
    if (hook.handler.once !== true || hook.scope === undefined) return true;
    const before = fired.get(session) ?? new Set();
    const first = !before.has(hook.id);
    fired.set(session, before.add(hook.id));
    return first;
  };
  const choose = async ({ event, session, names, call }: Occasion): Promise<readonly Chosen[]> => {
    const chosen = new Map<string, Chosen>();
    for (const hook of doors.hooks(session)) {
      if (hook.event !== event) continue;
      const named = names.length === 0 ? '' : names.find(hook.matches);
      const key = `${hook.scope ?? ''}\0${handlerKey(hook.handler)}`;
      if (named === undefined || chosen.has(key)) continue;
      if (hook.handler.if !== undefined && (call === undefined || !ruleOf(event).tool || !await doors.covers(hook.handler.if, call, session))) continue;
      if (doors.mayRun(hook) && firstTime(hook, session)) chosen.set(key, { hook, named });
    }
    return [...chosen.values()];
  };
  return {
    listens: (event, session) => doors.hooks(session).some((hook) => hook.event === event),
    async run(occasion, signal) {
      const { event, session } = occasion;
      if (signal.aborted || over.signal.aborted) return NOTHING;
      const chosen = await choose(occasion);
      if (chosen.length === 0) return NOTHING;
      const work: Work = { doors, groups, occasion, name: nameOf(occasion), signal: AbortSignal.any([signal, over.signal]), endMs: event === 'SessionEnd' ? endBudget(chosen, doors, session) : undefined };
      const now = chosen.filter(({ hook }) => !isAsync(hook.handler));
      for (const one of chosen) if (!now.includes(one)) void behind(one, { ...work, signal: over.signal });
      const answers = await Promise.all(now.map((one) => heard(one, work)));
      if (signal.aborted) return NOTHING;
      for (const { sequence } of answers) if (sequence !== undefined) doors.emit(sequence);
      return combine(work.name, answers);
    },
    close() {
      over.abort(new Error('the program ends'));
      groups.end();
    },
  };
}

interface Chosen {
  readonly hook: Hook;
  /** The name by which its matcher knew it. */
  readonly named: string;
}

interface Work {
  readonly doors: Doors;
  readonly groups: Groups;
  readonly occasion: Occasion;
  readonly name: string;
  readonly signal: AbortSignal;
  readonly endMs: number | undefined;
}

function nameOf({ event, names }: Occasion): string {
  return names[0] === undefined || names[0] === '' ? event : `${event}:${names[0]}`;
}

function isAsync(handler: Handler): boolean {
  return handler.type === 'command' && (handler.async === true || handler.asyncRewake === true);
}

/** What all hooks of a session's end have together: a second and a half, or the longest time that one of them names. */
function endBudget(chosen: readonly Chosen[], doors: Doors, session: Session): number {
  const [first] = chosen;
  const set = first === undefined ? Number.NaN : Number(doors.place(first.hook, 'SessionEnd', session).env['CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS']);
  if (Number.isFinite(set) && set > 0) return Math.min(MOST_END_MS, set);
  return Math.min(MOST_END_MS, Math.max(END_MS, ...chosen.map(({ hook: { handler } }) => (handler.timeout ?? 0) * 1000)));
}

async function heard(one: Chosen, work: Work): Promise<HookAnswer> {
  const { doors, occasion: { session, event }, name, signal } = work;
  const { hook } = one;
  const id = randomUUID();
  const about = { id, session, event, name };
  const began = performance.now();
  doors.news({ type: 'started', ...about });
  const what = hook.handler.statusMessage ?? `waiting for the ${event} hook ${shortName(hook.handler)}`;
  const patience = setTimeout(() => { doors.tell(session, { type: 'doing', what }); }, hook.handler.statusMessage === undefined ? PATIENCE_MS : 0);
  try {
    const { answer, ran } = await answered(one, work, (stdout, stderr) => { doors.news({ type: 'progress', ...about, stdout, stderr }); });
    const outcome = signal.aborted || ran.kind === 'cancelled' ? 'cancelled' : answer.failure === undefined ? 'success' : 'error';
    doors.news({ type: 'response', ...about, stdout: ran.stdout, stderr: ran.stderr, outcome, ...(ran.exitCode !== undefined && hook.handler.type === 'command' && { exitCode: ran.exitCode }) });
    doors.ran(hook, name, performance.now() - began, saidBy(answer, ran));
    return answer;
  } catch (error) {
    doors.news({ type: 'response', ...about, stdout: '', stderr: '', outcome: 'error' });
    return { hook, more: {}, quiet: false, failure: `failed: ${messageOf(error)}` };
  } finally {
    clearTimeout(patience);
  }
}

function saidBy(answer: HookAnswer, ran: Ran): string {
  if (ran.kind === 'cancelled') return 'was interrupted';
  if (answer.failure !== undefined) return answer.failure;
  if (answer.stop !== undefined) return `ended the turn: ${answer.stop}`;
  if (answer.block !== undefined) return `stopped it: ${answer.block}`;
  if (answer.permission !== undefined) return answer.permission;
  return answer.context === undefined ? 'nothing' : `told: ${answer.context}`;
}

interface Answered {
  readonly answer: HookAnswer;
  readonly ran: Ran;
}

async function answered(one: Chosen, work: Work, onOutput: (stdout: string, stderr: string) => void): Promise<Answered> {
  const { doors, occasion: { session } } = work;
  const { hook } = one;
  const keepLong = (text: string): string => doors.keepLong(text, session);
  if (hook.handler.type !== 'prompt' && hook.handler.type !== 'agent') {
    const ran = await ranOnce(one, work, onOutput);
    return { ran, answer: answerOf(hook, ran, keepLong) };
  }
  const limit = AbortSignal.any([work.signal, AbortSignal.timeout(timeoutOf(hook, work))]);
  const { type, model, prompt } = hook.handler;
  const said = await doors.judge(questionOf(prompt, inputOf(one, work)), { agent: type === 'agent', title: `${work.name} hook`, ...(model !== undefined && { model }) }, session, limit);
  if ('problem' in said) {
    const ran: Ran = work.signal.aborted ? { kind: 'cancelled', stdout: '', stderr: '' } : limit.aborted ? { kind: 'timedOut', stdout: '', stderr: '' } : failedRun(said.problem);
    return { ran, answer: answerOf(hook, ran, keepLong) };
  }
  return { ran: { kind: 'done', stdout: said.text, stderr: '' }, answer: { ...judgementOf(hook, said.text, keepLong), ...(said.spent !== undefined && { spent: said.spent }) } };
}

function timeoutOf({ event, handler }: Hook, { endMs }: Work): number {
  const own = handler.timeout === undefined ? defaultMs(event, handler.type) : handler.timeout * 1000;
  return endMs === undefined ? own : handler.timeout === undefined ? endMs : Math.min(own, endMs);
}

/** The event as this hook is told of it: a tool or an agent has the name by which its matcher knows it. */
function fieldsFor({ named }: Chosen, { doors, occasion: { event, session, fields } }: Work): Fields {
  return { ...doors.common(event, session), hook_event_name: event, ...fields, ...(named !== '' && 'tool_name' in fields && { tool_name: named }), ...(named !== '' && event.startsWith('Subagent') && { agent_type: named }) };
}

function inputOf(one: Chosen, work: Work): string {
  return JSON.stringify(fieldsFor(one, work));
}

async function ranOnce(one: Chosen, work: Work, onOutput: (stdout: string, stderr: string) => void): Promise<Ran> {
  const { doors, groups, occasion: { event, session }, signal } = work;
  const { hook } = one;
  const { handler } = hook;
  const at = doors.place(hook, event, session);
  const timing = { timeoutMs: timeoutOf(hook, work), signal };
  switch (handler.type) {
    case 'command': {
      const fill = (word: string): string => word.replaceAll('${CLAUDE_PROJECT_DIR}', at.project).replaceAll('${PINION_PROJECT_DIR}', at.project);
      return runCommand({
        command: handler.args === undefined ? handler.command : fill(handler.command), ...(handler.args !== undefined && { args: handler.args.map(fill) }),
        shell: handler.shell === 'powershell' ? [at.powershell, '-NoProfile', '-NonInteractive', '-Command'] : [at.shell, '-c'], cwd: at.cwd, env: at.env, input: inputOf(one, work), onOutput, ...timing,
      }, groups);
    }
    case 'http': return runHttp({
      url: handler.url, headers: handler.headers ?? {}, allowedEnvVars: handler.allowedEnvVars ?? [], env: at.env, allowedUrls: doors.allowedUrls(), allowedVariables: doors.allowedVariables(), input: inputOf(one, work), ...timing,
    });
    case 'mcp_tool': {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(timing.timeoutMs)]);
      const { text, failed } = await doors.callTool(handler.server, handler.tool, filled(handler.input ?? {}, fieldsFor(one, work)), session, limit);
      return failed ? failedRun(text) : { kind: 'done', exitCode: 0, stdout: text, stderr: '' };
    }
    default: return failedRun('it is no program');
  }
}

/** `${tool_input.file_path}` in a text is what stands there in the event. */
function filled(value: Json, fields: Fields): Json {
  if (typeof value === 'string') return value.replaceAll(/\$\{([\w.]+)\}/g, (_, path: string) => pathIn(fields, path));
  if (Array.isArray(value)) return value.map((one: Json) => filled(one, fields));
  const inner = fieldsOf(value);
  return inner === undefined ? value : Object.fromEntries(Object.entries(inner).map(([key, one]) => [key, filled(one, fields)]));
}

function pathIn(fields: Fields, path: string): string {
  let at: Json | undefined = fields;
  for (const key of path.split('.')) at = fieldsOf(at)?.[key];
  return at === undefined ? '' : typeof at === 'string' ? at : JSON.stringify(at);
}

/** Beside everything else: it decides nothing, and what it says is told at the next moment. */
async function behind(one: Chosen, work: Work): Promise<void> {
  const { doors, occasion: { session }, name } = work;
  const { hook } = one;
  const answer = await heard({ ...one, hook: { ...hook, handler: { ...hook.handler, statusMessage: undefined } } }, work);
  if (work.signal.aborted) return;
  const rewakes = hook.handler.type === 'command' && hook.handler.asyncRewake === true && answer.block !== undefined;
  const { entries } = combine(name, [answer]);
  const told = rewakes ? [...entries, contextEntry(name, shortName(hook.handler), answer.block ?? '')] : answer.block === undefined ? entries : [...entries, noticeOf(`${name} hook ${shortName(hook.handler)}: ${answer.block}`)];
  for (const body of told) doors.tell(session, { type: 'entry', entry: session.append(body) });
  if (rewakes) doors.wake(session);
}
