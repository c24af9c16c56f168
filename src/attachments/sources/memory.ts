import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';
import { type Instructions, keepInstructions, newsWords, notesOf, reviveInstructions, seen, touchesOf, wholeWords } from '../instructions.ts';

/**
 * AGENTS.md and CLAUDE.md of the user and the project, rules for all files, and the index of kept notes, imports in place: whole
 * at first, then what changed. Notes are the main conversation's.
 */
export default defineSource<readonly Instructions[]>({
  id: 'memory', on: ['prompt', 'step'], threads: 'all', cadence: 'onChange', limits: { ms: 3000, tokens: 40_000 },
  async observe(world, signal) {
    const files = (await world.memory.files(signal)).filter(({ scope }) => scope !== 'notes' || world.thread === 'main');
    return files.length === 0 ? absent : seen(files, world);
  },
  keep: keepInstructions,
  revive: reviveInstructions,
  full: wholeWords,
  delta: newsWords,
  gone: () => 'There are no instruction files any more; what they said no longer holds.',
  files: touchesOf,
  notes: notesOf,
});
