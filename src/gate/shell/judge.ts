import { readVerdict, treeProblem, wordVerdict, writeVerdict, type Access, type PathVerdict } from '../access.ts';
import { commandText } from '../match.ts';
import { hasUnseen, visibleLine } from '../visible.ts';
import { autoProblem } from './auto-programs.ts';
import { gitProblem } from './git-home.ts';
import { readingOf } from './readonly.ts';
import { walkShell, type SimpleCommand, type Token } from './walk.ts';
import { candidatesOf, isWriter, makesFiles, pathWords } from './writers.ts';
import { innerOf } from './wrappers.ts';

/** What is known of a shell command before it runs. */
export interface Judgement {
  readonly decision: 'allow' | 'ask' | 'deny';
  /** Why it is denied or must be asked, the weightiest first; one line each. */
  readonly reasons: readonly string[];
  /** It must be asked in every mode. */
  readonly hard: boolean;
  /** A rule of the user asks, or one that cannot be read may. */
  readonly ruled: boolean;
  /** Whether all of it only looks. */
  readonly looksOnly: boolean;
  /** The simple commands that no rule covers, if that is the only reason to ask: a rule for each would spare the question. */
  readonly uncovered: readonly (readonly string[])[];
}

interface Uncovered {
  readonly argv: readonly string[];
  readonly why: string;
}

export interface ShellOptions extends Access {
  readonly home: string;
  readonly cwd: string;
  /** Whether programs that git runs on behalf of the repository's own configuration may run. */
  readonly trusted: boolean;
  /** Whether programs of which auto mode knows that they can be run are allowed (see `autoProblem`). */
  readonly auto?: boolean;
}

/** Variables that may be set for one command without changing what it runs. */
const SAFE_VARIABLES = new Set(['NODE_ENV', 'CI', 'NO_COLOR', 'FORCE_COLOR', 'LANG', 'LC_ALL', 'TZ']);
const SAFE_VALUE = /^(?:[\w.@+-]+(?:\/[\w+-]+){0,2})?$/;
/** Path words that are looked at in one command; more make it ask. */
const MOST_LOOKS = 200;
/** Wrappers around wrappers that are followed. */
const DEEPEST_WRAP = 8;

interface Work extends ShellOptions {
  readonly denials: Set<string>;
  readonly hard: Set<string>;
  readonly ruled: Set<string>;
  readonly soft: Set<string>;
  readonly uncovered: Uncovered[];
  readonly verdicts: Map<string, PathVerdict>;
  /** Commands that were judged already. */
  readonly seen: Set<string>;
  looksOnly: boolean;
  depth: number;
  /** Simple commands so far, and whether one of them moves a folder. */
  commands: number;
  movesFolder: boolean;
}

/**
 * Judges shell text: allowed only if every simple command, redirect and path in it is; denied if any of them meets a deny
 * rule, whatever stands around it; else asked. Runs nothing.
 */
export function judgeCommand(command: string, options: ShellOptions): Judgement {
  const work: Work = { ...options, denials: new Set(), hard: new Set(), ruled: new Set(), soft: new Set(), uncovered: [], verdicts: new Map(), seen: new Set(), looksOnly: true, depth: 0, commands: 0, movesFolder: false };
  if (hasUnseen(command)) work.soft.add('it holds characters that cannot be seen; they are marked');
  const broken = options.book.broken('Bash');
  if (broken !== undefined) mustAsk(work, `the rule "${broken.source.rule}" cannot be used`, true);
  judgeText(command, work);
  // Links in it are found under names that nothing has yet.
  if (work.movesFolder && work.commands > 1) work.soft.add('it moves a folder and goes on: what lies where by then is not known');
  const { denials, hard, soft, uncovered, looksOnly } = work;
  const decision = denials.size > 0 ? 'deny' : hard.size + soft.size + uncovered.length > 0 ? 'ask' : 'allow';
  return { decision, reasons: [...new Set([...denials, ...hard, ...soft, ...uncovered.map(({ why }) => why)])].map(visibleLine), hard: hard.size > 0, ruled: work.ruled.size > 0, looksOnly, uncovered: soft.size + hard.size > 0 ? [] : uncovered.map(({ argv }) => argv) };
}

function judgeText(text: string, work: Work): void {
  walkShell(text, { home: work.home, cwds: [work.cwd], depth: work.depth }, {
    command: (command) => { judgeSimple(command, work); },
    unsure: (why, opaque) => {
      work.looksOnly = false;
      (opaque && (work.book.deniesCommands || work.book.deniesPaths) ? work.hard : work.soft).add(why);
    },
  });
}

