import type { Highlighter } from './highlight.ts';
import type { KeyTable } from './keys.ts';
import type { Theme } from './theme.ts';

/** What all drawers need: how wide, how it looks, who colours code, and which keys hints name. */
export interface Pen {
  /** Columns that a line may take. */
  readonly columns: number;
  readonly theme: Theme;
  readonly highlight: Highlighter;
  readonly keys: Pick<KeyTable, 'label'>;
}
