import type { Json } from '#lib/brand.ts';
import { sha256 } from '#lib/hash.ts';
import { oneLine } from '#lib/names.ts';
import type { BlobHash } from '#domain/content.ts';
import type { FileTouch } from '#domain/tool.ts';
import type { MemoryFile, World } from '#domain/world.ts';
import { knownNow } from './known.ts';
import { changeOf, keepText, keptText, pathLine } from './words.ts';

/** Instruction files as a source tells them: whole once, then by their changes. */
export interface Instructions extends MemoryFile {
  readonly blob: BlobHash | null;
  /** The model has these very bytes from elsewhere: from a call of its own. */
  readonly own?: boolean;
  /** What is told of it brings up to date what the model knows of the file from elsewhere. */
  readonly touch?: FileTouch;
}

const SCOPES = {
  user: 'the user\'s own instructions', project: 'the project\'s instructions', local: 'the user\'s own instructions for this project', notes: 'kept notes of this project',
} as const;

/** However the model came to know all of a file: nothing of it is told again. */
const WHOLE: ReadonlySet<FileTouch['how']> = new Set(['read', 'write', 'mention', 'pin', 'notice']);

export function seen(files: readonly MemoryFile[], world: World): readonly Instructions[] {
  const known = knownNow(world.log);
  return files.map((file) => {
    const touch = known.get(file.path);
    const own = file.hash !== undefined && touch !== undefined && WHOLE.has(touch.how) && touch.hash === file.hash;
    return { ...file, own, blob: keepText(world.blobs, file.text), ...(touch !== undefined && !own && updated(file, touch, world)) };
  });
}

/** Without the blank ends of a file the text is all of it. */
function updated({ path, text, hash }: MemoryFile, before: FileTouch, { blobs }: World): { readonly touch: FileTouch } | undefined {
  if (hash === undefined || before.hash === hash) return undefined;
  const raw = [text, `${text}\n`].find((one) => sha256(one) === hash);
  return { touch: raw === undefined ? { path, hash, how: 'heard', kept: false } : { path, hash, how: 'notice', kept: keepText(blobs, raw) !== null } };
}

/** Files that the model knows from elsewhere, where their change is told. */
export function touchesOf(now: readonly Instructions[], before: readonly Instructions[] | undefined): readonly FileTouch[] {
  return now.flatMap(({ path, text, touch }) => (touch === undefined || before?.find((file) => file.path === path)?.text === text ? [] : [touch]));
}

export function keepInstructions(now: readonly Instructions[]): Json {
  return now.map(({ path, scope, text, blob, notes, when = [], imports = [] }) => ({ path, scope, hash: sha256(text), blob, notes, ...(when.length > 0 && { when }), ...(imports.length > 0 && { imports }) }));
}

export function reviveInstructions(stored: Json, world: World): readonly Instructions[] | undefined {
  if (!Array.isArray(stored)) return undefined;
  const files = stored.map((file) => reviveFile(file, (hash) => keptText(world.blobs, hash)));
  return files.every((file) => file !== undefined) ? files : undefined;
}

/** Without words (an empty list) where the model has all of them from elsewhere: what is kept is what later changes are told against. */
export function wholeWords(now: readonly Instructions[]): string | [] {
  const told = now.filter(({ own }) => own !== true).map(whole);
  return told.length === 0 ? [] : told.join('\n\n');
}

/** What came, changed and went; undefined where nothing did. */
export function newsWords(before: readonly Instructions[], now: readonly Instructions[]): string | [] | undefined {
  const told = now.flatMap((file) => {
    const was = before.find(({ path }) => path === file.path);
    if (file.own === true) return [];
    if (was === undefined) return [whole(file)];
    const change = changeOf(`${pathLine(file.path)} (${SCOPES[file.scope]})`, was.text, file.text);
    return change === undefined ? [] : [withNotes(change, file)];
  });
  const went = before.filter(({ path }) => !now.some((file) => file.path === path)).map(({ path }) => `${pathLine(path)} is no longer there, or empty: its instructions no longer hold.`);
  const lines = [...told, ...went];
  if (lines.length > 0) return lines.join('\n\n');
  return now.some(({ own, path, text }) => own === true && before.find((file) => file.path === path)?.text !== text) ? [] : undefined;
}

/** What was left out, where it is news. */
export function notesOf(now: readonly Instructions[], before: readonly Instructions[] | undefined): readonly string[] {
  return now.filter((file) => file.notes.join() !== before?.find(({ path }) => path === file.path)?.notes.join())
    .flatMap(({ path, notes }) => notes.map((note) => `${pathLine(path)}: ${note}`));
}

function whole(file: Instructions): string {
  const { path, scope, text, when } = file;
  const holds = when === undefined || when.length === 0 ? '' : `[for ${oneLine(when.join(', '), 300)}]\n`;
  return withNotes(`${pathLine(path)} (${SCOPES[scope]}):\n${holds}${text}`, file);
}

function withNotes(text: string, { notes }: Instructions): string {
  return notes.length === 0 ? text : `${text}\n${notes.map((note) => `[${note}]`).join('\n')}`;
}

function reviveFile(stored: Json, read: (hash: BlobHash) => string | undefined): Instructions | undefined {
  if (stored === null || typeof stored !== 'object' || !('path' in stored)) return undefined;
  const { path, scope, blob, notes } = stored;
  if (typeof path !== 'string' || typeof blob !== 'string' || typeof scope !== 'string' || !isScope(scope)) return undefined;
  const text = read(blob as BlobHash);
  if (text === undefined) return undefined;
  return { path, scope, text, blob: blob as BlobHash, notes: Array.isArray(notes) ? notes.filter((note) => typeof note === 'string') : [] };
}

function isScope(scope: string): scope is MemoryFile['scope'] {
  return Object.hasOwn(SCOPES, scope);
}
