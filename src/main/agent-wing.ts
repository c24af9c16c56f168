import type { PermissionMode } from '#domain/entry.ts';
import type { Session } from '#domain/session.ts';
import type { AgentDesk } from '#agents/desk.ts';

/** Agents as the rest of the house sees them. */
export interface AgentWing extends AgentDesk {
  /** The mode of a thread, given the one of its conversation: a sub-agent never has more rights. */
  mode(session: Session, conversation: (session: Session) => PermissionMode): PermissionMode;
  /** How a sub-agent is named to the person; undefined for the conversation itself. */
  who(session: Session): string | undefined;
}
