import { messageOf } from '#lib/errors.ts';
import { count } from '#lib/text.ts';
import type { Event } from '#domain/entry.ts';
import type { FailureKind, Fit, Outcome, Reply } from '#domain/ports.ts';
import type { Moment } from '#domain/reminder.ts';
import type { Session } from '#domain/session.ts';
import { ABORTED, patience } from './abort.ts';
import { ask, keep } from './ask.ts';
import { compact, hasConversation } from './compact.ts';
import { project } from './project.ts';
import { repairOf } from './recover.ts';
import { type Ended, ended, stopped, type Turn } from './turn.ts';

const MOST_COMPACTIONS = 2;
/** A compaction that leaves more than this share was in vain. */
const SHRINKS_TO = 0.9;

/** Asks all sources and keeps what they say. An interrupt leaves out what they would have said. */
export async function* collect({ session, ports, signal }: Turn, moment: Moment): AsyncGenerator<Event> {
  if (signal.aborted) return;
  try {
    const collected = await patience(signal).await(ports.reminders.collect(moment, session, signal));
    if (collected === ABORTED) return;
    for (const fault of collected.faults) yield { type: 'fault', ...fault };
    for (const reminder of collected.reminders) yield* keep(session, reminder);
  } catch (thrown) {
    yield { type: 'fault', where: 'reminders', message: messageOf(thrown) };
  }
}

/** Compacts until the next request fits. Undefined when it may be sent; else how the turn ends. */
export async function* makeFit(turn: Turn): AsyncGenerator<Event, Outcome | undefined> {
  const { session, ports, signal } = turn;
  for (;;) {
    const fit = yield* weigh(turn);
    if (fit === ABORTED || signal.aborted) return { kind: 'interrupted' };
    yield* tellOnce(session, fit?.notices ?? []);
    // To make it fit would cost as much: the summary is asked for with the same request.
    if (fit?.unaffordable !== undefined) return { kind: 'outOfBudget', message: fit.unaffordable };
    if (fit === undefined || fit.fits) return undefined;
    if (fit.stuck !== undefined) return stopped(fit.stuck);
    // The limit may be the user's own, well below what the model takes.
    if (turn.compactions >= MOST_COMPACTIONS || !hasConversation(session.log)) return fit.tokens < ports.model.facts().window ? undefined : tooLong(fit);
    const outcome = yield* compactIn(turn, 'auto');
    if (outcome.kind === 'stopped' && outcome.by === 'hook' && fit.tokens < ports.model.facts().window) {
      yield* tellOnce(session, [outcome.message]);
      return undefined;
    }
    if (outcome.kind !== 'answered') return outcome;
    const after = yield* weigh(turn);
    if (after === ABORTED) return { kind: 'interrupted' };
    if (after !== undefined && !after.fits && after.stuck === undefined && after.tokens > fit.tokens * SHRINKS_TO) {
      return stopped(`Compaction did not make the conversation shorter (about ${fit.tokens} tokens before, ${after.tokens} after, limit ${after.limit}). Unpin something, or start anew with /clear.`);
    }
  }
}

function* tellOnce(session: Session, notices: readonly string[]): Generator<Event> {
  for (const text of notices) {
    if (!session.log.some((entry) => entry.type === 'notice' && entry.text === text)) yield* keep(session, { type: 'notice', text, level: 'warning' });
  }
}

function tooLong(fit: Fit): Outcome {
  return stopped(`The request is too long (about ${fit.tokens} tokens, limit ${fit.limit}) and there is nothing left to summarise. Shorten the message, mention less, or unpin something.`);
}

async function* weigh({ session, ports, signal }: Turn): AsyncGenerator<Event, Fit | typeof ABORTED | undefined> {
  try {
    return await patience(signal).await(ports.model.fit(project(session.log, ports.world.blobs)));
  } catch (thrown) {
    yield { type: 'fault', where: 'token estimate', message: messageOf(thrown) };
    return undefined;
  }
}

/** A compaction in the middle of a turn: what the sources said before is gone, so they speak anew. */
async function* compactIn(turn: Turn, trigger: 'auto' | 'salvage'): AsyncGenerator<Event, Outcome> {
  turn.compactions += 1;
  const outcome = yield* compact(turn.session, turn.ports, turn.signal, { trigger, keep: '' });
  if (outcome.kind === 'answered') yield* collect(turn, 'prompt');
  return turn.signal.aborted ? { kind: 'interrupted' } : outcome;
}

/** The answer to the next request, after at most one repair and one resend for each class of refusal. */
export async function* answerOf(turn: Turn): AsyncGenerator<Event, Exclude<Reply, { readonly kind: 'failed' }> | Ended> {
  const { session, ports, signal } = turn;
  const repairedFor = new Set<FailureKind>();
  for (;;) {
    const request = project(session.log, ports.world.blobs);
    const reply = yield* ask(request, ports.model, signal);
    if (reply.kind !== 'failed') return reply;
    const repair = repairedFor.has(reply.why) ? undefined : repairOf(reply, request, session.log);
    if (repair === undefined) return ended(reply);
    repairedFor.add(reply.why);
    if (repair.kind === 'append') {
      yield { type: 'fault', where: 'request', message: repair.said };
      for (const body of repair.bodies) yield* keep(session, body);
      continue;
    }
    if (turn.compactions >= MOST_COMPACTIONS || !hasConversation(session.log)) return ended(stillTooLong(reply.message, turn.compactions));
    const outcome = yield* compactIn(turn, 'salvage');
    if (outcome.kind !== 'answered') return ended(outcome);
  }
}

function stillTooLong(message: string, compactions: number): Outcome {
  const tried = compactions === 0 ? 'there is nothing to summarise' : `${count(compactions, 'compaction')} did not help`;
  return { kind: 'failed', why: 'tooLong', message: `${message} (${tried}). Shorten the message, mention less, or unpin something.` };
}
