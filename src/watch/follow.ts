import { dirname } from 'node:path';
import type { FSWatcher } from 'chokidar';
import { messageOf } from '#lib/errors.ts';

export interface Follower {
  /** From now on these files are followed, and no others. Returns at once; a file system that cannot be watched costs one notice. */
  follow(paths: Iterable<string>, onChange: (path: string) => void): void;
  close(): Promise<void>;
}

/** What editors write beside the file that they save. */
const PASSING = /(?:^|\/)(?:\.[^/]*\.sw[a-z]|[^/]*~|4913|\.goutputstream-[^/]*|\.#[^/]*)$/;

/**
 * Follows files by way of the folders that they lie in, so that a save by renaming is seen as well as one in place. What it
 * tells is a hint for the screen, never the truth.
 */
export function createFollower(onNotice: (text: string) => void): Follower {
  const wanted = new Set<string>();
  let folders = new Set<string>();
  let tell: (path: string) => void = () => undefined;
  let state: 'idle' | 'on' | 'off' = 'idle';
  let watcher: Promise<FSWatcher | undefined> = Promise.resolve(undefined);

  const giveUp = (why: unknown): void => {
    if (state === 'off') return;
    state = 'off';
    onNotice(`Files are not watched (${messageOf(why)}); changes are still seen at each step.${limitHint(why)}`);
    void watcher.then(async (at) => { await at?.close(); });
  };
  const start = async (): Promise<FSWatcher | undefined> => {
    try {
      const { watch } = await import('chokidar');
      const ignored = (path: string): boolean => PASSING.test(path) || (!wanted.has(path) && !folders.has(path));
      const at = watch([], { depth: 0, ignored, ignoreInitial: true, atomic: true, persistent: false });
      at.on('error', giveUp);
      at.on('all', (_event, path) => { if (wanted.has(path)) tell(path); });
      return at;
    } catch (error) {
      giveUp(error);
      return undefined;
    }
  };
  return {
    follow(paths, onChange) {
      if (state === 'off') return;
      tell = onChange;
      const before = folders;
      const known = new Set(wanted);
      wanted.clear();
      for (const path of paths) wanted.add(path);
      folders = new Set([...wanted].map((path) => dirname(path)));
      const came = [...folders, ...wanted].filter((path) => !before.has(path) && !known.has(path));
      const went = [...before, ...known].filter((path) => !folders.has(path) && !wanted.has(path));
      if (state === 'idle' && came.length === 0) return;
      if (state === 'idle') watcher = start();
      state = 'on';
      void watcher.then((at) => {
        if (went.length > 0) at?.unwatch(went);
        if (came.length > 0) at?.add(came);
      });
    },
    async close() {
      state = 'off';
      await (await watcher)?.close();
    },
  };
}

function limitHint(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOSPC') return ' The system\'s limit is reached: raise fs.inotify.max_user_watches.';
  return code === 'EMFILE' ? ' The system\'s limit is reached: raise fs.inotify.max_user_instances or the open files limit.' : '';
}
