import type { Json } from '#lib/brand.ts';
import type { Card } from './card.ts';
import type { BlobHash, BlobRef, ContentBlock, StopReason, ToolDefinition, Usage } from './content.ts';
import type { EntryBody, Fault, HeadBody } from './entry.ts';
import type { HookPort } from './hooks.ts';
import type { ModelFacts } from './model.ts';
import type { Moment, ReminderBody } from './reminder.ts';
import type { ModelRequest } from './request.ts';
import type { Session } from './session.ts';
import type { TaskRecord, TaskView } from './tasks.ts';
import type { Call, DeferredTool, ToolEffect, ToolResult } from './tool.ts';

// ── The model ────────────────────────────────────────────────────────────────────────────────────────────────────────

export type ModelDelta =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string; readonly tokens?: number }
  | { readonly type: 'call'; readonly tool: string; readonly chars: number }
  /** `most`: attempts after which it gives up; `status`: the server's, where it answered. */
  | { readonly type: 'waiting'; readonly attempt: number; readonly reason: string; readonly ms: number; readonly most?: number; readonly status?: number; readonly why?: FailureKind }
  /** What was yielded so far is void: the request starts again. */
  | { readonly type: 'discarded' }
  | { readonly type: 'fault'; readonly where: string; readonly message: string };

/** Why a request failed for good, after whatever retries and repairs the client itself owns. */
export type FailureKind =
  | 'tooLong'      // the prompt is longer than the window: compact, resend once
  | 'signature'    // thinking no longer fits what stands before it: strip, resend once
  | 'image'        // one picture is too large or broken: leave it out, resend once
  | 'auth' | 'permission' | 'notFound' | 'limit' | 'overloaded' | 'network' | 'invalid' | 'server';

/** A failed request is a reply, not a throw. */
export type Reply =
  | {
    readonly kind: 'message';
    readonly content: readonly ContentBlock[];
    readonly usage: Usage;
    readonly stop: StopReason;
    readonly model: string;
    readonly messageId?: string;
    /** What a refusal said of itself. */
    readonly detail?: string;
  }
  /** The signal aborted: the text blocks so far (thinking and calls left out). */
  | { readonly kind: 'interrupted'; readonly content: readonly ContentBlock[]; readonly usage: Usage; readonly model: string }
  | {
    readonly kind: 'failed';
    readonly why: FailureKind;
    /** One line: what is wrong, where, what to do. */
    readonly message: string;
    /** For `image`: which block of the request (`messages[message].content[block]`) to leave out. */
    readonly at?: { readonly message: number; readonly block: number };
  };

/** Whether a request fits, in estimated tokens. `limit` is the window less the reserve for output, or the user's threshold. */
export interface Fit {
  readonly tokens: number;
  readonly limit: number;
  readonly fits: boolean;
  /** When even an empty conversation would not fit: which pins, how large, what `/unpin` would free. */
  readonly stuck?: string;
  /** When the request would pass the session's budget: one line, what was spent, what it would cost, how to raise it. */
  readonly unaffordable?: string;
  /** What the user is to know of it, one line each; each is said once in a session. */
  readonly notices?: readonly string[];
}

export interface ModelPort {
  /** Yields what is to be seen, returns what is to be kept. Never throws. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelDelta, Reply>;
  fit(request: ModelRequest): Promise<Fit>;
  facts(): ModelFacts;
}

// ── Tools ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** What a run leaves behind: its result and entries to append after it, such as a new todo list or directory. */
export interface ToolOutcome {
  readonly result: ToolResult;
  readonly entries?: readonly EntryBody[];
  /** The user was asked and said no without a word: the turn ends here. One line that tells the user so. */
  readonly endTurn?: string;
}

export interface ToolPort {
  /** Tools that requests hold from the start. */
  definitions(): readonly ToolDefinition[];
  /** Tools that are loaded on demand; none without it. */
  deferred?(): readonly DeferredTool[];
  /** Undefined for a tool that does not exist. */
  effect(call: Call): ToolEffect | undefined;
  /** How the call looks before it has run: its command, or the diff it would make. Never throws. */
  preview(call: Call, session: Session): Promise<Card>;
  /** Yields progress text, returns exactly one outcome. A tool that throws, or a call that does not parse, is a failed result. */
  run(call: Call, session: Session, signal: AbortSignal): AsyncGenerator<string, ToolOutcome>;
}

/** What runs beside the conversation. Output goes to files; what ended is an entry of the log. */
export interface TaskPort {
  /** All tasks of a session, sub-agents among them, in the order in which they were started. */
  list(session: Session): Promise<readonly TaskView[]>;
  /** Starts a shell command in the background. `problem`: one line. */
  startShell(command: string, title: string, session: Session): Promise<TaskRecord | { readonly problem: string }>;
  /** Output that the model was not given yet, cut in the middle where it is too long; what was given is an entry that the caller appends. */
  read(id: string, session: Session): Promise<{ readonly task: TaskView; readonly text: string; readonly upTo: number } | { readonly problem: string }>;
  /** Ends a task with all that it started. */
  stop(id: string, session: Session): Promise<{ readonly task: TaskRecord } | { readonly problem: string }>;
}

// ── The web ──────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface SearchWish {
  readonly query: string;
  /** Hosts: only pages of these, or none of those. */
  readonly only: readonly string[];
  readonly except: readonly string[];
}

export interface SearchHit {
  readonly url: string;
  readonly title: string;
  readonly age?: string;
}

/** What a search came to, and what it cost whatever it came to. */
export type Searched = ({ readonly answer: string; readonly queries: readonly string[]; readonly hits: readonly SearchHit[] } | { /** One line. */ readonly problem: string })
  & { readonly spent: { readonly model: string; readonly usage: Usage; readonly requests: number } };

