import { defineFold } from '#lib/fold.ts';
import { LEAD, type Mail, MAIL_SOURCES } from './agents.ts';
import type { Entry } from './entry.ts';

type MailSource = (typeof MAIL_SOURCES)[keyof typeof MAIL_SOURCES];

const toldBy = (source: MailSource): (log: readonly Entry[]) => string => defineFold<Entry, string>('', (now, entry) => (
  entry.type === 'reminder' && entry.source === source && typeof entry.snapshot === 'string' && entry.snapshot > now ? entry.snapshot : now
));

/** The id of the last message that each source told a thread; empty before the first. Compaction and rewind change nothing here. */
const TOLD: Readonly<Record<MailSource, (log: readonly Entry[]) => string>> = {
  teammate_mailbox: toldBy(MAIL_SOURCES.teammates),
  agent_pending_messages: toldBy(MAIL_SOURCES.starter),
};

/** Messages that a source is to tell and has not told: to a sub-agent its starter's by one, all others by the other. */
export function untoldMail(log: readonly Entry[], mail: readonly Mail[], thread: 'main' | 'sub', source: MailSource): readonly Mail[] {
  const told = TOLD[source](log);
  const fromStarter = source === MAIL_SOURCES.starter;
  return mail.filter(({ id, from }) => id > told && (thread === 'sub' && from === LEAD) === fromStarter);
}

/** The id up to which a thread was told everything; empty: nothing yet. What is not newer may be taken out of its mailbox. */
export function toldUpTo(log: readonly Entry[], mail: readonly Mail[], thread: 'main' | 'sub'): string {
  const untold = Object.values(MAIL_SOURCES).flatMap((source) => untoldMail(log, mail, thread, source)).map(({ id }) => id);
  const told = Object.values(MAIL_SOURCES).map((source) => TOLD[source](log)).sort().at(-1) ?? '';
  if (untold.length === 0) return told;
  const first = untold.toSorted()[0] ?? '';
  return mail.findLast(({ id }) => id < first)?.id ?? '';
}
