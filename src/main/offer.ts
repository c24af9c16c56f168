import type { AgentPort, AgentType } from '#domain/agents.ts';
import type { ToolDefinition } from '#domain/content.ts';
import type { Entry, HeadBody } from '#domain/entry.ts';
import type { SearchPort } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { DeferredTool } from '#domain/tool.ts';
import { coversTool } from '#gate/calls.ts';
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
  /** Of a type of sub-agent: what it may have. `log`: of a conversation that has begun, whose cache is to hold. */
  definitions(type?: AgentType, log?: readonly Entry[]): readonly ToolDefinition[];
  /** Without a session: what there is for anybody. */
  deferred(session?: Session): readonly DeferredTool[];
}

interface Offered {
  readonly head: readonly ToolDefinition[];
  readonly deferred: readonly DeferredTool[];
}

export function createOffer({ configuration, agents, env, toolbox, search: port }: OfferOptions): Offer {
  const now = (type: AgentType | undefined, log: readonly Entry[]): Offered => {
    const denied = readRules(configuration.rules().deny, 'deny').rules.filter(({ spec }) => spec === undefined);
    const allowed = (name: string): boolean => !denied.some(({ tool }) => coversTool(tool, name)) && (name !== 'WebSearch' || port.offered()) && (type === undefined || isOf(type, name));
    const all = toolbox.deferred().filter(({ definition: { name }, threads }) => allowed(name) && (type === undefined || threads === 'all'));
    const own = toolbox.definitions().filter(({ name }) => name !== SEARCH && allowed(name) && (type === undefined || isForAll(name)));
    // Any agent that may have tools on demand may load them.
    const search = toolbox.definitions().filter(({ name }) => name === SEARCH && !denied.some(({ tool }) => coversTool(tool, name)));
    const onDemand = search.length > 0 && !OFF.test((env()['ENABLE_TOOL_SEARCH'] ?? '').trim()) && !configuration.settings().remindersOff.includes(REMINDER);
    const wanted = [...own, ...all.filter(({ alwaysLoad }) => !onDemand || alwaysLoad === true).map(({ definition }) => definition)];
    const head = steady(wanted, log, { allowed, grows: !onDemand });
    // What others bring along later is no reason for another head; a type that names tools of theirs waits for them.
    const loads = onDemand && (all.some(({ definition }) => !isForeign(definition.name)) || (headIn(log)?.tools.some(({ name }) => name === SEARCH) ?? (all.length > 0 || type?.tools?.some(isForeign) === true)));
    const deferred = loads ? all.filter(({ definition }) => !head.some(({ name }) => name === definition.name)) : [];
    return { head: [...head, ...(loads ? search : [])].sort(byName), deferred };
  };
  return {
    definitions: (type, log = []) => now(type, log).head,
    deferred: (session) => now(session === undefined ? undefined : agents.self(session)?.type, session?.log ?? []).deferred,
  };
}

const byName = (a: ToolDefinition, b: ToolDefinition): number => (a.name < b.name ? -1 : 1);

/**
 * Tools of other programs come, go and change at any time: in a conversation that has begun, its head holds those that it began
 * with, byte for byte, until a compaction makes everything new. What came later is loaded on demand; only where that is switched
 * off (`grows`) it is put beside them.
 */
function steady(wanted: readonly ToolDefinition[], log: readonly Entry[], { allowed, grows }: { readonly allowed: (name: string) => boolean; readonly grows: boolean }): readonly ToolDefinition[] {
  const begun = headIn(log);
  if (begun === undefined) return wanted;
  const kept = begun.tools.filter(({ name }) => isForeign(name) && allowed(name));
  return [...wanted.filter(({ name }) => !isForeign(name)), ...kept, ...wanted.filter(({ name }) => grows && isForeign(name) && !kept.some((tool) => tool.name === name))];
}

/** What the conversation began with; undefined where the next request begins anew. */
function headIn(log: readonly Entry[]): HeadBody | undefined {
  const last = log.findLast(({ type }) => type === 'head' || type === 'compaction');
  return last?.type === 'head' ? last : undefined;
}

function isForeign(name: string): boolean {
  return name.startsWith('mcp__');
}

function isForAll(name: string): boolean {
  return tools.some(({ id, threads }) => id === name && threads === 'all');
}

/** Whether a sub-agent of a type may have a tool. */
function isOf({ tools, disallowedTools }: AgentType, name: string): boolean {
  const names = (list: readonly string[]): boolean => list.some((one) => one === name || (isForeign(one) && coversTool(one, name)));
  return (tools === undefined || names(tools)) && !names(disallowedTools);
}
