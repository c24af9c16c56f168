import type { Json } from '#lib/brand.ts';
import type { AgentType, Mail, Member, Self } from './agents.ts';
import type { BlobHash, Part } from './content.ts';
import type { Entry, EntryOf, PermissionMode } from './entry.ts';
import type { BlobPort } from './ports.ts';
import type { EditorView } from './editor.ts';
import type { LanguagesView } from './languages.ts';
import type { McpView } from './mcp.ts';
import type { Moment } from './reminder.ts';
import type { SkillView } from './skills.ts';
import type { TaskView } from './tasks.ts';
import type { FileTouch } from './tool.ts';

/** Text or media made of one file, ready for a reminder, and what the model thereby knows of files. */
export interface Loaded {
  readonly parts: readonly Part[];
  readonly files: readonly FileTouch[];
  /** What was left out or could not be read, one line each; told to the user and to the model. */
  readonly notes: readonly string[];
}

export interface MentionPort {
  /**
   * Every mention of the text, resolved, loaded and deduplicated. One failure never costs the others. `pinned` names files
   * (real paths) that the model has in view by a pin: a mention of one as a whole loads nothing and is one line of `notes`.
   */
  load(text: string, signal: AbortSignal, pinned?: ReadonlySet<string>): Promise<Loaded>;
  /** Real paths of the files that the text mentions as a whole. Loads nothing. */
  named(text: string): Promise<ReadonlySet<string>>;
  /** Names that the text mentions as agents (`@agent-name`, `@"name (agent)"`), whether there are such or not. */
  agents(text: string): readonly string[];
}

export interface FilePort {
  /** One file (absolute, real path) as a document with its name; nothing but a note where it is gone, or a rule denies reading it. */
  load(path: string, limitBytes: number, signal: AbortSignal): Promise<Loaded>;
}

/** One pin as it stands now. */
export interface PinView {
  readonly id: string;
  /** How it is named to the model and the user: the path in the workspace, `memory: slug`, `!command`. */
  readonly label: string;
  /** What is said of it: envelope, listing or output, cut as its options say. Undefined when it cannot be read now. */
  readonly text: string | undefined;
  /** Media of a pinned picture or PDF. */
  readonly media: readonly Part[];
  /** Hash over text and media: only bytes inside the cut count as state. */
  readonly hash: BlobHash;
  /** `partial` where it shows some of a file's bytes only. */
  readonly files: readonly FileTouch[];
  /** Why it cannot be read, or what was left out. */
  readonly note?: string;
}

export interface PinPort {
  /** Memory and file attachments of the session, in the store's order; the todo list is not among them. */
  views(signal: AbortSignal): Promise<readonly PinView[]>;
}

/** One instruction file (AGENTS.md, CLAUDE.md) with its imports in place. */
export interface MemoryFile {
  readonly path: string;
  /** Where it comes from: the user's own, the project's, the user's for this project, or notes that were kept. */
  readonly scope: 'user' | 'project' | 'local' | 'notes';
  readonly text: string;
  /** Of the raw bytes, where the text is made of them alone, without imports. */
  readonly hash?: BlobHash;
  readonly notes: readonly string[];
  /** Real paths of the files that were imported into it. */
  readonly imports?: readonly string[];
  /** Globs of the files for which it holds, as they were written; undefined for all. */
  readonly when?: readonly string[];
  /** Day of the last change (ISO), of a kept note. */
  readonly changedOn?: string;
}

export interface MemoryPort {
  /** What holds for the whole conversation. */
  files(signal: AbortSignal): Promise<readonly MemoryFile[]>;
  /** Instruction files between the start directory and these files, and rules whose paths cover them; those of `files` are not among them. */
  nested(paths: readonly string[], signal: AbortSignal): Promise<readonly MemoryFile[]>;
  /** Kept notes that bear on a text, the likeliest first; never more than five, never one of `except` (real paths). */
  recall(text: string, except: ReadonlySet<string>, signal: AbortSignal): Promise<readonly MemoryFile[]>;
}

/** Tools as sources see them. */
export interface ToolView {
  has(name: string): boolean;
  /** Tools that are called only after they were loaded, by name, with what they do in one line. */
  deferred(): readonly { readonly name: string; readonly summary: string }[];
}

