import type { AgentType, LiveAgent, Member } from './agents.ts';
import type { AttachmentKind } from './attachment.ts';
import type { Card } from './card.ts';
import type { EditorList } from './editor.ts';
import type { EntryBody, PermissionMode } from './entry.ts';
import type { LanguagePort } from './languages.ts';
import type { HooksView } from './hooks.ts';
import type { McpPort } from './mcp.ts';
import type { ModelFacts } from './model.ts';
import type { Row } from './request.ts';
import type { Session, SessionSummary } from './session.ts';
import type { SettingChange, SettingsView, StatusLineView } from './settings.ts';
import type { SkillView } from './skills.ts';
import type { TaskView } from './tasks.ts';
import type { MemoryFile, OutputStyle, PinView, UsageFacts } from './world.ts';

/** What a command wants done, as data: so no command imports a surface, and a test reads its answer. */
export type Effect =
  | { readonly type: 'show'; readonly card: Card }
  /** Appends entries (pins, todos, mode) and shows what was done. */
  | { readonly type: 'append'; readonly entries: readonly EntryBody[]; readonly card: Card }
  /** Sends a prompt; `shown` is what stands on the screen for it. */
  | { readonly type: 'submit'; readonly prompt: string; readonly shown?: string }
  /** Sends what a skill, a Markdown command or a prompt of an MCP server makes of its arguments. Its own commands may run first, so it takes its time and can be interrupted. */
  | { readonly type: 'invoke'; readonly skill: string; readonly args: string }
  /** Opens a file in the user's editor. */
  | { readonly type: 'edit'; readonly file: string }
  /** Takes lines that wait back, to be edited (one) or removed; without ids: ask which. */
  | { readonly type: 'takeBack'; readonly ids?: readonly string[]; readonly how: 'edit' | 'remove' }
  | { readonly type: 'stopTask'; readonly id: string }
  | { readonly type: 'compact'; readonly keep: string }
  /** A new session that takes pins and the user's open todos along, unless `all`. */
  | { readonly type: 'clear'; readonly all: boolean }
  /** Without an id: ask which. */
  | { readonly type: 'resume'; readonly id?: string }
  /** Without an id: ask which. Written as a new head. */
  | { readonly type: 'model'; readonly id?: string }
  | { readonly type: 'mode'; readonly mode: PermissionMode }
  | { readonly type: 'login' }
  /** Something to be done with the editor. `path` as it was written. */
  | { readonly type: 'ide'; readonly what: { readonly connect: number } | { readonly open: string } | 'disconnect' }
  /** Something to be done with a server. */
  | { readonly type: 'mcp'; readonly what: 'reconnect' | 'login' | 'logout' | 'approve' | 'refuse'; readonly server: string }
  /** Something to be done with language servers: end them, or trust the folder, so that its own may run. */
  | { readonly type: 'languages'; readonly what: 'restart' | 'trust'; readonly server?: string }
  /** Whether new or changed hooks of the folder may run. */
  | { readonly type: 'hooks'; readonly what: 'approve' | 'refuse' }
  | { readonly type: 'logout' }
  /** Writes a setting down; without a change: ask which. */
  | { readonly type: 'configure'; readonly change?: SettingChange }
  /** Looks at what other shells have left, or takes it over (`yes`); without `from`: all of them. `project`: this repository's files instead of the user's. */
  | { readonly type: 'import'; readonly from?: string; readonly project: boolean; readonly yes: boolean }
  | { readonly type: 'exit' }
  /** The command was used wrongly; one line: what is wrong, what to do. Exit code 2 in print mode. */
  | { readonly type: 'refuse'; readonly message: string };

/** The account of a session's money and tokens. `usd` is undefined where a model has no known price. */
export interface CostView {
  readonly usd: number | undefined;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly perModel: readonly { readonly model: string; readonly requests: number; readonly usd: number | undefined; readonly input: number; readonly output: number; readonly cacheRead: number; readonly cacheWrite: number }[];
  /** What of it was spent beside the conversation, by what it was spent on. */
  readonly beside?: readonly { readonly what: string; readonly requests: number; readonly tokens: number; readonly usd: number | undefined }[];
}

/** What a request holds and what it weighs. `measured` is the API's own count of the last request. */
export interface ContextView {
  readonly rows: readonly Row[];
  /** What the next prompt will bring along besides its own words: not in `rows`, nor in `estimated`. */
  readonly coming?: readonly Row[];
  readonly estimated: number;
  readonly measured: number | undefined;
  /** How far the estimate of the last request was off, as a share of the measured count (0.04 = 4 %). */
  readonly error: number | undefined;
  readonly window: number;
  readonly limit: number;
  readonly model: string;
}

/** A pin target that was looked up, or why it cannot be pinned (one line). */
export type PinLookup =
  | { readonly ok: true; readonly id: string; readonly kind: AttachmentKind; readonly entry: EntryBody; readonly label: string; readonly note?: string }
  | { readonly ok: false; readonly message: string };

