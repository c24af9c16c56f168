import type { Diagnostic } from './editor.ts';
import type { Entry } from './entry.ts';

/** A name that a program defines. Lines and columns count from 1; columns in UTF-16 units. */
export interface Symbol {
  readonly name: string;
  /** `function`, `class`, `method` … */
  readonly kind: string;
  /** Absolute. */
  readonly path: string;
  readonly line: number;
  readonly column: number;
  /** The last line of what the name stands for, where the server says so; else `line`. */
  readonly toLine: number;
  /** What it stands in, such as a class. */
  readonly container?: string;
}

/** What a server says of a file, with the line that it is about. */
export interface Report extends Diagnostic {
  /** The line as the server has it, without blanks at its ends, cut. */
  readonly text: string;
  /** It was not there before the first of our writes. False where nobody knows. */
  readonly fresh: boolean;
}

/** A file of which a server has seen the newest bytes. */
export interface CheckedFile {
  /** Absolute, real. */
  readonly path: string;
  /** As it is shown: relative to the workspace. */
  readonly label: string;
  /** All that is said of it now. */
  readonly reports: readonly Report[];
  /** Whether more may still come: what is missing then need not be gone. */
  readonly whole: boolean;
}

/** Language servers as sources see them. */
export interface LanguagesView {
  /**
   * Files that our tools wrote, and open ones that may depend on them, as far as a server has answered for their newest bytes.
   * Starts servers for what the log has touched, and waits for answers a little, never for a start. Never throws.
   */
  written(log: readonly Entry[], signal: AbortSignal): Promise<readonly CheckedFile[]>;
}

export const LANGUAGE_OPERATIONS = ['definition', 'references', 'hover', 'documentSymbols', 'workspaceSymbols', 'implementation', 'typeDefinition', 'callers', 'callees', 'diagnostics'] as const;
export type LanguageOperation = (typeof LANGUAGE_OPERATIONS)[number];

export interface LanguageQuestion {
  readonly operation: LanguageOperation;
  /** Absolute, real. Needed for all but `workspaceSymbols`. */
  readonly path?: string;
  /** From 1. */
  readonly line?: number;
  /** From 1, in UTF-16 units. */
  readonly column?: number;
  /** A name on that line, or anywhere in the file: instead of a column. */
  readonly name?: string;
  /** What to look for (`workspaceSymbols`). */
  readonly query?: string;
}

/** A place in code. `text`: its line, where it may be read. */
export interface CodePlace {
  /** Absolute. */
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly text?: string;
  /** Of a symbol: its kind and name, and how deep it stands in others. */
  readonly kind?: string;
  readonly name?: string;
  readonly depth?: number;
}

/** `left`: places that the user's settings deny reading. `problem`: one line, with what would help. */
export type LanguageAnswer =
  | { readonly kind: 'places'; readonly places: readonly CodePlace[]; readonly left: number; readonly server: string }
  | { readonly kind: 'text'; readonly text: string; readonly server: string }
  | { readonly kind: 'reports'; readonly reports: readonly Report[]; readonly whole: boolean; readonly server: string }
  | { readonly kind: 'problem'; readonly problem: string };

/** A server as it stands now. */
export interface LanguageServer {
  readonly name: string;
  /** Endings of its files, with the dot. */
  readonly extensions: readonly string[];
  /** What is run, on one line. */
  readonly command: string;
  /** The settings, the project's own programs, or the machine's. */
  readonly from: 'settings' | 'project' | 'machine';
  readonly state: 'off' | 'untrusted' | 'idle' | 'starting' | 'ready' | 'failed';
  /** What it says of itself, why it failed, or what is to be done; one line. */
  readonly detail?: string;
  /** Open files. */
  readonly files: number;
}

/** Language servers as the house sees them. */
export interface LanguagePort extends LanguagesView {
  /** Waits for the server to start if need be. Never throws. */
  ask(question: LanguageQuestion, signal: AbortSignal): Promise<LanguageAnswer>;
  /** Names that the project's programs define, the likeliest first, of servers at work; starts none. */
  symbols(query: string, signal: AbortSignal): Promise<readonly Symbol[]>;
  /** Those that there are for this project, at work or not. */
  servers(): Promise<readonly LanguageServer[]>;
  /** What a server wrote to its log and what happened to it, newest last. */
  log(server: string): readonly string[];
  /** Ends a server (without a name: all); what is needed starts anew. One line: what came of it. */
  restart(server: string | undefined): string;
}

/** How a server is started, as settings say it. */
export interface LanguageServerSetting {
  readonly command: string;
  readonly args: readonly string[];
  /** Endings with the dot, each with the language's id, such as `.ts`: `typescript`. */
  readonly extensions: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  readonly initializationOptions?: unknown;
  /** What the server is given when it asks for its configuration. */
  readonly settings?: unknown;
  /** Files that mark the folder it works in, the likeliest first. Default: the whole project. */
  readonly rootMarkers: readonly string[];
}