function judgeSimple(command: SimpleCommand, work: Work): void {
  for (const { name, value } of command.assignments) {
    const safe = SAFE_VARIABLES.has(name) && value?.doubt === undefined && value?.texts.length === 1 && SAFE_VALUE.test(value.texts[0] ?? '');
    if (!safe) unsure(work, `it sets ${name}, which may change what runs`);
  }
  for (const { access, target } of command.redirects) {
    if (access === 'write' && !target.texts.every((text) => text.startsWith('/dev/'))) work.looksOnly = false;
    if (target.doubt !== undefined) unsure(work, target.doubt.why);
    for (const text of target.texts) note(work, access === 'read' ? 'read' : 'write', text, command.cwds);
  }
  work.commands += 1;
  work.movesFolder ||= movesFolder(command, work);
  if (command.tokens.length === 0 || isRepeated(command, work)) return;
  denyInside(command.tokens.map(({ text }) => text), command, work, 0);
  allowOrAsk(command.tokens, command, work);
}

function movesFolder({ tokens, cwds }: SimpleCommand, { places }: Work): boolean {
  const [program, ...words] = tokens.map(({ text }) => text);
  return program === 'mv' && words.slice(0, -1).some((word) => cwds.some((cwd) => places.look(word, cwd).kind === 'directory'));
}

function isRepeated({ tokens, cwds, input }: SimpleCommand, work: Work): boolean {
  if (input.length > 0 || tokens.some(({ doubt }) => doubt !== undefined)) return false;
  const key = `${cwds.join('\0')}\0\0${tokens.map(({ text }) => text).join('\0')}`;
  if (work.seen.has(key)) return true;
  work.seen.add(key);
  return false;
}

/** Deny and ask rules hold for the command, for whatever it runs in turn, and for every path in it. */
function denyInside(argv: readonly string[], command: SimpleCommand, work: Work, level: number): void {
  const texts = candidatesOf(argv);
  const denied = work.book.command('deny', texts);
  if (denied !== undefined) work.denials.add(`\`${shorten(argv.join(' '))}\` is forbidden by the rule ${denied.source.rule}`);
  const asked = work.book.command('ask', texts);
  if (asked !== undefined) mustAsk(work, `the rule ${asked.source.rule} asks before \`${shorten(argv.join(' '))}\``, true);
  if (level === 0) denyPaths(argv, command, work);
  const inner = innerOf(argv);
  if (inner === undefined) return;
  if (level >= DEEPEST_WRAP) return unsure(work, 'too many programs run one another');
  for (const one of inner.commands) if (one.length > 0) denyInside(one, command, work, level + 1);
  const isShell = inner.commands.length === 0 && !inner.transparent;
  for (const script of [...inner.scripts, ...(isShell ? command.input : [])]) judgePayload(script, command, work);
}

/** Shell text that a program is given: what it forbids counts, what it would allow does not. */
function judgePayload(script: string, command: SimpleCommand, work: Work): void {
  const apart: Work = { ...work, soft: new Set(), uncovered: [], hard: new Set(), seen: new Set(), cwd: command.cwds.at(-1) ?? work.cwd, depth: work.depth + 1 };
  judgeText(script, apart);
  for (const why of apart.hard) work.hard.add(why);
}

function denyPaths(argv: readonly string[], command: SimpleCommand, work: Work): void {
  const reading = readingOf(argv);
  const words = reading !== undefined && 'paths' in reading ? [...reading.paths, ...(reading.trees ?? []).map(({ path }) => path)] : argv.slice(1).flatMap(pathWords);
  const writes = isWriter(argv);
  for (const word of new Set(words)) {
    for (const cwd of command.cwds) {
      const verdict = look(work, writes ? 'write' : 'read', word, cwd);
      if (verdict.kind === 'deny') work.denials.add(verdict.why);
      else if (verdict.kind === 'ask' && verdict.hard) mustAsk(work, verdict.why, verdict.ruled);
    }
  }
}

