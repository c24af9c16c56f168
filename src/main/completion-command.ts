import { UsageError } from '#cli/arguments.ts';
import type { Workers } from './house.ts';

/** `pinion completion <shell>`: a script that completes the command line. */
export async function run(argv: readonly string[], _workers: Workers): Promise<number> {
  throw new UsageError(`unknown: ${argv.join(' ')}`);
}
