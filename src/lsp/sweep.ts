import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fsPath } from '#lib/names.ts';
import type { ChangedFile } from './bench.ts';
import { FILE_CHANGE } from './watched.ts';

const MOST_FILES = 20_000;
const AT_ONCE = 64;

export interface Sweep {
  /** Files that came, changed or went since the last look; nothing at the first. Never rejects. */
  look(signal: AbortSignal): Promise<readonly ChangedFile[]>;
}

/** Looks at the files of a project (relative to `folder`) by time and size. Servers leave it to editors to watch the disk. */
export function createSweep(folder: string, files: (signal: AbortSignal) => Promise<readonly string[]>): Sweep {
  let known: ReadonlyMap<string, string> | undefined;
  return {
    async look(signal) {
      const names = (await files(signal).catch(() => [])).slice(0, MOST_FILES);
      if (signal.aborted || (names.length === 0 && known === undefined)) return [];
      const before = known;
      const now = await stampsOf(names.map((name) => join(folder, name)), signal);
      if (signal.aborted) return [];
      known = now;
      return before === undefined ? [] : changesBetween(before, now);
    },
  };
}

async function stampsOf(paths: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const stamps = new Map<string, string>();
  for (let at = 0; at < paths.length && !signal.aborted; at += AT_ONCE) {
    await Promise.all(paths.slice(at, at + AT_ONCE).map(async (path) => {
      const found = await stat(fsPath(path)).catch(() => undefined);
      if (found?.isFile() === true) stamps.set(path, `${found.ino} ${found.size} ${found.mtimeMs}`);
    }));
  }
  return stamps;
}

function changesBetween(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): readonly ChangedFile[] {
  const changes: ChangedFile[] = [];
  for (const [path, stamp] of now) {
    const old = before.get(path);
    if (old === undefined) changes.push({ path, kind: FILE_CHANGE.created });
    else if (old !== stamp) changes.push({ path, kind: FILE_CHANGE.changed });
  }
  for (const path of before.keys()) if (!now.has(path)) changes.push({ path, kind: FILE_CHANGE.deleted });
  return changes;
}
