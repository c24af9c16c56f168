import { isDeepStrictEqual } from 'node:util';
import type { EntryBody, Event, HeadBody } from '#domain/entry.ts';
import { headOf, undeliveredOf } from '#domain/folds.ts';
import type { Limits, Outcome, Ports } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import { keep } from './ask.ts';
import { project } from './project.ts';
import { answerOf, collect, makeFit } from './request.ts';
import { settle } from './settle.ts';
import { startTurn, type Turn } from './turn.ts';

/** What the user sent, as the log keeps it. */
export type PromptBody = Omit<Extract<EntryBody, { readonly type: 'prompt' }>, 'type'>;

/**
 * The whole agent: one turn, from the user's prompt to its outcome. Without a prompt, only what the user typed meanwhile
 * is delivered, or a prompt that got no answer is sent again. Entries are in the log before they are yielded.
 *
 * The prompt is kept before anything can fail. An abort of `signal` ends the turn within 100 ms, whatever a port does, and
 * leaves a log from which the next turn just works. Throws only what `session.append`
 * throws. A turn that ends `stopped`, `failed`, `outOfSteps` or `outOfBudget`
 * has left a notice with the same message in the log.
 */
export async function* query(session: Session, prompt: PromptBody | undefined, ports: Ports, signal: AbortSignal, limits: Limits): AsyncGenerator<Event, Outcome> {
  const turn = startTurn(session, ports, signal);
  yield* keepHead(turn);
  if (prompt !== undefined) yield* keep(session, { type: 'prompt', ...prompt });
  yield* collect(turn, 'prompt');
  const outcome = signal.aborted ? { kind: 'interrupted' as const } : prompt === undefined && endsWithAnswer(turn) ? { kind: 'answered' as const } : yield* steps(turn, limits);
  const message = messageOf(outcome);
  if (message !== undefined) yield* keep(session, { type: 'notice', text: message, level: outcome.kind === 'failed' ? 'error' : 'warning' });
  return outcome;
}

async function* steps(turn: Turn, limits: Limits): AsyncGenerator<Event, Outcome> {
  for (let step = 0; step < limits.maxSteps; step += 1) {
    const unfit = yield* makeFit(turn);
    if (unfit !== undefined) return unfit;
    const reply = yield* answerOf(turn);
    if (reply.kind === 'ended') return reply.outcome;
    const next = yield* settle(turn, reply);
    if (next.kind === 'ended') return next.outcome;
    const queued = undeliveredOf(turn.session.log).length;
    if (next.kind === 'answered' && queued === 0) return { kind: 'answered' };
    if (next.kind !== 'resend' && step + 1 < limits.maxSteps) yield* collect(turn, 'step');
    if (turn.signal.aborted) return { kind: 'interrupted' };
    // Words that no source delivers stay in the queue for the next turn, rather than keep this one going for ever.
    if (next.kind === 'answered' && undeliveredOf(turn.session.log).length >= queued) return { kind: 'answered' };
  }
  return { kind: 'outOfSteps', steps: limits.maxSteps };
}

/** Writes what requests begin with from now on, if it is not what they began with. */
function* keepHead({ session, ports }: Turn): Generator<Event> {
  const now = ports.world.head();
  const before = headOf(session.log);
  if (before === undefined || !isDeepStrictEqual(bare(before), bare(now))) yield* keep(session, now);
}

function bare({ system, tools, model, effort }: HeadBody): unknown {
  return { system, tools, model, effort };
}

/** Nothing was said since the last answer, so there is nothing to ask. */
function endsWithAnswer({ session, ports }: Turn): boolean {
  const request = project(session.log, ports.world.blobs);
  return request.answered === 0 && request.messages.length === 1 && request.origins[0]?.[0]?.what === 'note' || request.messages.at(-1)?.role === 'assistant';
}

function messageOf(outcome: Outcome): string | undefined {
  if (outcome.kind === 'outOfSteps') return `Stopped after ${outcome.steps} model requests, the most that one turn may have. Say "go on" to continue.`;
  return outcome.kind === 'stopped' || outcome.kind === 'failed' || outcome.kind === 'outOfBudget' ? outcome.message : undefined;
}
