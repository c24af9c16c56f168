import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fsPath } from '#lib/names.ts';
import type { BlobHash } from '#domain/content.ts';
import type { BlobPort } from '#domain/ports.ts';
import { MISSING_HASH, type FileTouch } from '#domain/tool.ts';
import type { ChangePort, FileChange } from '#domain/world.ts';
import { changeOf } from './compare.ts';
import { createFollower } from './follow.ts';
import { createLooker } from './look.ts';

export interface WatchOptions {
  readonly blobs: BlobPort;
  /** How a file is named to the user and the model. */
  readonly label: (path: string) => string;
  /** The repository's `.git` folder, where there is one: while it holds an `index.lock`, a checkout is under way. */
  readonly gitDirectory?: string;
  /** Milliseconds that one look may take; default 150. */
  readonly budgetMs?: number;
  /** Milliseconds after which a missing file counts as deleted and not as about to be saved; default 100. */
  readonly graceMs?: number;
  /** Told once, when the file system cannot be watched. Looks go on as before. */
  readonly onNotice?: (text: string) => void;
}

export interface Watch extends ChangePort {
  /** Follows these files, and no others, for the screen's sake. What it tells is a hint: `look` decides. */
  watchFiles(paths: Iterable<string>, onChange: (path: string) => void): void;
  close(): void;
}

/** From so many changes on no diffs are made: it is a checkout, told as a number. */
const MANY = 50;
/** Milliseconds that the diffs of one look may take together. */
const DIFFS_MS = 200;
/** An older lock was left behind by a git that died. */
const LOCK_MS = 120_000;

/** Tells which files differ from what the model was given. The truth is the look; nothing is kept that a look could not find again. */
export function createWatch(options: WatchOptions): Watch {
  const { budgetMs = 150, graceMs = 100, gitDirectory } = options;
  const looker = createLooker();
  const follower = createFollower(options.onNotice ?? (() => undefined));

  const hashesOf = async (known: ReadonlyMap<string, FileTouch>, signal: AbortSignal): Promise<ReadonlyMap<string, BlobHash>> => {
    const seen = await looker.look(known.keys(), budgetMs, signal);
    const missing = [...seen].filter(([path, hash]) => hash === MISSING_HASH && known.get(path)?.hash !== MISSING_HASH).map(([path]) => path);
    if (missing.length === 0) return seen;
    // An editor that saves by renaming has the file away for a moment.
    await sleep(graceMs, undefined, { signal });
    return new Map([...seen, ...await looker.look(missing, budgetMs, signal)]);
  };
  return {
    async look(known, signal) {
      const settling = { changes: [], skipped: 0, settling: true };
      if (await isCheckingOut(gitDirectory)) return settling;
      const seen = await hashesOf(known, signal);
      if (await isCheckingOut(gitDirectory)) return settling;
      const differing = [...known].flatMap(([path, was]) => {
        const now = seen.get(path);
        return now === undefined || was.hash === now ? [] : [{ path, now, was }];
      });
      const until = Date.now() + DIFFS_MS;
      const changes: FileChange[] = [];
      for (const { path, now, was } of differing) {
        const diffs = differing.length <= MANY && Date.now() < until;
        const change = await changeOf(path, options.label(path), was, now, options.blobs, diffs);
        if (change !== undefined) changes.push({ ...change, ...(differing.length <= MANY && await changedAt(path)) });
      }
      return { changes, skipped: known.size - seen.size, settling: false };
    },
    watchFiles(paths, onChange) {
      follower.follow(paths, (path) => {
        looker.hurry(path);
        onChange(path);
      });
    },
    close: () => { follower.close(); },
  };
}

/** By the time of its last change of any kind, which no program can set as it likes. */
async function changedAt(path: string): Promise<{ readonly changedAtMs?: number }> {
  try {
    return { changedAtMs: (await stat(fsPath(path))).ctimeMs };
  } catch {
    return {};
  }
}

async function isCheckingOut(gitDirectory: string | undefined): Promise<boolean> {
  if (gitDirectory === undefined) return false;
  try {
    const { mtimeMs } = await stat(fsPath(join(gitDirectory, 'index.lock')));
    return Date.now() - mtimeMs < LOCK_MS;
  } catch {
    return false;
  }
}
