import { tokens } from '#lib/numbers.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';
import { type Mark, markOf, passed, reviveMark } from '../marks.ts';

interface Usage extends Mark {
  readonly used: number;
}

/** How full the context window is, at each 5 % of it. Off unless `remindersOn` names it. */
export default defineSource<Usage>({
  id: 'token_usage', on: ['prompt', 'step'], threads: 'main', cadence: 'onChange', byDefault: 'off',
  async observe({ usage }) {
    const { used, window } = await usage();
    const mark = markOf(used, window, 0.05);
    return mark.steps === 0 ? absent : { ...mark, used };
  },
  keep: ({ steps, of }) => ({ steps, of }),
  revive: (stored) => {
    const mark = reviveMark(stored);
    return mark === undefined ? undefined : { ...mark, used: 0 };
  },
  full: (now) => said(now),
  delta: (before, now) => (passed(before, now) ? said(now) : undefined),
});

function said({ used, of }: Usage): string {
  return `The conversation takes about ${tokens(used)} of the ${tokens(of)} tokens of the context window (${Math.round(used / of * 100)} %).`;
}
