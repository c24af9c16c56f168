import type { EntryBody, Event } from '#domain/entry.ts';
import type { Outcome } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { PromptBody } from '#loop/query.ts';
import type { HookWing } from './wing.ts';

/** So often in a row hooks may have a turn go on. */
const MOST_ROUNDS = 8;

export type Run = (prompt: PromptBody | undefined) => AsyncGenerator<Event, Outcome>;

/**
 * A turn of a conversation with the hooks around it: they may keep the prompt from being sent, and have the model go on when it
 * has ended. What they say of the prompt is in the log before it.
 */
export async function* hookedTurn(hooks: HookWing, session: Session, prompt: PromptBody | undefined, run: Run, signal: AbortSignal): AsyncGenerator<Event, Outcome> {
  if (hooks.quiet(session)) return yield* run(prompt);
  const opening = await hooks.ready(session, signal);
  yield* kept(opening.entries, session);
  if (opening.firstPrompt !== undefined) {
    const outcome = yield* untilLeft(hooks, session, { text: opening.firstPrompt }, run, signal);
    if (outcome.kind !== 'answered') return outcome;
  }
  if (prompt !== undefined) {
    const said = await hooks.prompt(prompt, session, signal);
    if (signal.aborted) return { kind: 'stopped', message: 'Interrupted before the prompt was sent.', unsent: true };
    if (said.stop !== undefined) {
      for (const body of said.entries) if (body.type === 'notice') yield { type: 'fault', where: '', message: body.text };
      return { kind: 'stopped', by: 'hook', message: said.stop, unsent: true };
    }
    yield* kept(said.entries, session);
  }
  return yield* untilLeft(hooks, session, prompt, run, signal);
}

/** The same of a sub-agent's thread, whose prompt is its task. */
export async function* hookedThread(hooks: HookWing, session: Session, prompt: PromptBody | undefined, run: Run, signal: AbortSignal): AsyncGenerator<Event, Outcome> {
  if (hooks.quiet(session)) return yield* run(prompt);
  const begins = !session.log.some(({ type }) => type === 'prompt' || type === 'assistant');
  if (begins) yield* kept((await hooks.subagent(session, signal)).entries, session);
  return yield* untilLeft(hooks, session, prompt, run, signal);
}

/** Goes on for as long as hooks want it, and no longer than {@link MOST_ROUNDS} times in a row. */
export async function* untilLeft(hooks: HookWing, session: Session, prompt: PromptBody | undefined, run: Run, signal: AbortSignal): AsyncGenerator<Event, Outcome> {
  let outcome = yield* answered(run(prompt), session);
  for (let round = 0; ; round += 1) {
    if (outcome.kind === 'failed') hooks.failed(outcome, session);
    if (outcome.kind !== 'answered' || !outcome.asked || hooks.quiet(session)) return bare(outcome);
    const said = await hooks.stop(session, round > 0, signal);
    yield* kept(said.entries, session);
    if (signal.aborted) return { kind: 'interrupted' };
    if (!said.goOn) return bare(outcome);
    if (round >= MOST_ROUNDS) {
      yield* kept([{ type: 'notice', level: 'warning', text: `Stop hooks had the model go on ${MOST_ROUNDS} times in a row; the turn ends without asking them again.` }], session);
      return bare(outcome);
    }
    outcome = yield* answered(run(undefined), session);
  }
}

type Asked = Exclude<Outcome, { readonly kind: 'answered' }> | { readonly kind: 'answered'; readonly asked: boolean };

/** A turn, and whether the model said anything in it. */
async function* answered(turn: AsyncGenerator<Event, Outcome>, { log }: Session): AsyncGenerator<Event, Asked> {
  const from = log.length;
  const outcome = yield* turn;
  return outcome.kind === 'answered' ? { ...outcome, asked: log.slice(from).some(({ type }) => type === 'assistant') } : outcome;
}

function bare(outcome: Asked): Outcome {
  return outcome.kind === 'answered' ? { kind: 'answered' } : outcome;
}

function* kept(entries: readonly EntryBody[], session: Session): Generator<Event> {
  for (const body of entries) yield { type: 'entry', entry: session.append(body) };
}
