import type { EntryOf } from '#domain/entry.ts';
import { planOf } from '#domain/folds.ts';
import { absent, type World } from '#domain/world.ts';
import { defineSource } from '../define.ts';
import { planLabel } from '../plans.ts';

interface PlanMode {
  readonly thread: World['thread'];
  /** Whether there is a tool to lay the plan before the user with, and one to ask with. */
  readonly exit: boolean;
  readonly ask: boolean;
  readonly plan: EntryOf<'plan'> | undefined;
}

const RULE = 'Plan mode is on. Reading and searching are allowed; changing files and running commands that change something are refused.';

/** While plan mode is on the model is told, and told again before it forgets; and once when it is over. */
export default defineSource<PlanMode>({
  id: 'plan_mode', on: ['prompt', 'step'], threads: 'all', cadence: { everySteps: 5, fullEvery: 5 },
  observe: ({ mode, thread, tools, log }) => (mode !== 'plan' ? absent : {
    thread, exit: thread === 'main' && tools.has('ExitPlanMode'), ask: thread === 'main' && tools.has('AskUserQuestion'), plan: planOf(log),
  }),
  // The mode is what is told; what a later plan adds to the words is no change of it.
  keep: () => 'plan',
  revive: (stored) => (stored === 'plan' ? { thread: 'main', exit: false, ask: false, plan: undefined } : undefined),
  full: ({ thread, exit, ask, plan }) => {
    if (thread === 'sub') return `${RULE}\nFind out what the task needs and give it back as your answer: what is there, what would have to change, where, and how to check it.`;
    const question = ask ? ' (AskUserQuestion)' : '';
    return [
      RULE,
      `Find out what the task needs, ask the user where the answer decides the way${question}, and end with a plan: what to change, where, and how to check it.`,
      exit ? 'ExitPlanMode lays the plan before the user and keeps it in a file; the work begins when the user approves it.' : 'The user leaves plan mode with Shift-Tab or /plan; then the work can begin.',
      ...(plan === undefined ? [] : [`There is a plan already: ${planLabel(plan)}. Look whether it still fits this task: build on it if it does, make a new one if not.`]),
    ].join('\n');
  },
  brief: ({ thread, exit }) => (thread === 'sub' ? 'Plan mode is still on: nothing is changed.' : `Plan mode is still on: nothing is changed before the user ${exit ? 'has approved a plan (ExitPlanMode)' : 'leaves it'}.`),
  gone: (_before, { log, thread }) => {
    const plan = thread === 'main' ? planOf(log) : undefined;
    return `Plan mode is over: changes are allowed again, as far as the permissions go.${plan === undefined ? '' : ` The plan: ${planLabel(plan)}.`}`;
  },
});
