import { absent, type Loaded, type World } from '#domain/world.ts';
import { defineSource } from '../define.ts';
import { filePinsOf, mentioningText } from '../known.ts';
import { unsaid } from '../words.ts';

/**
 * What the user mentioned by `@`, in the prompt and in words queued while the model worked. Never silent: what could not be
 * attached is one line each. A pinned file is in view already and is not given again. A sub-agent's prompt is the model's own
 * text, in which an `@` means nothing.
 */
export default defineSource<Loaded>({
  id: 'at_mentioned_files', on: ['prompt', 'step'], threads: 'main', cadence: 'always', limits: { ms: 10_000, tokens: 60_000 }, capped: 'parts',
  async observe(world, signal) {
    const text = mentioningText(world);
    if (!text.includes('@')) return absent;
    const loaded = await world.mentions.load(text, signal, await wholeInView(world, signal));
    return loaded.parts.length === 0 && loaded.notes.length === 0 ? absent : loaded;
  },
  keep: ({ files }) => files.map(({ path }) => path),
  revive: () => undefined,
  full: ({ parts, notes }) => {
    const more = unsaid(notes, parts);
    return [...parts, ...(more.length === 0 ? [] : [{ type: 'text' as const, text: more.join('\n') }])];
  },
  files: ({ files }) => files,
  notes: ({ notes }) => notes,
});

/** Files that a pin keeps in view with every byte; of one that is cut, or pinned by some lines, a mention shows more. */
async function wholeInView(world: World, signal: AbortSignal): Promise<ReadonlySet<string>> {
  if (filePinsOf(world.log).length === 0) return new Set();
  const views = await world.pins.views(signal);
  return new Set(views.flatMap(({ files }) => files.filter(({ how }) => how !== 'partial' && how !== 'heard').map(({ path }) => path)));
}
