import { defineFold } from '#lib/fold.ts';
import type { GroupGuard } from '#lib/group-guard.ts';
import type { Entry, PermissionMode } from '#domain/entry.ts';
import type { McpServer } from '#domain/mcp.ts';
import type { Session } from '#domain/session.ts';
import type { Arguments } from '#cli/arguments.ts';
import type { HookSource } from '#hooks/read.ts';
import type { Skills } from '#skills/skills.ts';
import type { AgentWing } from '#main/agent-wing.ts';
import type { Beside } from '#main/beside.ts';
import type { Configuration } from '#main/configuration.ts';
import type { Place } from '#main/place.ts';
import type { ModelDesk } from '#main/wire-model.ts';
import type { TaskWing } from '#main/wire-tasks.ts';
import type { ToolWing } from '#main/wire-tools.ts';

export interface HookOptions extends Beside {
  readonly place: Place;
  readonly args: Arguments;
  readonly configuration: Configuration;
  readonly desk: ModelDesk;
  readonly agents: () => AgentWing;
  readonly skills: () => Skills;
  readonly tasks: () => TaskWing;
  readonly tools: () => ToolWing;
  readonly mode: (session: Session) => PermissionMode;
  readonly servers: () => readonly McpServer[];
  readonly guard: GroupGuard;
  /** The conversation that the person has before them. */
  readonly held: () => Session | undefined;
  /** Sends a sequence that was found to be safe to the person's terminal, where there is one. */
  readonly emit: (sequence: string) => void;
  readonly onNotice: (text: string) => void;
}

/** Skills that a session has begun to follow, by name. */
const followedOf = defineFold<Entry, readonly string[]>([], (now, entry) => {
  const names = entry.type === 'prompt' && entry.skill !== undefined ? [entry.skill.name]
    : entry.type === 'assistant' ? entry.content.flatMap((block) => (block.type === 'tool_use' && block.name === 'Skill' ? [nameIn(block.input)] : [])) : [];
  const fresh = names.filter((name) => name !== '' && !now.includes(name));
  return fresh.length === 0 ? now : [...now, ...fresh];
});

function nameIn(input: unknown): string {
  const fields = typeof input === 'object' && input !== null ? input as Readonly<Record<string, unknown>> : {};
  const name = fields['skill'] ?? fields['name'];
  return typeof name === 'string' ? name.trim().replace(/^\//, '') : '';
}

/** Whether there is anything at all to run: the whole of what a session without hooks pays. */
export function isQuiet(options: HookOptions, session: Session): boolean {
  const { disableAllHooks, hooks } = options.configuration.settings();
  return disableAllHooks || (hooks.length === 0 && ofComponents(options, session).length === 0);
}

/** Where hooks stand: settings files, and for a session also the skills that it follows and the agent that it is. */
export function sourcesOf(options: HookOptions, session?: Session): readonly HookSource[] {
  const { configuration, place } = options;
  return [
    ...configuration.settings().hooks.map(({ file, own, hooks }) => ({ from: file.startsWith(`${configuration.project}/`) ? file.slice(configuration.project.length + 1) : file.replace(place.userHome, '~'), own, hooks })),
    ...(session === undefined ? [] : ofComponents(options, session)),
  ];
}

function ofComponents({ agents, skills }: HookOptions, session: Session): readonly HookSource[] {
  const type = agents().self(session)?.type;
  const followed = followedOf(session.log);
  return [
    ...(type?.hooks === undefined ? [] : [{ from: `the agent ${type.name}`, own: type.scope !== 'project', hooks: type.hooks, scope: `agent ${type.name}` }]),
    ...(followed.length === 0 ? [] : skills().known(session).flatMap(({ name, scope, hooks }) => (hooks !== undefined && followed.includes(name) ? [{ from: `the skill ${name}`, own: scope === 'user', hooks, scope: `skill ${name}` }] : []))),
  ];
}
