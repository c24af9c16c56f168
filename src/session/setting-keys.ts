import type { Json } from '#lib/brand.ts';
import { type Layer, mergeLayers } from './settings.ts';

/** What a person is told of a setting. The README's table is made of this. */
export interface SettingKey {
  /** As it is written in a file; a dot leads into an object. */
  readonly key: string;
  /** The default, in Markdown. */
  readonly fallback: string;
  /** In Markdown, on one line. */
  readonly what: string;
  /** When a change takes effect, where that is not at once. */
  readonly from?: 'start' | 'session';
}

/** All settings in the order of the README. A key that is read and not told of here has no words in /config, and a test fails. */
const TOLD: readonly SettingKey[] = [
  { key: 'model', fallback: '`claude-opus-5-5`, or the demo without a key', what: 'an id, or `opus`, `sonnet`, `haiku`, `fable`', from: 'start' },
  { key: 'fallbackModel', fallback: 'none', what: 'asked when the model is overloaded; a list, or ids separated by commas, in their order' },
  { key: 'effortLevel', fallback: 'the model\'s own', what: '`low`, `medium`, `high`, `xhigh`, `max`' },
  { key: 'permissions.defaultMode', fallback: 'default', what: 'the mode of a new session', from: 'session' },
  { key: 'disableAutoMode', fallback: '`false`', what: 'whether auto mode is not to be had' },
  { key: 'permissions.allow', fallback: '`[]`', what: 'rules that allow' },
  { key: 'permissions.ask', fallback: '`[]`', what: 'rules that ask' },
  { key: 'permissions.deny', fallback: '`[]`', what: 'rules that forbid' },
  { key: 'permissions.additionalDirectories', fallback: '`[]`', what: 'further folders to work in' },
  { key: 'env', fallback: '`{}`', what: 'environment of the commands that tools run' },
  { key: 'remindersOff', fallback: '`[]`', what: 'kinds of reminders that are switched off' },
  { key: 'languageServers', fallback: '`{}`', what: 'by name `false` (off), or `command`, `args`, `extensions` (`{".ts": "typescript"}`), `env`, `rootMarkers`, `settings`, `initializationOptions`' },
  { key: 'outputStyle', fallback: 'the plain one', what: 'how answers are written, by name; `/output-style` sets one for a session' },
  { key: 'companion', fallback: 'none', what: 'a persona with `name` and `text` that introduces itself once' },
  { key: 'plansDirectory', fallback: 'with the program\'s own state', what: 'where plans are kept; relative to the project. A repository\'s own setting must lie in it' },
  { key: 'remindersOn', fallback: '`[]`', what: 'kinds that are off by default (`token_usage`, `output_token_usage`) and switched on' },
  { key: 'budgetUsd', fallback: 'none', what: 'dollars that a session may cost; `/budget` sets another sum for one session. A repository may lower yours, not raise it' },
  { key: 'autoConnectIde', fallback: '`false`', what: 'whether to connect to an editor that runs for the folder without being asked' },
  { key: 'diffTool', fallback: '`"auto"`', what: 'where changes that are asked about are shown: `auto` in a connected editor too, `terminal` in the terminal alone' },
  { key: 'autoCompactEnabled', fallback: '`true`', what: 'compact when a request would not fit' },
  { key: 'compactAt', fallback: '200,000, or what the window holds if that is less', what: 'tokens at which a request is compacted first' },
  { key: 'respectGitignore', fallback: '`true`', what: 'whether completion leaves out what git ignores', from: 'start' },
  { key: 'promptCacheTtl', fallback: '`auto`', what: 'how long the prompt cache keeps what is written: `5m`, `1h`, or `auto` (an hour where people pause, five minutes elsewhere)' },
  { key: 'enableAllProjectMcpServers', fallback: '`false`', what: 'whether every server of a `.mcp.json` may start in a trusted folder; your own settings only' },
  { key: 'enabledMcpjsonServers', fallback: '`[]`', what: 'those that may, by name; your own settings only' },
  { key: 'disabledMcpjsonServers', fallback: '`[]`', what: 'those that do not start' },
  { key: 'claudeMdExcludes', fallback: '`[]`', what: 'globs of instruction files to leave out' },
  { key: 'autoMemoryEnabled', fallback: '`true`', what: 'whether notes are kept and recalled' },
  { key: 'autoMemoryDirectory', fallback: 'a folder for the project in your state folder', what: 'where notes are kept; your own settings only' },
  { key: 'theme', fallback: '`"dark"`', what: '`dark`, `light`, `plain`', from: 'start' },
  { key: 'keys', fallback: '`{}`', what: 'action → keys, separated by commas; an empty text takes the keys away', from: 'start' },
  { key: 'allowedHttpHookUrls', fallback: 'anywhere', what: 'addresses to which hooks of type `http` may send; `*` stands for anything' },
  { key: 'httpHookAllowedEnvVars', fallback: 'what the hook names', what: 'variables that the headers of such hooks may name' },
  { key: 'hooks', fallback: 'none', what: 'commands, addresses or questions at events of the session' },
  { key: 'disableAllHooks', fallback: '`false`', what: 'whether no hook runs' },
  { key: 'statusLine', fallback: 'none', what: 'a command whose output stands above the status bar: `{"type": "command", "command": "…"}`, with `padding` and `refreshInterval` (seconds); `false` for none' },
];

