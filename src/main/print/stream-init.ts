import type { McpServer, McpState } from '#domain/mcp.ts';
import { VERSION } from '#cli/version.ts';
import type { Message } from '#headless/messages.ts';
import type { Conversation } from '#main/conversation.ts';
import type { House } from '#main/house.ts';

/** Requests that standard input may hold. */
export const REQUESTS = ['initialize', 'interrupt', 'set_permission_mode', 'set_model', 'mcp_status', 'get_context_usage', 'stop_task'] as const;

const STATES: Readonly<Record<McpState, string>> = { connecting: 'pending', connected: 'connected', failed: 'failed', unapproved: 'disabled', login: 'needs-auth', off: 'disabled' };

export function serversOf(servers: readonly McpServer[]): readonly { readonly name: string; readonly status: string; readonly error?: string }[] {
  return servers.map(({ name, state, detail }) => ({ name, status: STATES[state], ...(detail !== undefined && { error: detail }) }));
}

/** The first line of the stream: what this session is and has. */
export async function initMessage(house: House, conversation: Conversation): Promise<Message> {
  const { place, desk, tools } = house;
  const { session } = conversation;
  const { signal } = new AbortController();
  const [commands, skills, agents, styles] = await Promise.all([conversation.commands(), house.skills.list(session, signal), house.agents.types(signal), house.modes.styles(session)]);
  const { effort, tools: offered } = house.head();
  const names = new Set([...offered.map(({ name }) => name), ...tools.deferred(session).map(({ definition }) => definition.name)]);
  return {
    type: 'system', subtype: 'init', cwd: place.cwd, tools: [...names].sort(),
    mcp_servers: serversOf(house.mcp.servers()).map(({ name, status }) => ({ name, status })),
    model: desk.id(), permissionMode: conversation.mode(),
    slash_commands: commands.map(({ id }) => id), apiKeySource: keySource(house),
    // Programs of this field look for the version under the second name.
    pinion_version: VERSION, claude_code_version: VERSION,
    output_style: styles.now ?? 'default', agents: agents.map(({ name }) => name), skills: skills.filter(({ form }) => form === 'skill').map(({ name }) => name), plugins: [],
    ...(effort !== undefined && { effort }), betas: desk.credentials().betas, capabilities: REQUESTS,
  };
}

function keySource({ desk, place: { env } }: House): string {
  const { from } = desk.credentials();
  if (from !== 'environment') return from === 'login' ? 'user' : 'none';
  return (env['ANTHROPIC_API_KEY'] ?? '').trim() === '' ? 'ANTHROPIC_AUTH_TOKEN' : 'ANTHROPIC_API_KEY';
}

/** What whoever opens the stream is told. */
export async function openingOf(house: House, conversation: Conversation): Promise<Readonly<Record<string, unknown>>> {
  const { session } = conversation;
  const [commands, agents, styles] = await Promise.all([conversation.commands(), house.agents.types(new AbortController().signal), house.modes.styles(session)]);
  return {
    commands: commands.map(({ id, summary, usage }) => ({ name: id, description: summary, argumentHint: usage ?? '' })),
    agents: agents.map(({ name, description, model }) => ({ name, description, ...(model !== undefined && { model }) })),
    output_style: styles.now ?? 'default', available_output_styles: styles.all.map(({ name }) => name),
    models: house.desk.models().map(({ id, label, efforts }) => ({ value: id, displayName: label, description: id, supportsEffort: efforts.length > 0, supportedEffortLevels: efforts })),
    account: { apiKeySource: keySource(house) }, pid: process.pid,
  };
}
