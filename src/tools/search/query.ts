import type { Filter } from './globs.ts';
import type { Above } from './walk.ts';

/** What is looked for, and where. Both searchers, ripgrep and the one of this process, find the same in the same order. */
export interface Query {
  /** The folder (absolute, real); paths of hits are relative to it. */
  readonly root: string;
  /** A name in it: only this file is searched, whatever ignore files say. */
  readonly file?: string;
  readonly pattern: string;
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  /** Lines shown before and after each one that fits. */
  readonly before: number;
  readonly after: number;
  readonly mode: 'content' | 'files_with_matches' | 'count';
  readonly glob?: string;
  readonly filter: Filter;
  /** Globs of names, of which a file must fit one. */
  readonly names?: readonly string[];
  readonly above: Above;
}

/** `line` is 0 and `text` empty for a file of `files_with_matches`; for `count`, `line` is the count. */
export interface Hit {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  readonly isMatch: boolean;
}

/** A search that could not be done; the message says why. */
export class SearchError extends Error {
  override readonly name = 'SearchError';
}

/** UTF-16 units of a line that are kept. */
export const LONGEST_LINE = 500;

export function shortLine(line: string): string {
  const plain = line.replace(/\r$/, '');
  return plain.length <= LONGEST_LINE ? plain : `${plain.slice(0, LONGEST_LINE)} [line cut]`;
}
