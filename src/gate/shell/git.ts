import { readOptions, type OptionTable } from './options.ts';
import type { Reading } from './reading.ts';

/** Marks by which git reads a path as a pattern or in a special way. */
const GIT_PATTERN = /[*?[\\]|^:/;

const DIFF = 'stat? numstat shortstat dirstat? compact-summary name-only name-status patch no-patch patch-with-stat unified: raw cached staged merge-base abbrev? color? no-color word-diff? color-words? minimal patience histogram diff-algorithm: anchored: ignore-all-space ignore-space-change ignore-space-at-eol ignore-cr-at-eol ignore-blank-lines find-renames? find-copies? find-copies-harder no-renames diff-filter: summary pickaxe-regex pickaxe-all exit-code quiet full-index binary relative? no-relative text function-context inter-hunk-context: check no-ext-diff no-textconv no-prefix no-color-moved color-moved? irreversible-delete';
const LOG = 'oneline graph all decorate? no-decorate abbrev-commit no-abbrev-commit reverse merges no-merges first-parent follow author: committer: grep: all-match invert-grep regexp-ignore-case extended-regexp fixed-strings perl-regexp since: since-as-filter: until: after: before: date: format: pretty? max-count: skip: branches? tags? remotes? left-right left-only right-only cherry-mark cherry-pick simplify-by-decoration topo-order date-order author-date-order full-history parents children source relative-date name-only show-pulls no-walk? notes? no-notes expand-tabs? no-expand-tabs encoding: min-parents: max-parents: no-mailmap use-mailmap';
const DIFF_SHORT = 'puU:zawbqRsM?C?DWS:G:';
const COMMITS: OptionTable = { short: `${DIFF_SHORT}n:iEFPgcmtL:`, long: `${DIFF} ${LOG}`, digits: true };

const SUBCOMMANDS: Readonly<Record<string, OptionTable>> = {
  status: { short: 'sbu?vz', long: 'short branch show-stash porcelain? long verbose untracked-files? ignored? column? no-column ahead-behind no-ahead-behind renames no-renames find-renames?' },
  diff: { short: DIFF_SHORT, long: DIFF },
  log: COMMITS,
  show: COMMITS,
  blame: { short: 'L:wM?C?eslftnpc', long: 'date: since: porcelain line-porcelain incremental root show-stats show-name show-number show-email abbrev? minimal color-lines color-by-age progress no-progress' },
  branch: { short: 'arvlqi', long: 'list all remotes verbose show-current contains: no-contains: merged? no-merged? points-at: sort: format: color? no-color column? no-column abbrev? no-abbrev ignore-case omit-empty' },
  'rev-parse': { short: 'q', long: 'short? abbrev-ref? verify show-toplevel git-dir git-common-dir absolute-git-dir is-inside-work-tree is-inside-git-dir is-bare-repository is-shallow-repository symbolic symbolic-full-name all branches? tags? remotes? show-prefix show-cdup show-superproject-working-tree quiet revs-only no-revs flags no-flags' },
  'ls-files': { short: 'cdmoistuvzkx:', long: 'cached deleted modified others ignored stage unmerged killed directory no-empty-directory eol deduplicate full-name error-unmatch exclude: exclude-standard abbrev? recurse-submodules format:' },
  remote: { short: 'v', long: 'verbose' },
  stash: { long: `${DIFF} ${LOG}`, short: `${DIFF_SHORT}n:`, digits: true },
  tag: { short: 'ln?i', long: 'list sort: contains: no-contains: merged: no-merged: points-at: format: color? column? no-column ignore-case omit-empty' },
};

/** Options whose operand switches a listing command to listing. */
const LISTING = ['l', 'list', 'contains', 'no-contains', 'merged', 'no-merged', 'points-at', 'n'];

/** What a git command looks at, if it can only look. */
export function readGit(args: readonly string[]): Reading {
  const global = readOptions(args, { short: 'P', long: 'no-pager no-optional-locks literal-pathspecs', strict: true });
  if ('unknown' in global) return { why: `git with ${global.unknown} before the subcommand may run a program or leave the folder` };
  const [name = '', ...rest] = global.operands;
  const table = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
  if (table === undefined) return { why: name === '' ? 'git without a subcommand' : `git ${name} may change something` };
  const read = readOptions(rest, table);
  if ('unknown' in read) return { why: `git ${name} with ${read.unknown} may do more than look` };
  const { operands, used, values, afterDashes } = read;
  const listing = LISTING.some((option) => used.has(option));
  if ((name === 'branch' || name === 'tag') && operands.length > 0 && !listing) return { why: `git ${name} makes or moves what it names` };
  if (name === 'remote' && operands.length > 0 && operands[0] !== 'get-url') return { why: `git remote ${operands[0] ?? ''} may change something` };
  if (name === 'stash' && operands[0] !== 'list') return { why: `git stash ${operands[0] ?? ''} changes the working folder`.replace('  ', ' ') };
  if ([values.get('format'), values.get('pretty')].some((format) => format?.includes('%G') === true)) return { why: 'a format with %G runs gpg' };
  if ((name === 'branch' || name === 'tag' || name === 'remote' || name === 'rev-parse' || name === 'stash')) return { paths: operands.filter((each) => each.includes(':')).flatMap(pathsIn) };
  const namesOnly = name === 'ls-files' || name === 'status';
  const patterned = namesOnly ? undefined : (afterDashes ?? operands).find((word) => GIT_PATTERN.test(word));
  if (patterned !== undefined) return { why: `git reads \`${patterned}\` as a pattern` };
  const ranges = [values.get('L')].filter((range) => range !== undefined && range.includes(':')).map((range) => range?.slice(range.lastIndexOf(':') + 1) ?? '');
  return { paths: [...operands.flatMap(pathsIn), ...ranges] };
}

/** A revision with a path (`HEAD:src/a.ts`) names both; whatever may be a path is taken for one. */
function pathsIn(word: string): readonly string[] {
  const colon = word.indexOf(':');
  return colon < 0 ? [word] : [word.slice(0, colon), word.slice(colon + 1)].filter((each) => each !== '');
}
