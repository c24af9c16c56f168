import type { Event } from '#domain/entry.ts';
import type { Session } from '#domain/session.ts';

/** What happens beside a turn reaches whoever holds the session. */
export interface Beside {
  /** Something happened in a session: entries are in its log already. */
  readonly tell: (session: Session, event: Event) => void;
  /** There is something to deliver in a session: a turn may begin without a prompt. */
  readonly wake: (session: Session) => void;
}
