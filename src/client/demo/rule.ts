import type { View } from './view.ts';

/** What the demo model says next: words, a call, or both. */
export interface Turn {
  readonly say?: string;
  readonly call?: { readonly tool: string; readonly input: Readonly<Record<string, unknown>> };
}

/** One kind of request that the demo model understands. */
export interface Rule {
  readonly id: string;
  /** A prompt that it answers, for the README's table and the tests. */
  readonly example: string;
  /** Tools that the example leads to, in order. */
  readonly tools: readonly string[];
  /** What must be there for the example to work, where the repository alone will not do. */
  readonly needs?: string;
  /** Whether it is asked about long requests too: its patterns then take linear time. */
  readonly anyLength?: boolean;
  /** What to do, or undefined when the request is not of this kind. Asked anew after each call of its own. */
  reply(view: View): Turn | undefined;
}
