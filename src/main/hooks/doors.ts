import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '#lib/brand.ts';
import type { HookEvent } from '#domain/hooks.ts';
import { DEMO_MODEL, SMALL_MODEL } from '#domain/model.ts';
import type { Reply } from '#domain/ports.ts';
import type { ModelRequest } from '#domain/request.ts';
import type { Session } from '#domain/session.ts';
import type { Call, CallId } from '#domain/tool.ts';
import { decide } from '#gate/decide.ts';
import { readRules } from '#gate/rules.ts';
import type { Fields } from '#hooks/answer.ts';
import { ruleOf } from '#hooks/events.ts';
import instructions from '#hooks/judge.md';
import { keepLong } from '#hooks/long.ts';
import { namesOf } from '#hooks/match.ts';
import type { Doors, HookPlace } from '#hooks/runner.ts';
import type { Variables } from '#hooks/variables.ts';
import { sessionFolder } from '#session/home.ts';
import { sessionFile } from '#session/open.ts';
import { modelId } from '#session/settings.ts';
import type { HookOptions } from './sources.ts';

/** Set while a hook's own agent is at work: what it does is told to no hook. */
export const hooking = new AsyncLocalStorage<true>();

type Hung = Pick<Doors, 'place' | 'covers' | 'keepLong' | 'judge' | 'callTool' | 'allowedUrls' | 'allowedVariables' | 'tell' | 'wake' | 'emit'>;

/** What hooks have set so far, and the file in which they set it. */
type Set = Pick<Variables, 'file' | 'now'>;

export function createDoors(options: HookOptions, variables: Set): Hung {
  const { configuration, tell, wake, emit } = options;
  return {
    place: (hook, event, session) => placeOf(options, hook.own, event, session, variables),
    covers: (rule, call, session) => Promise.resolve(covers(options, rule, call, session)),
    keepLong: longTexts(options),
    judge: (question, how, session, signal) => (how.agent ? byAgent(options, question, how, session, signal) : byModel(options, question, how, session, signal)),
    callTool: (server, tool, input, session, signal) => callTool(options, { server, tool, input }, session, signal),
    allowedUrls: () => configuration.settings().allowedHttpHookUrls,
    allowedVariables: () => configuration.settings().httpHookAllowedEnvVars,
    tell, wake, emit,
  };
}

/** What every event has. A sub-agent's is told as one of the conversation that it works for. */
export function commonFields(options: HookOptions, _event: HookEvent, session: Session): Fields {
  const { agents, tools, mode } = options;
  const lead = agents().lead(session) ?? session;
  const self = agents().self(session);
  const prompt = lead.log.findLast(({ type }) => type === 'prompt');
  const effort = effortOf(options);
  return {
    session_id: lead.id, ...(prompt !== undefined && { prompt_id: prompt.id }), transcript_path: transcriptOf(options, lead.id), cwd: tools().cwd(session), permission_mode: mode(session),
    ...(effort !== undefined && { effort: { level: effort } }), ...(self !== undefined && { agent_id: self.name, agent_type: self.type.name }),
  };
}

function effortOf({ configuration, desk }: HookOptions): string | undefined {
  return configuration.settings().effort ?? desk.facts().defaultEffort;
}

export function transcriptOf({ place: { home, cwd } }: Pick<HookOptions, 'place'>, id: string): string {
  return sessionFile({ home, cwd }, id) ?? join(sessionFolder(home, cwd), `${id}.jsonl`);
}

/** Not for programs of a repository's, nor is where others send their measurements. */
const KEYS = /^(?:ANTHROPIC_(?:API_KEY|AUTH_TOKEN|CUSTOM_HEADERS)|CLAUDE_CODE_OAUTH_TOKEN)$/;

function placeOf(options: HookOptions, own: boolean, event: HookEvent, session: Session, variables: Set): HookPlace {
  const { configuration, place, tools } = options;
  const { project } = configuration;
  const cwd = tools().cwd(session);
  const effort = effortOf(options);
  const all = { ...place.env, ...configuration.settings().env, ...variables.now() };
  return {
    cwd: statSync(cwd, { throwIfNoEntry: false })?.isDirectory() === true ? cwd : project, project, shell: place.shell, powershell: process.platform === 'win32' ? 'powershell.exe' : 'pwsh',
    env: {
      ...Object.fromEntries(Object.entries(all).filter(([name]) => !name.startsWith('OTEL_') && (own || !KEYS.test(name)))),
      CLAUDE_PROJECT_DIR: project, PINION_PROJECT_DIR: project, CLAUDECODE: '1', PINION: '1', ...(effort !== undefined && { CLAUDE_EFFORT: effort }),
      ...(ruleOf(event).env && { CLAUDE_ENV_FILE: variables.file() }),
    },
  };
}

/** Whether a rule (`Bash(git *)`) covers a call. A command that cannot be read counts as covered. */
function covers({ configuration, tools }: HookOptions, rule: string, call: Call, session: Session): boolean {
  const scoped = { rule, root: configuration.project, scope: 'session' as const };
  const [read] = readRules([scoped], 'deny').rules;
  if (read === undefined || !namesOf(call.tool).includes(read.tool) && !governs(read.tool, call.tool)) return read === undefined;
  const { paths, tools: { effect } } = tools();
  const decideWith = (deny: readonly (typeof scoped)[]) => decide(call, { rules: { allow: [], ask: [], deny }, mode: 'bypassPermissions', cwd: tools().cwd(session), places: paths.places, effect: effect(call), trusted: true });
  const decision = decideWith([scoped]);
  return decision.kind === 'refuse' ? decision.by === 'rule' : call.tool === 'Bash' && decision.kind === 'ask' && decideWith([]).kind === 'allow';
}

