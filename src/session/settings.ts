import { join } from 'node:path';
import type { Json } from '#lib/brand.ts';
import { readSmallFile } from '#lib/small-file.ts';
import { messageOf } from '#lib/errors.ts';
import { validDollars } from '#lib/money.ts';
import type { Effort } from '#domain/content.ts';
import { PERMISSION_MODES, type PermissionMode } from '#domain/entry.ts';
import type { HookSettings } from '#domain/hooks.ts';
import type { ScopedRule, Settings } from '#domain/settings.ts';
import type { Home } from './home.ts';
import { statusLineIn } from './status-line-setting.ts';
import { languageServersIn } from './language-servers.ts';

type Fields = Readonly<Record<string, Json>>;
type Scope = ScopedRule['scope'];

/** One settings file: what it says, and how far it is believed. */
export interface Layer {
  readonly scope: Scope;
  readonly file: string;
  /** Folder that a path rule beginning with `/` is measured from. */
  readonly root: string;
  /** `rules`: only permissions, env and hooks are taken (files of other agents, whose further keys mean other things). */
  readonly take: 'all' | 'rules';
  readonly fields: Fields;
}

export interface LoadedSettings {
  readonly settings: Settings;
  /** One line per thing that could not be used: which file, which key, what is wrong. */
  readonly warnings: readonly string[];
}

// Each key that is read here has its words in setting-keys.ts.
const EFFORTS: readonly string[] = ['low', 'medium', 'high', 'xhigh', 'max'] satisfies Effort[];
const DIFF_TOOLS: readonly string[] = ['auto', 'terminal'];
const CACHE_LIVES: readonly string[] = ['auto', '5m', '1h'];
const THEMES: readonly string[] = ['dark', 'light', 'plain'];

/** Names for models that people use elsewhere. */
const MODEL_ALIASES: Readonly<Record<string, string>> = {
  opus: 'claude-opus-5-5', sonnet: 'claude-sonnet-5-5', haiku: 'claude-haiku-5-5', fable: 'claude-fable-5-2',
};

/** The full id of a model that was named by its line (`opus`), or the name as it is. */
export function modelId(name: string): string {
  return MODEL_ALIASES[name] ?? name;
}

/** Names that stand behind each other, separated by commas. */
export function splitNames(text: string): readonly string[] {
  return text.split(',').map((name) => name.trim()).filter((name) => name !== '');
}

interface SettingsFile {
  readonly scope: Scope;
  readonly take: Layer['take'];
  readonly root: string;
  readonly file: string;
}

/** All settings files, weakest first: the user's, the project's, the project's local ones; other agents' before our own. */
export function settingsFiles(home: Home, userHome: string, project: string): readonly SettingsFile[] {
  return [
    { scope: 'user', take: 'rules', root: userHome, file: join(userHome, '.claude', 'settings.json') },
    { scope: 'user', take: 'all', root: userHome, file: home.settings },
    { scope: 'project', take: 'rules', root: project, file: join(project, '.claude', 'settings.json') },
    { scope: 'project', take: 'all', root: project, file: join(project, '.pinion', 'settings.json') },
    { scope: 'local', take: 'rules', root: project, file: join(project, '.claude', 'settings.local.json') },
    { scope: 'local', take: 'all', root: project, file: join(project, '.pinion', 'settings.local.json') },
  ];
}

/** The settings files that are there. One that cannot be read is one warning. */
export function readLayers(home: Home, userHome: string, project: string): { readonly layers: readonly Layer[]; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  const layers = settingsFiles(home, userHome, project).flatMap((from): Layer[] => {
    const fields = readFields(from.file, warnings);
    return fields === undefined ? [] : [{ ...from, fields }];
  });
  return { layers, warnings };
}

