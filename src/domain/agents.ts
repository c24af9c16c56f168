import type { Json } from '#lib/brand.ts';
import type { Effort, Usage } from './content.ts';
import type { PermissionMode } from './entry.ts';
import type { Session } from './session.ts';
import type { CallId } from './tool.ts';

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
  /** A model's id or alias, or `cheap`: a small one of the same house where there is one. Undefined: that of the conversation. */
  readonly model?: string;
  readonly effort?: Effort;
  /** Most model requests in one run. */
  readonly maxSteps?: number;
  /** It never has more rights than the conversation that started it, whatever stands here. */
  readonly mode?: PermissionMode;
  /** It runs beside the conversation also when nobody says so. */
  readonly background?: boolean;
  /** Repeated to it while it works (`critical_system_reminder`). */
  readonly reminder?: string;
  readonly file?: string;
  /** Hooks that run while one of it is at work, as its file says. */
  readonly hooks?: Json;
}

export interface AgentRequest {
  readonly type: string;
  /** A few words for the user. */
  readonly title: string;
  readonly prompt: string;
  /** A named agent has a mailbox and is a member of the team; it runs beside the conversation. */
  readonly name?: string;
  readonly background: boolean;
  readonly model?: string;
  /** The call that asks for it. */
  readonly call?: CallId;
}

/** What a sub-agent came to. `spent` is per model, and stands in the asker's log already (`spent` entries). */
export interface AgentEnd {
  readonly kind: 'done' | 'failed' | 'interrupted' | 'started';
  /** The answer, capped and marked as the sub-agent's words; or why there is none; or how to reach it. */
  readonly text: string;
  readonly steps: number;
  readonly spent: readonly { readonly model: string; readonly usage: Usage; readonly requests: number }[];
  /** As the person sees it: one line, such as `5 steps · 12k tokens`. */
  readonly detail?: string;
  /** The answer as it is shown to the person, without marks (Markdown). */
  readonly shown?: string;
}

/** The main conversation's name in a team. */
export const LEAD = 'lead';

/** A message between agents. `to` is a name, `lead` the main conversation. Ids of one mailbox grow as texts. */
export interface Mail {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly at: string;
}

/** Mail from here to the lead, or to a member by the lead, is told by different sources; each keeps the last id that it told. */
export const MAIL_SOURCES = { teammates: 'teammate_mailbox', starter: 'agent_pending_messages' } as const;

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

/** A sub-agent that is at work now, in the foreground or beside the conversation. */
export interface LiveAgent {
  /** That of its task where it runs beside the conversation. */
  readonly id: string;
  readonly name?: string;
  readonly type: string;
  readonly title: string;
  readonly background: boolean;
  readonly startedAtMs: number;
  readonly steps: number;
  /** Of the last prompt, as it was measured. */
  readonly tokens: number;
  /** What it is at now, on one line. */
  readonly doing: string;
  /** Absolute path of its log. */
  readonly file: string;
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
  /** Sub-agents of this conversation that are at work now, oldest first. */
  live(session: Session): readonly LiveAgent[];
  /** Ends one by the id of its task or its name: its `task` entry says `stopped` when this is done. False when there is none at work. */
  stop(id: string, session: Session): boolean;
  /** Lets all that work in the foreground go on beside the conversation. False when there is none. */
  background(session: Session): boolean;
}
