import { readGit } from './git.ts';
import { readOptions, type OptionTable, type ReadOptions } from './options.ts';
import type { Reading } from './reading.ts';

interface Program extends OptionTable {
  /** What the operands are. `pattern`: the first is a pattern unless an option gave one; `text`: none is a path. */
  readonly operands?: 'paths' | 'text' | 'pattern' | 'none' | 'one path';
  readonly refine?: (read: ReadOptions) => Reading;
}

const LS = 'all almost-all author escape ignore-backups color? directory classify? file-type format: full-time group-directories-first no-group human-readable si hide: inode ignore: kibibytes dereference numeric-uid-gid literal hide-control-chars quote-name reverse recursive size sort: time: time-style: width: zero block-size: indicator-style: quoting-style: show-control-chars';
const GREP = 'regexp: ignore-case no-ignore-case invert-match word-regexp line-regexp count color? colour? files-with-matches files-without-match max-count: only-matching quiet silent no-messages byte-offset with-filename no-filename label: line-number initial-tab null after-context: before-context: context: text binary-files: exclude: exclude-dir: include: recursive extended-regexp fixed-strings basic-regexp perl-regexp line-buffered null-data file@';
const RG = 'regexp: file@ ignore-case smart-case case-sensitive line-number no-line-number invert-match word-regexp line-regexp count count-matches files-with-matches files-without-match max-count: only-matching quiet with-filename no-filename heading no-heading after-context: before-context: context: color: colors: glob: iglob: type: type-not: type-list fixed-strings multiline multiline-dotall pcre2 hidden no-hidden no-ignore no-ignore-vcs unrestricted files max-depth: max-columns: max-columns-preview sort: sortr: stats json vimgrep column trim replace: null text no-messages threads: context-separator: passthru no-config';

const PROGRAMS: Readonly<Record<string, Program>> = {
  ls: { short: 'aAbBcCdfFgGhHiI:klmnNopqQrRsStT:uUvw:xXZ1', long: LS, operands: 'paths' },
  cat: { short: 'AbeEnstTuv', long: 'show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting', operands: 'paths' },
  head: { short: 'c:n:qvz', long: 'bytes: lines: quiet silent verbose zero-terminated', digits: true, operands: 'paths' },
  tail: { short: 'c:fFn:qrs:vz', long: 'bytes: follow? lines: quiet silent retry sleep-interval: verbose zero-terminated', digits: true, operands: 'paths' },
  wc: { short: 'cmlLw', long: 'bytes chars lines max-line-length words total:', operands: 'paths' },
  nl: { short: 'b:d:f:h:i:l:n:ps:v:w:', operands: 'paths' },
  tac: { short: 'brs:', long: 'before regex separator:', operands: 'paths' },
  grep: { short: 'A:B:C:e:f@abcDd:EFGHhiIlLnoPqrsTUVvwxyZzm:', long: GREP, digits: true, operands: 'pattern', refine: refineGrep },
  rg: { short: 'A:B:C:e:f@acFg:hHiIlM:m:nNoPpqr:sSt:T:uUvwx0.d:j:', long: RG, operands: 'pattern', refine: refineRg },
  sort: { short: 'bdfgiMhnRrVcCk:mst:uz', long: 'ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort human-numeric-sort numeric-sort random-sort reverse sort: version-sort check? key: merge stable field-separator: unique zero-terminated', operands: 'paths' },
  uniq: { short: 'cdDf:is:uw:z', long: 'count repeated all-repeated? skip-fields: ignore-case skip-chars: unique check-chars: zero-terminated group?', operands: 'one path' },
  cut: { short: 'b:c:d:f:nsz', long: 'bytes: characters: delimiter: fields: complement only-delimited output-delimiter: zero-terminated', operands: 'paths' },
  tr: { short: 'cCdst', long: 'complement delete squeeze-repeats truncate-set1', operands: 'text' },
  diff: { short: 'abBcC:dEiI:NpqrstTuU:wW:yZ', long: 'brief report-identical-files context? unified? ed normal rcs side-by-side width: left-column suppress-common-lines show-c-function expand-tabs initial-tab tabsize: recursive new-file ignore-case ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines strip-trailing-cr text minimal speed-large-files color? exclude: label:', digits: true, operands: 'paths', refine: refineDiff },
  cmp: { short: 'bi:ln:s', long: 'print-bytes bytes: verbose quiet silent', operands: 'paths' },
  comm: { short: '123z', long: 'check-order nocheck-order output-delimiter: total zero-terminated', operands: 'paths' },
  stat: { short: 'Lfc:tx', long: 'dereference file-system format: printf: terse', operands: 'paths' },
  file: { short: 'bchiLkNnprsv0', long: 'brief mime mime-type mime-encoding dereference no-dereference keep-going no-buffer no-pad raw', operands: 'paths' },
  du: { short: '0abcd:DhHkLlmPsSt:x', long: 'all apparent-size bytes total max-depth: human-readable inodes si summarize threshold: one-file-system exclude: time? time-style:', operands: 'paths' },
  date: { short: 'd:I?Rr@u', long: 'date: iso-8601? rfc-email rfc-3339: reference@ utc universal', operands: 'text', refine: ({ operands, paths }) => (operands.every((each) => each.startsWith('+')) ? { paths } : { why: 'date may set the clock' }) },
  which: { short: 'as', long: 'all', operands: 'text' },
  realpath: { short: 'eLmPqsz', long: 'canonicalize-existing canonicalize-missing logical physical quiet relative-to@ relative-base@ strip no-symlinks zero', operands: 'paths' },
  readlink: { short: 'efmnqsvz', long: 'canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero', operands: 'paths' },
  basename: { short: 'as:z', long: 'multiple suffix: zero', operands: 'text' },
  dirname: { short: 'z', long: 'zero', operands: 'text' },
  pwd: { short: 'LP', long: 'logical physical', operands: 'none' },
  cd: { short: 'LP', operands: 'paths', refine: ({ operands }) => (operands.length === 1 ? { paths: operands } : { why: 'cd leaves the working folder' }) },
  sleep: { operands: 'text', refine: ({ operands }) => (operands.every((each) => /^\d*\.?\d+s?$/.test(each)) ? { paths: [] } : { why: 'sleep waits for an unknown time' }) },
};