/** How answers are to be written, and who speaks. `body` is what the model is told. */
export interface OutputStyle {
  readonly name: string;
  readonly body: string;
  /** A persona to introduce once. */
  readonly companion?: { readonly name: string; readonly text: string };
}

/** What the next request weighs and what has been spent. Tokens are estimated unless a reply has just measured them. */
export interface UsageFacts {
  readonly used: number;
  /** Where compaction sets in. */
  readonly limit: number;
  readonly window: number;
  readonly autoCompact: boolean;
  /** Output tokens of the session so far. */
  readonly output: number;
  /** Undefined where a model has no known price. */
  readonly usd: number | undefined;
  readonly budgetUsd: number | undefined;
}

/** Agents as the sources of one thread see them. */
export interface AgentsView {
  types(signal: AbortSignal): Promise<readonly AgentType[]>;
  self(): Self | undefined;
  members(): readonly Member[];
  mail(signal: AbortSignal): Promise<readonly Mail[]>;
}

/** What is true of the place where the session runs. `branch` is read from files, never by running git. */
export interface EnvironmentFacts {
  readonly directory: string;
  readonly extraDirectories: readonly string[];
  readonly repository: boolean;
  readonly branch?: string;
  readonly platform: string;
  readonly shell: string;
}

/** A file that differs from what the model was last given. */
export interface FileChange {
  readonly path: string;
  readonly label: string;
  readonly kind: 'changed' | 'deleted' | 'unreadable';
  /** Of the bytes as they are now, else `MISSING_HASH` or `UNREADABLE_HASH`: what the next look compares with. */
  readonly hash: BlobHash;
  readonly kept: boolean;
  /** A unified diff (hunks only) when it is small and the old bytes are known. */
  readonly patch?: string;
  readonly addedLines?: number;
  readonly removedLines?: number;
  /** Milliseconds since the epoch, by the file system's clock; undefined where the file is gone or there are too many changes to ask. */
  readonly changedAtMs?: number;
}

export interface ChangePort {
  /**
   * Looks (stat, then hash) at every file that `known` names, within 150 ms. `skipped` counts those not looked at.
   * `settling` is true while a checkout is under way: the look then says nothing.
   */
  look(known: ReadonlyMap<string, FileTouch>, signal: AbortSignal): Promise<{ readonly changes: readonly FileChange[]; readonly skipped: number; readonly settling: boolean }>;
}

/** Programs of others that are connected. */
export interface Outside {
  readonly mcp: McpView;
  readonly editor: EditorView;
  readonly languages: LanguagesView;
}

/** What sources may look at: a dozen typed ports at most, lazy, their calls running inside the source's own deadline. */
export interface World {
  readonly moment: Moment;
  readonly thread: 'main' | 'sub';
  readonly log: readonly Entry[];
  /** The prompt that this moment belongs to; undefined at a `step` and when only queued words are delivered. */
  readonly prompt: EntryOf<'prompt' | 'queued'> | undefined;
  readonly mode: PermissionMode;
  readonly now: Date;
  readonly blobs: BlobPort;
  readonly files: FilePort;
  readonly mentions: MentionPort;
  readonly pins: PinPort;
  readonly memory: MemoryPort;
  readonly environment: () => EnvironmentFacts;
  readonly changes: ChangePort;
  readonly tools: ToolView;
  readonly skills: (signal: AbortSignal) => Promise<readonly SkillView[]>;
  readonly agents: AgentsView;
  readonly tasks: () => Promise<readonly TaskView[]>;
  /** The output style in effect, with its persona; undefined for none. */
  readonly style: () => Promise<OutputStyle | undefined>;
  readonly usage: () => Promise<UsageFacts>;
  readonly outside: Outside;
}

/** A look that found nothing to speak of. */
export const absent: unique symbol = Symbol('absent');
export type Absent = typeof absent;

/** What the session still knows of a source's last word. `lost`: it spoke, but its snapshot cannot be read. */
export type Before<S> =
  | { readonly kind: 'never' }
  | { readonly kind: 'lost'; readonly stepsAgo: number; readonly times: number }
  | { readonly kind: 'sent'; readonly snapshot: S; readonly stepsAgo: number; readonly times: number; readonly gone: boolean };

export type StoredBefore = Before<Json>;
