import type { Fit } from '#domain/ports.ts';
import type { ModelRequest } from '#domain/request.ts';
import type { Session } from '#domain/session.ts';
import { budgetIn, forecast, judge, spentIn } from '#accounting/budget.ts';

/** Who pays for a session's requests, and what may still be spent. */
export interface Purses {
  /** The dollars that a session, or the one that pays for it, may cost; undefined without a budget. */
  budgetUsd(session: Session): number | undefined;
  /** The fit with what the budget has to say. */
  judged(session: Session, request: ModelRequest, fit: Fit): Fit;
  /** A request that was judged is under way: others count it until the returned call. */
  underWay(session: Session): () => void;
}

export interface PurseOptions {
  /** The budget of the settings or the command line. */
  readonly standing: () => number | undefined;
  /** The conversation that a sub-agent works for, and in whose log its money stands (`spent`); others pay for themselves. */
  readonly payer: (session: Session) => Session;
}

export function createPurses({ standing, payer }: PurseOptions): Purses {
  const likely = new WeakMap<Session, number>();
  const sending = new WeakMap<Session, Map<Session, number>>();
  const budgetUsd = (session: Session): number | undefined => budgetIn(payer(session).log, standing());
  return {
    budgetUsd,
    judged(session, request, fit) {
      const budget = budgetUsd(session);
      if (budget === undefined) return fit;
      const paying = payer(session);
      const { usd, whole } = spentIn(paying.log);
      const next = forecast(request, session.log, fit.tokens, new Date());
      likely.set(session, next ?? 0);
      const underWayUsd = [...sending.get(paying) ?? []].reduce((sum, [other, cost]) => (other === session ? sum : sum + cost), 0);
      return { ...fit, ...judge({ budgetUsd: budget, spentUsd: usd, whole, underWayUsd }, next, request.model) };
    },
    underWay(session) {
      const paying = payer(session);
      const all = sending.get(paying) ?? new Map<Session, number>();
      sending.set(paying, all.set(session, likely.get(session) ?? 0));
      return () => { all.delete(session); };
    },
  };
}
