import type { Json } from '#lib/brand.ts';
import type { EntryBody, EntryOf } from './entry.ts';
import type { Session } from './session.ts';
import type { Call, ToolResult } from './tool.ts';

/** What hooks said that the model is to know, as the log keeps it. */
export type HookContext = EntryOf<'hookContext'>;

/** The source whose snapshot is the id of the last hook's words that were delivered. */
export const HOOK_SOURCE = 'hook_context';

export const HOOK_EVENTS = [
  'SessionStart', 'SessionEnd', 'UserPromptSubmit', 'UserPromptExpansion', 'PreToolUse', 'PermissionRequest', 'PermissionDenied', 'PostToolUse', 'PostToolUseFailure',
  'PostToolBatch', 'Notification', 'SubagentStart', 'SubagentStop', 'Stop', 'StopFailure', 'TaskCreated', 'TaskCompleted', 'TeammateIdle', 'PreCompact', 'PostCompact',
  'InstructionsLoaded', 'FileChanged', 'ConfigChange', 'CwdChanged', 'Elicitation', 'ElicitationResult',
] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** What hooks made of an event that the loop told of: entries to keep, and why the turn is to end (one line), if it is. */
export interface HookSaid {
  readonly entries: readonly EntryBody[];
  readonly stop?: string;
}

/** Who is told what the loop does, and may stop it. Never throws; answers within its hooks' time-outs, at once on an abort. */
export interface HookPort {
  /** `stop`: why the conversation is not to be compacted. `keep`: what the user asked to be kept. */
  beforeCompact(trigger: 'manual' | 'auto', keep: string, session: Session, signal: AbortSignal): Promise<HookSaid>;
  afterCompact(trigger: 'manual' | 'auto', summary: string, session: Session, signal: AbortSignal): Promise<HookSaid>;
  /** After all calls of a reply have results, before the model is asked again. */
  afterCalls(calls: readonly { readonly call: Call; readonly result: ToolResult }[], session: Session, signal: AbortSignal): Promise<HookSaid>;
}

/** The runs of hooks as they happen, for those who print them. `name`: such as `PreToolUse:Bash`. */
export type HookNews =
  | { readonly type: 'started'; readonly id: string; readonly session: Session; readonly event: HookEvent; readonly name: string }
  | { readonly type: 'progress'; readonly id: string; readonly session: Session; readonly event: HookEvent; readonly name: string; readonly stdout: string; readonly stderr: string }
  | {
    readonly type: 'response'; readonly id: string; readonly session: Session; readonly event: HookEvent; readonly name: string;
    readonly stdout: string; readonly stderr: string;
    /** Undefined where there was no process, or it was ended. */
    readonly exitCode?: number;
    readonly outcome: 'success' | 'error' | 'cancelled';
  };

/** Tells of the runs of hooks until the returned call. */
export interface HookFeed {
  listen(tell: (news: HookNews) => void): () => void;
}

/** The `hooks` of one settings file, as they stand there. `own`: the user alone writes it. */
export interface HookSettings {
  readonly file: string;
  readonly own: boolean;
  readonly hooks: Json;
}

/** One hook as `/hooks` shows it. */
export interface HookView {
  readonly id: string;
  readonly event: string;
  readonly matcher: string;
  readonly type: string;
  /** The command, address, tool or question, whole. */
  readonly what: string;
  /** Where it stands: a settings file, a skill or an agent. */
  readonly from: string;
  /** `new`: it is the folder's, and the user has not agreed to it as it is now. */
  readonly state: 'ready' | 'new' | 'off';
  readonly last?: { readonly at: Date; readonly name: string; readonly ms: number; readonly said: string };
}

/** Hooks as the house shows them. `problems`: what is wrong with their files, one line each. */
export interface HooksView {
  readonly hooks: readonly HookView[];
  readonly problems: readonly string[];
  /** Why none runs at all, one line. */
  readonly off?: string;
}

/** What a hook answered to a server's question. */
export interface ElicitationVerdict {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, Json>>;
}
