import type { Command, CommandContext } from '#domain/command.ts';
import type { Completion } from '#ui/contract.ts';
import { findCommand } from './dispatch.ts';

/**
 * What a line that begins with `/` can go on with, up to the cursor. What a command takes is told once it is clear which one is
 * meant: in a list it would leave no room for what they do.
 */
export async function completeCommand(line: string, context: CommandContext): Promise<readonly Completion[]> {
  const { commands } = context;
  const space = line.search(/\s/);
  if (space === -1) {
    const found = commands.filter(({ id }) => `/${id}`.startsWith(line));
    return found.map(({ id, summary, usage }: Command) => ({ insert: `/${id}`, label: found.length === 1 && usage !== undefined ? `/${id} ${usage}` : `/${id}`, detail: summary }));
  }
  const args = line.slice(space + 1);
  const word = args.slice(args.search(/\S*$/));
  const words = await findCommand(commands, line.slice(1, space))?.complete?.(args, context) ?? [];
  return words.filter((one) => one.startsWith(word) && one !== word).map((one) => ({ insert: one, label: one, ...(one.endsWith('/') && { more: true }) }));
}
