import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';
import { type Instructions, keepInstructions, newsWords, notesOf, reviveInstructions, seen, touchesOf, wholeWords } from '../instructions.ts';
import { filePinsOf, knownNow, mentioningText, nestedPaths } from '../known.ts';

/**
 * Instruction files of the folders in which the model was given or wrote files, and rules for such files: each once, then what
 * changed. They begin to hold with a file that is read, written or mentioned; after a compaction with the next such file.
 */
export default defineSource<readonly Instructions[]>({
  id: 'nested_memory', on: ['prompt', 'step'], threads: 'all', cadence: 'onChange', limits: { ms: 3000, tokens: 30_000 },
  async observe(world, signal) {
    const text = mentioningText(world);
    const mentioned = text.includes('@') && world.thread === 'main' ? await world.mentions.named(text) : new Set<string>();
    // What was told goes on holding, also where the file that brought it along could not be given after all.
    const touched = [...new Set([...knownNow(world.log).keys(), ...mentioned, ...nestedPaths(world.log)])];
    if (touched.length === 0) return absent;
    const files = await world.memory.nested(touched, signal);
    if (files.length === 0) return absent;
    // What a pin or a mention of this moment shows has its own voice.
    const voiced = new Set([...mentioned, ...filePinsOf(world.log).map(({ path }) => path)]);
    return seen(files, world).map((file) => (voiced.has(file.path) ? { ...file, own: true } : file));
  },
  keep: keepInstructions,
  revive: reviveInstructions,
  full: wholeWords,
  delta: newsWords,
  gone: () => 'The instruction files below the start directory are no longer there, or empty: what they said no longer holds.',
  files: touchesOf,
  notes: notesOf,
});
