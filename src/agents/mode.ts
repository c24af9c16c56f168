import type { PermissionMode } from '#domain/entry.ts';

/** From few rights to many. */
const ORDER: readonly PermissionMode[] = ['plan', 'default', 'acceptEdits', 'auto', 'bypassPermissions'];

/** The mode of a sub-agent: that of its type where it has no more rights than the conversation's. */
export function modeWithin(conversation: PermissionMode, own: PermissionMode | undefined): PermissionMode {
  return own !== undefined && ORDER.indexOf(own) < ORDER.indexOf(conversation) ? own : conversation;
}
