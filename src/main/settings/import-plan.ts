import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Json } from '#lib/brand.ts';
import { ruleProblems } from '#gate/rules.ts';
import { withoutUntrusted } from '#gate/trust.ts';
import { namesIn, type WriteTarget } from '#mcp/config/write.ts';
import type { Found, ImportedDocument, ImportedServer } from '#session/import/found.ts';
import { secretsLine } from '#session/import/servers.ts';
import { settingProblem, valueAt } from '#session/setting-keys.ts';
import { settingsFilesOf } from './config-view.ts';
import type { House } from '#main/house.ts';

type Fields = Readonly<Record<string, Json>>;

/** Where what is taken over goes. */
export interface ImportTargets {
  readonly scope: 'user' | 'project';
  readonly settings: string;
  readonly servers: WriteTarget;
  /** The folder that holds `commands` and `agents`. */
  readonly folder: string;
}

/** What would be written, and what would not. Nothing of it is in place already. */
export interface ImportPlan {
  readonly settings: Found['settings'];
  readonly rules: Found['rules'];
  readonly servers: readonly ImportedServer[];
  readonly documents: readonly (ImportedDocument & { readonly path: string })[];
  /** What is there already, or says otherwise and is left as it is; one line each. */
  readonly kept: readonly string[];
  readonly left: readonly string[];
  readonly anyway: readonly string[];
}

export function importTargets({ place, configuration }: Pick<House, 'place' | 'configuration'>, project: boolean): ImportTargets {
  const own = { file: place.home.mcp.servers, mode: 0o600 };
  if (!project) return { scope: 'user', settings: place.home.settings, servers: own, folder: dirname(place.home.settings) };
  return { scope: 'project', settings: settingsFilesOf(configuration.project, place.home.settings).project, servers: { ...own, under: configuration.project }, folder: join(configuration.project, '.pinion') };
}

/** What of this is new here. `now`: the fields of the settings file as they stand. Throws a UserError where our own file of servers cannot be understood. */
export function planImport(found: Found, targets: ImportTargets, now: Fields): ImportPlan {
  const kept: string[] = [];
  const left = [...found.left];
  const settings = newSettings(found, targets, now, kept, left);
  const rules = newRules(found, now, kept, left);
  const names = namesIn(targets.servers);
  const servers = found.servers.filter(({ name }) => {
    if (names.includes(name)) kept.push(`there is a server ${name} already`);
    return !names.includes(name);
  });
  const documents = found.documents.map((document) => ({ ...document, path: join(targets.folder, document.kind, document.name) })).filter(({ path }) => {
    if (existsSync(path)) kept.push(`there is a file ${path} already`);
    return !existsSync(path);
  });
  return { settings, rules, servers, documents, kept, left: [...left, ...servers.flatMap((server) => secretsLine(server) ?? [])], anyway: found.anyway };
}

function newSettings(found: Found, { scope }: ImportTargets, now: Fields, kept: string[], left: string[]): Found['settings'] {
  const taken = new Map<string, Found['settings'][number]>();
  for (const one of found.settings) {
    const problem = settingProblem(one.key, one.value) ?? (scope === 'project' ? notOfAFolder(one.key) : undefined);
    const before = valueAt(now, one.key);
    if (problem !== undefined) left.push(`${one.key} ${shown(one.value)}: ${problem.replace(/^"[^"]*" /, 'it ')} (${one.from})`);
    else if (before === undefined) taken.set(one.key, one);
    else if (JSON.stringify(before) !== JSON.stringify(one.value)) kept.push(`${one.key} is ${shown(before)}, not ${shown(one.value)}: yours stays`);
    else kept.push(`${one.key} is ${shown(before)} already`);
  }
  return [...taken.values()];
}

function notOfAFolder(key: string): string | undefined {
  const [first = '', inner] = key.split('.');
  const { dropped } = withoutUntrusted({ [first]: inner === undefined ? 'x' : { [inner]: 'x' } }, true);
  return dropped.includes(key) ? 'only your own settings decide it' : undefined;
}

function newRules(found: Found, now: Fields, kept: string[], left: string[]): Found['rules'] {
  let there = 0;
  const fresh = found.rules.filter(({ list, rule, from }) => {
    const [problem] = ruleProblems({ allow: [], ask: [], deny: [], [list]: [{ rule, root: '/', scope: 'user', file: from }] });
    if (problem !== undefined) left.push(problem);
    const before = valueAt(now, `permissions.${list}`);
    const has = Array.isArray(before) && before.includes(rule);
    if (has) there += 1;
    return problem === undefined && !has;
  });
  if (there > 0) kept.push(there === 1 ? 'one rule is there already' : `${there} rules are there already`);
  return fresh;
}

export function isEmpty({ settings, rules, servers, documents }: ImportPlan): boolean {
  return settings.length + rules.length + servers.length + documents.length === 0;
}

export function shown(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
