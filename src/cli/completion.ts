import { Command, type Option } from 'commander';
import { acpCommand } from './acp.ts';
import { helpColumns, helpLook } from './help.ts';
import { pinionCommand } from './arguments.ts';
import { mcpCommand } from './mcp.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** Words that only the running program knows. */
export const ASKED = ['models', 'sessions', 'servers'] as const;
export type Asked = (typeof ASKED)[number];

/** What may follow: files, folders, a few words, words that are asked for; `any`: something that nobody can guess. */
export type Value = 'files' | 'folders' | 'any' | Asked | readonly string[];

export interface Flag {
  /** `-p`, `--print`. */
  readonly names: readonly string[];
  readonly what: string;
  /** Undefined: it stands alone. */
  readonly value?: Value;
  /** Whether the value may be left out. */
  readonly optional: boolean;
}

/** A command with its flags and what may follow it; `path` is empty for the program itself. */
export interface Node {
  readonly path: readonly string[];
  readonly what: string;
  readonly flags: readonly Flag[];
  /** What its first argument is. */
  readonly argument: Value;
  readonly children: readonly Node[];
}

const ASKED_FLAGS: Readonly<Record<string, Asked>> = { '--model': 'models', '--fallback-model': 'models', '--resume': 'sessions' };

/** All that can stand on the command line, out of the definitions that read it. */
export function commandTree(): Node {
  const mcp = nodeOf(['mcp'], mcpCommand());
  const servers = mcp.children.map((child) => (child.path.at(-1)?.startsWith('add') === true || child.path.at(-1) === 'list' ? child : { ...child, argument: 'servers' as const }));
  return { ...nodeOf([], pinionCommand()), children: [{ ...mcp, children: servers }, nodeOf(['acp'], acpCommand()), { ...nodeOf(['completion'], completionCommand()), argument: SHELLS }] };
}

/** For help: the command that prints the scripts. */
export function completionCommand(columns = helpColumns()): Command {
  return new Command('pinion completion')
    .description('Prints a script that completes the command line of pinion.')
    .argument('<shell>', SHELLS.join(', '))
    .helpOption('-h, --help', 'print this help')
    .configureHelp(helpLook(columns))
    .addHelpText('after', `\nTo have it in every new shell:\n${SHELLS.map((shell) => `  ${shell.padEnd(5)} ${INSTALL[shell]}`).join('\n')}`);
}

/** What a person enters once. */
export const INSTALL: Readonly<Record<Shell, string>> = {
  bash: 'echo \'eval "$(pinion completion bash)"\' >> ~/.bashrc',
  zsh: 'echo \'eval "$(pinion completion zsh)"\' >> ~/.zshrc   (below compinit)',
  fish: 'pinion completion fish > ~/.config/fish/completions/pinion.fish',
};

function nodeOf(path: readonly string[], command: Command): Node {
  const help: Flag = { names: ['-h', '--help'], what: 'print this help', optional: false };
  return {
    path, what: command.description(), argument: 'any',
    flags: [...command.options.filter((option) => !option.hidden).map(flagOf), help],
    children: command.commands.map((child) => nodeOf([...path, child.name()], child)),
  };
}

function flagOf({ short, long, description, argChoices, required, optional, flags }: Option): Flag {
  const names = [short, long].filter((name): name is string => typeof name === 'string');
  const takes = required || optional;
  return { names, what: description, optional, ...(takes && { value: argChoices ?? (long !== undefined && long !== null && Object.hasOwn(ASKED_FLAGS, long) ? ASKED_FLAGS[long] ?? 'any' : valueOf(flags)) }) };
}

/** By what stands in the brackets of a flag's definition. */
function valueOf(flags: string): Value {
  if (/<(?:path|file[\w-]*)>/.test(flags)) return 'files';
  return flags.includes('<directory>') ? 'folders' : 'any';
}
