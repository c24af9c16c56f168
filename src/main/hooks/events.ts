import type { ElicitationVerdict, HookEvent, HookSaid } from '#domain/hooks.ts';
import type { FailureKind, Outcome } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { PromptBody } from '#loop/query.ts';
import { type Fields, fieldsOf } from '#hooks/answer.ts';
import { blockEntries, reasonLine, type Verdicts } from '#hooks/combine.ts';
import { agentNames } from '#hooks/match.ts';
import type { HookDesk } from './desk.ts';
import type { Stopping } from './wing.ts';

const NEVER = new AbortController().signal;

/** Asks hooks of a prompt. `stop`: why it is not sent. */
export async function askAboutPrompt(desk: HookDesk, { text, shown, skill }: PromptBody, session: Session, signal: AbortSignal): Promise<HookSaid> {
  const line = skill === undefined ? undefined : shown ?? `/${skill.name}`;
  const expanded = skill === undefined || line === undefined ? undefined : await desk.hear('UserPromptExpansion', session, { names: [skill.name], fields: {
    expansion_type: 'slash_command', command_name: skill.name, command_args: line.replace(/^\S+\s*/, ''), command_source: 'user', prompt: line,
  } }, signal);
  const refused = expanded === undefined ? undefined : stopOf(expanded);
  if (refused !== undefined) return { entries: expanded?.entries ?? [], stop: refused };
  const said = await desk.hear('UserPromptSubmit', session, { fields: { prompt: line ?? text } }, signal);
  const stop = stopOf(said);
  return { entries: [...expanded?.entries ?? [], ...said.entries], ...(stop !== undefined && { stop }) };
}

function stopOf(said: Verdicts): string | undefined {
  return said.stop ?? (said.blocks.length > 0 ? `The prompt was not sent: ${reasonLine(said)}` : undefined);
}

const LONGEST_DESCRIPTION = 1000;

export async function askAtStop(desk: HookDesk, session: Session, active: boolean, signal: AbortSignal): Promise<Stopping> {
  const { agents, tasks } = desk.options;
  const self = agents().self(session);
  const lead = agents().lead(session) ?? session;
  const running = (await tasks().list(lead)).filter(({ state, name, id }) => state === 'running' && (name ?? id) !== self?.name);
  const fields: Fields = {
    stop_hook_active: active, last_assistant_message: lastWords(session), session_crons: [],
    background_tasks: running.map(({ id, kind, title, agent }) => ({ id, type: kind === 'agent' ? 'subagent' : 'shell', status: 'running', description: title.slice(0, LONGEST_DESCRIPTION), ...(kind === 'agent' ? { agent_type: agent ?? '' } : { command: title.slice(0, LONGEST_DESCRIPTION) }) })),
  };
  if (self === undefined) return stoppingOf(await desk.hear('Stop', session, { fields }, signal));
  const file = agents().live(lead).find(({ id, name }) => (name ?? id) === self.name)?.file;
  const stopped = stoppingOf(await desk.hear('SubagentStop', session, { names: agentNames(self.type.name), fields: { ...fields, ...(file !== undefined && { agent_transcript_path: file }) } }, signal));
  if (stopped.goOn || !self.named) return stopped;
  const idle = await desk.hear('TeammateIdle', session, { fields: { teammate_name: self.name } }, signal);
  return { entries: [...stopped.entries, ...idle.entries, ...blockEntries(idle)], goOn: idle.blocks.length > 0 && idle.stop === undefined };
}

function stoppingOf(said: Verdicts): Stopping {
  if (said.stop !== undefined) return { entries: [...said.entries, { type: 'notice', level: 'warning', text: said.stop }], goOn: false };
  return { entries: [...said.entries, ...blockEntries(said)], goOn: said.blocks.length > 0 || said.answers.some(({ context }) => context !== undefined) };
}

function lastWords({ log }: Session): string {
  const last = log.findLast((entry) => entry.type === 'assistant');
  return last === undefined ? '' : last.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n').trim();
}

/** A sub-agent begins: what hooks say stands before its task. */
export async function tellSubagent(desk: HookDesk, session: Session, signal: AbortSignal): Promise<HookSaid> {
  const self = desk.options.agents().self(session);
  return self === undefined ? { entries: [] } : desk.hear('SubagentStart', session, { names: agentNames(self.type.name), fields: {} }, signal);
}

/** Our classes of failure by the names that other shells have for them. */
const FAILURES: Readonly<Partial<Record<FailureKind, string>>> = {
  limit: 'rate_limit', overloaded: 'overloaded', auth: 'authentication_failed', permission: 'authentication_failed', notFound: 'model_not_found', invalid: 'invalid_request', tooLong: 'invalid_request',
  signature: 'invalid_request', image: 'invalid_request', network: 'server_error', server: 'server_error',
};

export async function tellFailure(desk: HookDesk, { why, message }: Extract<Outcome, { readonly kind: 'failed' }>, session: Session): Promise<void> {
  const error = FAILURES[why] ?? 'unknown';
  await desk.hear('StopFailure', session, { names: [error], fields: { error, error_details: message, last_assistant_message: message } }, NEVER);
}

export async function notify(desk: HookDesk, type: string, message: string, title: string | undefined, session: Session): Promise<void> {
  const said = await desk.hear('Notification', session, { names: [type], fields: { message, ...(title !== undefined && { title }), notification_type: type } }, NEVER);
  desk.deliver(session, said.entries);
}

/** Asks hooks about a question of a server's, or about what was answered to one. */
export async function askElicitation(desk: HookDesk, event: Extract<HookEvent, 'Elicitation' | 'ElicitationResult'>, server: string, fields: Fields, session: Session, signal: AbortSignal): Promise<ElicitationVerdict | undefined> {
  const said = await desk.hear(event, session, { names: [server], fields: { mcp_server_name: server, ...fields } }, signal);
  desk.deliver(session, said.entries);
  if (said.blocks.length > 0 || said.stop !== undefined) return { action: 'decline' };
  for (const { more } of said.answers) {
    const action = more['action'];
    const content = fieldsOf(more['content']);
    if (action === 'accept' || action === 'decline' || action === 'cancel') return { action, ...(content !== undefined && { content }) };
  }
  return undefined;
}

/** Why a changed settings file is not to be taken up (one line). */
export async function askAboutConfig(desk: HookDesk, source: string, file: string, session: Session): Promise<string | undefined> {
  const said = await desk.hear('ConfigChange', session, { names: [source], fields: { source, file_path: file } }, NEVER);
  desk.deliver(session, said.entries);
  return said.blocks.length > 0 ? reasonLine(said) : undefined;
}

