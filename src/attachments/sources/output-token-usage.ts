import { tokens } from '#lib/numbers.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';
import { type Mark, markOf, passed, reviveMark } from '../marks.ts';

interface Output extends Mark {
  readonly output: number;
}

/** How much the model has written in the session, at each 5 % of the context window. Off unless `remindersOn` names it. */
export default defineSource<Output>({
  id: 'output_token_usage', on: ['prompt', 'step'], threads: 'main', cadence: 'onChange', byDefault: 'off',
  async observe({ usage }) {
    const { output, window } = await usage();
    // What was written may be more than the window holds: it has been summarised since.
    const rounds = Math.floor(output / Math.max(1, window));
    const mark = markOf(output - rounds * window, window, STEP);
    const steps = mark.steps + rounds * Math.round(1 / STEP);
    return steps === 0 ? absent : { steps, of: window, output };
  },
  keep: ({ steps, of }) => ({ steps, of }),
  revive: (stored) => {
    const mark = reviveMark(stored);
    return mark === undefined ? undefined : { ...mark, output: 0 };
  },
  full: ({ output }) => said(output),
  delta: (before, now) => (passed(before, now) ? said(now.output) : undefined),
});

const STEP = 0.05;

function said(output: number): string {
  return `The answers of this session have about ${tokens(output)} tokens so far.`;
}
