import type { Json } from '#lib/brand.ts';
import { sha256 } from '#lib/hash.ts';
import type { BlobHash } from '#domain/content.ts';
import { absent, type MemoryFile } from '#domain/world.ts';
import { defineSource } from '../define.ts';
import { knownNow } from '../known.ts';
import { changeOf, keepText, keptText, pathLine } from '../words.ts';

interface Instructions extends MemoryFile {
  readonly blob: BlobHash | null;
  /** The last change was made by one of our tools: the model knows it from the call. */
  readonly own?: boolean;
}

const SCOPES = { user: 'the user\'s own instructions', project: 'the project\'s instructions', local: 'the user\'s own instructions for this project' } as const;

/** AGENTS.md and CLAUDE.md of the user and the project, imports in place: whole at first, then what changed. */
export default defineSource<readonly Instructions[]>({
  id: 'memory', on: ['prompt', 'step'], threads: 'all', cadence: 'onChange', limits: { ms: 3000, tokens: 40_000 },
  async observe(world, signal) {
    const files = await world.memory.files(signal);
    const known = knownNow(world.log);
    const own = ({ path, hash }: MemoryFile): boolean => hash !== undefined && known.get(path)?.how === 'write' && known.get(path)?.hash === hash;
    return files.length === 0 ? absent : files.map((file) => ({ ...file, own: own(file), blob: keepText(world.blobs, file.text) }));
  },
  keep: (now) => now.map(({ path, scope, text, blob, notes }) => ({ path, scope, hash: sha256(text), blob, notes })),
  revive: (stored, world) => {
    if (!Array.isArray(stored)) return undefined;
    const files = stored.map((file) => reviveFile(file, (hash) => keptText(world.blobs, hash)));
    return files.every((file) => file !== undefined) ? files : undefined;
  },
  full: (now) => now.map(whole).join('\n\n'),
  delta: (before, now) => {
    const told = now.flatMap((file) => {
      const was = before.find(({ path }) => path === file.path);
      if (was === undefined) return [whole(file)];
      if (file.own === true) return [];
      const change = changeOf(`${pathLine(file.path)} (${SCOPES[file.scope]})`, was.text, file.text);
      return change === undefined ? [] : [withNotes(change, file)];
    });
    const went = before.filter(({ path }) => !now.some((file) => file.path === path)).map(({ path }) => `${pathLine(path)} is no longer there; its instructions no longer hold.`);
    const lines = [...told, ...went];
    if (lines.length > 0) return lines.join('\n\n');
    // Without words what our tools wrote is kept all the same: the next change is told against it.
    return now.some(({ own, path, text }) => own === true && before.find((file) => file.path === path)?.text !== text) ? [] : undefined;
  },
  gone: () => 'There are no instruction files any more; what they said no longer holds.',
  notes: (now, before) => now.filter((file) => file.notes.join() !== before?.find(({ path }) => path === file.path)?.notes.join())
    .flatMap(({ path, notes }) => notes.map((note) => `${pathLine(path)}: ${note}`)),
});

function whole(file: Instructions): string {
  return withNotes(`${pathLine(file.path)} (${SCOPES[file.scope]}):\n${file.text}`, file);
}

function withNotes(text: string, { notes }: Instructions): string {
  return notes.length === 0 ? text : `${text}\n${notes.map((note) => `[${note}]`).join('\n')}`;
}

function reviveFile(stored: Json, read: (hash: BlobHash) => string | undefined): Instructions | undefined {
  if (stored === null || typeof stored !== 'object' || !('path' in stored)) return undefined;
  const { path, scope, blob, notes } = stored;
  if (typeof path !== 'string' || typeof blob !== 'string' || (scope !== 'user' && scope !== 'project' && scope !== 'local')) return undefined;
  const text = read(blob as BlobHash);
  if (text === undefined) return undefined;
  return { path, scope, text, blob: blob as BlobHash, notes: Array.isArray(notes) ? notes.filter((note) => typeof note === 'string') : [] };
}
