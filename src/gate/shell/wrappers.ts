import { readOptions, type OptionTable } from './options.ts';

/** What a command runs in turn. */
export interface Inner {
  /** Commands, each as its words. */
  readonly commands: readonly (readonly string[])[];
  /** Shell text. */
  readonly scripts: readonly string[];
  /** Nothing but the one inner command runs, in the same surroundings: what holds for it holds for the whole. */
  readonly transparent: boolean;
}

interface Wrapper extends OptionTable {
  /** Operands before the command. */
  readonly skip?: number;
  /** `NAME=value` words before the command. */
  readonly assignments?: boolean;
  readonly transparent?: boolean;
}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  timeout: { short: 'k:s:fpv', long: 'kill-after: signal: foreground preserve-status verbose', skip: 1, transparent: true },
  time: { short: 'p', transparent: true },
  nice: { short: 'n:', long: 'adjustment:', digits: true, transparent: true },
  nohup: { transparent: true },
  stdbuf: { short: 'i:o:e:', long: 'input: output: error:', transparent: true },
  command: { short: 'p', transparent: true },
  builtin: { transparent: true },
  noglob: { transparent: true },
  nocorrect: { transparent: true },
  xargs: { short: '0rtpxn:P:I:i?L:l?s:d:E:e?a:', long: 'null no-run-if-empty verbose interactive exit max-args: max-procs: replace? max-lines? max-chars: delimiter: eof? arg-file: open-tty' },
  env: { short: 'i0vu:C:', long: 'ignore-environment null unset: chdir: debug block-signal? default-signal? ignore-signal?', assignments: true },
  sudo: { short: 'AbEHiKknPSsu:g:p:C:c:D:h:R:r:T:t:U:', long: 'user: group: prompt: chdir: host: preserve-env? set-home login non-interactive stdin background askpass shell', assignments: true },
  doas: { short: 'nsLu:C:a:' },
  exec: { short: 'cla:' },
  setsid: { short: 'cfw', long: 'ctty fork wait' },
  flock: { short: 'exsunoFw:E:', long: 'exclusive shared unlock nonblock no-fork close timeout: conflict-exit-code:', skip: 1 },
  chroot: { long: 'userspec: groups: skip-chdir', skip: 1 },
  ionice: { short: 'c:n:tp:', long: 'class: classdata: ignore' },
  taskset: { short: 'ac', skip: 1 },
  watch: { short: 'bcdegptxn:', long: 'interval: differences? beep color errexit chgexit precise no-title exec' },
  chronic: { short: 'ev' },
  unbuffer: { short: 'p' },
  busybox: {},
  toybox: {},
  pkexec: { long: 'user:' },
  setarch: { skip: 1 },
  parallel: { short: 'j:kN:n:I:a:' },
};
/** Programs that run their arguments in ways that are not worked out here: any of their words may begin a command. */
const CARRIERS = new Set('strace ltrace script unshare nsenter prlimit numactl firejail bwrap proxychains proxychains4 torsocks dbus-run-session xvfb-run rlwrap faketime systemd-run runuser su caffeinate catchsegv valgrind chrt entr direnv dotenv sg fakeroot'.split(' '));
const SHELLS = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh', 'mksh', 'ash', 'fish', 'rbash', 'yash']);
/** Programs that run what they are given as text; a rule for them by name alone would allow everything. */
const INTERPRETERS = /^(?:python[\d.]*|node|nodejs|deno|bun|perl|ruby|php[\d.]*|lua[\d.]*|awk|gawk|mawk|nawk|tclsh|osascript|pwsh|powershell|Rscript|make|eval|source|\.|trap|npx|pnpx|bunx|uvx|find|vim?|nvim|emacs|ed|ex|ssh|gdb|perf|docker|podman|kubectl|expect)$/;

/** What a command runs in turn; undefined for one that runs nothing we know of. */
export function innerOf(argv: readonly string[]): Inner | undefined {
  const [name = '', ...args] = argv;
  const program = name.slice(name.lastIndexOf('/') + 1);
  if (SHELLS.has(program)) return { commands: [], scripts: shellText(args), transparent: false };
  if (program === 'eval') return { commands: [], scripts: [args.join(' ')], transparent: false };
  if (program === 'trap' || program === 'alias') return { commands: [], scripts: args.map((word) => word.slice(word.indexOf('=') + 1)), transparent: false };
  if (program === 'find') return ofFind(args);
  if (CARRIERS.has(program)) return { commands: tails(args), scripts: args.filter(hasBlank), transparent: false };
  const wrapper = Object.hasOwn(WRAPPERS, program) ? WRAPPERS[program] : undefined;
  return wrapper === undefined ? undefined : ofWrapper(name, program, args, wrapper);
}

/** Whether an allow rule for every use of the program would allow anything at all. */
export function runsAnything(program: string): boolean {
  const name = program.slice(program.lastIndexOf('/') + 1);
  return SHELLS.has(name) || CARRIERS.has(name) || INTERPRETERS.test(name) || Object.hasOwn(WRAPPERS, name);
}

function ofWrapper(name: string, program: string, args: readonly string[], wrapper: Wrapper): Inner {
  if (program === 'command' && /^-[a-zA-Z]*[vV]/.test(args[0] ?? '')) return { commands: [], scripts: [], transparent: false };
  const read = readOptions(args, { ...tableOf(wrapper), strict: true });
  const joins = program === 'watch' || program === 'parallel';
  const scripts = [...(joins ? [args.join(' ')] : []), ...(joins || program === 'flock' || program === 'env' ? args.filter(hasBlank) : [])];
  if ('unknown' in read) return { commands: tails(args), scripts, transparent: false };
  let rest = read.operands.slice(wrapper.skip ?? 0);
  if (wrapper.assignments === true) rest = rest.slice(Math.max(0, rest.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word))));
  return { commands: rest.length === 0 ? [] : [rest], scripts, transparent: wrapper.transparent === true && name === program && rest.length > 0 };
}

function tableOf({ short, long, digits }: Wrapper): OptionTable {
  return { ...(short !== undefined && { short }), ...(long !== undefined && { long }), ...(digits !== undefined && { digits }) };
}

/** `-c` may stand in a cluster (`-lc`); the text is the first operand then. */
function shellText(args: readonly string[]): readonly string[] {
  const at = args.findIndex((word) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(word));
  return at < 0 ? [] : args.slice(at + 1).filter((word) => !/^[-+]/.test(word)).slice(0, 1);
}

function ofFind(args: readonly string[]): Inner | undefined {
  const commands: (readonly string[])[] = [];
  for (const [at, word] of args.entries()) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(word)) continue;
    const rest = args.slice(at + 1);
    const end = rest.findIndex((each) => each === ';' || each === '+');
    commands.push(end < 0 ? rest : rest.slice(0, end));
  }
  return commands.length === 0 ? undefined : { commands, scripts: [], transparent: false };
}

const hasBlank = (word: string): boolean => /\s/.test(word);

/** Most words of which each is tried as the beginning of a command. */
const MOST_TAILS = 24;

function tails(args: readonly string[]): readonly (readonly string[])[] {
  return args.slice(0, MOST_TAILS).map((_, at) => args.slice(at));
}
