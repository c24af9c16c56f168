import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isWithin, realPathOf } from '#lib/within.ts';
import { anyUse, type Check, cmake, compiler, ctest, go, goals, isHarmlessName, list, node, operandsOf, php, PYTHON_TOOLS, python, ruby, type Surroundings, targets, typescript, verbs, without } from './auto-checks.ts';
import { gitProblem } from './git-home.ts';
import { readOptions, type OptionTable } from './options.ts';
import { pathWords } from './writers.ts';

/*
 * What auto mode runs without a person. The rule: a program runs if it stands in this table, in a use that builds, checks, tests
 * or keeps what lies in the working folders and can be taken back. What is not named here is not run: programs that reach
 * outward (push, publish, deploy, fetch, log in), that raise privileges or act on other processes, that take something away for
 * good, and text that nobody can look at beforehand (`node -e`, `sh -c`, `awk`). Paths are looked at by whoever asks.
 */

const OUTWARD = list('curl wget ssh scp sftp rsync ftp nc ncat netcat socat telnet gh glab hub aws gcloud gsutil az doctl heroku vercel netlify fly flyctl firebase wrangler kubectl helm terraform pulumi ansible ansible-playbook docker podman docker-compose psql mysql mongosh redis-cli twine rclone mail sendmail');
const PRIVILEGED = list('sudo doas su pkexec runuser chroot mount umount systemctl service launchctl crontab at passwd useradd usermod chown chgrp setcap iptables ufw apt apt-get dnf yum pacman brew snap kill pkill killall shutdown reboot mkfs');
const GONE_FOR_GOOD = list('dd shred truncate unlink mkfs wipefs');
const TEXT = list('sh bash zsh dash ksh fish eval source . exec trap awk gawk mawk perl xargs find env sed');

