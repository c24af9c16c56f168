import { UsageError } from '#cli/arguments.ts';
import type { Workers } from './house.ts';

/** `pinion mcp …`: servers of the Model Context Protocol, listed, added and tried from a shell. */
export async function run(argv: readonly string[], _workers: Workers): Promise<number> {
  throw new UsageError(`unknown: ${argv.join(' ')}`);
}
