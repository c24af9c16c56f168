import { withDeadline } from '#lib/deadline.ts';
import { messageOf } from '#lib/errors.ts';
import type { Fault } from '#domain/entry.ts';
import type { Collected, ReminderPort } from '#domain/ports.ts';
import type { Moment, ReminderBody } from '#domain/reminder.ts';
import type { Session } from '#domain/session.ts';
import type { World } from '#domain/world.ts';
import type { Source, Spoken } from './define.ts';
import { ledgerOf } from './ledger.ts';

export interface CollectorOptions {
  /** In shelf order: the order in which the reminders of a moment stand. */
  readonly sources: readonly Source[];
  readonly world: (moment: Moment, session: Session) => World;
  /** Names of kinds that are switched off; read at every moment. */
  readonly off?: () => readonly string[];
  /** Names of kinds that are off by default and switched on. */
  readonly on?: () => readonly string[];
}

/**
 * Asks every source that may speak at a moment, all at once, each within its own deadline. A source that throws or dawdles
 * costs its own words and yields a fault; so does what a source had to leave out. After an abort nothing counts as a fault.
 */
export function createCollector(options: CollectorOptions): ReminderPort {
  return {
    async collect(moment, session, signal): Promise<Collected> {
      try {
        const world = options.world(moment, session);
        const off = new Set(options.off?.());
        const on = new Set(options.on?.());
        const asked = options.sources.filter((source) =>
          source.on.has(moment) && (source.threads === 'all' || world.thread === 'main') && !off.has(source.id) && (source.byDefault === 'on' || on.has(source.id)));
        const told = ledgerOf(session.log);
        const answers = await Promise.allSettled(asked.map((source) =>
          withDeadline(source.limits.ms, signal, (deadline) => source.speak(world, told.get(source.id) ?? { kind: 'never' }, deadline))));
        return gather(asked, answers, signal);
      } catch (error) {
        return { reminders: [], faults: [{ where: 'reminders', message: messageOf(error) }] };
      }
    },
  };
}

function gather(asked: readonly Source[], answers: readonly PromiseSettledResult<Spoken | undefined>[], signal: AbortSignal): Collected {
  const reminders: ReminderBody[] = [];
  const faults: Fault[] = [];
  answers.forEach((answer, i) => {
    const where = `reminder ${asked[i]?.id ?? ''}`;
    if (answer.status === 'rejected') {
      if (!signal.aborted) faults.push({ where, message: messageOf(answer.reason) });
    } else if (answer.value !== undefined) {
      reminders.push(answer.value.reminder);
      faults.push(...answer.value.notes.map((message) => ({ where, message })));
    }
  });
  return { reminders, faults };
}
