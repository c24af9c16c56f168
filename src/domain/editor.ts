/** What the user has marked in the editor. Lines count from 1, both included. */
export interface Selection {
  /** Absolute. */
  readonly path: string;
  readonly fromLine: number;
  readonly toLine: number;
  readonly text: string;
}

/** What an editor says of a file. `line` and `column` count from 1. */
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

/** The editor that is connected, as sources see it; all empty when none is. */
export interface EditorView {
  /** Its name, such as `Neovim`. */
  name(): string | undefined;
  selection(): Selection | undefined;
  /** The file that stands in its window: absolute. */
  openFile(): string | undefined;
  /** Diagnostics of these files (absolute paths), or of all open ones. */
  diagnostics(paths: readonly string[] | undefined, signal: AbortSignal): Promise<readonly Diagnostic[]>;
}
