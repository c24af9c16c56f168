import type { Places } from '../places.ts';

/** What is looked at beside the words of a command. */
export interface Surroundings {
  readonly cwds: readonly string[];
  readonly places: Places;
  /** Whether programs that git runs on behalf of the repository's own configuration may run. */
  readonly trusted: boolean;
}

/** Why the use must not run, or undefined. */
export type Check = (args: readonly string[], at: Surroundings) => string | undefined;

export const list = (words: string): ReadonlySet<string> => new Set(words.split(' '));
export const operandsOf = (args: readonly string[]): readonly string[] => args.filter((word) => !word.startsWith('-'));

/** A word of the names that people give scripts and targets which build, check, test or show. */
const HARMLESS_WORD = list('all app assemble audit bench benchmark browser build bundle cache changed check ci clean client cmd compat compile core coverage cov css debug default dev dist docs e2e esm cjs fast fix fmt format fuzz generate gen help html integration js lib lint list local loc main mypy one only package prettier production prod quick report run schema server slow smoke snapshot snapshots start static storybook style styles test tests ts tsc type typecheck types typing unit units update validate verify version watch web');

export function isHarmlessName(name: string): boolean {
  return name.toLowerCase().split(/[:_./-]/).every((word) => word !== '' && HARMLESS_WORD.has(word));
}

export const anyUse: Check = () => undefined;

/** Any use without such a word: it says what is run, or leads elsewhere. */
export function without(program: string, never: RegExp): Check {
  return (args) => {
    const bad = args.find((word) => never.test(word));
    return bad === undefined ? undefined : `auto mode does not run ${program} with ${bad}`;
  };
}

/** The first operand says what is done; only these are. */
export function verbs(program: string, named: string, never: RegExp = /^$/): Check {
  const known = list(named);
  return (args, at) => {
    const bad = without(program, never)(args, at);
    if (bad !== undefined) return bad;
    const [verb] = operandsOf(args);
    if (verb === undefined) return args.some((word) => /^(?:--version|-[vV]|--help|-h)$/.test(word)) ? undefined : `auto mode does not run ${program} without saying what to do`;
    return known.has(verb) ? undefined : `auto mode does not run \`${program} ${verb}\``;
  };
}

/** Options that change how much is done or said, not what is run; those with a path after them are looked at as paths. */
const TARGET_OPTION = /^(?:-[jkl]\d*|-[BknsqvwCfx]+|-[Cf]\w[\w./-]*|-(?:-jobs|-keep-going|-silent|-quiet|-always-make|-dry-run|-just-print|-no-print-directory|-print-directory|-directory|-file|-load-average|-verbose|-trace|-list|-tasks|-version|-help|-info|-stacktrace|-offline|-no-daemon|-console|-parallel|-rerun-tasks|-continue|-build-cache|-no-build-cache)(?:=[\w.][\w./-]*)?)$/;

