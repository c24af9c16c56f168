import { defineFold } from '#lib/fold.ts';
import { oneLine } from '#lib/names.ts';
import { count } from '#lib/text.ts';
import type { Entry } from '#domain/entry.ts';
import { conversationOf } from '#domain/folds.ts';
import { HOOK_SOURCE, type HookContext } from '#domain/hooks.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';

const TOKENS = 20_000;
const MOST_BYTES = TOKENS * 3;
const MOST = 50;

/** What no reminder has told yet, oldest first. Compaction changes nothing here: each is told once. */
const untold = defineFold<Entry, readonly HookContext[]>([], waiting);

function waiting(now: readonly HookContext[], entry: Entry): readonly HookContext[] {
  if (entry.type === 'hookContext') return entry.text.trim() === '' ? now : [...now, entry];
  if (entry.type !== 'reminder' || entry.source !== HOOK_SOURCE) return now;
  const at = now.findIndex(({ id }) => id === entry.snapshot);
  return now.slice(at + 1);
}

/** What was said at the session's start holds for all of it: told again where a rewind took back that it was told. */
function owed(log: readonly Entry[]): readonly HookContext[] {
  const never = untold(log);
  if (!log.some(({ type }) => type === 'rewind')) return never;
  const ids = new Set(never.map(({ id }) => id));
  const last = log.findLastIndex(({ type }) => type === 'compaction');
  const early = last === -1 ? [] : conversationOf(log.slice(0, last));
  return [...early, ...conversationOf(log)].reduce(waiting, []).filter(({ id, event }) => ids.has(id) || event.startsWith('SessionStart'));
}

/** What programs of the user's (hooks) said about what just happened, each once, with the name of whoever said it. */
export default defineSource<readonly HookContext[]>({
  id: HOOK_SOURCE, on: ['prompt', 'step'], threads: 'all', cadence: 'always', limits: { tokens: TOKENS }, capped: 'parts',
  observe: ({ log }) => {
    const now = owed(log);
    return now.length === 0 ? absent : now;
  },
  keep: (now) => now.at(-1)?.id ?? null,
  revive: () => undefined,
  full: (now) => {
    const told = now.slice(0, MOST).map((one) => ({ type: 'text' as const, text: wordsOf(one) }));
    return now.length <= MOST ? told : [...told, { type: 'text', text: `[${count(now.length - MOST, 'further hook')} left out]` }];
  },
  notes: (now) => now.flatMap((one) => (Buffer.byteLength(wordsOf(one)) > MOST_BYTES ? [`the words of the hook ${oneLine(one.hook, 60)} are too long and were left out`] : [])),
});

function wordsOf({ event, hook, text }: HookContext): string {
  return `${oneLine(event, 80)} hook (${oneLine(hook, 80)}):\n${text.trim()}`;
}
