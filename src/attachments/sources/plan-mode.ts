import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';

const FULL = `Plan mode is on. Reading and searching are allowed; changing files and running commands that change something are refused.
Find out what the task needs, ask the user where the answer decides the way, and end with a plan: what to change, where, and how to check it.
The user leaves plan mode with Shift-Tab or /plan; then the work can begin.`;

/** While plan mode is on the model is told, and told again before it forgets; and once when it is over. */
export default defineSource<'plan'>({
  id: 'plan_mode', on: ['prompt', 'step'], threads: 'all', cadence: { everySteps: 5, fullEvery: 5 },
  observe: ({ mode }) => (mode === 'plan' ? 'plan' : absent),
  revive: (stored) => (stored === 'plan' ? 'plan' : undefined),
  full: () => FULL,
  brief: () => 'Plan mode is still on: nothing is changed before the user leaves it.',
  gone: () => 'Plan mode is over: changes are allowed again, as far as the permissions go.',
});
