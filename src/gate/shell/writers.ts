import { commandText } from '../match.ts';
import { readOptions, type OptionTable } from './options.ts';

/** Programs whose operands are written, moved or taken away. */
const WRITERS = new Set('cp mv rm rmdir mkdir touch ln tee install dd truncate chmod chown chgrp chattr rsync patch unlink shred ed ex vi vim nvim nano emacs split csplit tar unzip gzip gunzip mkfifo mknod'.split(' '));

export function isWriter(argv: readonly string[]): boolean {
  const program = baseOf(argv[0] ?? '');
  if (WRITERS.has(program)) return true;
  return (program === 'sed' || program === 'perl') && argv.some((word) => /^(?:-[a-zA-Z]*i|--in-place)/.test(word));
}

/** Commands that make or move files and run nothing, with the options that keep them so: as harmless as an edit. */
const MAKERS: Readonly<Record<string, OptionTable>> = {
  mkdir: { short: 'pv', long: 'parents verbose' },
  touch: { short: 'acm', long: 'no-create' },
  cp: { short: 'pnivf', long: 'no-clobber interactive verbose force preserve?' },
  mv: { short: 'nivf', long: 'no-clobber interactive verbose force' },
};

export function makesFiles(argv: readonly string[]): boolean {
  const [name = '', ...args] = argv;
  const table = Object.hasOwn(MAKERS, name) ? MAKERS[name] : undefined;
  return table !== undefined && !('unknown' in readOptions(args, table));
}

/** Whatever in a word may be a path: itself, the value of an option, what follows a colon or an at sign. */
export function pathWords(word: string): readonly string[] {
  const found = new Set<string>();
  const add = (text: string): void => {
    if (text === '' || text.length > 4096) return;
    found.add(text);
    for (const piece of text.includes(':') ? text.split(':') : []) if (piece !== '') found.add(piece);
    if (text.startsWith('@') && text.length > 1) found.add(text.slice(1));
  };
  if (!word.startsWith('-')) add(word);
  else if (!word.startsWith('--') && word.length > 2) add(word.slice(2));
  const equals = word.indexOf('=');
  if (equals >= 0) add(word.slice(equals + 1));
  return [...found];
}

/**
 * A command in every spelling that a deny or ask rule may have meant: words with and without inner blanks told apart, the
 * program without its folder and in lower case, git without what stands before its subcommand.
 */
export function candidatesOf(argv: readonly string[]): readonly string[] {
  const [name = '', ...args] = argv;
  const names = new Set([name, baseOf(name), baseOf(name).toLowerCase().replace(/\.exe$/, '')]);
  const tails = [args, ...(baseOf(name) === 'git' ? [withoutGlobal(args)] : [])];
  const texts = [...names].flatMap((each) => tails.flatMap((tail) => [commandText([each, ...tail]), [each, ...tail].join(' ').replaceAll(/\s+/g, ' ')]));
  return [...new Set(texts)];
}

function withoutGlobal(args: readonly string[]): readonly string[] {
  let at = 0;
  while (at < args.length && (args[at] ?? '').startsWith('-')) at += /^(?:-C|-c|--git-dir|--work-tree|--namespace|--exec-path|--config-env|--super-prefix)$/.test(args[at] ?? '') ? 2 : 1;
  return args.slice(at);
}

function baseOf(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1);
}