function readFields(file: string, warnings: string[]): Fields | undefined {
  let text: string;
  try {
    text = readSmallFile(file);
  } catch (error) {
    if (!isMissing(error)) warnings.push(`${file} cannot be read: ${messageOf(error)}; it was left out.`);
    return undefined;
  }
  try {
    const value = JSON.parse(text) as Json;
    if (isFields(value)) return value;
    warnings.push(`${file}: a settings file holds one JSON object; it was left out.`);
  } catch (error) {
    warnings.push(`${file}: ${messageOf(error)}; it was left out.`);
  }
  return undefined;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

const isFields = (value: Json | undefined): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Layers merged: lists joined, single values from the strongest layer. Whoever calls has taken out what an untrusted layer may not say. */
export function mergeLayers(layers: readonly Layer[]): LoadedSettings {
  const warnings: string[] = [];
  const readers = layers.map((layer) => reader(layer, warnings));
  const joined = <T>(each: (from: Reader) => readonly T[]): readonly T[] => readers.flatMap(each);
  const strongest = <T>(each: (from: Reader) => T | undefined): T | undefined => readers.map(each).findLast((value) => value !== undefined);
  const model = strongest((from) => from.text('model'));
  const fallbackModels = strongest((from) => from.chain('fallbackModel')) ?? [];
  const effort = strongest((from) => from.oneOf('effortLevel', EFFORTS)) as Effort | undefined;
  const compactAt = strongest((from) => from.number('compactAt'));
  const outputStyle = strongest((from) => from.text('outputStyle'));
  const companion = strongest((from) => from.companion());
  const budgetUsd = budgetIn(readers);
  const plansDirectory = strongest((from) => from.text('plansDirectory'));
  const autoMemoryDirectory = strongest((from) => from.text('autoMemoryDirectory'));
  const allowedHttpHookUrls = listIn(readers, 'allowedHttpHookUrls');
  const httpHookAllowedEnvVars = listIn(readers, 'httpHookAllowedEnvVars');
  const statusLine = strongest((from) => from.statusLine());
  const settings: Settings = {
    ...(model !== undefined && { model: modelId(model) }),
    fallbackModels: fallbackModels.map(modelId),
    ...(effort !== undefined && { effort }),
    permissions: permissionsIn(readers),
    disableAutoMode: readers.some((from) => from.off('disableAutoMode')),
    env: Object.assign({}, ...readers.map((from) => from.env())) as Record<string, string>,
    hooks: joined((from) => from.hooks()),
    disableAllHooks: readers.some((from) => from.own && from.anywhere('disableAllHooks')),
    ...(allowedHttpHookUrls !== undefined && { allowedHttpHookUrls }),
    ...(httpHookAllowedEnvVars !== undefined && { httpHookAllowedEnvVars }),
    remindersOff: joined((from) => from.texts('remindersOff')),
    remindersOn: joined((from) => from.texts('remindersOn')),
    autoMemory: strongest((from) => from.flag('autoMemoryEnabled')) ?? true,
    ...(outputStyle !== undefined && { outputStyle }),
    ...(companion !== undefined && { companion }),
    ...(budgetUsd !== undefined && { budgetUsd }),
    ...(plansDirectory !== undefined && { plansDirectory }),
    ...(autoMemoryDirectory !== undefined && { autoMemoryDirectory }),
    ...(statusLine !== undefined && statusLine !== false && { statusLine }),
    languageServers: Object.assign({}, ...readers.map((from) => from.languageServers())) as Settings['languageServers'],
    cacheLife: (strongest((from) => from.oneOf('promptCacheTtl', CACHE_LIVES)) ?? 'auto') as Settings['cacheLife'],
    autoConnectIde: strongest((from) => from.flag('autoConnectIde')) ?? false,
    diffTool: (strongest((from) => from.oneOf('diffTool', DIFF_TOOLS)) ?? 'auto') as Settings['diffTool'],
    autoCompact: strongest((from) => from.flag('autoCompactEnabled')) ?? true,
    ...(compactAt !== undefined && { compactAt }),
    respectGitignore: strongest((from) => from.flag('respectGitignore')) ?? true,
    memoryExcludes: joined((from) => from.excludes()),
    mcp: {
      enableAll: strongest((from) => (from.own ? from.anyFlag('enableAllProjectMcpServers') : undefined)) ?? false,
      enabled: joined((from) => (from.own ? from.anyTexts('enabledMcpjsonServers') : [])),
      disabled: joined((from) => from.anyTexts('disabledMcpjsonServers')),
    },
    theme: (strongest((from) => from.oneOf('theme', THEMES)) ?? 'dark') as Settings['theme'],
    keys: Object.assign({}, ...readers.map((from) => from.textsByName('keys'))) as Record<string, string>,
  };
  return { settings, warnings };
}

type Reader = ReturnType<typeof reader>;

function permissionsIn(readers: readonly Reader[]): Settings['permissions'] {
  const defaultMode = readers.map((from) => from.mode()).findLast((mode) => mode !== undefined) as PermissionMode | undefined;
  return {
    allow: readers.flatMap((from) => from.rules('allow')),
    ask: readers.flatMap((from) => from.rules('ask')),
    deny: readers.flatMap((from) => from.rules('deny')),
    additionalDirectories: readers.flatMap((from) => from.permissionTexts('additionalDirectories')),
    ...(defaultMode !== undefined && { defaultMode }),
  };
}

/** What hooks may reach is the user's to say. Undefined where no file of theirs says anything. */
function listIn(readers: readonly Reader[], key: string): readonly string[] | undefined {
  const lists = readers.flatMap((from) => (from.own && from.has(key) ? [from.everyTexts(key)] : []));
  return lists.length === 0 ? undefined : lists.flat();
}

/** What the user set is never raised by a repository, whose settings may only lower it. */
function budgetIn(readers: readonly Reader[]): number | undefined {
  const sums = readers.flatMap((from) => {
    const usd = from.dollars('budgetUsd');
    return usd === undefined ? [] : [{ usd, own: from.own }];
  });
  const set = sums.findLast(({ own }) => own)?.usd;
  const others = sums.filter(({ own }) => !own).map(({ usd }) => usd);
  return set === undefined ? others.at(-1) : Math.min(set, ...others);
}

/** One text, or several in their order; undefined where it is neither. */
function chainIn(value: Json | undefined): readonly string[] | undefined {
  if (typeof value === 'string') return splitNames(value);
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined;
}

/** Reads one layer's keys, warning of each that has the wrong type. */
function reader(layer: Layer, warnings: string[]) {
  const { fields, file, root, scope } = layer;
  const wrong = (key: string, wanted: string): undefined => { warnings.push(`${file}: "${key}" must be ${wanted}; it was left out.`); };
  const own = (key: string): Json | undefined => (layer.take === 'all' ? fields[key] : undefined);
  const permissions = isFields(fields['permissions']) ? fields['permissions'] : {};
  const list = (value: Json | undefined, key: string): readonly string[] => {
    if (value === undefined) return [];
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
    wrong(key, 'a list of texts');
    return [];
  };
  const named = (value: Json | undefined, key: string): Readonly<Record<string, string>> => {
    if (value === undefined) return {};
    if (isFields(value) && Object.values(value).every((item) => typeof item === 'string')) return value as Readonly<Record<string, string>>;
    wrong(key, 'an object of texts');
    return {};
  };
  const text = (value: Json | undefined, key: string): string | undefined => (value === undefined ? undefined : typeof value === 'string' ? value : wrong(key, 'a text'));
  const number = (value: Json | undefined, key: string): number | undefined => (value === undefined ? undefined : typeof value === 'number' ? value : wrong(key, 'a number'));
  const flag = (value: Json | undefined, key: string): boolean | undefined => (value === undefined ? undefined : typeof value === 'boolean' ? value : wrong(key, 'true or false'));
  const oneOf = (value: Json | undefined, key: string, words: readonly string[]): string | undefined => (value === undefined ? undefined : typeof value === 'string' && words.includes(value) ? value : wrong(key, `one of ${words.join(', ')}`));
  return {
    /** Whether the user alone writes it. */
    own: scope === 'user' || scope === 'flag',
    text: (key: string) => text(own(key), key),
    number: (key: string) => number(own(key), key),
    chain: (key: string) => chainIn(own(key)) ?? (own(key) === undefined ? undefined : wrong(key, 'a text, or a list of texts')),
    dollars: (key: string) => {
      const value = own(key);
      return value === undefined ? undefined : (typeof value === 'number' ? validDollars(value) : undefined) ?? wrong(key, 'a number above 0');
    },
    flag: (key: string) => flag(own(key), key),
    /** Elsewhere the word for true is `disable`. */
    off: (key: string) => (own(key) === 'disable' ? true : flag(own(key), key)) === true,
    oneOf: (key: string, words: readonly string[]) => oneOf(own(key), key, words),
    texts: (key: string) => list(own(key), key),
    /** Means the same in every agent's files. */
    excludes: () => list(fields['claudeMdExcludes'], 'claudeMdExcludes'),
    anyTexts: (key: string) => list(fields[key], key),
    anyFlag: (key: string) => flag(fields[key], key),
    textsByName: (key: string) => named(own(key), key),
    languageServers: () => languageServersIn(own('languageServers'), wrong),
    companion: () => {
      const { name = '', text = '' } = named(own('companion'), 'companion');
      return own('companion') === undefined ? undefined : name !== '' && text !== '' ? { name, text } : wrong('companion', 'an object with the texts "name" and "text"');
    },
    has: (key: string) => fields[key] !== undefined,
    /** As {@link flag} and {@link texts}, for what means the same in every agent's files. */
    anywhere: (key: string) => flag(fields[key], key) === true,
    everyTexts: (key: string) => list(fields[key], key),
    hooks: (): readonly HookSettings[] => (fields['hooks'] === undefined ? [] : [{ file, own: scope === 'user' || scope === 'flag', hooks: fields['hooks'] }]),
    env: () => named(fields['env'], 'env'),
    /** Means the same in every agent's files; `false` takes a weaker one away. */
    statusLine: () => statusLineIn(fields['statusLine'], wrong, { scope, file }),
    mode: () => oneOf(permissions['defaultMode'], 'permissions.defaultMode', PERMISSION_MODES),
    permissionTexts: (key: string) => list(permissions[key], `permissions.${key}`),
    rules: (kind: 'allow' | 'ask' | 'deny'): readonly ScopedRule[] => list(permissions[kind], `permissions.${kind}`).map((rule) => ({ rule, root, scope, file })),
  };
}