/** The search that the model's own server offers. */
export interface SearchPort {
  offered(): boolean;
  search(wish: SearchWish, session: Session, signal: AbortSignal): Promise<Searched>;
}

// ── Reminders ────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface Collected {
  /** In shelf order. */
  readonly reminders: readonly ReminderBody[];
  readonly faults: readonly Fault[];
}

export interface ReminderPort {
  /** Asks every source that may speak at this moment. Never throws; takes as long as the slowest source's own deadline at most. */
  collect(moment: Moment, session: Session, signal: AbortSignal): Promise<Collected>;
}

// ── The gate ─────────────────────────────────────────────────────────────────────────────────────────────────────────

export type Verdict =
  /** `call`: what is to be run instead of what the model sent, under the same id: the very object that was decided. */
  | { readonly kind: 'allow'; readonly entries?: readonly EntryBody[]; readonly call?: Call }
  | {
    readonly kind: 'refuse';
    readonly by: 'user' | 'rule' | 'mode' | 'unattended' | 'hook';
    /** What the model is told; for `user`: what the user wants instead, if they said it. */
    readonly reason: string;
    /** The user said no without a word, or a hook wants it: the turn ends here. */
    readonly endTurn?: boolean;
    /** What the user is told where the turn ends, one line; without it, that they refused. */
    readonly stop?: string;
    readonly entries?: readonly EntryBody[];
  };

/** `allow`: nobody need be asked. `ask`: somebody must be, for this reason (one line). */
export interface Advice {
  readonly decision: 'allow' | 'ask';
  readonly reason?: string;
}

export interface GatePort {
  /** `advice`: what hooks have said of the call. Deny and ask rules, and what is asked about in every mode, hold whatever they say. */
  ask(call: Call, session: Session, signal: AbortSignal, advice?: Advice): Promise<Verdict>;
  /** The same call with the same result again and again: may the turn go on? */
  goOn(what: string, session: Session, signal: AbortSignal): Promise<boolean>;
}

/** A question to the person. Whoever hangs the asker decides how it looks; print mode answers `undefined` (nobody there). */
export type Question =
  | {
    readonly kind: 'permission';
    readonly call: Call;
    readonly card: Card;
    /** Why it must be asked, one line. */
    readonly reason: string;
    /** Rules that would spare the user this question next time, as `Tool(spec)`; empty when no rule can. */
    readonly rules: readonly string[];
    /** `session`: forgotten at the end; `local`: kept in `.pinion/settings.local.json`. */
    readonly keep: 'session' | 'local';
    /** The sub-agent that wants it; undefined for the main conversation. */
    readonly who?: string;
  }
  /** A plan to approve. `plan` is Markdown. Answered by `approved`, or `no` with what to change. */
  | { readonly kind: 'plan'; readonly plan: string; readonly file: string }
  /** The model asks: one to four questions with two to four answers each, and room for the user's own words. Answered by `chosen`. */
  | { readonly kind: 'choices'; readonly questions: readonly ChoiceQuestion[]; readonly who?: string }
  /** Yes or no to something that `lines` tell of, such as files outside the project that an instruction file imports. */
  | { readonly kind: 'confirm'; readonly title: string; readonly lines: readonly string[] }
  | { readonly kind: 'goOn'; readonly text: string }
  | { readonly kind: 'trust'; readonly folder: string; readonly wants: readonly string[] };

export type Answer =
  /** `input`: the call is to be run with this instead of what the model sent. */
  | { readonly kind: 'yes'; readonly input?: Json }
  /** Yes, and the question's `rules` are kept. */
  | { readonly kind: 'always' }
  | { readonly kind: 'no'; readonly instead?: string }
  /** The plan is good: go on in this mode. */
  | { readonly kind: 'approved'; readonly mode: 'default' | 'acceptEdits' | 'auto' }
  /** Per question the labels that were chosen, or the user's own words. */
  | { readonly kind: 'chosen'; readonly answers: readonly (readonly string[])[] };

export interface ChoiceQuestion {
  /** A word or two. */
  readonly header: string;
  readonly question: string;
  readonly options: readonly { readonly label: string; readonly description: string }[];
  readonly several: boolean;
}

export interface Asker {
  ask(question: Question, signal: AbortSignal): Promise<Answer | undefined>;
}

// ── The world ────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface BlobPort {
  /** Keeps bytes by their content; the same bytes again cost nothing. Undefined when they are too large to keep or the disk is full. */
  put(bytes: Uint8Array): BlobRef | undefined;
  get(hash: BlobHash): Uint8Array | undefined;
}

export interface WorldPort {
  now(): Date;
  blobs: BlobPort;
  /** What a request begins with now: compared with the log's last head before a turn; a difference is written as a new head. */
  head(): HeadBody;
}

/** All that the loop needs of the outside: five doors. `main` hangs them, a test hangs its own. */
export interface Ports {
  readonly model: ModelPort;
  readonly tools: ToolPort;
  readonly reminders: ReminderPort;
  readonly gate: GatePort;
  readonly world: WorldPort;
  /** Without it nobody is told. */
  readonly hooks?: HookPort;
}

/** How a turn ended. */
export type Outcome =
  | { readonly kind: 'answered' }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'outOfSteps'; readonly steps: number }
  /** The next request would cross the budget: nothing was sent. */
  | { readonly kind: 'outOfBudget'; readonly message: string }
  /** `by`: a hook wanted it. `unsent`: the prompt was not kept; whoever entered it gets it back. */
  | { readonly kind: 'stopped'; readonly message: string; readonly by?: 'hook'; readonly unsent?: true }
  | { readonly kind: 'failed'; readonly why: FailureKind; readonly message: string };

export interface Limits {
  /** Most model requests in one turn. */
  readonly maxSteps: number;
}
