import { readdir } from 'node:fs/promises';
import picomatch from 'picomatch';
import { sha256 } from '#lib/hash.ts';
import { fsPath, nameFromBytes, oneLine } from '#lib/names.ts';
import { FILE_CONTENTS_LIMIT_BYTES, type PinTarget, type StoredAttachment } from '#domain/attachment.ts';
import type { BlobHash, Part } from '#domain/content.ts';
import type { DocumentPort, PathPort } from '#domain/documents.ts';
import { MISSING_HASH } from '#domain/tool.ts';
import type { PinView } from '#domain/world.ts';
import { bodyOf } from './words.ts';

interface Doors {
  readonly paths: PathPort;
  readonly documents: DocumentPort;
  readonly cwd: string;
  readonly files: (signal: AbortSignal) => Promise<readonly string[]>;
}

type StoredFile = Extract<StoredAttachment, { readonly kind: 'file' }>;
type FileTarget = Extract<PinTarget, { readonly type: 'file' }>;

/** Names of a listing beyond these are counted. */
const MOST_NAMES = 1000;
/** Bytes of a file pinned whole beyond which it is cut all the same: no window holds more. */
const WHOLE_LIMIT_BYTES = 4 * 1024 * 1024;

/** A file as it is now. Its state is what is shown of it: what changes beyond the cut, and the counts in the header, are no news. */
export async function viewFile(stored: StoredFile, target: FileTarget, doors: Doors, signal: AbortSignal): Promise<PinView> {
  const found = await doors.paths.lookUp(target.path, doors.cwd);
  const range = target.lines === undefined ? '' : `#${target.lines.from}-${target.lines.to}`;
  const at = { id: stored.id, label: `${found.label}${range}` };
  if (found.denied) return unreadable(at, 'a permission rule denies reading it');
  // That it is gone is told by this pin: no other source tells it again.
  if (found.kind === 'missing') return { ...unreadable(at, 'no such file'), files: [{ path: target.path, hash: MISSING_HASH, how: 'heard', kept: false }] };
  if (found.kind !== 'file') return unreadable(at, 'no longer a file');
  // The real path was stored: another one now means that a link was put in its place.
  if (found.real !== target.path && found.outside) return unreadable(at, `now leads out of the workspace, to ${oneLine(found.real)}`);
  const limitBytes = stored.whole ? WHOLE_LIMIT_BYTES : FILE_CONTENTS_LIMIT_BYTES;
  const loaded = await doors.documents.load(found.real, found.label, { limitBytes, ...(target.lines !== undefined && { lines: target.lines }) }, signal);
  const text = loaded.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
  const media = loaded.parts.filter((part) => part.type === 'media');
  const notes = loaded.notes.map((note) => note.replace(`${oneLine(found.label)}: `, '')).filter((note) => !text.includes(note));
  if (loaded.parts.length === 0 && loaded.files.length === 0) return unreadable(at, notes.join('; ') || 'cannot be read');
  const said = loaded.parts.length === 0 ? `File "${oneLine(found.label)}" is empty.` : text;
  return {
    ...at, media, files: loaded.files, text: said,
    hash: (media.length === 0 ? sha256(bodyOf(said)) : mediaHash(media)) as BlobHash,
    ...(notes.length > 0 && loaded.parts.length > 0 && { note: notes.join('; ') }),
  };
}

export async function viewDirectory(stored: StoredFile, path: string, doors: Doors): Promise<PinView> {
  const found = await doors.paths.lookUp(path, doors.cwd);
  const at = { id: stored.id, label: `${found.label.replace(/\/$/, '')}/` };
  if (found.denied) return unreadable(at, 'a permission rule denies reading it');
  if (found.kind === 'missing') return unreadable(at, 'no such directory');
  if (found.kind !== 'directory') return unreadable(at, 'no longer a directory');
  if (found.real !== path && found.outside) return unreadable(at, `now leads out of the workspace, to ${oneLine(found.real)}`);
  const entries = await readdir(fsPath(found.real), { withFileTypes: true, encoding: 'buffer' });
  const names = entries.map((entry) => `${nameFromBytes(entry.name)}${entry.isDirectory() ? '/' : ''}`).filter((name) => name !== '.git/');
  return listing(at, `Directory "${oneLine(at.label)}"`, names);
}

/** Names of the workspace's files that match; what is ignored is not among them. */
export async function viewGlob(stored: StoredFile, pattern: string, doors: Doors, signal: AbortSignal): Promise<PinView> {
  const at = { id: stored.id, label: pattern };
  const fits = picomatch(pattern.replace(/^\.\//, ''), { dot: true });
  const names = (await doors.files(signal)).filter((name) => fits(name));
  return listing(at, `Files that match "${oneLine(pattern)}"`, names);
}

function listing(at: { readonly id: string; readonly label: string }, title: string, names: readonly string[]): PinView {
  const sorted = [...names].sort((a, b) => (a < b ? -1 : 1));
  const left = sorted.length - MOST_NAMES;
  const shown = sorted.slice(0, MOST_NAMES).map((name) => oneLine(name));
  const text = [`${title} (${sorted.length}):`, ...shown, ...(left > 0 ? [`[${left} more names left out]`] : [])].join('\n');
  return { ...at, text, media: [], hash: sha256(text) as BlobHash, files: [] };
}

function unreadable(at: { readonly id: string; readonly label: string }, note: string): PinView {
  return { ...at, text: undefined, media: [], hash: sha256(`unreadable\0${note}`) as BlobHash, files: [], note };
}

function mediaHash(media: readonly Part[]): string {
  return sha256(media.map((part) => (part.type === 'media' ? part.blob.hash : '')).join());
}
