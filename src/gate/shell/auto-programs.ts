import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isWithin, realPathOf } from '#lib/within.ts';
import type { Places } from '../places.ts';
import { gitProblem } from './git-home.ts';
import { readOptions, type OptionTable } from './options.ts';
import { pathWords } from './writers.ts';

/*
 * What auto mode runs without a person. The rule: a program runs if it stands in this table, in a use that builds, checks, tests
 * or keeps what lies in the working folders and can be taken back. What is not named here is not run: programs that reach
 * outward (push, publish, deploy, fetch, log in), that raise privileges or act on other processes, that take something away for
 * good, and text that nobody can look at beforehand (`node -e`, `sh -c`, `awk`). Paths are looked at by whoever asks.
 */

export interface Surroundings {
  readonly cwds: readonly string[];
  readonly places: Places;
  /** Whether programs that git runs on behalf of the repository's own configuration may run. */
  readonly trusted: boolean;
}

/** Why the use must not run, or undefined. */
type Check = (args: readonly string[], at: Surroundings) => string | undefined;

const list = (words: string): ReadonlySet<string> => new Set(words.split(' '));
const operandsOf = (args: readonly string[]): readonly string[] => args.filter((word) => !word.startsWith('-'));

const OUTWARD = list('curl wget ssh scp sftp rsync ftp nc ncat netcat socat telnet gh glab hub aws gcloud gsutil az doctl heroku vercel netlify fly flyctl firebase wrangler kubectl helm terraform pulumi ansible ansible-playbook docker podman docker-compose psql mysql mongosh redis-cli twine rclone mail sendmail');
const PRIVILEGED = list('sudo doas su pkexec runuser chroot mount umount systemctl service launchctl crontab at passwd useradd usermod chown chgrp setcap iptables ufw apt apt-get dnf yum pacman brew snap kill pkill killall shutdown reboot mkfs');
const GONE_FOR_GOOD = list('dd shred truncate unlink mkfs wipefs');
const TEXT = list('sh bash zsh dash ksh fish eval source . exec trap awk gawk mawk perl xargs find env sed');

/** A word of the names that people give scripts and targets which build, check, test or show. */
const HARMLESS_WORD = list('all app assemble audit bench benchmark browser build bundle cache changed check ci clean client cmd compat compile core coverage cov css debug default dev dist docs e2e esm cjs fast fix fmt format fuzz generate gen help html integration js lib lint list local loc main mypy one only package prettier production prod quick report run schema server slow smoke snapshot snapshots start static storybook style styles test tests ts tsc type typecheck types typing unit units update validate verify version watch web');

function isHarmlessName(name: string): boolean {
  return name.toLowerCase().split(/[:_./-]/).every((word) => word !== '' && HARMLESS_WORD.has(word));
}

const anyUse: Check = () => undefined;

/** The first operand says what is done; only these are. */
function verbs(program: string, named: string, never: RegExp = /^$/): Check {
  const known = list(named);
  return (args) => {
    const bad = args.find((word) => never.test(word));
    if (bad !== undefined) return `auto mode does not run ${program} with ${bad}`;
    const [verb] = operandsOf(args);
    if (verb === undefined) return args.some((word) => /^(?:--version|-[vV]|--help|-h)$/.test(word)) ? undefined : `auto mode does not run ${program} without saying what to do`;
    return known.has(verb) ? undefined : `auto mode does not run \`${program} ${verb}\``;
  };
}

/** Targets, goals or tasks by name, none of them an assignment that says what program is used. */
function targets(program: string): Check {
  return (args) => {
    const bad = args.find((word) => /^[A-Za-z_]\w*[:+?]?=/.test(word) || /^(?:-E|--eval)/.test(word)) ?? operandsOf(args).find((word) => !/^\d+$/.test(word) && !isHarmlessName(word));
    return bad === undefined ? undefined : `auto mode does not know what \`${program} ${bad}\` does`;
  };
}

/** A program that runs a file: one that lies in a working folder, no text of the command line. */
function runtime(program: string, text: RegExp, modules?: ReadonlySet<string>): Check {
  return (args, at) => {
    if (/^(?:--version|-[vV]|--help|-h)$/.test(args[0] ?? '') && args.length === 1) return undefined;
    if (program === 'node' && args[0] === '--test') return undefined;
    const first = args.findIndex((word) => !word.startsWith('-') || (modules !== undefined && word === '-m'));
    const inline = args.slice(0, first < 0 ? args.length : first).find((word) => text.test(word));
    if (inline !== undefined) return `${program} ${inline} runs text that is not looked at; write it to a file in the working folder and run that`;
    if (first < 0) return `${program} without a file runs what it is fed`;
    if (args[first] === '-m') return modules?.has(args[first + 1] ?? '') === true ? undefined : `auto mode does not run ${program} -m ${args[first + 1] ?? ''}`;
    const file = args[first] ?? '';
    const here = at.cwds.every((cwd) => {
      const { kind, root } = at.places.look(file, cwd);
      return kind === 'file' && root !== undefined;
    });
    return here ? undefined : `${program} is to run ${file}, which is no file of the working folders`;
  };
}

