import { messageOf, UserError } from '#lib/errors.ts';
import type { Arguments } from '#cli/arguments.ts';
import type { Early } from '#ui/early.ts';
import type { Workers } from './house.ts';
import { guardOutput } from './output.ts';

/** The built workers lie beside this entry. */
const workers: Workers = { counter: new URL('count-worker.js', import.meta.url), index: new URL('index-worker.js', import.meta.url), pdf: new URL('pdf-worker.js', import.meta.url), page: new URL('page-worker.js', import.meta.url) };

/** Words on the command line after which there is nothing to draw. */
const SILENT = /^(?:-p|--print|-h|--help|-v|--version|--output-format(?:=.*)?|-[a-z]*p[a-z]*)$/;

/**
 * The program: reads the command line, chooses the surface, and sets the exit code. The composer stands before anything else
 * is loaded; everything else is loaded at first use.
 */
export async function main(argv: readonly string[]): Promise<void> {
  // An editor that is gone ends sessions and what they run, not only the output.
  if (!isTerminal() && argv[0] !== 'acp') guardOutput();
  const early = isTerminal() && process.env['TERM'] !== 'dumb' && subcommandOf(argv) === undefined && !argv.some((word) => SILENT.test(word)) ? await drawEarly() : undefined;
  try {
    process.exitCode = await run(argv, early);
  } catch (error) {
    early?.terminal.screen.release();
    early?.terminal.close();
    process.exitCode = await failed(error);
  }
  // A library's timer, or its watch on a file, would hold back the shell's prompt for as long as it lives.
  if (isTerminal()) process.exit();
}

const isTerminal = (): boolean => process.stdin.isTTY && process.stdout.isTTY;

async function drawEarly(): Promise<Early> {
  const { startEarly } = await import('#ui/early.ts');
  return startEarly({ stdin: process.stdin, stdout: process.stdout, env: process.env });
}

/** First words that are no prompt but a program of their own: each has its own help. */
const SUBCOMMANDS: Readonly<Record<string, () => Promise<{ run(argv: readonly string[], workers: Workers): Promise<number> }>>> = {
  mcp: () => import('./mcp/command.ts'),
  acp: () => import('./acp/run.ts'),
  completion: () => import('./completion-command.ts'),
};

function subcommandOf(argv: readonly string[]) {
  const [first = ''] = argv;
  return Object.hasOwn(SUBCOMMANDS, first) ? SUBCOMMANDS[first] : undefined;
}

async function run(argv: readonly string[], early: Early | undefined): Promise<number> {
  const subcommand = subcommandOf(argv);
  if (subcommand !== undefined) return (await subcommand()).run(argv.slice(1), workers);
  const { parseArguments, UsageError } = await import('#cli/arguments.ts');
  const args: Arguments = parseArguments(argv);
  if (args.print) {
    const { print } = await import('./print/print.ts');
    return print(args, workers);
  }
  if (early === undefined && isTerminal()) {
    const { plain } = await import('./plain.ts');
    return plain(args, workers);
  }
  if (early === undefined) throw new UsageError('standard input and output are no terminal. Use -p for one answer: pinion -p "…".');
  const { screen } = await import('./screen.ts');
  return screen(args, workers, early);
}

/** One line for what was expected to go wrong, the stack with PINION_DEBUG for what was not. */
async function failed(error: unknown): Promise<number> {
  const { Answered, UsageError } = await import('#cli/arguments.ts');
  const { sanitise } = await import('#lib/terminal.ts');
  if (error instanceof Answered) {
    process.stdout.write(error.message);
    return 0;
  }
  const stack = error instanceof Error && !(error instanceof UserError) && process.env['PINION_DEBUG'] !== undefined ? error.stack : undefined;
  process.stderr.write(`pinion: ${sanitise(stack ?? messageOf(error))}\n`);
  return error instanceof UsageError ? 2 : 1;
}
