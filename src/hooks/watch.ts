import { messageOf } from '#lib/errors.ts';

export type FileEvent = 'change' | 'add' | 'unlink';

/** Files that are looked after for hooks. */
export interface FileWatch {
  /** From now on these, and no others (absolute). */
  follow(paths: readonly string[]): void;
  close(): Promise<void>;
}

const QUIET_MS = 100;

export async function watchFiles(onChange: (path: string, event: FileEvent) => void, onNotice: (text: string) => void): Promise<FileWatch> {
  const { watch } = await import('chokidar');
  const watcher = watch([], { ignoreInitial: true, persistent: false, awaitWriteFinish: { stabilityThreshold: QUIET_MS, pollInterval: 40 } });
  let followed: ReadonlySet<string> = new Set();
  for (const event of ['change', 'add', 'unlink'] as const) watcher.on(event, (path) => { if (followed.has(path)) onChange(path, event); });
  watcher.on('error', (error) => { onNotice(`files are not watched for FileChanged hooks (${messageOf(error)}).`); });
  return {
    follow(paths) {
      const next = new Set(paths);
      watcher.unwatch([...followed].filter((path) => !next.has(path)));
      watcher.add([...next].filter((path) => !followed.has(path)));
      followed = next;
    },
    close: () => watcher.close(),
  };
}
