import type { EntryOf } from '#domain/entry.ts';
import { pathLine } from './words.ts';

type Plan = EntryOf<'plan'>;

const SAID = {
  approved: 'the user approved it',
  rejected: 'the user did not approve it',
  proposed: 'the user has not answered it',
} as const;

/** Where a plan lies and what became of it. */
export function planLabel({ file, state }: Plan): string {
  return `${pathLine(file)} (${SAID[state]})`;
}
