import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs';

const MOST_BYTES = 4 * 1024 * 1024;

/**
 * The text of a regular file. Links are followed, but what a folder of unknown origin puts in a file's place (a pipe, a device, a
 * huge file) is neither waited for nor read: it throws, as does a file that is missing (with its code) or larger than `mostBytes`.
 */
export function readSmallFile(path: string, mostBytes = MOST_BYTES): string {
  return readSmallBytes(path, mostBytes).toString('utf8');
}

/** As {@link readSmallFile}, its bytes. */
export function readSmallBytes(path: string, mostBytes = MOST_BYTES): Buffer {
  // Opening a pipe waits and opening a device may do something: it must look like a file first.
  if (!statSync(path).isFile()) throw new Error('it is no regular file');
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new Error('it is no regular file');
    if (stats.size > mostBytes) throw new Error(`it is larger than ${mostBytes} bytes`);
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}
