import { oneLine } from '#lib/names.ts';
import { count } from '#lib/text.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';

/** Skills that came with the folder of a file that was touched. */
interface Come {
  readonly names: readonly string[];
  readonly notes: readonly string[];
}

const ID = 'dynamic_skill';
const MOST_NAMED = 5;

/**
 * A file was touched whose folder has skills: the user sees it, once in a session. No words for the model; `skill_listing` names
 * them to it.
 */
export default defineSource<Come>({
  id: ID, on: ['prompt', 'step'], threads: 'all', cadence: 'always',
  async observe({ skills, log }, signal) {
    const nested = (await skills(signal)).filter(({ scope }) => scope === 'nested');
    if (nested.length === 0) return absent;
    const said = new Set(log.flatMap((entry) => (entry.type === 'reminder' && entry.source === ID && Array.isArray(entry.snapshot) ? entry.snapshot : [])));
    const fresh = nested.filter(({ name }) => !said.has(name));
    if (fresh.length === 0) return absent;
    const folders = [...new Set(fresh.map(({ from = '' }) => from))];
    return {
      names: fresh.map(({ name }) => name),
      notes: folders.map((folder) => noteOf(folder, fresh.filter(({ from = '' }) => from === folder).map(({ name }) => name))),
    };
  },
  keep: ({ names }) => names,
  revive: () => undefined,
  full: () => [],
  notes: ({ notes }) => notes,
});

function noteOf(folder: string, names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  return `${oneLine(folder)} brings ${count(names.length, 'skill')} along: ${names.slice(0, MOST_NAMED).map((name) => oneLine(name)).join(', ')}${more}`;
}
