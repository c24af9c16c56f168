/** Kilobytes of address space. A search takes some ten megabytes; a `.gitignore` that is a link to an endless device takes all there is. */
const MOST_KILOBYTES = 1024 * 1024;

/** A program and its arguments as they are to be spawned so that it cannot take all memory, where the system can see to that. */
export function boundedProgram(program: string, args: readonly string[]): readonly [program: string, args: string[]] {
  if (process.platform !== 'linux') return [program, [...args]];
  return ['/bin/sh', ['-c', `ulimit -v ${MOST_KILOBYTES} 2>/dev/null; exec "$0" "$@"`, program, ...args]];
}
