import type { Brand, Json } from '#lib/brand.ts';
import type { StoredAttachment } from './attachment.ts';
import type { Card } from './card.ts';
import type { ContentBlock, Effort, MediaPart, StopReason, TextBlock, ToolDefinition, Usage } from './content.ts';
import type { ReminderBody } from './reminder.ts';
import type { TaskRecord } from './tasks.ts';
import type { Call, CallId, ToolResult } from './tool.ts';

/** Unique in its log; ids grow with the log's order. */
export type EntryId = Brand<'EntryId'>;

/** `auto`: what would be asked is decided by the gate itself, within the workspace, and refused beyond it. */
export const PERMISSION_MODES = ['default', 'acceptEdits', 'plan', 'auto', 'bypassPermissions'] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

/** What the user sets for one session only; `null` takes it back to what the settings say. */
export type OptionName = 'outputStyle' | 'budgetUsd';

/** Something went wrong that costs a part only; shown to the user, never thrown. */
export interface Fault {
  /** Empty where the message says it itself. */
  readonly where: string;
  readonly message: string;
}

/** Of a prompt that is a skill's text: which skill, and the part of the text in which mentions count (what its commands put out is not in it). */
export interface SkillCall {
  readonly name: string;
  readonly mentions: string;
}

/** System text, tools, model and effort as they are sent, until the next head. */
export interface HeadBody {
  readonly type: 'head';
  readonly system: readonly TextBlock[];
  readonly tools: readonly ToolDefinition[];
  readonly model: string;
  readonly effort?: Effort;
}

export interface AssistantBody {
  readonly type: 'assistant';
  /** Raw blocks in the order received. After an interrupt: only finished text, no thinking, no open call. */
  readonly content: readonly ContentBlock[];
  readonly usage: Usage;
  readonly stop: StopReason;
  readonly model: string;
  /** The API's message id, where it gave one. */
  readonly messageId?: string;
}

/** Replaces everything before it by a summary. Written between complete tool rounds only. */
export interface CompactionBody {
  readonly type: 'compaction';
  readonly summary: string;
  /** Who wanted it: the user's `/compact`, the fit before a request, or the provider's refusal for length. */
  readonly trigger: 'manual' | 'auto' | 'salvage';
  /** The prompt that was not answered yet and therefore stays, word for word. */
  readonly openPrompt?: EntryId;
  readonly usage: Usage;
  readonly model: string;
  readonly tokensBefore: number;
}

export type EntryBody =
  | HeadBody
  /**
   * `shown`: the line that the user typed, where `text` was made of it; `skill`, where it was made by a skill or Markdown command;
   * `mentions`: the part of the text in which mentions count, where another program put texts beside the user's words.
   */
  | { readonly type: 'prompt'; readonly text: string; readonly media?: readonly MediaPart[]; readonly shown?: string; readonly skill?: SkillCall; readonly mentions?: string }
  /** Typed while the model worked. Delivered once: the source `queued_commands` keeps the last delivered id as its snapshot. */
  | { readonly type: 'queued'; readonly text: string }
  /** What the user takes back from the queue before it was delivered. */
  | { readonly type: 'unqueued'; readonly target: EntryId }
  | ReminderBody
  | AssistantBody
  | { readonly type: 'toolResult'; readonly callId: CallId; readonly tool: string; readonly result: ToolResult }
  | { readonly type: 'attach'; readonly attachment: StoredAttachment; readonly by: 'user' | 'model' }
  | { readonly type: 'detach'; readonly attachmentId: string }
  | CompactionBody
  /** Leaves an entry (or only its media) out of later requests; a stub keeps calls and results paired. */
  | { readonly type: 'exclude'; readonly target: EntryId; readonly what: 'entry' | 'media' }
  | { readonly type: 'restore'; readonly target: EntryId }
  /** From here on the conversation is what it was just after entry `to`; pins, the user's todos, mode and money stay. */
  | { readonly type: 'rewind'; readonly to: EntryId }
  /** All thinking up to here is left out of later requests: the API said that its signature no longer fits. */
  | { readonly type: 'strip'; readonly reason: string }
  | { readonly type: 'mode'; readonly mode: PermissionMode }
  /** The directory in which shell commands run from now on (absolute). */
  | { readonly type: 'cwd'; readonly path: string }
  | { readonly type: 'option'; readonly name: OptionName; readonly value: Json }
  /** Money that was spent beside the conversation: a sub-agent's replies, a page that a small model read. `what` names it in one line. */
  | { readonly type: 'spent'; readonly what: string; readonly model: string; readonly usage: Usage; readonly requests: number }
  /** A background task as it stands now: the newest of an id counts. */
  | { readonly type: 'task'; readonly task: TaskRecord }
  /** Output of a task up to this byte was given to the model (0: it was told of the task). `ended`: it was told that the task has ended as well. */
  | { readonly type: 'taskRead'; readonly task: string; readonly upTo: number; readonly ended?: true }
  /** A plan that the model laid before the user, and what the user said to it. `file`: absolute, holds the same text. */
  | { readonly type: 'plan'; readonly file: string; readonly text: string; readonly state: 'proposed' | 'approved' | 'rejected' }
  /** A command that the user ran with `!`; its output goes to the model with the next prompt. `task`: it goes on in the background as this one. */
  | { readonly type: 'shell'; readonly command: string; readonly output: string; readonly exitCode: number | null; readonly task?: string }
  /** A slash command and what it showed: for the user's eyes, never sent. */
  | { readonly type: 'command'; readonly line: string; readonly card: Card }
  /** What a hook said that the model is to know. `event` and `hook` name whose words they are; delivered once, by the source `hook_context`. */
  | { readonly type: 'hookContext'; readonly event: string; readonly hook: string; readonly text: string }
  /** For the user's eyes, never sent. */
  | { readonly type: 'notice'; readonly text: string; readonly level: 'info' | 'warning' | 'error' };

/** One durable record of the log. What is not here did not happen. `at` is an ISO time for display; order is the log's own. */
export type Entry = EntryBody & { readonly id: EntryId; readonly at: string };

/** An entry of one type. */
export type EntryOf<T extends EntryBody['type']> = Extract<Entry, { readonly type: T }>;

/** What the loop yields: an entry, or something only for eyes that a replay does not need. */
export type Event =
  | { readonly type: 'entry'; readonly entry: Entry }
  | { readonly type: 'textDelta'; readonly text: string }
  /** Thinking as it comes; `text` may be empty while `tokens` (estimated, so far) grows. */
  | { readonly type: 'thinkingDelta'; readonly text: string; readonly tokens?: number }
  /** A call's input is being written; `chars` so far. */
  | { readonly type: 'callDelta'; readonly tool: string; readonly chars: number }
  /** What was streamed since the last entry is thrown away: the request is sent again. */
  | { readonly type: 'discarded' }
  | { readonly type: 'toolStarted'; readonly call: Call; readonly card: Card }
  /** What a tool at work says now, such as the last lines of its output so far: in place of what it said before. */
  | { readonly type: 'toolProgress'; readonly callId: CallId; readonly text: string }
  /** A failed request waits before it is sent again; `attempt` counts from 1. */
  | { readonly type: 'waiting'; readonly attempt: number; readonly reason: string; readonly ms: number; readonly most?: number; readonly status?: number; readonly why?: string }
  /** What the loop is busy with between two entries, such as `compacting`. */
  | { readonly type: 'doing'; readonly what: string }
  | ({ readonly type: 'fault' } & Fault);
