import { dollars } from '#lib/numbers.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';
import { type Mark, markOf, passed, reviveMark } from '../marks.ts';

interface Spent extends Mark {
  /** Undefined where a model without a known price was used. */
  readonly usd: number | undefined;
}

/** Steps of 10 %; the eighth is where the user is warned too. */
const STEP = 0.1;
const UNKNOWN = -1;

/** What the session may cost and has cost: at first, at each 10 % of it, and when the budget is another one. */
export default defineSource<Spent>({
  id: 'budget_usd', on: ['prompt', 'step'], threads: 'main', cadence: 'onChange',
  async observe({ usage }) {
    const { usd, budgetUsd } = await usage();
    if (budgetUsd === undefined) return absent;
    return usd === undefined ? { steps: UNKNOWN, of: budgetUsd, usd } : { ...markOf(usd, budgetUsd, STEP), usd };
  },
  keep: ({ steps, of }) => ({ steps, of }),
  revive: (stored) => {
    const mark = reviveMark(stored);
    return mark === undefined ? undefined : { ...mark, usd: undefined };
  },
  full: (now) => said(now),
  delta: (before, now) => (passed(before, now) || (now.steps === UNKNOWN && before.steps !== UNKNOWN) ? said(now) : undefined),
  gone: () => 'This session has no budget any more.',
});

function said({ usd, of }: Spent): string {
  if (usd === undefined) return `The budget of this session is ${dollars(of)}. What was spent of it is not known: the price of a model is not known.`;
  return `Of this session's budget of ${dollars(of)}, ${dollars(usd)} (${Math.round(usd / of * 100)} %) is spent. At ${dollars(of)} it pauses until the user raises it.`;
}
