import type { Card } from '#domain/card.ts';
import type { Entry, Event, PermissionMode } from '#domain/entry.ts';
import type { Answer, Question } from '#domain/ports.ts';

/** What the status bar shows. All numbers come from the one account of the request; none is reckoned in the UI. */
export interface Status {
  readonly model: string;
  readonly demo: boolean;
  readonly mode: PermissionMode;
  readonly branch: string | undefined;
  readonly directory: string;
  /** Tokens in the next request: measured anchor plus estimate; `estimated` marks it with `~`. Limit is where compaction sets in. */
  readonly used: number;
  readonly limit: number;
  readonly estimated: boolean;
  readonly pins: number;
  readonly pinTokens: number;
  /** Share of the last prompt that was read from cache (0…1); undefined before the first reply. */
  readonly cacheShare: number | undefined;
  readonly usd: number | undefined;
  /** What the session may cost; undefined without a limit. */
  readonly budgetUsd: number | undefined;
  /** How many tasks run in the background. */
  readonly tasks: number;
  /** The editor that is connected, what is marked there and goes along with the next prompt, or the file that is open. */
  readonly editor?: { readonly name: string; readonly lines?: number; readonly file?: string };
  /** Set while entries cannot be written (disk full): shown until it works again. */
  readonly unsaved: string | undefined;
}

/** A list to choose from: sessions, models. */
export interface Picker {
  readonly title: string;
  /** The item that is in effect: the list begins there. */
  readonly now?: string;
  readonly items: readonly { readonly id: string; readonly label: string; readonly detail?: string }[];
}

/** A line that waits: queued words by their entry's id, a command by an id of its own. */
export interface Waiting {
  readonly id: string;
  readonly text: string;
}

/** What is to become of a line that waits. */
export interface QueueChoice {
  readonly id: string;
  readonly how: 'edit' | 'remove';
}

/** What reaches the screen: the loop's events, and what main tells it besides. */
export type ScreenEvent =
  | Event
  /** Entries of a resumed session, all at once; the screen starts anew with them. */
  | { readonly type: 'replay'; readonly entries: readonly Entry[] }
  | { readonly type: 'busy'; readonly since: number }
  | { readonly type: 'idle' }
  | { readonly type: 'status'; readonly status: Status }
  /** What the person's own status line says, ready to be drawn; none: there is only ours. */
  | { readonly type: 'statusLines'; readonly lines: readonly string[] }
  /** Something to see that is not part of the session: the banner, a command's card before there is a log. */
  | { readonly type: 'card'; readonly card: Card }
  /** A command as it was entered, when what comes of it is shown by other events. */
  | { readonly type: 'line'; readonly line: string }
  /** All lines that wait until the work in hand is done, oldest first. */
  | { readonly type: 'held'; readonly lines: readonly Waiting[] }
  | { readonly type: 'ask'; readonly id: number; readonly question: Question }
  | { readonly type: 'pick'; readonly id: number; readonly picker: Picker }
  /** One line of secret text, such as a key: shown as dots. */
  | { readonly type: 'secret'; readonly id: number; readonly title: string; readonly hint: string }
  /** Which of the lines that wait is meant, and what is to become of it. */
  | { readonly type: 'queue'; readonly id: number; readonly items: readonly Waiting[] }
  /** A file to open in the person's editor; {@link Controller.edited} is told when it is closed. */
  | { readonly type: 'edit'; readonly id: number; readonly file: string }
  /** After a compaction: of how many pins the bytes were found in the next request, and what that weighs (estimated tokens). */
  | { readonly type: 'compacted'; readonly kept: number; readonly of: number; readonly tokensBefore: number; readonly tokensAfter: number }
  /** The question of this id is settled (answered, or no longer needed). */
  | { readonly type: 'settled'; readonly id: number }
  /** Text put into the composer (a prompt taken back, an interrupted draft). */
  | { readonly type: 'draft'; readonly text: string }
  /** A word put into the composer where the cursor is. */
  | { readonly type: 'insert'; readonly text: string };

export interface Completion {
  /** What is put in place of the word being typed. */
  readonly insert: string;
  readonly label: string;
  readonly detail?: string;
  /** A directory: completion goes on after it was taken. */
  readonly more?: boolean;
}

/** What the keyboard can bring about. Main implements it; components only call it from key actions. */
export interface Controller {
  /** A finished line: prompt, `/command` or `!command`. While the model works it is queued or, for commands that may, run at once. */
  submit(text: string): void;
  /** Stops whatever runs. False when nothing did. */
  interrupt(): boolean;
  cycleMode(): void;
  /** Sends the command or sub-agent that runs in the foreground to the background. False when there is none. */
  background(): boolean;
  /** The newest line that waits, taken back: queued words that are not delivered yet, or a command that has not begun. */
  takeBack(): string | undefined;
  answer(id: number, answer: Answer): void;
  pick(id: number, item: string | undefined): void;
  secret(id: number, text: string | undefined): void;
  /** Asks which of the lines that wait is meant (`queue`). False when none does. */
  queue(): boolean;
  chosen(id: number, choice: QueueChoice | undefined): void;
  /** The editor is closed; `problem`: one line, why the file could not be edited. */
  edited(id: number, problem: string | undefined): void;
  /** Files and directories for `@query`, best first. Resolves quickly; `more` tells that the index is still being made. */
  completeFile(query: string): Promise<{ readonly items: readonly Completion[]; readonly more: boolean }>;
  /** Commands and their arguments for a line that begins with `/`. */
  completeCommand(line: string): Promise<readonly Completion[]>;
  /** Lines entered before in this directory, oldest first. */
  history(): Promise<readonly string[]>;
  /** Ends the program; the terminal is restored by whoever owns it. */
  exit(): void;
}

// ── The keyboard ─────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * One key press. `name` is the character itself (lower case where ctrl or alt is held) or one of `enter`, `tab`, `escape`,
 * `backspace`, `delete`, `insert`, `up`, `down`, `left`, `right`, `home`, `end`, `pageup`, `pagedown`, `space`, `f1`…`f12`.
 */
export interface KeyEvent {
  readonly type: 'key';
  readonly name: string;
  readonly ctrl: boolean;
  readonly alt: boolean;
  readonly shift: boolean;
  /** What the key writes where no action takes it; empty for keys that write nothing. */
  readonly text: string;
}

/** What the terminal says, made out by the tokenizer. A paste is one event however long it is; its line ends are `\n`. */
export type InputEvent =
  | KeyEvent
  | { readonly type: 'paste'; readonly text: string }
  | { readonly type: 'focus'; readonly focused: boolean };

/** What the composer's keys want of the rest of the screen. */
export type ViewAction = 'toggleTranscript' | 'toggleTodos' | 'redraw' | 'suspend';
