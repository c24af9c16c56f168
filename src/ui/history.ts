import { drawBlock } from './block-lines.ts';
import type { Pen } from './pen.ts';
import type { Screen } from './screen.ts';

/** A finished block as it was printed: never drawn again, whatever becomes of the window. */
export interface Printed {
  readonly key: string;
  readonly text: string;
}

/** Blocks that are laid out for one frame: a long session comes in portions, so that no frame takes long. */
const PORTION = 50;

export interface History {
  /** Lays out blocks that are new in the screen, at the width of now. The list only grows, and is the same list while nothing is new. */
  take(screen: Screen, pen: Pen): { readonly printed: readonly Printed[]; readonly more: boolean };
}

export function createHistory(): History {
  let printed: readonly Printed[] = [];
  let generation = -1;
  let taken = 0;
  return {
    take(screen, pen) {
      if (screen.generation !== generation) {
        generation = screen.generation;
        taken = 0;
      }
      const fresh = screen.done.slice(taken, taken + PORTION);
      if (fresh.length > 0) printed = [...printed, ...fresh.map((block) => ({ key: block.key, text: drawBlock(block, pen).join('\n') }))];
      taken += fresh.length;
      return { printed, more: taken < screen.done.length };
    },
  };
}
