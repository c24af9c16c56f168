import { visibleLine } from './visible.ts';

/** What auto mode refuses: the model is told why, and what it can do about it. */
export interface AutoRefusal {
  readonly kind: 'refuse';
  readonly by: 'mode';
  readonly reason: string;
}

const MOST_REASONS = 3;
const LONGEST = 600;

/**
 * In auto mode nobody is asked: what the rules, the working folders and the table of known programs do not allow is refused.
 * Rules of the user stand above the mode: one that denies denies, one that asks asks.
 */
export function autoRefusal(reasons: readonly string[]): AutoRefusal {
  const all = [...new Set(reasons)].map(visibleLine);
  const said = all.slice(0, MOST_REASONS).join('; ');
  const why = said.length <= LONGEST ? said : `${said.slice(0, LONGEST - 1)}…`;
  return {
    kind: 'refuse', by: 'mode',
    reason: `Auto mode does not allow this: ${why}. Go on without it, and say at the end what would have been needed.`,
  };
}
