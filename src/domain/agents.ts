import type { Usage } from './content.ts';
import type { PermissionMode } from './entry.ts';
import type { Session } from './session.ts';

/** What a sub-agent of a type is: from a Markdown file with front matter, or built in. */
export interface AgentType {
  readonly name: string;
  /** When to use it, on one line. */
  readonly description: string;
  readonly scope: 'builtIn' | 'user' | 'project';
  /** Its system prompt. */
  readonly prompt: string;
  /** Names of the tools that it has; undefined: all that a sub-agent may have. */
  readonly tools?: readonly string[];
  readonly disallowedTools: readonly string[];
  /** A model's id or alias; undefined: that of the conversation. */
  readonly model?: string;
  readonly maxSteps?: number;
  readonly mode?: PermissionMode;
  /** Repeated to it while it works (`critical_system_reminder`). */
  readonly reminder?: string;
  readonly file?: string;
}

export interface AgentRequest {
  readonly type: string;
  /** A few words for the user. */
  readonly title: string;
  readonly prompt: string;
  /** A named agent has a mailbox and is a member of the team. */
  readonly name?: string;
  readonly background: boolean;
  readonly model?: string;
}

/** What a sub-agent came to. `spent` is per model. */
export interface AgentEnd {
  readonly kind: 'done' | 'failed' | 'interrupted' | 'started';
  /** The answer, capped; or why there is none; or how to reach it. */
  readonly text: string;
  readonly steps: number;
  readonly spent: readonly { readonly model: string; readonly usage: Usage; readonly requests: number }[];
}

/** A message between agents. `to` is a name, `lead` the main conversation. */
export interface Mail {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly at: string;
}

export interface Member {
  readonly name: string;
  readonly type: string;
  readonly title: string;
  readonly state: 'working' | 'idle' | 'ended';
}

/** Who a thread is among the agents. */
export interface Self {
  readonly name: string;
  readonly type: AgentType;
  /** Whether it has a mailbox. */
  readonly named: boolean;
}

export interface AgentPort {
  types(signal: AbortSignal): Promise<readonly AgentType[]>;
  /** Runs a sub-agent; yields what it is at, one line each, and returns what it came to. An abort of `signal` ends it, unless it went to the background. */
  run(request: AgentRequest, session: Session, signal: AbortSignal): AsyncGenerator<string, AgentEnd>;
  /** Puts a message into a mailbox (`*`: into all others'). `problem`: one line. */
  send(to: string, text: string, session: Session): Promise<{ readonly sent: readonly string[] } | { readonly problem: string }>;
  /** Who this session's thread is; undefined for the main conversation. */
  self(session: Session): Self | undefined;
  /** Named agents of the session's team, the lead not among them. */
  members(session: Session): readonly Member[];
  /** All mail to this session's thread, oldest first; what was told before is in it. */
  mail(session: Session, signal: AbortSignal): Promise<readonly Mail[]>;
}