const CODE = /^-(?:[a-zA-Z]*[eErpc]$|-eval|-print|-require|-import|-loader|-experimental-loader|-command|-interactive|i$)/;
const PYTHON_MODULES = list('pytest unittest mypy ruff black isort flake8 pylint doctest compileall py_compile json.tool coverage tox timeit');
const NODE_TOOLS = list('tsc tsx ts-node eslint prettier biome oxlint stylelint vitest jest mocha ava tap c8 nyc playwright cypress esbuild rollup webpack vite tsup swc babel next nuxt astro svelte-check vue-tsc tsd knip depcheck typedoc');

/** `npx tool`, `poetry run tool`: only tools that stand in the table themselves. */
function runner(program: string, tools: ReadonlySet<string>, also: ReadonlySet<string> = new Set()): Check {
  return (args, at) => {
    const first = args.findIndex((word) => !word.startsWith('-'));
    const before = args.slice(0, Math.max(0, first));
    const tool = args[first] ?? '';
    if (before.some((word) => !/^(?:--no-install|--no|-y|--yes|-q|--quiet|--silent)$/.test(word)) || first < 0) return `auto mode does not know what \`${program} ${args[0] ?? ''}\` runs`;
    if (also.has(tool)) return undefined;
    return tools.has(tool) ? useProblem([tool, ...args.slice(first + 1)], at) : `auto mode does not know what \`${program} ${tool}\` runs`;
  };
}

/** What the project declares is installed, its scripts are run by harmless names; a new package is brought in by the user. */
const nodePackages: Check = (args, at) => {
  const [verb = '', ...rest] = operandsOf(args);
  if (args.some((word) => /^(?:-g|--global|--location=global|--script-shell)/.test(word))) return 'it changes what is installed for the whole machine';
  if (args[0]?.startsWith('-') === true && !/^(?:--silent|-s|--version|-v|--if-present)$/.test(args[0])) return `auto mode does not know what the package manager does with ${args[0]}`;
  if (/^(?:test|t|tst|start)$/.test(verb) || (verb === '' && args.length > 0)) return undefined;
  if (/^(?:run|run-script|rum)$/.test(verb)) return rest[0] === undefined || isHarmlessName(rest[0]) ? undefined : `auto mode does not know what the script ${rest[0]} does`;
  if (/^(?:ci|install|i)$/.test(verb)) return rest.length === 0 ? undefined : `it brings ${rest[0] ?? ''} in from outside; the user has to want a new package`;
  if (/^(?:ls|list|outdated|explain|why|query|root|prefix|view|info|pkg)$/.test(verb)) return verb === 'pkg' && rest[0] !== 'get' ? 'it changes the package file' : undefined;
  if (verb === 'exec') return runner('npm exec', NODE_TOOLS)(args.slice(args.indexOf('exec') + 1).filter((word) => word !== '--'), at);
  return isHarmlessName(verb) ? undefined : `auto mode does not run the package manager's ${verb || 'prompt'}`;
};

const GIT: Readonly<Record<string, OptionTable & { readonly needs?: readonly string[]; readonly first?: string }>> = {
  add: { short: 'AuvnNf', long: 'all update verbose dry-run intent-to-add force' },
  // Without a message an editor would open; amending replaces what was there.
  commit: { short: 'am:F@qvs', long: 'all message: file@ quiet verbose signoff allow-empty', needs: ['m', 'message', 'F', 'file'] },
  switch: { short: 'c:q', long: 'create: quiet' },
  checkout: { short: 'b:q', long: 'quiet', needs: ['b'] },
  mv: { short: 'vk', long: 'verbose' },
  rm: { short: 'rq', long: 'cached quiet', needs: ['cached'] },
  stash: { short: 'um:q', long: 'include-untracked message: quiet keep-index', first: 'push save pop apply list show' },
};