function allowOrAsk(tokens: readonly Token[], command: SimpleCommand, work: Work): void {
  const argv = tokens.map(({ text }) => text);
  const reading = readingOf(argv);
  const rule = work.book.command('allow', [commandText(argv)]);
  const inner = innerOf(argv);
  if (rule === undefined && inner?.transparent === true) {
    const at = tokens.length - (inner.commands[0]?.length ?? 0);
    const unknown = tokens.slice(0, at).find(({ doubt }) => doubt !== undefined)?.doubt;
    return unknown === undefined ? allowOrAsk(tokens.slice(at), command, work) : unknownWord([{ text: '', doubt: unknown }], unknown.why, work, false);
  }
  const looks = reading !== undefined && 'paths' in reading;
  if (!looks) work.looksOnly = false;
  const doubt = tokens.find((token, at) => token.doubt !== undefined && !(token.doubt.kind !== 'value' && at > 0 && saysOnly(argv)))?.doubt;
  if (doubt !== undefined) return unknownWord(tokens, doubt.why, work, looks);
  if (reading !== undefined && 'paths' in reading) {
    for (const path of reading.paths) note(work, 'read', path, command.cwds);
    for (const { path, hidden } of reading.trees ?? []) lookThrough(work, path, hidden, command.cwds);
    const git = argv[0] === 'git' ? command.cwds.map((cwd) => gitProblem(cwd, work)).find((why) => why !== undefined) : undefined;
    if (git !== undefined && rule === undefined) work.soft.add(git);
    return;
  }
  if (rule !== undefined) return wordsOfAllowed(argv, command, work, rule.spec === undefined);
  if (work.edits && makesFiles(argv)) {
    for (const word of argv.slice(1).filter((each) => !each.startsWith('-'))) note(work, 'write', word, command.cwds);
    return;
  }
  if (work.auto === true) return reading === undefined || argv[0] === 'git' ? runUnasked(argv, command, work) : unsure(work, reading.why);
  work.uncovered.push({ argv, why: reading?.why ?? `no rule allows \`${shorten(argv.join(' '))}\`` });
}

/** In auto mode: a program that is known, and nothing outside of the working folders or protected in them. */
function runUnasked(argv: readonly string[], command: SimpleCommand, work: Work): void {
  const problem = autoProblem(argv, { cwds: command.cwds, places: work.places, trusted: work.trusted });
  if (problem !== undefined) unsure(work, problem);
  else wordsOfAllowed(argv, command, work, false);
}

/** What it looks at or changes under an allow rule still has to pass the path rules. */
function wordsOfAllowed(argv: readonly string[], command: SimpleCommand, work: Work, wholeTool: boolean): void {
  if (wholeTool) return;
  for (const word of new Set(argv.slice(1).flatMap(pathWords))) {
    for (const cwd of command.cwds) {
      const verdict = look(work, isWriter(argv) ? 'write' : 'word', word, cwd);
      if (verdict.kind === 'ask' && !verdict.hard && !verdict.why.startsWith('it changes')) work.soft.add(verdict.why);
    }
  }
}

/** A program whose name is not known could be any, one that is denied too. */
function unknownWord(tokens: readonly Token[], why: string, work: Work, looks: boolean): void {
  if (tokens[0]?.doubt !== undefined && work.book.deniesCommands) work.hard.add(why);
  else work.soft.add(why);
  if (!looks) work.looksOnly = false;
}

/** Programs that print their words and do nothing else with them. */
function saysOnly(argv: readonly string[]): boolean {
  return argv[0] === 'echo' || (argv[0] === 'printf' && argv[1] !== undefined && argv[1] !== '' && !argv[1].startsWith('-'));
}

function note(work: Work, access: 'read' | 'write', written: string, cwds: readonly string[]): void {
  for (const cwd of cwds) {
    const verdict = look(work, access, written, cwd);
    if (verdict.kind === 'deny') work.denials.add(verdict.why);
    else if (verdict.kind === 'ask' && verdict.hard) mustAsk(work, verdict.why, verdict.ruled);
    else if (verdict.kind === 'ask') work.soft.add(verdict.why);
  }
}

/** `ruled`: because a rule of the user says so. */
function mustAsk(work: Work, why: string, ruled = false): void {
  work.hard.add(why);
  if (ruled) work.ruled.add(why);
}

function lookThrough(work: Work, path: string, hidden: boolean, cwds: readonly string[]): void {
  note(work, 'read', path, cwds);
  for (const cwd of cwds) {
    const problem = treeProblem(work, path, cwd, hidden);
    if (problem !== undefined) (problem.hard ? work.hard : work.soft).add(problem.why);
  }
}

function look(work: Work, access: 'read' | 'write' | 'word', written: string, cwd: string): PathVerdict {
  const key = `${access}\0${cwd}\0${written}`;
  const known = work.verdicts.get(key);
  if (known !== undefined) return known;
  if (work.verdicts.size >= MOST_LOOKS) return { kind: 'ask', why: 'it names more paths than are looked at', hard: work.book.deniesPaths };
  const made = access === 'read' ? readVerdict(work, 'Bash', written, cwd) : access === 'word' ? wordVerdict(work, written, cwd) : writeVerdict(work, 'Edit', written, cwd);
  work.verdicts.set(key, made);
  return made;
}

function unsure(work: Work, why: string): void {
  work.looksOnly = false;
  work.soft.add(why);
}

function shorten(text: string): string {
  return text.length <= 120 ? text : `${text.slice(0, 119)}…`;
}
