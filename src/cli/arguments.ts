import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { UserError } from '#lib/errors.ts';
import { parseDollars } from '#lib/money.ts';
import { PERMISSION_MODES, type PermissionMode } from '#domain/entry.ts';
import { helpColumns, helpItems, helpLook, helpProse, WIDEST } from './help.ts';
import { VERSION } from './version.ts';

/** What was asked for on the command line. */
export interface Arguments {
  readonly prompt?: string;
  readonly print: boolean;
  readonly continue: boolean;
  /** `true` asks which. */
  readonly resume?: string | true;
  readonly model?: string;
  readonly outputFormat: 'text' | 'json' | 'stream-json';
  readonly inputFormat: 'text' | 'stream-json';
  /** With `stream-json`: pieces of answers as they come. */
  readonly includePartialMessages: boolean;
  /** With `stream-json` in and out: what comes in is repeated. */
  readonly replayUserMessages: boolean;
  readonly includeHookEvents: boolean;
  readonly verbose: boolean;
  /** Of the new session: a UUID. */
  readonly sessionId?: string;
  /** False: nothing of a run of print mode is kept. */
  readonly sessionPersistence?: false;
  /** `stdio`: who reads the stream is asked what needs consent. */
  readonly permissionPromptTool?: 'stdio';
  /** The shape that the result is to have: a file with a JSON Schema, or one as JSON. */
  readonly jsonSchema?: string;
  readonly fallbackModel?: string;
  /** In place of our own. */
  readonly systemPrompt?: string;
  /** Go on with a copy of the session. */
  readonly forkSession: boolean;
  /** Files or JSON with servers. */
  readonly mcpConfig: readonly string[];
  /** No other servers than those of `mcpConfig`. */
  readonly strictMcpConfig: boolean;
  /** Connect to the one editor that runs for this folder. */
  readonly ide: boolean;
  /** A settings file, or settings as JSON. */
  readonly settings?: string;
  readonly maxTurns?: number;
  readonly maxBudgetUsd?: number;
  readonly allowedTools: readonly string[];
  readonly disallowedTools: readonly string[];
  readonly permissionMode?: PermissionMode;
  readonly appendSystemPrompt?: string;
  readonly pin: readonly string[];
  readonly addDir: readonly string[];
  readonly trust: boolean;
}

/** Bad flags or input: exit code 2. */
export class UsageError extends UserError {}

/** Text that answers the command line already (help, version): printed as it is, exit code 0. */
export class Answered extends Error {
  override readonly name = 'Answered';
}

function positive(text: string): number {
  const n = Number(text);
  if (!Number.isInteger(n) || n < 1) throw new InvalidArgumentError('It must be a whole number from 1 on.');
  return n;
}

function money(text: string): number {
  const usd = parseDollars(text);
  if (usd === undefined) throw new InvalidArgumentError('It must be a sum above 0, such as 5 or 0.50.');
  return usd;
}

function uuid(text: string): string {
  if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) throw new InvalidArgumentError('It must be a UUID.');
  return text.toLowerCase();
}

const collect = (text: string, before: readonly string[] = []): readonly string[] => [...before, text];
const collectRules = (text: string, before: readonly string[] = []): readonly string[] => [...before, ...splitRules(text)];

/** Rules separated by commas or blanks outside of brackets: `Bash(git log *),Edit Read(src/**)`. */
export function splitRules(text: string): readonly string[] {
  const rules: string[] = [];
  let depth = 0;
  let rule = '';
  for (const char of text) {
    if (char === '(') depth += 1;
    if (char === ')') depth -= 1;
    if (depth <= 0 && (char === ',' || /\s/.test(char))) {
      rules.push(rule);
      rule = '';
    } else rule += char;
  }
  return [...rules, rule].map((each) => each.trim()).filter((each) => each !== '');
}

