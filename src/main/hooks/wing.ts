import type { Json } from '#lib/brand.ts';
import type { EntryBody } from '#domain/entry.ts';
import type { ElicitationVerdict, HookFeed, HookPort, HookSaid, HooksView } from '#domain/hooks.ts';
import type { Asker, GatePort, Outcome, ReminderPort, ToolPort } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { PromptBody } from '#loop/query.ts';

export type StartedBy = 'startup' | 'resume' | 'clear' | 'compact' | 'fork';
export type EndedBy = 'clear' | 'resume' | 'logout' | 'prompt_input_exit' | 'other';

/** What hooks said before the first prompt of a session. */
export interface Opening {
  readonly entries: readonly EntryBody[];
  /** What is to be sent first of all. */
  readonly firstPrompt?: string;
}

/** What hooks want when a turn has ended. */
export interface Stopping {
  readonly entries: readonly EntryBody[];
  readonly goOn: boolean;
}

/** Programs of the user's that are told what happens, and may say something to it. Nothing of it is loaded where there are no hooks. */
export interface HookWing {
  /** The runs of hooks, as they happen. */
  readonly feed: HookFeed;
  readonly port: HookPort;
  /** Whether there are none for a session. */
  quiet(session: Session): boolean;
  /** Asks hooks before the gate; deny and ask rules hold whatever they say. */
  gate(gate: GatePort): GatePort;
  /** Tells hooks what tools came to. */
  tools(tools: ToolPort): ToolPort;
  /** Tells hooks of questions to the person, which some may answer. */
  asker(asker: Asker): Asker;
  /** Tells hooks of the instruction files that were brought along. */
  reminders(reminders: ReminderPort): ReminderPort;
  /** Variables that hooks have set for commands. */
  env(): Readonly<Record<string, string>>;
  /** The folder's trust is settled: hooks of a session that has begun run from now on. */
  start(): void;
  /** A session begins or is gone on with: its hooks run in the background, as soon as {@link start} was called. */
  begin(how: StartedBy, session: Session): void;
  /** What hooks said of the session's start, once each; waits for them a while. */
  ready(session: Session, signal: AbortSignal): Promise<Opening>;
  /** `stop`: why a prompt is not to be sent (one line). */
  prompt(prompt: PromptBody, session: Session, signal: AbortSignal): Promise<HookSaid>;
  /** A turn has ended with an answer. `active`: it went on because of hooks already. */
  stop(session: Session, active: boolean, signal: AbortSignal): Promise<Stopping>;
  /** A turn has failed. */
  failed(outcome: Extract<Outcome, { readonly kind: 'failed' }>, session: Session): void;
  /** A sub-agent begins: what hooks have to say to it. */
  subagent(session: Session, signal: AbortSignal): Promise<HookSaid>;
  /** Waits for the hooks of a session's end, within their budget. */
  end(reason: EndedBy, session: Session): Promise<void>;
  /** Something that the person may want to hear of while looking elsewhere; of the conversation before them where no session is named. */
  notify(type: 'permission_prompt' | 'idle_prompt' | 'auth_success' | 'elicitation_dialog' | 'elicitation_complete' | 'elicitation_response', message: string, session?: Session): void;
  /** A question of a server's to the person, or what was answered: what hooks answer instead. */
  elicitation(event: 'Elicitation' | 'ElicitationResult', server: string, fields: Readonly<Record<string, Json>>, session: Session | undefined, signal: AbortSignal): Promise<ElicitationVerdict | undefined>;
  /** A settings file was saved. Why it is not to be taken up (one line). */
  configChanged(file: string, session: Session): Promise<string | undefined>;
  /** Settings were read anew. */
  reloaded(session: Session): void;
  /** The user's own command led to another directory. */
  moved(from: string, to: string, session: Session): void;
  view(session: Session): Promise<HooksView>;
  /** What the folder's hooks that nobody agreed to or refused would do, one line each; `refusedToo`: those that were refused as well. */
  pending(refusedToo?: boolean): Promise<readonly string[]>;
  agree(once: boolean): Promise<void>;
  /** `agreedToo`: takes back what was agreed to. */
  refuse(agreedToo?: boolean): Promise<void>;
  close(): void;
}
