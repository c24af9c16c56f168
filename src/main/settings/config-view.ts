import { join } from 'node:path';
import type { Json } from '#lib/brand.ts';
import { nearest } from '#lib/nearest.ts';
import { oneLine } from '#lib/names.ts';
import type { SettingsView, SettingView, WritableScope } from '#domain/settings.ts';
import { ruleProblems } from '#gate/rules.ts';
import { withoutUntrusted } from '#gate/trust.ts';
import { type SettingKey, settingKeys, settingProblem, settingWords, valueAt, withKey } from '#session/setting-keys.ts';
import { isShared } from '#session/setting-keys.ts';
import type { Layer } from '#session/settings.ts';
import { keyTable } from '#ui/keys.ts';
import type { Configuration } from '#main/configuration.ts';
import type { House } from '#main/house.ts';

/** All settings as they are now, with where each comes from. */
export function settingsView(house: Pick<House, 'configuration' | 'place' | 'args'>): SettingsView {
  const { configuration, place, args } = house;
  const keys = settingKeys();
  const layers = [...configuration.layers(), ...flagLayers(args)];
  return {
    rows: keys.map((key) => rowOf(key, layers, configuration)),
    files: settingsFilesOf(configuration.project, place.home.settings),
    change: (key, text, scope) => changeOf(keys, key, text, scope, valuesIn(configuration, place.home.settings, scope)),
  };
}

export function settingsFilesOf(project: string, own: string): Readonly<Record<WritableScope, string>> {
  return { user: own, project: join(project, '.pinion', 'settings.json'), local: join(project, '.pinion', 'settings.local.json') };
}

/** Flags that stand above every file. */
function flagLayers({ model, fallbackModel, maxBudgetUsd, permissionMode }: House['args']): readonly Layer[] {
  const flag = (file: string, fields: Readonly<Record<string, Json>>): Layer => ({ scope: 'flag', file, root: '/', take: 'all', fields });
  return [
    ...(model === undefined ? [] : [flag('--model', { model })]),
    ...(fallbackModel === undefined ? [] : [flag('--fallback-model', { fallbackModel })]),
    ...(maxBudgetUsd === undefined ? [] : [flag('--max-budget-usd', { budgetUsd: maxBudgetUsd })]),
    ...(permissionMode === undefined ? [] : [flag('--permission-mode', { permissions: { defaultMode: permissionMode } })]),
  ];
}

function rowOf({ key, fallback, what, from: takesEffect }: SettingKey, layers: readonly Layer[], configuration: Configuration): SettingView {
  const shared = isShared(key);
  const saying = layers.flatMap((layer) => {
    const value = layer.take === 'all' || shared ? valueAt(layer.fields, key) : undefined;
    return value === undefined || settingProblem(key, value) !== undefined ? [] : [{ layer, value }];
  });
  const base = { key, fallback, what, words: settingWords(key), ...(takesEffect !== undefined && { takesEffect }) };
  const joins = settingProblem(key, []) === undefined || (settingProblem(key, {}) === undefined && settingProblem(key, false) !== undefined);
  const value = joins ? joined(saying.map((one) => one.value)) : key === 'budgetUsd' ? configuration.settings().budgetUsd : saying.at(-1)?.value;
  const holding = joins ? saying : saying.filter((one) => JSON.stringify(one.value) === JSON.stringify(value)).slice(-1);
  return { ...base, value, from: holding.map(({ layer: { scope, file } }) => ({ scope, file })) };
}

function joined(values: readonly Json[]): Json | undefined {
  if (values.length === 0) return undefined;
  return values.every((value) => Array.isArray(value)) ? (values as readonly (readonly Json[])[]).flat() : Object.assign({}, ...values) as Json;
}

type Changed = ReturnType<SettingsView['change']>;

/** The values that this scope's own file holds now: a part of an object is set beside what stands there. */
function valuesIn(configuration: Configuration, own: string, scope: WritableScope): Readonly<Record<string, Json>> {
  const file = settingsFilesOf(configuration.project, own)[scope];
  return configuration.layers().find((layer) => layer.file === file)?.fields ?? {};
}

function changeOf(keys: readonly SettingKey[], wanted: string, text: string | undefined, scope: WritableScope, now: Readonly<Record<string, Json>>): Changed {
  const known = keys.find(({ key }) => key === wanted) ?? keys.find(({ key }) => key.toLowerCase() === wanted.toLowerCase());
  const outer = known ?? keys.find(({ key }) => wanted.startsWith(`${key}.`) && wanted.length > key.length + 1 && settingProblem(key, {}) === undefined && settingProblem(key, []) !== undefined);
  if (outer === undefined) {
    const near = nearest(wanted, keys.map(({ key }) => key));
    return { problem: `there is no setting ${oneLine(wanted, 60)}. ${near === undefined ? '/config lists them.' : `Did you mean ${near}?`}` };
  }
  const key = known === undefined ? wanted : known.key;
  const refused = scope === 'user' ? undefined : notForFolders(outer.key);
  if (refused !== undefined) return { problem: refused };
  if (text === undefined) return { change: { key, scope } };
  const candidates = valuesOf(text);
  const problems = candidates.map((value) => problemOf(outer.key, known === undefined ? valueAt(withKey({ [outer.key]: valueAt(now, outer.key) ?? {} }, key, value), outer.key) ?? null : value));
  const at = problems.indexOf(undefined);
  const value = candidates[at];
  if (at === -1 || value === undefined) return { problem: `${problems.find((problem) => problem !== undefined) ?? `"${key}" cannot be that`}${/[.!?]$/.test(problems[0] ?? '') ? '' : '.'}` };
  return { change: { key, value, scope } };
}

/** What a text may mean, the likeliest first: JSON, the text itself, a list of words. */
function valuesOf(text: string): readonly Json[] {
  const list = text.split(/\s*,\s*/).filter((word) => word !== '');
  try {
    return [JSON.parse(text) as Json, text, list];
  } catch {
    return [text, list];
  }
}

function problemOf(key: string, value: Json): string | undefined {
  const wrong = settingProblem(key, value);
  if (wrong !== undefined) return wrong;
  if (/^permissions\.(?:allow|ask|deny)$/.test(key) && Array.isArray(value)) {
    const rules = (value as readonly string[]).map((rule) => ({ rule, root: '/', scope: 'user' as const }));
    const kind = key.slice('permissions.'.length) as 'allow' | 'ask' | 'deny';
    return ruleProblems({ allow: [], ask: [], deny: [], [kind]: rules })[0];
  }
  return key === 'keys' ? keyTable(value as Readonly<Record<string, string>>).faults[0] : undefined;
}

/** Of what only the user's own settings decide. */
function notForFolders(key: string): string | undefined {
  const [first = '', inner] = key.split('.');
  const { dropped } = withoutUntrusted({ [first]: inner === undefined ? 'x' : { [inner]: 'x' } }, true);
  return dropped.includes(key) && key !== 'plansDirectory' ? `${key} is decided by your own settings only: leave --project and --local out.` : undefined;
}