function program(write: (text: string) => void, screen: number): Command {
  return new Command('pinion')
    .description('A coding-agent shell for the terminal: chat with a model that reads, edits and runs things in your project.')
    .argument('[prompt]', 'what to say first')
    .optionsGroup('Print mode:')
    .option('-p, --print', 'answer once on standard output and end; piped input is added to the prompt')
    .addOption(new Option('--output-format <format>', 'how --print answers').choices(['text', 'json', 'stream-json']).default('text'))
    .addOption(new Option('--input-format <format>', 'how --print reads standard input').choices(['text', 'stream-json']).default('text'))
    .option('--include-partial-messages', 'with stream-json: pieces of answers as they come')
    .option('--replay-user-messages', 'with stream-json in and out: repeat what comes in')
    .option('--include-hook-events', 'with stream-json: what hooks do')
    .addOption(new Option('--permission-prompt-tool <tool>', 'with stream-json in and out: ask the other end what needs consent').choices(['stdio']))
    .option('--json-schema <file-or-json>', 'the result is JSON of this shape (a JSON Schema)')
    .option('--no-session-persistence', 'keep nothing of this run')
    .option('--verbose', 'tell more of what happens')
    .optionsGroup('Session:')
    .option('-c, --continue', 'go on with the newest session of this directory')
    .option('-r, --resume [id]', 'go on with a session; without an id choose one')
    .option('--session-id <uuid>', 'the id of the new session', uuid)
    .option('--fork-session', 'with -c or -r: go on with a copy')
    .option('--pin <path>', 'pin a file, directory or glob (repeatable)', collect)
    .option('--add-dir <directory>', 'a further directory to work in (repeatable)', collect)
    .optionsGroup('Model:')
    .option('--model <id>', 'the model to use (opus, sonnet, haiku, fable, or a full id)')
    .option('--fallback-model <ids>', 'answer in this order, separated by commas, when the model stays overloaded')
    .option('--append-system-prompt <text>', 'text added to the system prompt')
    .option('--system-prompt <text>', 'in place of the system prompt')
    .option('--max-turns <n>', 'most model requests of one turn', positive)
    .option('--max-budget-usd <n>', 'dollars that the session may cost; it stops before the request that would cross it', money)
    .optionsGroup('Connections:')
    .option('--mcp-config <file-or-json>', 'further MCP servers (repeatable)', collect)
    .option('--strict-mcp-config', 'only the servers of --mcp-config')
    .option('--ide', 'connect to the editor that runs for this folder')
    .option('--settings <file-or-json>', 'settings that go before those of files')
    .optionsGroup('Permissions:')
    .addOption(new Option('--permission-mode <mode>', 'what may be done without asking').choices(PERMISSION_MODES))
    .option('--allowed-tools <rules>', 'rules such as "Edit Bash(npm test)" that are allowed (repeatable)', collectRules)
    .option('--disallowed-tools <rules>', 'rules that are refused (repeatable)', collectRules)
    .addOption(new Option('--allowedTools <rules>').hideHelp().argParser(collectRules))
    .addOption(new Option('--disallowedTools <rules>').hideHelp().argParser(collectRules))
    .addOption(new Option('--dangerously-skip-permissions', 'as --permission-mode bypassPermissions').hideHelp())
    .option('--trust', 'trust this folder: its allow rules, env and commands take effect')
    .optionsGroup('About:')
    .version(VERSION, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .configureOutput({ writeOut: write, writeErr: write })
    .allowExcessArguments(true)
    .exitOverride()
    .configureHelp(helpLook(screen))
    .addHelpText('after', `\n${PROGRAMS_HEAD}\n${helpItems(PROGRAMS, screen)}\n${helpProse(EPILOGUE, screen)}`);
}

/** Its definitions, for those who complete command lines. */
export function pinionCommand(): Command {
  return program(() => undefined, WIDEST);
}

const PROGRAMS_HEAD = 'Further commands (each has --help):';
const PROGRAMS: readonly (readonly [string, string])[] = [
  ['pinion mcp', 'MCP servers: add, list, test, approve, sign in'],
  ['pinion acp', 'for editors such as Zed: the Agent Client Protocol'],
  ['pinion completion', 'what your shell completes: bash, zsh, fish'],
];

const EPILOGUE = [
  'Inside: / for commands, @ to mention a file, ! to run a command yourself, ? for help.',
  'Without a key (ANTHROPIC_API_KEY, or /login) the built-in demo model answers: rule-based, offline, free.',
  'Exit codes: 0 done, 1 the run failed, 2 bad flags or input, 130 and 143 ended by a signal.',
  'Files: PINION_HOME (settings, sessions); .pinion/settings.json, AGENTS.md and CLAUDE.md of the project.',
];

/** Reads the command line. Throws {@link Answered} for help (drawn for so many columns) and version, {@link UsageError} (one line) for what is wrong. */
export function parseArguments(argv: readonly string[], columns = helpColumns()): Arguments {
  let written = '';
  const command = program((text) => { written += text; }, columns);
  try {
    command.parse([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) throw new Answered(written);
    throw new UsageError(`${error.message.replace(/^error: /, '').replaceAll('\n', ' ').trim().replace(/[^.!?]$/, '$&.')} See pinion --help.`);
  }
  const { args } = command;
  if (args.length > 1) throw new UsageError(`the prompt is one argument, here are ${args.length}: put it in quotes. See pinion --help.`);
  return toArguments(command.opts(), args[0]);
}

interface Options {
  readonly print?: boolean; readonly continue?: boolean; readonly resume?: string | true; readonly model?: string;
  readonly outputFormat: Arguments['outputFormat']; readonly inputFormat: Arguments['inputFormat']; readonly includePartialMessages?: boolean; readonly replayUserMessages?: boolean; readonly includeHookEvents?: boolean; readonly verbose?: boolean; readonly sessionId?: string; readonly forkSession?: boolean;
  readonly sessionPersistence?: boolean; readonly permissionPromptTool?: 'stdio'; readonly jsonSchema?: string; readonly fallbackModel?: string; readonly systemPrompt?: string;
  readonly mcpConfig?: string[]; readonly strictMcpConfig?: boolean; readonly ide?: boolean; readonly settings?: string; readonly maxTurns?: number; readonly maxBudgetUsd?: number; readonly pin?: string[]; readonly permissionMode?: PermissionMode;
  readonly allowedTools?: string[]; readonly disallowedTools?: string[]; readonly dangerouslySkipPermissions?: boolean;
  readonly appendSystemPrompt?: string; readonly addDir?: string[]; readonly trust?: boolean;
}

function toArguments(options: Options, prompt: string | undefined): Arguments {
  const { print = false, continue: goOn = false, resume, model, outputFormat, maxTurns, maxBudgetUsd, pin = [], allowedTools = [], disallowedTools = [], appendSystemPrompt, addDir = [], trust = false } = options;
  const permissionMode = options.permissionMode ?? (options.dangerouslySkipPermissions === true ? 'bypassPermissions' : undefined);
  if (goOn && resume !== undefined) throw new UsageError('-c goes on with the newest session, -r with one you name: use one of them.');
  if (print && resume === true) throw new UsageError('in print mode -r needs the id of a session: pinion -p -r <id> "…".');
  if (!print && outputFormat !== 'text') throw new UsageError('--output-format goes with -p.');
  const { inputFormat, includePartialMessages = false, replayUserMessages = false, includeHookEvents = false, verbose = false, sessionId, forkSession = false, mcpConfig = [], strictMcpConfig = false, ide = false, settings } = options;
  const streams: readonly (readonly [boolean, string])[] = [[includePartialMessages, '--include-partial-messages'], [replayUserMessages, '--replay-user-messages'], [includeHookEvents, '--include-hook-events'], [inputFormat === 'stream-json', '--input-format stream-json']];
  const stray = streams.find(([given]) => given)?.[1];
  if (stray !== undefined && outputFormat !== 'stream-json') throw new UsageError(`${stray} goes with -p --output-format stream-json.`);
  if (forkSession && !goOn && resume === undefined) throw new UsageError('--fork-session goes with -c or -r.');
  const { sessionPersistence, permissionPromptTool, jsonSchema, fallbackModel, systemPrompt } = options;
  if (sessionId !== undefined && !forkSession && (goOn || resume !== undefined)) throw new UsageError('--session-id names a new session: with -c or -r it goes with --fork-session.');
  if (jsonSchema !== undefined && !print) throw new UsageError('--json-schema goes with -p.');
  if (sessionPersistence === false && !print) throw new UsageError('--no-session-persistence goes with -p.');
  if (permissionPromptTool !== undefined && inputFormat !== 'stream-json') throw new UsageError('--permission-prompt-tool goes with -p --input-format stream-json.');
  return {
    inputFormat, includePartialMessages, replayUserMessages, includeHookEvents, verbose, forkSession, mcpConfig, strictMcpConfig, ide, ...(sessionId !== undefined && { sessionId }), ...(settings !== undefined && { settings }), ...(permissionPromptTool !== undefined && { permissionPromptTool }), ...(sessionPersistence === false && { sessionPersistence: false as const }),
    ...(jsonSchema !== undefined && { jsonSchema }), ...(fallbackModel !== undefined && { fallbackModel }), ...(systemPrompt !== undefined && { systemPrompt }),
    print, continue: goOn, outputFormat, pin, allowedTools, disallowedTools, addDir, trust,
    ...(prompt !== undefined && { prompt }), ...(resume !== undefined && { resume }), ...(model !== undefined && { model }),
    ...(maxTurns !== undefined && { maxTurns }), ...(maxBudgetUsd !== undefined && { maxBudgetUsd }), ...(permissionMode !== undefined && { permissionMode }),
    ...(appendSystemPrompt !== undefined && { appendSystemPrompt }),
  };
}
