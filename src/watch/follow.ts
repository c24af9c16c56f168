import { watch, type FSWatcher } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { messageOf } from '#lib/errors.ts';
import { fsPath, nameFromBytes } from '#lib/names.ts';

export interface Follower {
  /** From now on these files are followed, and no others. A file system that cannot be watched costs one notice. */
  follow(paths: Iterable<string>, onChange: (path: string) => void): void;
  close(): void;
}

/** Milliseconds in which what happens to one file is told once: a save is several events. */
const TOGETHER_MS = 30;

/**
 * Follows files by way of the folders that they lie in: a watch on a file itself goes dead when an editor saves by renaming,
 * or by unlinking and making anew. What it tells is a hint for the screen, never the truth.
 */
export function createFollower(onNotice: (text: string) => void): Follower {
  const folders = new Map<string, FSWatcher>();
  const waiting = new Set<string>();
  let wanted: ReadonlySet<string> = new Set();
  let tell: (path: string) => void = () => undefined;
  let timer: NodeJS.Timeout | undefined;
  let off = false;

  const close = (): void => {
    off = true;
    clearTimeout(timer);
    for (const watcher of folders.values()) watcher.close();
    folders.clear();
  };
  const flush = (): void => {
    timer = undefined;
    const paths = [...waiting];
    waiting.clear();
    for (const path of paths) if (wanted.has(path)) tell(path);
  };
  const hear = (path: string): void => {
    if (!wanted.has(path)) return;
    waiting.add(path);
    timer ??= setTimeout(flush, TOGETHER_MS).unref();
  };
  const fail = (folder: string, error: unknown): void => {
    folders.get(folder)?.close();
    folders.delete(folder);
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    // A folder that is gone may be back when it is next asked for.
    if (off || code === 'ENOENT' || code === 'ENOTDIR' || code === 'EPERM') return;
    close();
    onNotice(`Files are not watched (${messageOf(error)}); changes are still seen at each step.${hintFor(code)}`);
  };
  const open = (folder: string): void => {
    try {
      const watcher = watch(fsPath(folder), { persistent: false, encoding: 'buffer' }, (_, name) => { if (name !== null) hear(join(folder, basename(nameFromBytes(name)))); });
      watcher.on('error', (error) => { fail(folder, error); });
      folders.set(folder, watcher);
    } catch (error) {
      fail(folder, error);
    }
  };
  return {
    follow(paths, onChange) {
      if (off) return;
      tell = onChange;
      wanted = new Set(paths);
      const needed = new Set([...wanted].map((path) => dirname(path)));
      for (const [folder, watcher] of folders) {
        if (needed.has(folder)) continue;
        watcher.close();
        folders.delete(folder);
      }
      for (const folder of needed) if (!off && !folders.has(folder)) open(folder);
    },
    close,
  };
}

function hintFor(code: unknown): string {
  if (code === 'ENOSPC') return ' The system\'s limit is reached: raise fs.inotify.max_user_watches.';
  return code === 'EMFILE' ? ' The system\'s limit is reached: raise fs.inotify.max_user_instances or the limit of open files.' : '';
}
