import { MAIL_SOURCES } from '#domain/agents.ts';
import type { Entry, Event } from '#domain/entry.ts';
import type { Session } from '#domain/session.ts';

/** What happens beside a turn reaches whoever holds the session. */
export interface Beside {
  /** Something happened in a session: entries are in its log already. */
  readonly tell: (session: Session, event: Event) => void;
  /** There is something to deliver in a session: a turn may begin without a prompt. */
  readonly wake: (session: Session) => void;
}

/** Sources that tell of what happened beside the conversation. Each looks at what is the case when it is asked. */
const TELLERS: ReadonlySet<string> = new Set([MAIL_SOURCES.teammates, 'unified_tasks']);

/** Whether what happened when the log had this length was told since. */
export function wasTold(log: readonly Entry[], since: number): boolean {
  return log.slice(since).some((entry) => entry.type === 'reminder' && TELLERS.has(entry.source));
}
