import type { Loaded } from './world.ts';

export interface LoadOptions {
  /** First line and last line, counted from 1; of a PDF pages, of a notebook cells. */
  readonly lines?: { readonly from: number; readonly to: number };
  /** First and last page of a PDF, counted from 1; at most 20. */
  readonly pages?: { readonly from: number; readonly to: number };
  /** All bytes of the file, where they were read already: it is not opened again. */
  readonly bytes?: Uint8Array;
  /** Most bytes of text that are shown; the rest is cut with a line that says how much and how to read on. */
  readonly limitBytes: number;
}

/**
 * Turns what is on disk into parts for the model: text in its envelope, notebooks as their cells, pictures and PDFs as media, a directory as its names,
 * else a note. `path` is absolute and real: a symbolic link as its last part is refused. Never throws.
 */
export interface DocumentPort {
  load(path: string, label: string, options: LoadOptions, signal: AbortSignal): Promise<Loaded>;
}

/** A path as the user or the model wrote it, looked up. */
export interface PathLookup {
  /** Absolute, symbolic links resolved as far as they exist. */
  readonly real: string;
  /** How it is shown: relative to the workspace where it lies in it, else absolute. */
  readonly label: string;
  readonly kind: 'file' | 'directory' | 'other' | 'missing';
  readonly outside: boolean;
  /** A read-deny rule covers it (as written or as resolved). */
  readonly denied: boolean;
}

/** The one way from a written path to a file: real path, workspace and read-deny rules. */
export interface PathPort {
  lookUp(written: string, cwd: string): Promise<PathLookup>;
}
