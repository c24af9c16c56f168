import type { Json } from '#lib/brand.ts';
import type { BlobHash } from '#domain/content.ts';
import { conversationOf } from '#domain/folds.ts';
import type { Entry } from '#domain/entry.ts';
import type { FileTouch } from '#domain/tool.ts';
import { absent, type MemoryFile } from '#domain/world.ts';
import { defineSource } from '../define.ts';
import { knownNow } from '../known.ts';
import { keepText, pathLine } from '../words.ts';

interface Recalled extends MemoryFile {
  readonly blob: BlobHash | null;
}

/**
 * Kept notes that bear on the prompt, found by its words: a few, cut, none twice in a conversation. What was found is stored, never
 * looked for again. A note that was told whole is a file that the model knows from then on, and its changes are told as any file's.
 */
export default defineSource<readonly Recalled[]>({
  id: 'relevant_memories', on: ['prompt'], threads: 'main', cadence: 'always', limits: { tokens: 8000 }, capped: 'parts',
  async observe(world, signal) {
    const text = world.prompt?.text ?? '';
    if (text.trim() === '') return absent;
    const found = await world.memory.recall(text, new Set([...recalledIn(world.log), ...knownNow(world.log).keys()]), signal);
    const notes = found.map((file): Recalled => ({ ...file, blob: keepText(world.blobs, file.text) }));
    return notes.length === 0 ? absent : notes;
  },
  keep: (now) => now.map(({ path }) => path),
  revive: () => undefined,
  full: (now) => [
    { type: 'text', text: 'Kept notes that may bear on this. They are from earlier sessions and may be out of date:' },
    ...now.map(({ path, changedOn, text, notes }) => ({ type: 'text' as const, text: [`Note ${pathLine(path)}${changedOn === undefined ? '' : `, last changed ${changedOn}`}:`, text.trim(), ...notes.map((note) => `[${note}]`)].join('\n') })),
  ],
  files: (now) => now.flatMap(({ path, hash, blob }): readonly FileTouch[] => (hash === undefined ? [] : [{ path, hash, how: 'read', kept: blob === hash }])),
});

/** Real paths of the notes that this conversation was told. */
function recalledIn(log: readonly Entry[]): readonly string[] {
  return conversationOf(log).flatMap((entry) => (entry.type === 'reminder' && entry.source === 'relevant_memories' ? pathsIn(entry.snapshot) : []));
}

function pathsIn(snapshot: Json): readonly string[] {
  return Array.isArray(snapshot) ? snapshot.filter((path): path is string => typeof path === 'string') : [];
}