/** Every key that is read, told by a file that listens; those of which something is told first. */
export function settingKeys(): readonly SettingKey[] {
  const read = keysRead('all');
  return [...TOLD.filter(({ key }) => read.has(key)), ...[...read].filter((key) => !TOLD.some((told) => told.key === key)).map((key): SettingKey => ({ key, fallback: 'none', what: '' }))];
}

/** Whether a key means something in settings files of other agents. */
export function isShared(key: string): boolean {
  return keysRead('rules').has(key);
}

function keysRead(take: Layer['take']): ReadonlySet<string> {
  const read = new Set<string>();
  const listening = (prefix: string): Record<string, Json> => new Proxy<Record<string, Json>>({}, {
    get(_, key) {
      if (prefix === '' && key === 'permissions') return permissions;
      if (typeof key === 'string') read.add(`${prefix}${key}`);
      return undefined;
    },
  });
  const permissions = listening('permissions.');
  mergeLayers([layerOf(listening(''), take)]);
  return read;
}

/** What a key may not hold, in the words of whoever reads it: `must be true or false`. Undefined: it may hold this. */
export function settingProblem(key: string, value: Json): string | undefined {
  const [warning] = mergeLayers([layerOf(withKey({}, key, value), 'all')]).warnings;
  return warning === undefined ? undefined : /^.*?: (".*?" must .*?)(?:; it was left out\.)?$/.exec(warning)?.[1] ?? warning;
}

/** The words that a key may hold, where it is one of a few. */
export function settingWords(key: string): readonly string[] {
  const problem = settingProblem(key, '\u0000') ?? '';
  if (problem.endsWith('must be true or false')) return ['true', 'false'];
  return /must be one of (.*)$/.exec(problem)?.[1]?.split(', ') ?? [];
}

const layerOf = (fields: Readonly<Record<string, Json>>, take: Layer['take']): Layer => ({ scope: 'user', file: '', root: '/', take, fields });

type Fields = Readonly<Record<string, Json>>;
const isFields = (value: Json | undefined): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value of a key, dots leading into objects. */
export function valueAt(fields: Fields, key: string): Json | undefined {
  const [first = '', ...rest] = key.split('.');
  const value = Object.hasOwn(fields, first) ? fields[first] : undefined;
  return rest.length === 0 || value === undefined ? value : isFields(value) ? valueAt(value, rest.join('.')) : undefined;
}

/** The fields with this key set, or taken out: an object that is left empty by that goes too. Others stay where they are. */
export function withKey(fields: Fields, key: string, value: Json | undefined): Fields {
  const [first = '', ...rest] = key.split('.');
  const old = Object.hasOwn(fields, first) ? fields[first] : undefined;
  const next = rest.length === 0 ? value : withKey(isFields(old) ? old : {}, rest.join('.'), value);
  const gone = next === undefined || (rest.length > 0 && value === undefined && isFields(next) && Object.keys(next).length === 0);
  if (gone) return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== first));
  return { ...fields, [first]: next };
}