const ALIASES: Readonly<Record<string, string>> = { egrep: 'grep', fgrep: 'grep' };

/** What a command looks at, if it is one that can only look; undefined for a program that is not on the list. */
export function readingOf(argv: readonly string[]): Reading | undefined {
  const [name = '', ...args] = argv;
  switch (name) {
    case 'true': case 'false': case ':': return { paths: [] };
    case 'echo': return { paths: [] };
    case 'type': return { paths: [] };
    case 'command': return /^-[vV]$/.test(args[0] ?? '') ? { paths: [] } : undefined;
    case 'printf': return (args[0] ?? '').startsWith('-') && args[0] !== '--' ? { why: 'printf with options may set a variable' } : { paths: [] };
    case 'test': return readTest(args);
    case '[': return args.at(-1) === ']' ? readTest(args.slice(0, -1)) : { why: '`[` is not closed' };
    case 'find': return readFind(args);
    case 'sed': return readSed(args);
    case 'git': return readGit(args);
    default: return readProgram(name, args);
  }
}

function readProgram(name: string, args: readonly string[]): Reading | undefined {
  const known = ALIASES[name] ?? name;
  const program = Object.hasOwn(PROGRAMS, known) ? PROGRAMS[known] : undefined;
  if (program === undefined) return undefined;
  const read = readOptions(args, program);
  if ('unknown' in read) return { why: `${name} with ${read.unknown} may do more than look` };
  if (program.refine !== undefined) return program.refine(read);
  const { operands, paths } = read;
  if (program.operands === 'none' && operands.length > 0) return { why: `${name} takes no operands` };
  if (program.operands === 'one path' && operands.length > 1) return { why: `${name} writes to its second operand` };
  return { paths: program.operands === 'text' ? paths : [...paths, ...operands.filter((each) => each !== '-')] };
}

function afterPattern({ operands, used }: ReadOptions, given: readonly string[]): readonly string[] {
  return given.some((name) => used.has(name)) ? operands : operands.slice(1);
}

function refineGrep(read: ReadOptions): Reading {
  const { used, paths, values } = read;
  const action = values.get('d');
  const files = afterPattern(read, ['e', 'regexp', 'f', 'file']).filter((each) => each !== '-');
  if (!used.has('r') && !used.has('recursive') && action !== 'recurse') return { paths: [...paths, ...files] };
  return { paths, trees: (files.length === 0 ? ['.'] : files).map((path) => ({ path, hidden: true })) };
}

