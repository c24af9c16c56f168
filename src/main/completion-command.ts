import { oneLine } from '#lib/names.ts';
import { ago } from '#lib/numbers.ts';
import { knownModels } from '#accounting/models.ts';
import { parseArguments, UsageError } from '#cli/arguments.ts';
import { ASKED, type Asked, commandTree, completionCommand, type Shell, SHELLS } from '#cli/completion.ts';
import { completionScript } from '#cli/completion-scripts.ts';
import { listSessions } from '#session/list.ts';
import { configure } from './configuration.ts';
import type { Workers } from './house.ts';
import { createServerDesk } from './mcp/servers.ts';
import { findPlace } from './place.ts';

/** What can stand in a list that a shell takes apart at blanks. */
const WORD = /^[\w./:@+-]+$/;
const MOST_SESSIONS = 30;

/** `pinion completion <shell>`: a script that completes the command line. `--words <what>`: what that script asks for, one word a line with what it is behind a tab. */
export async function run(argv: readonly string[], _workers: Workers): Promise<number> {
  const [first = '', second = '', ...rest] = argv;
  if (argv.length === 0 || first === '-h' || first === '--help') {
    process.stdout.write(help());
    return argv.length === 0 ? 2 : 0;
  }
  const asked = first === '--words' ? ASKED.find((one) => one === second) : undefined;
  if (first === '--words' && asked !== undefined && rest.length === 0) {
    // Nothing is better than an error in the middle of a line that is being written.
    const lines = await wordsFor(asked).catch(() => []);
    process.stdout.write(lines.map(({ word, what }) => `${word}${what === '' ? '' : `\t${what}`}\n`).join(''));
    return 0;
  }
  const shell = SHELLS.find((one): one is Shell => one === first);
  if (shell === undefined || argv.length > 1) throw new UsageError(`"${oneLine(argv.join(' '), 60)}": completion scripts are there for ${SHELLS.join(', ')}. See pinion completion --help.`);
  process.stdout.write(completionScript(shell, commandTree()));
  return 0;
}

/** Whole, with what stands below the flags. */
function help(): string {
  let written = '';
  completionCommand().configureOutput({ writeOut: (text) => { written += text; } }).outputHelp();
  return written;
}

async function wordsFor(asked: Asked): Promise<readonly { readonly word: string; readonly what: string }[]> {
  const words = await wordsOf(asked);
  return words.filter(({ word }) => WORD.test(word)).map(({ word, what }) => ({ word, what: oneLine(what, 80) }));
}

async function wordsOf(asked: Asked): Promise<readonly { readonly word: string; readonly what: string }[]> {
  if (asked === 'models') return [...['opus', 'sonnet', 'haiku', 'fable'].map((word) => ({ word, what: 'the newest of its line' })), ...knownModels().map(({ id, label }) => ({ word: id, what: label }))];
  const place = findPlace(process.env);
  if (asked === 'sessions') {
    const sessions = await listSessions(place.home, place.cwd);
    return sessions.slice(0, MOST_SESSIONS).map(({ id, firstWords, modifiedMs }) => ({ word: id, what: `${ago(Date.now() - modifiedMs)} · ${firstWords}` }));
  }
  const args = parseArguments([]);
  const { servers } = createServerDesk({ place, args, configuration: configure(place, args) }).read();
  return servers.map(({ name, scope }) => ({ word: name, what: scope }));
}
