import type { Json } from '#lib/brand.ts';
import type { Entry, Event } from '#domain/entry.ts';
import type { Session } from '#domain/session.ts';

/** What happens beside a turn reaches whoever holds the session. */
export interface Beside {
  /** Something happened in a session: entries are in its log already. */
  readonly tell: (session: Session, event: Event) => void;
  /** There is something to deliver in a session: a turn may begin without a prompt. */
  readonly wake: (session: Session) => void;
}

/** What a surface may hear besides what its turns yield. A promise holds up whoever tells it. */
export interface Overhearing {
  /** An event of a reply, as the server sent it. */
  raw?(session: Session, event: unknown): void;
  /** Milliseconds that a request took, with all that was waited for. */
  took?(session: Session, ms: number): void;
  /** What the turn of a sub-agent yields. */
  agent?(session: Session, event: Event): Promise<void> | void;
}

/** The source that tells of tasks, each end of one by the id of the entry that says so. */
const TELLER = 'unified_tasks';

/** Whether the end of a task, written down since the log had this length, was not told to the model. */
export function hasUntoldEnd(log: readonly Entry[], since: number): boolean {
  const told = log.slice(since).flatMap((entry) => (entry.type === 'reminder' && entry.source === TELLER && Array.isArray(entry.snapshot) ? entry.snapshot.map((one: Json) => JSON.stringify(one)) : []));
  return log.slice(since).some((entry) => entry.type === 'task' && entry.task.state !== 'running' && !told.some((one) => one.includes(JSON.stringify(entry.id))));
}