const EDITING = new Set(['Write', 'NotebookEdit', 'Edit']);
const READING = new Set(['Read', 'Glob', 'Grep']);

/** Rules of one tool that hold for others too, or that are written with wildcards. */
function governs(named: string, tool: string): boolean {
  return (named === 'Edit' && EDITING.has(tool)) || (named === 'Read' && READING.has(tool)) || named.includes('*') || tool.startsWith(`${named}__`);
}

/** Texts that are too long lie beside the session's log, where the model may read them. */
function longTexts({ place, configuration, agents }: HookOptions): Doors['keepLong'] {
  let number = 0;
  return (text, session) => {
    const folder = join(sessionFolder(place.home, place.cwd), (agents().lead(session) ?? session).id, 'hook-output');
    return keepLong(text, folder, nextName(folder), () => {
      const rule = `Read(/${folder}/**)`;
      if (!/[*?[\]!\\\s()]/.test(folder) && !configuration.rules().allow.some((known) => known.rule === rule)) void configuration.keepRule(rule, 'session');
    });
  };

  function nextName(folder: string): string {
    do number += 1; while (existsSync(join(folder, `${number}.txt`)));
    return String(number);
  }
}

type Judged = Awaited<ReturnType<Doors['judge']>>;

async function byModel({ desk }: HookOptions, question: string, { model, title }: { readonly model?: string; readonly title: string }, session: Session, signal: AbortSignal): Promise<Judged> {
  const small = desk.id() === DEMO_MODEL || !desk.facts().known ? desk.id() : SMALL_MODEL;
  const models = [...new Set([model === undefined || desk.id() === DEMO_MODEL ? small : modelId(model), desk.id()])];
  let problem = '';
  for (const id of models) {
    const port = desk.port(session, () => id);
    const request = requestOf(id, question);
    const { unaffordable } = await port.fit(request);
    if (unaffordable !== undefined) return { problem: unaffordable };
    const reply = await finished(port.stream(request, signal));
    if (reply.kind === 'interrupted') return { problem: 'interrupted' };
    if (reply.kind === 'message') {
      const text = reply.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
      return { text, spent: { type: 'spent', what: title, model: reply.model, usage: reply.usage, requests: 1 } };
    }
    problem = reply.message;
    if (reply.why !== 'notFound') break;
  }
  return { problem };
}

function requestOf(model: string, question: string): ModelRequest {
  return {
    model, effort: 'low', system: [{ type: 'text', text: instructions.trim() }], tools: [], messages: [{ role: 'user', content: [{ type: 'text', text: question }] }],
    origins: [[{ what: 'note', entries: [] }]], headEnd: 0, answered: 0,
  };
}

async function finished(stream: AsyncGenerator<unknown, Reply>): Promise<Reply> {
  for (;;) {
    const next = await stream.next();
    if (next.done === true) return next.value;
  }
}

interface ToolWish {
  readonly server: string;
  readonly tool: string;
  readonly input: Json;
}

/** A tool of a connected server, as the model would call it. Nobody is asked: the hook is the user's, or was agreed to. */
function callTool({ servers, tools }: HookOptions, { server, tool, input }: ToolWish, session: Session, signal: AbortSignal): Promise<{ readonly text: string; readonly failed: boolean }> {
  const found = servers().find(({ name }) => name === server);
  if (found?.state !== 'connected') return Promise.resolve({ failed: true, text: `the server ${server} is not connected` });
  const plain = tool.replaceAll(/[^a-zA-Z0-9_-]/g, '_');
  const name = found.tools.find((one) => one.endsWith(`__${plain}`));
  if (name === undefined) return Promise.resolve({ failed: true, text: `the server ${server} has no tool ${tool}` });
  return hooking.run(true, async () => {
    const run = tools().tools.run({ id: `hook_${randomUUID()}` as CallId, tool: name, input }, session, signal);
    for (;;) {
      const next = await run.next();
      if (next.done !== true) continue;
      const { kind, content } = next.value.result;
      return { failed: kind !== 'ok', text: content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n') };
    }
  });
}

/** What it costs is in the conversation's log already. */
function byAgent({ agents }: HookOptions, question: string, { model, title }: { readonly model?: string; readonly title: string }, session: Session, signal: AbortSignal): Promise<Judged> {
  const lead = agents().lead(session) ?? session;
  return hooking.run(true, async () => {
    const run = agents().run({ type: 'Explore', title, prompt: `${instructions.trim()}\n\n${question}`, background: false, ...(model !== undefined && { model }) }, lead, signal);
    for (;;) {
      const next = await run.next();
      if (next.done !== true) continue;
      return next.value.kind === 'done' ? { text: next.value.shown ?? next.value.text } : { problem: next.value.kind === 'interrupted' ? 'interrupted' : next.value.text };
    }
  });
}
