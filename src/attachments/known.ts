import type { PinTarget } from '#domain/attachment.ts';
import { attachmentsOf, conversationOf, knownFilesOf } from '#domain/folds.ts';
import type { Entry } from '#domain/entry.ts';
import type { FileTouch } from '#domain/tool.ts';

/** What the model has been given of files in the conversation as it stands: what a rewind took back it no longer knows. */
export function knownNow(log: readonly Entry[]): ReadonlyMap<string, FileTouch> {
  return knownFilesOf(log.some(({ type }) => type === 'rewind') ? conversationOf(log) : log);
}

/**
 * Real paths of files that a pin keeps in view as a whole: no other source speaks of them. A pin of some lines, of the path
 * only, or of a frozen text does not tell of changes elsewhere in its file and silences nobody.
 */
export function pinnedPathsOf(log: readonly Entry[]): ReadonlySet<string> {
  return new Set(livePins(log).flatMap((target) => (target.lines === undefined ? [target.path] : [])));
}

/** Real paths of files of which a pin keeps some lines in view. */
export function partlyPinnedPathsOf(log: readonly Entry[]): ReadonlySet<string> {
  return new Set(livePins(log).flatMap((target) => (target.lines === undefined ? [] : [target.path])));
}

function livePins(log: readonly Entry[]): readonly Extract<PinTarget, { readonly type: 'file' }>[] {
  return attachmentsOf(log).flatMap((at) => (at.kind === 'file' && at.form === 'live' && at.target.type === 'file' ? [at.target] : []));
}
