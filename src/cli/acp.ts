import { Command, CommanderError, Option } from 'commander';
import { PERMISSION_MODES } from '#domain/entry.ts';
import { helpColumns, helpLook, helpProse, WIDEST } from './help.ts';
import { Answered, type Arguments, parseArguments, UsageError } from './arguments.ts';

/** Flags that the program takes with `acp`: what they mean is said where all flags are read. */
function program(write: (text: string) => void, screen: number): Command {
  return new Command('pinion acp')
    .description('Speaks the Agent Client Protocol on standard input and output, for editors such as Zed. The editor starts it.')
    .optionsGroup('Model:')
    .option('--model <id>', 'the model to use')
    .option('--append-system-prompt <text>', 'text added to the system prompt')
    .option('--max-turns <n>', 'most model requests of one turn')
    .option('--max-budget-usd <n>', 'dollars that a session may cost')
    .optionsGroup('Permissions:')
    .addOption(new Option('--permission-mode <mode>', 'the mode in which sessions begin').choices(PERMISSION_MODES))
    .option('--allowed-tools <rules>', 'rules such as "Edit Bash(npm test)" that are allowed (repeatable)')
    .option('--disallowed-tools <rules>', 'rules that are refused (repeatable)')
    .optionsGroup('Connections:')
    .option('--mcp-config <file-or-json>', 'MCP servers beside those of the editor (repeatable)')
    .option('--strict-mcp-config', 'only the servers of the editor and of --mcp-config')
    .option('--settings <file-or-json>', 'settings that go before those of files')
    .optionsGroup('About:')
    .option('--login', 'in a terminal: ask for an API key, keep it, and end')
    .helpOption('-h, --help', 'print this help')
    .configureOutput({ writeOut: write, writeErr: write })
    .configureHelp(helpLook(screen))
    .addHelpText('after', helpProse(EPILOGUE, screen))
    .exitOverride();
}

/** Its definitions, for those who complete command lines. */
export function acpCommand(): Command {
  return program(() => undefined, WIDEST);
}

const EPILOGUE = [
  `In Zed's settings:
  "agent_servers": {
    "Pinion": { "type": "custom", "command": "pinion", "args": ["acp"] }
  }`,
  'Folders are trusted by a question in the editor. Sessions are kept: pinion -c goes on with them.',
];

/** What the command line of `pinion acp` asks for. Throws {@link Answered} for help and {@link UsageError} for what is wrong. */
export function parseAcp(argv: readonly string[], columns = helpColumns()): { readonly args: Arguments; readonly login: boolean } {
  let written = '';
  const command = program((text) => { written += text; }, columns);
  try {
    command.parse([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) throw new Answered(written);
    throw new UsageError(`${error.message.replace(/^error: /, '').replaceAll('\n', ' ').trim().replace(/[^.!?]$/, '$&.')} See pinion acp --help.`);
  }
  return { args: parseArguments(argv.filter((word) => word !== '--login')), login: command.opts<{ login?: boolean }>().login === true };
}