const git: Check = (args) => {
  const global = readOptions(args, { short: 'P', long: 'no-pager', strict: true });
  if ('unknown' in global) return `auto mode does not run git with ${global.unknown} before the subcommand`;
  const [name = '', ...rest] = global.operands;
  const table = Object.hasOwn(GIT, name) ? GIT[name] : undefined;
  if (table === undefined) return /^(?:push|fetch|pull|clone|ls-remote|remote|submodule|send-email)$/.test(name) ? `git ${name} reaches outside of this machine` : `auto mode does not run git ${name}: it may take something away or run a program`;
  const read = readOptions(rest, table);
  if ('unknown' in read) return `auto mode does not run git ${name} with ${read.unknown}`;
  if (table.needs !== undefined && !table.needs.some((option) => read.used.has(option))) return `auto mode does not run git ${name} without ${table.needs.map((option) => (option.length === 1 ? `-${option}` : `--${option}`)).join(' or ')}`;
  const verb = read.operands[0];
  return table.first === undefined || verb === undefined || list(table.first).has(verb) ? undefined : `git ${name} ${verb} may take something away`;
};

/** Names of folders that a build makes anew. */
const MADE_ANEW = list('dist build out target coverage node_modules .next .nuxt .cache .turbo .parcel-cache .pytest_cache .mypy_cache .ruff_cache __pycache__ .nyc_output tmp .tmp');
/** A folder tree of more entries is not taken away. */
const MOST_TAKEN = 100;

const rm: Check = (args, at) => {
  const read = readOptions(args, { short: 'rRfvd', long: 'recursive force verbose dir' });
  if ('unknown' in read) return `auto mode does not run rm with ${read.unknown}`;
  if (read.operands.length > MOST_TAKEN) return `it takes more than ${MOST_TAKEN} files away`;
  const folders = read.operands.flatMap((word) => at.cwds.map((cwd) => at.places.look(word, cwd))).filter(({ kind }) => kind === 'directory');
  const { roots } = at.places.anchors();
  if (folders.some(({ real }) => roots.some((root) => isWithin(real, realPathOf(root))))) return 'it takes the working folder away';
  const large = folders.find(({ real }) => !MADE_ANEW.has(basename(real)) && entriesBelow(real) > MOST_TAKEN);
  return large === undefined ? undefined : `it takes ${large.label} away, which holds more than ${MOST_TAKEN} files`;
};