function refineRg(read: ReadOptions): Reading {
  const { used, paths } = read;
  if (used.has('type-list')) return { paths };
  const files = afterPattern(read, ['e', 'regexp', 'f', 'file', 'files']).filter((each) => each !== '-');
  const hidden = ['.', 'hidden', 'u', 'unrestricted'].some((name) => used.has(name));
  return { paths, trees: (files.length === 0 ? ['.'] : files).map((path) => ({ path, hidden })) };
}

/** Two folders are compared file by file even without `-r`. */
function refineDiff({ operands }: ReadOptions): Reading {
  const paths = operands.filter((each) => each !== '-');
  return { paths, trees: paths.map((path) => ({ path, hidden: true })) };
}

const FILE_TESTS = /^-[abcdefghkprsuwxGLNOS]$/;
const NUMBER_TESTS = /^-(?:eq|ne|lt|le|gt|ge)$/;

function readTest(args: readonly string[]): Reading {
  const paths: string[] = [];
  for (const [at, word] of args.entries()) {
    const next = args[at + 1];
    if (word === '-v' || word === '-R') return { why: 'test -v may run what stands in a subscript' };
    if (NUMBER_TESTS.test(word) && ![args[at - 1], next].every((each) => each !== undefined && /^-?\d+$/.test(each))) return { why: 'the comparison of numbers may run what stands in them' };
    if (/^-(?:nt|ot|ef)$/.test(word)) paths.push(...[args[at - 1], next].filter((each) => each !== undefined));
    else if (FILE_TESTS.test(word) && next !== undefined) paths.push(next);
  }
  return { paths };
}

const FIND_TEXT = new Set('name iname path ipath wholename iwholename regex iregex regextype type xtype size mtime mmin atime amin ctime cmin maxdepth mindepth perm user group uid gid links inum fstype printf lname ilname used'.split(' ').map((name) => `-${name}`));
const FIND_PLAIN = new Set(['(', ')', '!', ',', ...'print print0 ls prune quit empty readable writable executable not a and o or depth d mount xdev noleaf daystart true false nouser nogroup ignore_readdir_race noignore_readdir_race'.split(' ').map((name) => `-${name}`)]);
const FIND_PATH = /^-(?:newer(?:[aBcm][aBcm])?|anewer|cnewer|samefile)$/;

function readFind(args: readonly string[]): Reading {
  const begins = args.findIndex((word) => word.startsWith('-') || word === '(' || word === '!');
  const starts = args.slice(0, begins < 0 ? args.length : begins);
  const paths = starts.length === 0 ? ['.'] : [...starts];
  for (let at = starts.length; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (FIND_PLAIN.has(word) || (word === '-P' && at === 0)) continue;
    const takesPath = FIND_PATH.test(word);
    if (!takesPath && !FIND_TEXT.has(word) && !/^-newer[aBcm]t$/.test(word)) return { why: `find with ${word} may do more than look` };
    at += 1;
    const value = args[at];
    if (takesPath && value !== undefined) paths.push(value);
  }
  return { paths };
}

const SED_ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\[^\n])*/I?)`;
const SED_STEP = String.raw`\s*(?:${SED_ADDRESS}(?:\s*,\s*(?:${SED_ADDRESS}|[+~]\d+))?)?\s*!?\s*[p=dq]?\s*`;
const SED_SCRIPT = new RegExp(`^${SED_STEP}(?:[;\\n]${SED_STEP})*$`);

function readSed(args: readonly string[]): Reading {
  const read = readOptions(args, { short: 'nErsuze:', long: 'quiet silent regexp-extended null-data unbuffered separate expression: sandbox posix' });
  if ('unknown' in read) return { why: `sed with ${read.unknown} may do more than print` };
  const { used, values, operands } = read;
  if (!['n', 'quiet', 'silent'].some((name) => used.has(name))) return { why: 'sed without -n may do more than print' };
  const given = values.get('e') ?? values.get('expression');
  // Blanks made single: the pattern has places for some one after another, and would try every way to share them out.
  const script = (given ?? operands[0] ?? '').replaceAll(/\s+/g, (blanks) => (blanks.includes('\n') ? '\n' : ' '));
  const twice = args.filter((word) => /^(?:-[a-zA-Z]*e|--expression)/.test(word)).length > 1;
  if (twice || script.length > 2000 || !SED_SCRIPT.test(script)) return { why: 'the sed script may do more than print lines' };
  return { paths: (given === undefined ? operands.slice(1) : operands).filter((each) => each !== '-') };
}
