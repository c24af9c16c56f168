import type { AvailableCommand, McpServer, SessionConfigOption, SessionMode, SessionModeState } from '@agentclientprotocol/sdk';
import type { Json } from '#lib/brand.ts';
import { sanitise } from '#lib/terminal.ts';
import type { Command } from '#domain/command.ts';
import type { PermissionMode } from '#domain/entry.ts';
import type { ModelFacts } from '#domain/model.ts';

const MODES: Readonly<Record<PermissionMode, { readonly name: string; readonly description: string }>> = {
  default: { name: 'Ask', description: 'Writing and running are asked about' },
  acceptEdits: { name: 'Accept edits', description: 'Edits inside the project are not asked about' },
  plan: { name: 'Plan', description: 'The model reads and thinks, and changes nothing' },
  auto: { name: 'Auto', description: 'Nothing is asked: what is inside the project is done, what goes beyond it is refused' },
  bypassPermissions: { name: 'Bypass permissions', description: 'Everything is done without a question' },
};

/** Modes that the user may choose: the last one only where the program was started for it. */
export function modesOffered({ bypass, auto }: { readonly bypass: boolean; readonly auto: boolean }): readonly PermissionMode[] {
  return ['default', 'acceptEdits', 'plan', ...(auto ? ['auto' as const] : []), ...(bypass ? ['bypassPermissions' as const] : [])];
}

export function modeState(offered: readonly PermissionMode[], now: PermissionMode): SessionModeState {
  const all = offered.includes(now) ? offered : [...offered, now];
  return { currentModeId: now, availableModes: all.map((id): SessionMode => ({ id, ...MODES[id] })) };
}

export const OPTIONS = { mode: 'mode', model: 'model' } as const;

/** What can be set for a session: mode and model, for clients that know no modes too. */
export function configOptions(modes: SessionModeState, models: readonly ModelFacts[], now: ModelFacts): SessionConfigOption[] {
  const all = models.some(({ id }) => id === now.id) ? models : [...models, now];
  return [
    {
      type: 'select', id: OPTIONS.mode, category: 'mode', name: 'Mode', description: 'What may be done without asking', currentValue: modes.currentModeId,
      options: modes.availableModes.map(({ id, name, description }) => ({ value: id, name, description: description ?? null })),
    },
    {
      type: 'select', id: OPTIONS.model, category: 'model', name: 'Model', description: 'Which model answers, from the next prompt on', currentValue: now.id,
      options: all.map(({ id, label }) => ({ value: id, name: label })),
    },
  ];
}

/** Commands that are of no use where an editor is the surface. */
const NOT_HERE: ReadonlySet<string> = new Set(['exit', 'clear', 'resume', 'login', 'logout', 'queue', 'config', 'statusline', 'ide']);

export function commandsOffered(commands: readonly Command[]): AvailableCommand[] {
  return commands.filter(({ id }) => !NOT_HERE.has(id)).map(({ id, summary, usage }) => ({
    name: id, description: sanitise(summary === '' ? id : summary, { newlines: false }), ...(usage !== undefined && { input: { hint: sanitise(usage, { newlines: false }) } }),
  }));
}

/** The client's servers as `--mcp-config` takes them; undefined for none. */
export function serversJson(servers: readonly McpServer[]): string | undefined {
  if (servers.length === 0) return undefined;
  const names = new Set<string>();
  return JSON.stringify({ mcpServers: Object.fromEntries(servers.map((server) => [nameOf(server.name, names), serverJson(server)])) });
}

const LONGEST_NAME = 60;

/** An editor may call a server what it likes; here a name has letters, digits, `-` and `_`, and belongs to one. */
function nameOf(name: string, taken: Set<string>): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, LONGEST_NAME) || 'server';
  let unique = plain;
  for (let n = 2; taken.has(unique); n += 1) unique = `${plain}_${n}`;
  taken.add(unique);
  return unique;
}

const pairs = (list: readonly { readonly name: string; readonly value: string }[]): Readonly<Record<string, string>> => Object.fromEntries(list.map(({ name, value }) => [name, value]));

function serverJson(server: McpServer): Json {
  if ('url' in server) return { type: server.type, url: server.url, headers: pairs(server.headers) };
  return { type: 'stdio', command: server.command, args: server.args, env: pairs(server.env) };
}
