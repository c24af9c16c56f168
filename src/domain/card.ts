/** How a tool call, a command's result or a question looks, in words that no surface owns. One component draws every card. */
export interface Card {
  /** One line, such as `Edit src/a.ts`. */
  readonly title: string;
  /** One line under or beside the title, such as `12 lines`. */
  readonly detail?: string;
  readonly tone?: 'normal' | 'good' | 'bad' | 'muted';
  readonly body: readonly CardBlock[];
}

export type CardBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'markdown'; readonly text: string }
  | { readonly type: 'code'; readonly text: string; readonly language?: string; readonly firstLine?: number }
  /** A unified diff, hunks only (`@@ -1,2 +1,3 @@` and what follows), without file headers. */
  | { readonly type: 'diff'; readonly patch: string; readonly language?: string }
  | { readonly type: 'list'; readonly items: readonly string[] }
  /** Columns are as wide as their widest cell; numbers are right-aligned where `align` says so. */
  | { readonly type: 'table'; readonly head: readonly string[]; readonly rows: readonly (readonly string[])[]; readonly align?: readonly ('left' | 'right')[] };
