import type { Found } from './index-core.ts';

/** What the index's thread is asked, and what it answers to the question of the same id. */
export type Asked =
  | { readonly type: 'search'; readonly id: number; readonly query: string; readonly limit: number }
  | { readonly type: 'refresh'; readonly id: number }
  | { readonly type: 'used'; readonly path: string };

export interface Told {
  readonly id: number;
  readonly found?: Found;
}
