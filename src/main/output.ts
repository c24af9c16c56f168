let leave = (): void => { process.exit(); };

/** A reader that has read enough is no failure; an output that takes nothing is one, and where there is no other place to say so the code says it. */
export function guardOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') {
      leave();
      return;
    }
    process.stderr.write(`pinion: standard output takes nothing (${error.message}).\n`);
    process.exit(1);
  });
  process.stderr.on('error', () => undefined);
}

/** Says what is done when nobody reads any more, in place of ending at once. */
export function whenReaderLeaves(does: () => void): void {
  leave = does;
}
