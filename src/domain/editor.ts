import type { Entry } from './entry.ts';

/** What the user has marked in the editor and a rule lets be read. Lines count from 1, both included. */
export interface Selection {
  /** Absolute, real. */
  readonly path: string;
  /** As the file is named to the model and the user. */
  readonly label: string;
  readonly fromLine: number;
  readonly toLine: number;
  readonly text: string;
  /** False: so it stands in the editor only; the file on disk has another text there. */
  readonly saved: boolean;
}

/** What an editor or language server says of a file. `line` and `column` count from 1. */
export interface Diagnostic {
  /** Absolute. */
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly severity: 'error' | 'warning' | 'info' | 'hint';
  readonly message: string;
  /** The checker, such as `ts`, and its code. */
  readonly source?: string;
  readonly code?: string;
}

/** What the editor says of files that our tools have written. */
export interface EditorDiagnostics {
  /** All of now that were not there before the first of our writes. */
  readonly diagnostics: readonly (Diagnostic & { readonly label: string })[];
  /** All of now that were there before it already: no news, but not gone either. */
  readonly before?: readonly (Diagnostic & { readonly label: string })[];
  /** Files (absolute) for which it has answered: of others nothing is known now. */
  readonly answered: readonly string[];
}

/** The editor that is connected, as sources see it; all empty when none is. */
export interface EditorView {
  /** Its name, such as `Neovim`; untrusted text. */
  name(): string | undefined;
  /** What is marked now. What may no longer be true, or may not be read, is none. */
  selection(signal: AbortSignal): Promise<Selection | undefined>;
  /** The file that stands in its window, if it may be read. */
  openFile(signal: AbortSignal): Promise<{ readonly path: string; readonly label: string } | undefined>;
  /** Nothing of files that the editor cannot have looked at since they were written; waits a moment where it says when it has. */
  written(log: readonly Entry[], signal: AbortSignal): Promise<EditorDiagnostics>;
}

/** An editor that runs and says how it is reached. */
export interface FoundEditor {
  readonly name: string;
  readonly port: number;
  /** Its folders, absolute. */
  readonly folders: readonly string[];
  /** One of them holds the directory of this run. */
  readonly fits: boolean;
}

/** Editors as a command sees them. */
export interface EditorList {
  /** The best first. */
  readonly found: readonly FoundEditor[];
  readonly connected: FoundEditor | undefined;
  /** Why the last try failed, one line. */
  readonly problem?: string;
  readonly selection: Selection | undefined;
  readonly openFile: string | undefined;
  /** Whether changes that are asked about are shown there too. */
  readonly showsDiffs: boolean;
}
