import { readFile, stat } from 'node:fs/promises';
import { decode } from '#lib/decode.ts';
import { sha256 } from '#lib/hash.ts';
import { lineDiff } from '#lib/line-diff.ts';
import { fsPath } from '#lib/names.ts';
import type { BlobHash } from '#domain/content.ts';
import type { BlobPort } from '#domain/ports.ts';
import { MISSING_HASH, UNREADABLE_HASH, type FileTouch } from '#domain/tool.ts';
import type { FileChange } from '#domain/world.ts';

/** Larger files are told of by name, and their bytes are not kept. */
const LARGEST_BYTES = 1024 * 1024;
/** A longer diff, or one with such a line, is no small change: it is told in numbers. */
const PATCH_CHARS = 4000;
const LINE_CHARS = 500;
const GENERATED = /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|bun\.lockb?|go\.sum|[^/]+\.lock|[^/]+\.min\.(?:js|css|mjs)|[^/]+\.map)$/;

/** One file that is another than the model was given: by name, with a diff where it is small and the old bytes are known. */
export async function changeOf(path: string, label: string, was: FileTouch, now: BlobHash, blobs: BlobPort, diffs: boolean): Promise<FileChange | undefined> {
  if (now === MISSING_HASH) return { path, label, kind: 'deleted', hash: now, kept: false };
  if (now === UNREADABLE_HASH) return { path, label, kind: 'unreadable', hash: now, kept: false };
  const byName: FileChange = { path, label, kind: 'changed', hash: now, kept: false };
  if (!diffs) return byName;
  const bytes = await readSmall(path);
  if (bytes === undefined) return byName;
  const hash = sha256(bytes) as BlobHash;
  // Written back since the look: there is nothing to tell.
  if (hash === was.hash) return undefined;
  const change: FileChange = { ...byName, hash, kept: blobs.put(bytes) !== undefined };
  const old = was.kept ? blobs.get(was.hash) : undefined;
  return old === undefined ? change : { ...change, ...diffOf(path, old, bytes) };
}

function diffOf(path: string, before: Uint8Array, after: Uint8Array): Pick<FileChange, 'patch' | 'addedLines' | 'removedLines'> {
  const old = decode(before);
  const now = decode(after);
  if (old.kind === 'binary' || now.kind === 'binary') return {};
  const diff = lineDiff(old.text, now.text);
  if (diff === undefined) return {};
  const numbers = { addedLines: diff.added, removedLines: diff.removed };
  const small = diff.patch !== '' && diff.patch.length <= PATCH_CHARS && diff.patch.split('\n').every((line) => line.length <= LINE_CHARS);
  const generated = GENERATED.test(path) || now.text.slice(0, 2000).includes('@generated');
  return small && !generated ? { ...numbers, patch: diff.patch } : numbers;
}

async function readSmall(path: string): Promise<Buffer | undefined> {
  try {
    return (await stat(fsPath(path))).size > LARGEST_BYTES ? undefined : await readFile(fsPath(path));
  } catch {
    return undefined;
  }
}
