import { defineFold } from '#lib/fold.ts';
import { oneLine } from '#lib/names.ts';
import { count } from '#lib/text.ts';
import type { Entry } from '#domain/entry.ts';
import { HOOK_SOURCE, type HookContext } from '#domain/hooks.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';

const TOKENS = 20_000;
const MOST_BYTES = TOKENS * 3;
const MOST = 50;

/** What no reminder has told yet, oldest first. Compaction and rewind change nothing here: each is told once. */
const untold = defineFold<Entry, readonly HookContext[]>([], (now, entry) => {
  if (entry.type === 'hookContext') return [...now, entry];
  if (entry.type !== 'reminder' || entry.source !== HOOK_SOURCE) return now;
  const at = now.findIndex(({ id }) => id === entry.snapshot);
  return now.slice(at + 1);
});

/** What programs of the user's (hooks) said about what just happened, each once, with the name of whoever said it. */
export default defineSource<readonly HookContext[]>({
  id: HOOK_SOURCE, on: ['prompt', 'step'], threads: 'all', cadence: 'always', limits: { tokens: TOKENS }, capped: 'parts',
  observe: ({ log }) => {
    const waiting = untold(log);
    return waiting.length === 0 ? absent : waiting;
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
