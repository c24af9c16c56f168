import { messageOf } from '#lib/errors.ts';

export interface SettingsWatch {
  close(): Promise<void>;
}

/** A save is several events, and an editor may truncate before it writes: the file is read when it has been quiet so long. */
const QUIET_MS = 120;

/**
 * Tells when one of these files was made, changed or removed. They are few and long-lived, which is what chokidar is good at; files
 * of the project are looked at instead (`watch.ts`). A system that cannot watch costs one notice.
 */
export async function watchSettings(files: readonly string[], onChange: (file: string) => void, onNotice: (text: string) => void): Promise<SettingsWatch> {
  const { watch } = await import('chokidar');
  const watcher = watch([...files], { ignoreInitial: true, persistent: false, awaitWriteFinish: { stabilityThreshold: QUIET_MS, pollInterval: 40 } });
  watcher.on('all', (_event, file) => { onChange(file); });
  watcher.on('error', (error) => {
    void watcher.close();
    onNotice(`settings files are not watched (${messageOf(error)}); a change takes effect at the next start.`);
  });
  await new Promise<void>((resolve) => { watcher.once('ready', resolve); });
  return { close: () => watcher.close() };
}