/** Counts up to one more than matters. A repository inside counts as too many: its history is nowhere else. */
function entriesBelow(folder: string): number {
  let count = 0;
  for (const waiting = [folder]; waiting.length > 0 && count <= MOST_TAKEN;) {
    const at = waiting.pop() ?? '';
    for (const entry of entriesOf(at)) {
      if (entry.name === '.git') return Infinity;
      count += 1;
      if (entry.isDirectory()) waiting.push(join(at, entry.name));
    }
  }
  return count;
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

const plainOptions = (program: string, table: OptionTable): Check => (args) => {
  const read = readOptions(args, table);
  return 'unknown' in read ? `auto mode does not run ${program} with ${read.unknown}` : undefined;
};

const PYTHON_TOOLS = list('pytest ruff mypy black flake8 pylint isort pyright tox nox coverage');
const RUBY_TOOLS = list('rspec rubocop rake');
const RUNS_FILE = /^-(?:exec|toolexec|vettool|overlay)/;

const PROGRAMS: Readonly<Record<string, Check>> = {
  git, rm,
  rmdir: plainOptions('rmdir', { short: 'pv', long: 'parents verbose' }),
  mkdir: plainOptions('mkdir', { short: 'pvm:', long: 'parents verbose mode:' }),
  touch: plainOptions('touch', { short: 'acm', long: 'no-create' }),
  cp: plainOptions('cp', { short: 'rRapnivfT', long: 'recursive archive no-clobber verbose force' }),
  mv: plainOptions('mv', { short: 'nivf', long: 'no-clobber interactive verbose force' }),
  tee: plainOptions('tee', { short: 'a', long: 'append' }),
  chmod: (args) => (args.some((word) => word.startsWith('-')) || !/^(?:[ugoa]*[+-][rwx]+|[0-7]{3})$/.test(args[0] ?? '') ? 'auto mode changes rights of single files only' : undefined),
  npm: nodePackages, pnpm: nodePackages, yarn: nodePackages, bun: nodePackages,
  npx: runner('npx', NODE_TOOLS), pnpx: runner('pnpx', NODE_TOOLS), bunx: runner('bunx', NODE_TOOLS),
  ...Object.fromEntries([...NODE_TOOLS].map((tool) => [tool, tool === 'tsx' || tool === 'ts-node' ? runtime(tool, CODE) : anyUse])),
  node: runtime('node', CODE), deno: verbs('deno', 'test check lint fmt bench doc info'),
  python: runtime('python', CODE, PYTHON_MODULES), python3: runtime('python3', CODE, PYTHON_MODULES), ruby: runtime('ruby', CODE), php: runtime('php', CODE),
  ...Object.fromEntries([...PYTHON_TOOLS].map((tool) => [tool, anyUse])),
  uv: (args, at) => (args[0] === 'run' ? runner('uv run', list(`${[...PYTHON_TOOLS].join(' ')} python python3`))(args.slice(1), at) : verbs('uv', 'sync lock tree version')(args, at)),
  poetry: (args, at) => (args[0] === 'run' ? runner('poetry run', list(`${[...PYTHON_TOOLS].join(' ')} python python3`))(args.slice(1), at) : verbs('poetry', 'install check show lock')(args, at)),
  pip: verbs('pip', 'list show freeze check'), pip3: verbs('pip3', 'list show freeze check'),
  go: verbs('go', 'build test vet fmt list doc version run generate mod', RUNS_FILE), gofmt: anyUse, 'golangci-lint': verbs('golangci-lint', 'run linters'),
  cargo: verbs('cargo', 'build b check c test t clippy fmt run r doc bench tree metadata clean', /^(?:--config|-Z|--manifest-path=\/)/), rustc: anyUse, rustfmt: anyUse,
  make: targets('make'), gmake: targets('gmake'), just: targets('just'), task: targets('task'), rake: targets('rake'), ninja: targets('ninja'),
  cmake: (args) => (args.some((word) => /^-[EP]/.test(word)) ? 'auto mode does not run scripts of cmake' : undefined), ctest: anyUse,
  gcc: anyUse, 'g++': anyUse, cc: anyUse, 'c++': anyUse, clang: anyUse, 'clang++': anyUse, 'clang-format': anyUse, 'clang-tidy': anyUse,
  mvn: verbs('mvn', 'compile test package verify clean test-compile validate dependency:tree'), './mvnw': verbs('mvnw', 'compile test package verify clean test-compile validate dependency:tree'),
  gradle: targets('gradle'), './gradlew': targets('gradlew'), javac: anyUse, dotnet: verbs('dotnet', 'build test run restore format clean list'),
  ...Object.fromEntries([...RUBY_TOOLS].filter((tool) => tool !== 'rake').map((tool) => [tool, anyUse])),
  bundle: (args, at) => (args[0] === 'exec' ? runner('bundle exec', RUBY_TOOLS)(args.slice(1), at) : verbs('bundle', 'install check list show')(args, at)),
  composer: verbs('composer', 'install test validate show'), phpunit: anyUse, mix: verbs('mix', 'test compile format credo dialyzer deps.get'),
  zig: verbs('zig', 'build test fmt'), swift: verbs('swift', 'build test'), shellcheck: anyUse, shfmt: anyUse, yamllint: anyUse, markdownlint: anyUse,
  jq: (args) => (args.some((word) => /\benv\b|\$ENV/.test(word)) ? 'jq would read the environment' : undefined),
};

/** Why auto mode does not run a command by itself, one line; undefined when it does. Whether its paths lie inside is for others to say. */
export function autoProblem(argv: readonly string[], at: Surroundings): string | undefined {
  return useProblem(argv, at) ?? (argv[0] === 'git' ? at.cwds.map((cwd) => gitProblem(cwd, at)).find((why) => why !== undefined) : undefined) ?? protectedWord(argv, at);
}

/** Messages and branches name many things; of git only `mv` makes files under new names. */
function protectedWord(argv: readonly string[], { cwds, places }: Surroundings): string | undefined {
  if (argv[0] === 'git' && !argv.includes('mv')) return undefined;
  const looks = argv.slice(1).flatMap(pathWords).flatMap((word) => cwds.map((cwd) => places.look(word, cwd)));
  const found = looks.find(({ guarded }) => guarded !== undefined);
  return found === undefined ? undefined : `${found.label} is ${found.guarded ?? ''}`;
}

function useProblem(argv: readonly string[], at: Surroundings): string | undefined {
  const [name = '', ...args] = argv;
  const check = Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : undefined;
  if (check !== undefined) {
    const url = name === 'git' ? undefined : args.find((word) => /:\/\//.test(word));
    return url === undefined ? check(args, at) : `it would reach ${url}`;
  }
  const program = name.slice(name.lastIndexOf('/') + 1);
  if (OUTWARD.has(program)) return `${program} reaches outside of this machine, or of the working folders`;
  if (PRIVILEGED.has(program)) return `${program} acts on the machine or on other programs`;
  if (GONE_FOR_GOOD.has(program)) return `what ${program} does cannot be taken back`;
  if (TEXT.has(program)) return `${program} runs text that is not looked at; run the commands themselves, one by one`;
  return `auto mode does not know the program ${name}`;
}