/** Targets, goals or tasks by name, none of them an assignment that says what program is used. */
export function targets(program: string): Check {
  return (args) => {
    const fed = args.find((word) => word === '-' || /(?:^|=|^-f)\/(?:dev|proc)\//.test(word));
    if (fed !== undefined) return `${program} ${fed} runs what it is fed`;
    const option = args.find((word) => word.startsWith('-') && !TARGET_OPTION.test(word));
    if (option !== undefined) return `auto mode does not run ${program} with ${option}`;
    const files = new Set(args.filter((_, at) => /^-(?:[Cf]|-file|-directory)$/.test(args[at - 1] ?? '')));
    const bad = operandsOf(args).find((word) => !files.has(word) && !/^\d+$/.test(word) && !isHarmlessName(word));
    return bad === undefined ? undefined : `auto mode does not know what \`${program} ${bad}\` does`;
  };
}

/** Every goal is one that builds or tests; of what else can be set, that something is left out or which tests run. */
export function goals(program: string, named: string): Check {
  const known = list(named);
  const setting = /^-D(?:skip[\w.]*|test|it\.test|failIfNoTests|maven\.[\w.]*skip[\w.]*|[\w.]+\.skip)(?:=[\w.,#*!-]*)?$/;
  return (args) => {
    const set = args.find((word) => /^(?:-D|--define)/.test(word) && !setting.test(word));
    if (set !== undefined) return `auto mode does not run ${program} with ${set}`;
    const wanted = args.filter((word, at) => !word.startsWith('-') && !/^-(?:pl|P|T|rf|-projects|-threads)$/.test(args[at - 1] ?? ''));
    const bad = wanted.find((word) => !known.has(word));
    if (bad !== undefined) return `auto mode does not run \`${program} ${bad}\``;
    return wanted.length > 0 || args.some((word) => /^(?:--version|-v)$/.test(word)) ? undefined : `auto mode does not run ${program} without saying what to do`;
  };
}

function isFileHere(file: string, { cwds, places }: Surroundings): boolean {
  return cwds.every((cwd) => {
    const { kind, root } = places.look(file, cwd);
    return kind === 'file' && root !== undefined;
  });
}

/**
 * A program that runs a file: one that lies in a working folder, no text of the command line. `options` may stand before it;
 * of all others it is not known whether the next word is theirs.
 */
export function runtime(program: string, options: RegExp, modules: ReadonlyMap<string, Check> = new Map()): Check {
  return (args, at) => {
    if (/^(?:--version|-[vV]|--help|-h)$/.test(args[0] ?? '') && args.length === 1) return undefined;
    const end = args.findIndex((word) => !word.startsWith('-') || word === '-' || (word === '-m' && modules.size > 0));
    const before = end < 0 ? args : args.slice(0, end);
    const bad = before.find((word) => !options.test(word));
    if (bad !== undefined) return `${program} ${bad} runs text that is not looked at, or may; write it to a file in the working folder and run that`;
    if (program === 'node' && before.includes('--test')) return undefined;
    const file = args[end];
    if (file === undefined || file === '-') return `${program} without a file runs what it is fed`;
    if (file === '-m') {
      const check = modules.get(args[end + 1] ?? '');
      return check === undefined ? `auto mode does not run ${program} -m ${args[end + 1] ?? ''}` : check(args.slice(end + 2), at);
    }
    return isFileHere(file, at) ? undefined : `${program} is to run ${file}, which is no file of the working folders`;
  };
}

const COVERAGE_OPTION = /^(?:-[ap]+|--(?:branch|append|parallel-mode|timid)|--(?:source|omit|include|rcfile|data-file|context)=.*)$/;

/** Measures what it runs: a file or module like any other. */
function coverage(modules: ReadonlyMap<string, Check>): Check {
  const run = runtime('coverage run', COVERAGE_OPTION, modules);
  const others = verbs('coverage', 'report html xml json lcov combine erase annotate');
  return (args, at) => (args[0] === 'run' ? run(args.slice(1), at) : others(args, at));
}

const pytest = without('pytest', /^--(?:pastebin|pdbcls)/);
const tox = without('tox', /^(?:exec|e|-x.*|--override.*)$/);

function pythonModules(): ReadonlyMap<string, Check> {
  const modules = new Map<string, Check>([...list('unittest mypy ruff black isort flake8 doctest compileall py_compile json.tool')].map((name) => [name, anyUse]));
  return modules.set('pytest', pytest).set('tox', tox).set('pylint', pylint).set('coverage', coverage(modules));
}

const pylint = without('pylint', /^--init-hook/);
const PYTHON_MODULES = pythonModules();

export const python = (program: string): Check => runtime(program, /^-[bBdEOPqsSuvI]+$/, PYTHON_MODULES);
export const node = runtime('node', /^--(?:enable-source-maps|no-warnings|no-deprecation|trace-(?:warnings|uncaught|deprecation)|experimental-(?:strip-types|transform-types|vm-modules|test-coverage)|expose-gc|max-old-space-size=\d+|watch|test(?:-[a-z-]+(?:=[\w./*-]*)?)?)$/);
export const ruby = runtime('ruby', /^-(?:w|W\d?|[Ir][\w./-]+)$/);
export const php = runtime('php', /^-[nq]$/);
export const typescript = (program: string): Check => runtime(program, /^(?:-T|--(?:transpile-?only|esm|files|swc|no-cache))$/i);

export const PYTHON_TOOLS: ReadonlyMap<string, Check> = new Map([
  ...['pytest', 'tox', 'pylint', 'coverage', 'ruff', 'mypy', 'black', 'flake8', 'isort'].map((name): [string, Check] => [name, PYTHON_MODULES.get(name) ?? anyUse]),
  ['pyright', anyUse], ['nox', targets('nox')],
]);

const GO_NEVER = /^--?(?:exec|toolexec|vettool|overlay|compiler|gccgoflags|modfile|C)\b|extld|linkmode/;

/** A program of another module would be fetched and run. */
export const go: Check = (args, at) => {
  const [verb, first = '.'] = operandsOf(args);
  const known = verbs('go', 'build test vet fmt list doc version run generate mod', GO_NEVER)(args, at);
  if (known !== undefined) return known;
  if (verb === 'mod') return /^(?:tidy|download|verify|graph|why|vendor|init)$/.test(first) ? undefined : `auto mode does not run \`go mod ${first}\``;
  return verb !== 'run' || /^\.{1,2}(?:\/|$)|^[\w./-]+\.go$/.test(first) && !first.includes('@') ? undefined : `go is to run ${first}, which is no file of the working folders`;
};

const CMAKE_PROGRAM = /^(?:-D)?[\w]*(?:COMPILER|LAUNCHER|LINKER|COMMAND|PROGRAM|EXECUTABLE|LAUNCH)\w*(?::\w+)?=/i;
export const cmake = without('cmake', new RegExp(String.raw`^-[EP]|^--(?:install|open)|^(?:--target=)?install$|^--$|${CMAKE_PROGRAM.source}`, 'i'));
export const ctest = without('ctest', /^-(?:S|D|M|T|-script|-test-command|-build-|-dashboard|-overwrite)/);
export const compiler = (program: string): Check => without(program, /^-(?:wrapper|-?specs|B)|^-J|linker(?:-flavor)?=|^-Z/);
