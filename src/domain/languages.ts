import type { Diagnostic } from './editor.ts';
import type { Entry } from './entry.ts';

/** A name that a program defines. `line` and `column` count from 1. */
export interface Symbol {
  readonly name: string;
  /** `function`, `class`, `method` … */
  readonly kind: string;
  /** Absolute. */
  readonly path: string;
  readonly line: number;
  readonly column: number;
  /** What it stands in, such as a class. */
  readonly container?: string;
}

/** What language servers say of the files that our tools have written. */
export interface WrittenDiagnostics {
  /** All of now that were not there before the first of our writes, by file. */
  readonly diagnostics: readonly Diagnostic[];
  /** Files (absolute) of which a server has seen the newest bytes: what was told of others is not to be taken back. */
  readonly checked: readonly string[];
}

/** Language servers as sources see them. */
export interface LanguagesView {
  /** Waits for answers as long as the signal lets it; what no server has answered for yet is not in it. */
  written(log: readonly Entry[], signal: AbortSignal): Promise<WrittenDiagnostics>;
}
