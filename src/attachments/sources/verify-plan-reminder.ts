import type { Entry, EntryOf } from '#domain/entry.ts';
import { conversationOf, planOf, todosOf } from '#domain/folds.ts';
import { TODO_LIST_ID } from '#domain/attachment.ts';
import { count } from '#lib/text.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';
import { planLabel } from '../plans.ts';

interface Over {
  readonly plan: EntryOf<'plan'>;
  /** Which of the plans that were approved in this session. */
  readonly nth: number;
  /** What makes the work look finished. */
  readonly why: string;
}

/** Replies without a change to a file after which the work seems to be over. */
const QUIET_STEPS = 6;
const ID = 'verify_plan_reminder';

/** Once for each approved plan, when its work seems to be over: that the plan said how to check it. */
export default defineSource<Over>({
  id: ID, on: ['prompt', 'step'], threads: 'main', cadence: 'onChange',
  observe: ({ log, mode }) => {
    const plan = planOf(log);
    if (plan?.state !== 'approved' || mode === 'plan') return absent;
    const nth = log.filter((entry) => entry.type === 'plan' && entry.state === 'approved').length;
    if (wasSaid(nth, log)) return absent;
    const why = overBecause(log.slice(log.indexOf(plan) + 1), log);
    return why === undefined ? absent : { plan, nth, why };
  },
  keep: ({ nth }) => nth,
  revive: (stored, { log }) => {
    const plan = typeof stored === 'number' ? log.filter((entry) => entry.type === 'plan' && entry.state === 'approved').at(stored - 1) : undefined;
    return plan?.type === 'plan' && typeof stored === 'number' ? { plan, nth: stored, why: '' } : undefined;
  },
  full: words,
  delta: (_before, now) => words(now),
});

function words({ plan, why }: Over): string {
  return `The work on the plan seems to be over (${why}): ${planLabel(plan)}. Whether each point of it is done and was checked as the plan says has not been looked at by anybody else.`;
}

function overBecause(since: readonly Entry[], log: readonly Entry[]): string | undefined {
  const wrote = since.findLastIndex((entry) => entry.type === 'toolResult' && entry.result.files?.some(({ how }) => how === 'write') === true);
  if (wrote === -1) return undefined;
  const todos = todosOf(log);
  const listed = since.some((entry) => entry.type === 'attach' && entry.attachment.id === TODO_LIST_ID && entry.by === 'model');
  if (listed && todos.length > 0 && todos.every(({ state }) => state === 'done')) return 'every todo is done';
  const quiet = since.slice(wrote).filter(({ type }) => type === 'assistant').length;
  return quiet >= QUIET_STEPS ? `no file was changed in ${count(quiet, 'reply', 'replies')}` : undefined;
}

/** Before a summary too: it is said once for a plan. What a rewind took back was not said. */
function wasSaid(nth: number, log: readonly Entry[]): boolean {
  const compacted = log.findLastIndex(({ type }) => type === 'compaction');
  return [...log.slice(0, compacted + 1), ...conversationOf(log)].some((entry) => entry.type === 'reminder' && entry.source === ID && entry.snapshot === nth);
}
