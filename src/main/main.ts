import { messageOf, UserError } from '#lib/errors.ts';
import { Answered, type Arguments, parseArguments, UsageError } from '#cli/arguments.ts';
import type { Workers } from './house.ts';

/** The built workers lie beside this entry. */
const workers: Workers = { counter: new URL('count-worker.js', import.meta.url), index: new URL('index-worker.js', import.meta.url) };

/** The program: reads the command line, chooses the surface, and sets the exit code. Everything else is loaded at first use. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    process.exitCode = await run(parseArguments(argv));
  } catch (error) {
    if (error instanceof Answered) {
      process.stdout.write(error.message);
      return;
    }
    const expected = error instanceof UserError;
    process.stderr.write(`pinion: ${expected || process.env['PINION_DEBUG'] === undefined ? messageOf(error) : (error as Error).stack}\n`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}

async function run(args: Arguments): Promise<number> {
  if (args.print) {
    const { print } = await import('./print.ts');
    return print(args, workers);
  }
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new UsageError('standard input and output are no terminal. Use -p for one answer: pinion -p "…".');
  }
  const { screen } = await import('./screen.ts');
  return screen(args, workers);
}