/** An instruction file or kept note. `tokens`: about. */
export type MemoryItem = MemoryFile & { readonly tokens: number };

/**
 * Everything that is told as instructions: `files` from the start, `nested` because of files that were touched, `waiting` rules
 * whose files were not touched yet. `notes` are kept notes, told when they bear on a prompt. `places`: where each kind is written.
 */
export interface MemoryView {
  readonly files: readonly MemoryItem[];
  readonly nested: readonly MemoryItem[];
  readonly waiting: readonly MemoryItem[];
  readonly notes: readonly MemoryItem[];
  readonly places: readonly { readonly name: string; readonly what: string; readonly file: string; readonly exists: boolean }[];
  /** Why nothing is recalled, one line. */
  readonly off?: string;
}

/** A plan that the model laid before the user. `file` is absolute. */
export interface KeptPlan {
  readonly file: string;
  readonly text: string;
  readonly state: 'proposed' | 'approved' | 'rejected';
}

export interface PinOptions {
  readonly snapshot: boolean;
  readonly pathOnly: boolean;
  readonly whole: boolean;
}

/** What commands may look at. Everything is read-only; what is to change goes out as an effect. */
export interface CommandContext {
  readonly session: Session;
  readonly commands: readonly Command[];
  readonly surface: 'screen' | 'print';
  readonly cwd: string;
  readonly model: ModelFacts;
  /** The mode in effect, also before the log says one. */
  readonly mode: PermissionMode;
  context(): Promise<ContextView>;
  cost(): CostView;
  models(): readonly ModelFacts[];
  sessions(): Promise<readonly SessionSummary[]>;
  /** Looks a pin's text up (`src/a.ts`, `src/a.ts#10-40`, `docs/`, `src/**\/*.ts`, `!git status`). */
  lookUpPin(text: string, options: PinOptions): Promise<PinLookup>;
  pins(): Promise<readonly (PinView & { readonly tokens: number })[]>;
  skills(): Promise<readonly SkillView[]>;
  /** Which skills and Markdown commands cannot be used or called, and why, one line each. */
  skillNotes(): readonly string[];
  agents(): Promise<readonly AgentType[]>;
  /** Sub-agents at work, the named ones among all, and what is wrong with files of types (one line each). */
  team(): { readonly working: readonly LiveAgent[]; readonly members: readonly Member[]; readonly problems: readonly string[] };
  tasks(): Promise<readonly TaskView[]>;
  /** Lines that wait, in the order in which they were entered: queued words by their entry's id, held commands by ids of their own. */
  waiting(): readonly { readonly id: string; readonly text: string }[];
  /** Instruction files and kept notes, with where new ones go. */
  memory(): Promise<MemoryView>;
  styles(): Promise<{ readonly all: readonly (OutputStyle & { readonly description: string; readonly from: string })[]; readonly now: string | undefined }>;
  usage(): Promise<UsageFacts>;
  settings(): SettingsView;
  statusLine(): Promise<StatusLineView>;
  /** Shells whose settings can be taken over. */
  importers(): readonly { readonly id: string; readonly label: string }[];
  languages(): Pick<LanguagePort, 'servers' | 'log'>;
  /** `settled`: waits, so many milliseconds at most, until none is just being connected. */
  mcp(): Pick<McpPort, 'servers' | 'log'> & { readonly settled?: (ms: number) => Promise<void> };
  /** Editors that run, and the one that is connected. */
  editors(): Promise<EditorList>;
  hooks(): Promise<HooksView>;
  /** The newest plan of the session, as its file stands now. */
  plan(): Promise<KeptPlan | undefined>;
  /** Keys and their actions, for `/help`. */
  readonly keys: readonly { readonly keys: string; readonly what: string; /** For writing a line only. */ readonly editing?: boolean }[];
}

/** Headings under which help lists commands. */
export type CommandGroup = 'In view' | 'At work' | 'Session' | 'Model and money';

/** One file in commands/. Help, completion and the README table are all made from these fields. */
export interface Command {
  readonly id: string;
  readonly aliases?: readonly string[];
  /** Absent: one of the user's or the project's own. */
  readonly group?: CommandGroup;
  /** One line. What stands behind a semicolon is told only by help for this command. */
  readonly summary: string;
  /** Arguments as help shows them, such as `<path> [--snapshot]`. */
  readonly usage?: string;
  /** Words that may follow, for completion as one types. `args` is the text after the command's name up to the cursor. */
  complete?(args: string, context: CommandContext): readonly string[] | Promise<readonly string[]>;
  /** Whether it may run while the model works; others wait until the turn is over. */
  readonly anytime?: boolean;
  run(args: string, context: CommandContext): Effect | Promise<Effect>;
}

/** Gives a definition back as it is; exists so that a command's file says what it is and is checked where it stands. */
export function defineCommand(command: Command): Command {
  return command;
}
