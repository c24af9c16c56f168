import type { BlobHash } from '#domain/content.ts';
import type { Entry } from '#domain/entry.ts';
import { inViewOf } from '#domain/folds.ts';
import type { BlobPort } from '#domain/ports.ts';
import type { FileTouch } from '#domain/tool.ts';
import { sha256 } from '#lib/hash.ts';

/** Files up to this size are kept, so that a later change can be told as a diff. */
export const KEPT_BYTES = 1024 * 1024;

/** What the model thereby knows of a file. `path` is real; `bytes` are all of the file's, raw. */
export function touchOf(path: string, bytes: Uint8Array, how: FileTouch['how'], blobs: BlobPort): FileTouch {
  const kept = bytes.length <= KEPT_BYTES && blobs.put(bytes) !== undefined;
  return { path, hash: sha256(bytes) as BlobHash, how, kept };
}

/** What the model was given of a file and still has in view, oldest first. */
export function touchesOf(log: readonly Entry[], path: string): readonly FileTouch[] {
  return inViewOf(log).flatMap((entry) => {
    const files = entry.type === 'toolResult' ? entry.result.files : entry.type === 'reminder' ? entry.files : undefined;
    return files?.filter((touch) => touch.path === path) ?? [];
  });
}

/** Whether the model was given every byte of exactly these contents; a range of lines is not enough. */
export function sawAll(touches: readonly FileTouch[], hash: string): boolean {
  return touches.some((touch) => touch.hash === hash && touch.how !== 'partial' && touch.how !== 'heard');
}
