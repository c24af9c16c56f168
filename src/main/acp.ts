import { UsageError } from '#cli/arguments.ts';
import type { Workers } from './house.ts';

/** `pinion acp`: the Agent Client Protocol on standard input and output, for editors. */
export async function run(argv: readonly string[], _workers: Workers): Promise<number> {
  throw new UsageError(`unknown: ${argv.join(' ')}`);
}
