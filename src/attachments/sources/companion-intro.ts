import { oneLine } from '#lib/names.ts';
import { sha256 } from '#lib/hash.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';

interface Companion {
  readonly name: string;
  readonly text: string;
}

/** A persona that the user or the output style named, introduced once. */
export default defineSource<Companion>({
  id: 'companion_intro', on: ['prompt', 'step'], threads: 'all', cadence: 'onChange', limits: { tokens: 400 },
  async observe({ style }) {
    const companion = (await style())?.companion;
    return companion === undefined || companion.text.trim() === '' ? absent : { name: oneLine(companion.name, 60), text: companion.text.trim() };
  },
  keep: ({ name, text }) => ({ name, hash: sha256(text) }),
  revive: (stored) => {
    const name = stored !== null && typeof stored === 'object' && 'name' in stored ? stored['name'] : undefined;
    return typeof name === 'string' ? { name, text: '' } : undefined;
  },
  full: introduction,
  delta: (_before, now) => introduction(now),
  gone: (before) => `${before === undefined ? 'The persona of before' : before.name} does not speak along any more.`,
});

function introduction({ name, text }: Companion): string {
  return `"${name}" is a persona that the user wants in this conversation. It introduces itself with the next answer, once, in a sentence:\n${text}`;
}
