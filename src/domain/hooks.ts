import type { EntryOf } from './entry.ts';
import type { Session } from './session.ts';
import type { Call, ToolResult } from './tool.ts';

/** What hooks said that the model is to know, as the log keeps it. */
export type HookContext = EntryOf<'hookContext'>;

/** Who is told what the loop does, and may stop it. Never throws. */
export interface HookPort {
  /** Why the conversation is not to be compacted; undefined: go on. */
  beforeCompact(trigger: 'manual' | 'auto', session: Session, signal: AbortSignal): Promise<string | undefined>;
  afterCompact(trigger: 'manual' | 'auto', summary: string, session: Session, signal: AbortSignal): Promise<void>;
  /** After all calls of a reply have results, before the model is asked again. Why the turn is to stop; undefined: go on. */
  afterCalls(calls: readonly { readonly call: Call; readonly result: ToolResult }[], session: Session, signal: AbortSignal): Promise<string | undefined>;
}