const NODE_TOOLS: ReadonlyMap<string, Check> = new Map([
  ...[...list('tsc eslint prettier biome oxlint stylelint vitest jest mocha ava esbuild webpack vite swc babel svelte-check vue-tsc tsd knip depcheck typedoc')].map((name): [string, Check] => [name, anyUse]),
  ['tsx', typescript('tsx')], ['ts-node', typescript('ts-node')],
  ['tap', without('tap', /^--(?:node-arg|test-arg|before|after|plugin)/)], ['tsup', without('tsup', /^--on-?success/i)], ['rollup', without('rollup', /^(?:-p|--plugin)/)],
  ['playwright', verbs('playwright', 'test show-report merge-reports')], ['cypress', verbs('cypress', 'run verify info version')],
  ['next', verbs('next', 'build dev start lint info typegen')], ['nuxt', verbs('nuxt', 'build dev generate prepare typecheck analyze preview')], ['astro', verbs('astro', 'build check dev preview sync')],
  // They measure what another program does.
  ...['c8', 'nyc'].map((name): [string, Check] => [name, (args, at) => measuring(name)(args, at)]),
]);
const MEASURED = list('node npm vitest jest mocha ava tap tsx ts-node');
const measuring = (program: string): Check => runner(program, MEASURED, /^--(?:all|silent|clean|check-coverage|skip-full|[\w-]+=[\w./*-]+)$/);

/** `npx tool`, `poetry run tool`: only tools that stand in the table themselves. */
function runner(program: string, tools: ReadonlySet<string>, options = /^(?:--no-install|--no|-y|--yes|-q|--quiet|--silent)$/): Check {
  return (args, at) => {
    const first = args.findIndex((word) => !word.startsWith('-'));
    const before = args.slice(0, Math.max(0, first));
    const tool = args[first] ?? '';
    if (before.some((word) => !options.test(word)) || first < 0) return `auto mode does not know what \`${program} ${args[0] ?? ''}\` runs`;
    return tools.has(tool) ? useProblem([tool, ...args.slice(first + 1)], at) : `auto mode does not know what \`${program} ${tool}\` runs`;
  };
}

/** Options of package managers that change how much is done or said. What stands after a script's name or `--` is the script's. */
const MANAGER_OPTION = /^(?:-[srvwD]|-ws|--(?:silent|quiet|verbose|version|if-present|workspaces|recursive|parallel|no-audit|no-fund|prefer-offline|offline|frozen-lockfile|immutable|production|legacy-peer-deps|json|long|all|dry-run|dev)|--(?:workspace|filter|omit|include|loglevel|depth)=[\w@./*-]+)$/;
const MANAGED = /^(?:ci|install|i|ls|list|outdated|explain|why|query|root|prefix|view|info|pkg)$/;

/** What the project declares is installed, its scripts are run by harmless names; a new package is brought in by the user. */
const nodePackages = (program: string): Check => (args, at) => {
  const dashes = args.indexOf('--');
  const own = dashes < 0 ? args : args.slice(0, dashes);
  const [verb = '', ...rest] = operandsOf(own);
  if (own.some((word) => /^(?:-g|--global|--location=global|--script-shell)/.test(word))) return 'it changes what is installed for the whole machine';
  const first = own.findIndex((word) => !word.startsWith('-'));
  const told = program === 'npm' || MANAGED.test(verb) || first < 0 ? own : own.slice(0, first);
  const option = told.find((word) => word.startsWith('-') && !MANAGER_OPTION.test(word));
  if (option !== undefined) return `auto mode does not know what the package manager does with ${option}`;
  if (/^(?:test|t|tst|start)$/.test(verb) || (verb === '' && args.length > 0)) return undefined;
  if (/^(?:run|run-script|rum)$/.test(verb)) return rest[0] === undefined || isHarmlessName(rest[0]) ? undefined : `auto mode does not know what the script ${rest[0]} does`;
  if (/^(?:ci|install|i)$/.test(verb)) return rest.length === 0 ? undefined : `it brings ${rest[0] ?? ''} in from outside; the user has to want a new package`;
  if (MANAGED.test(verb)) return verb === 'pkg' && rest[0] !== 'get' ? 'it changes the package file' : undefined;
  if (verb === 'exec') return runner('npm exec', new Set(NODE_TOOLS.keys()))(args.slice(args.indexOf('exec') + 1).filter((word) => word !== '--'), at);
  // What is no command of npm is none of its scripts either; those of others may be called by name alone.
  const script = program === 'npm' ? /^(?:audit|help|version)$/.test(verb) && rest.length === 0 : isHarmlessName(verb) && !/^(?:audit|cache|only|update|version)$/.test(verb);
  return script ? undefined : `auto mode does not run the package manager's ${verb || 'prompt'}`;
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

const PYTHON_RUN: ReadonlySet<string> = new Set([...PYTHON_TOOLS.keys(), 'python', 'python3']);
const RUBY_TOOLS = list('rspec rubocop rake');
/** What a program would fetch or take for its text, wherever it stands. */
const ELSEWHERE = /:\/\/|(?:^|=)(?:data|npm|jsr|file|blob|github|git\+\w+):/i;

const PROGRAMS: Readonly<Record<string, Check>> = {
  git, rm,
  rmdir: plainOptions('rmdir', { short: 'pv', long: 'parents verbose' }),
  mkdir: plainOptions('mkdir', { short: 'pvm:', long: 'parents verbose mode:' }),
  touch: plainOptions('touch', { short: 'acm', long: 'no-create' }),
  cp: plainOptions('cp', { short: 'rRapnivfT', long: 'recursive archive no-clobber verbose force' }),
  mv: plainOptions('mv', { short: 'nivf', long: 'no-clobber interactive verbose force' }),
  tee: plainOptions('tee', { short: 'a', long: 'append' }),
  chmod: (args) => (args.some((word) => word.startsWith('-')) || !/^(?:[ugoa]*[+-][rwx]+|[0-7]{3})$/.test(args[0] ?? '') ? 'auto mode changes rights of single files only' : undefined),
  npm: nodePackages('npm'), pnpm: nodePackages('pnpm'), yarn: nodePackages('yarn'), bun: nodePackages('bun'),
  ...Object.fromEntries(['npx', 'pnpx', 'bunx'].map((name) => [name, runner(name, new Set(NODE_TOOLS.keys()))])),
  ...Object.fromEntries(NODE_TOOLS),
  node, deno: verbs('deno', 'test check lint fmt bench doc info'),
  python: python('python'), python3: python('python3'), ruby, php,
  ...Object.fromEntries(PYTHON_TOOLS),
  uv: (args, at) => (args[0] === 'run' ? runner('uv run', PYTHON_RUN)(args.slice(1), at) : verbs('uv', 'sync lock tree version')(args, at)),
  poetry: (args, at) => (args[0] === 'run' ? runner('poetry run', PYTHON_RUN)(args.slice(1), at) : verbs('poetry', 'install check show lock')(args, at)),
  pip: verbs('pip', 'list show freeze check'), pip3: verbs('pip3', 'list show freeze check'),
  go, gofmt: anyUse, 'golangci-lint': verbs('golangci-lint', 'run linters'),
  cargo: verbs('cargo', 'build b check c test t clippy fmt run r doc bench tree metadata clean', /^(?:--config|-Z|--manifest-path=\/)|linker=/), rustc: compiler('rustc'), rustfmt: anyUse,
  make: targets('make'), gmake: targets('gmake'), just: targets('just'), task: targets('task'), rake: targets('rake'), ninja: targets('ninja'),
  cmake, ctest,
  ...Object.fromEntries(['gcc', 'g++', 'cc', 'c++', 'clang', 'clang++', 'javac'].map((name) => [name, compiler(name)])), 'clang-format': anyUse, 'clang-tidy': anyUse,
  mvn: goals('mvn', 'compile test package verify clean test-compile validate dependency:tree'), './mvnw': goals('mvnw', 'compile test package verify clean test-compile validate dependency:tree'),
  gradle: targets('gradle'), './gradlew': targets('gradlew'), dotnet: verbs('dotnet', 'build test run restore format clean list', /^(?:[-/]+(?:p|property|l|logger|dl|distributedlogger)[:=]|@)/i),
  ...Object.fromEntries([...RUBY_TOOLS].filter((tool) => tool !== 'rake').map((tool) => [tool, anyUse])),
  bundle: (args, at) => (args[0] === 'exec' ? runner('bundle exec', RUBY_TOOLS)(args.slice(1), at) : verbs('bundle', 'install check list show')(args, at)),
  composer: verbs('composer', 'install test validate show'), phpunit: anyUse, mix: verbs('mix', 'test compile format credo dialyzer deps.get'),
  zig: verbs('zig', 'build test fmt', /^--test-cmd/), swift: verbs('swift', 'build test'), shellcheck: anyUse, shfmt: anyUse, yamllint: anyUse, markdownlint: anyUse,
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
    const url = name === 'git' ? undefined : args.find((word) => ELSEWHERE.test(word));
    return url === undefined ? check(args, at) : `it would reach ${url}`;
  }
  const program = name.slice(name.lastIndexOf('/') + 1);
  if (OUTWARD.has(program)) return `${program} reaches outside of this machine, or of the working folders`;
  if (PRIVILEGED.has(program)) return `${program} acts on the machine or on other programs`;
  if (GONE_FOR_GOOD.has(program)) return `what ${program} does cannot be taken back`;
  if (TEXT.has(program)) return `${program} runs text that is not looked at; run the commands themselves, one by one`;
  return `auto mode does not know the program ${name}`;
}
