import type { AgentPort, AgentType } from '#domain/agents.ts';
import type { ToolDefinition } from '#domain/content.ts';
import type { SearchPort } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { DeferredTool } from '#domain/tool.ts';
import { readRules } from '#gate/rules.ts';
import { tools } from '#tools/kinds/list.ts';
import type { Toolbox } from '#tools/toolbox.ts';
import type { Configuration } from './configuration.ts';

const SEARCH = 'ToolSearch';
/** Without this reminder the model would not know what there is to load. */
const REMINDER = 'deferred_tools_delta';
const OFF = /^(?:0|false|no|off)$/i;

interface OfferOptions {
  readonly configuration: Configuration;
  readonly agents: AgentPort;
  readonly env: () => Readonly<Record<string, string>>;
  readonly toolbox: Toolbox;
  readonly search: SearchPort;
}

/** Which tools the model is offered, at once or on demand. What a rule forbids as a whole is not named to it. */
export interface Offer {
  /** Of a type of sub-agent: what it may have. */
  definitions(type?: AgentType): readonly ToolDefinition[];
  /** Without a session: what there is for anybody. */
  deferred(session?: Session): readonly DeferredTool[];
}

export function createOffer({ configuration, agents, env, toolbox, search: port }: OfferOptions): Offer {
  const now = (type: AgentType | undefined): { readonly head: readonly ToolDefinition[]; readonly deferred: readonly DeferredTool[] } => {
    const forbidden = new Set(readRules(configuration.rules().deny, 'deny').rules.flatMap(({ tool, spec }) => (spec === undefined ? [tool === 'Agent' ? 'Task' : tool] : [])));
    if (!port.offered()) forbidden.add('WebSearch');
    const deferred = toolbox.deferred().filter(({ definition: { name }, threads }) => !forbidden.has(name) && (type === undefined || (threads === 'all' && isOf(type, name))));
    const head = toolbox.definitions().filter(({ name }) => name !== SEARCH && !forbidden.has(name) && (type === undefined || (isForAll(name) && isOf(type, name))));
    const search = toolbox.definitions().filter(({ name }) => name === SEARCH && !forbidden.has(name));
    const onDemand = search.length > 0 && !OFF.test((env()['ENABLE_TOOL_SEARCH'] ?? '').trim()) && !configuration.settings().remindersOff.includes(REMINDER);
    if (deferred.length === 0) return { head, deferred };
    const all = onDemand ? [...head, ...search] : [...head, ...deferred.map(({ definition }) => definition)];
    return { head: all.sort((a, b) => (a.name < b.name ? -1 : 1)), deferred: onDemand ? deferred : [] };
  };
  return {
    definitions: (type) => now(type).head,
    deferred: (session) => now(session === undefined ? undefined : agents.self(session)?.type).deferred,
  };
}

function isForAll(name: string): boolean {
  return tools.some(({ id, threads }) => id === name && threads === 'all');
}

/** Whether a sub-agent of a type may have a tool. */
function isOf({ tools, disallowedTools }: AgentType, name: string): boolean {
  return (tools === undefined || tools.includes(name)) && !disallowedTools.includes(name);
}
