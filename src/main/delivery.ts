import type { Outcome } from '#domain/ports.ts';
import { createBell } from '#agents/bell.ts';
import { type Beside, hasUntoldEnd } from './beside.ts';
import type { Conversation } from './conversation.ts';
import type { House } from './house.ts';

/** Further turns that one run may take for what agents come to and say to one another. */
const MOST_TURNS = 20;

/** Waits for what happens beside the conversation, where nobody else would. */
export interface Delivery extends Pick<Beside, 'wake'> {
  /** Lets agents at work end and tells what they came to in further turns, until all is quiet. `take` runs one; `from`: how long the log was before the first. */
  untilQuiet(house: House, conversation: Conversation, first: { readonly outcome: Outcome; readonly from: number }, signal: AbortSignal, take: () => Promise<Outcome>): Promise<Outcome>;
}

export function createDelivery(): Delivery {
  const bell = createBell();
  return {
    wake: bell.ring,
    async untilQuiet(house, conversation, first, signal, take) {
      let { outcome, from: since } = first;
      signal.addEventListener('abort', bell.ring, { once: true });
      for (let turns = 0; outcome.kind === 'answered' && turns < MOST_TURNS; turns += 1) {
        const { session } = conversation;
        while (!signal.aborted && house.agents.live(session).length > 0) await bell.heard();
        if (signal.aborted) outcome = { kind: 'interrupted' };
        else if (!house.agents.hasMail(session) && !hasUntoldEnd(session.log, since)) break;
        else {
          since = session.log.length;
          outcome = await take();
          // Nothing tells it: the kind of reminder is switched off.
          if (session.log.length === since) break;
        }
      }
      signal.removeEventListener('abort', bell.ring);
      return outcome;
    },
  };
}
