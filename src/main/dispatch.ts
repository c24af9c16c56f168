import { nearest } from '#lib/nearest.ts';
import type { Command, CommandContext, Effect } from '#domain/command.ts';

/** A line that begins with `/`, taken apart. */
export interface CommandLine {
  readonly name: string;
  readonly args: string;
}

/** Undefined when the line is no command: a path such as `/etc/hosts is odd` is a prompt. */
export function commandLine(line: string): CommandLine | undefined {
  const match = /^\/([\p{L}\p{N}\p{M}_.:?-]*)(?:\s+([\s\S]*))?$/u.exec(line.trimEnd());
  return match === null ? undefined : { name: match[1] ?? '', args: match[2] ?? '' };
}

export function findCommand(commands: readonly Command[], name: string): Command | undefined {
  return commands.find(({ id, aliases }) => id === name || aliases?.includes(name) === true);
}

/** Runs a command line; an unknown name is refused with the nearest one. */
export async function dispatch({ name, args }: CommandLine, context: CommandContext): Promise<Effect> {
  const command = findCommand(context.commands, name);
  if (command !== undefined) return command.run(args, context);
  if (name === '') return { type: 'refuse', message: 'A command has a name: /help lists them.' };
  const near = nearest(name, context.commands.flatMap(({ id, aliases }) => [id, ...(aliases ?? [])]));
  return { type: 'refuse', message: `There is no command /${name}. ${near === undefined ? '/help lists the commands.' : `Did you mean /${near}?`}` };
}
