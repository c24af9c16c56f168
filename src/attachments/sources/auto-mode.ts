import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';

const FULL = `Auto mode is on: the user is not asked. What can be undone inside the working folders is allowed: edits, and builds, checks, tests and git work by programs that are known. Refused, with the reason, is what reaches outside (push, publish, deploy, fetch, install anew), needs more rights, cannot be taken back, or cannot be looked at beforehand.
Where a question comes up, what is reasonable is decided and said. What was refused is no matter to get around: the rest is done, and what would have been needed is said at the end.`;

/** While auto mode is on: nothing is asked, and what is decided instead; and once when it is over. */
export default defineSource<'auto'>({
  id: 'auto_mode', on: ['prompt', 'step'], threads: 'all', cadence: { everySteps: 5, fullEvery: 5 },
  observe: ({ mode }) => (mode === 'auto' ? 'auto' : absent),
  revive: (stored) => (stored === 'auto' ? 'auto' : undefined),
  full: () => FULL,
  brief: () => 'Auto mode is still on: nobody is asked, and what reaches outside or cannot be undone is refused.',
  gone: () => 'Auto mode is over: what needs consent is asked about again.',
});
