import type { Effort } from './content.ts';

/** What is known about a model: from the Models API where it answers, else from our table, else cautious guesses. */
export interface ModelFacts {
  readonly id: string;
  readonly label: string;
  /** Tokens. */
  readonly window: number;
  readonly maxOutput: number;
  readonly images: boolean;
  readonly pdf: boolean;
  readonly efforts: readonly Effort[];
  readonly defaultEffort?: Effort;
  readonly thinking: 'adaptive' | 'budget' | 'none';
  /** Tokens below which the API does not cache. */
  readonly minimumCacheable: number;
  /** Whether the table or the API knew it. */
  readonly known: boolean;
}

/** Which kinds of content a model takes. */
export interface Capabilities {
  readonly images: boolean;
  readonly pdf: boolean;
}

/** The offline model that answers when no key is there. */
export const DEMO_MODEL = 'pinion-demo';
export const DEFAULT_MODEL = 'claude-opus-5-5';
export const SMALL_MODEL = 'claude-haiku-5-5';
