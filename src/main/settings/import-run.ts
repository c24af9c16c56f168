import type { Json } from '#lib/brand.ts';
import { UserError } from '#lib/errors.ts';
import { readSmallFile } from '#lib/small-file.ts';
import { count } from '#lib/text.ts';
import type { Card, CardBlock } from '#domain/card.ts';
import type { Effect } from '#domain/command.ts';
import type { Found, Importer, ImportPlace } from '#session/import/found.ts';
import { importers } from '#session/import/list.ts';
import type { House } from '#main/house.ts';
import { applyImport, type Imported } from './import-apply.ts';
import { type ImportPlan, importTargets, type ImportTargets, isEmpty, planImport, shown } from './import-plan.ts';

type Wanted = Extract<Effect, { readonly type: 'import' }>;

export interface ImportDoors {
  readonly show: (card: Card) => void;
  /** Asks whether a plan is to be written; undefined: nobody is there. */
  readonly ask?: (title: string, lines: readonly string[]) => Promise<boolean>;
}

/** Shows what other shells have left; takes it over when that is wanted. Throws a UserError for what cannot be done. */
export async function runImport(house: Pick<House, 'place' | 'configuration'>, wanted: Wanted, { show, ask }: ImportDoors): Promise<void> {
  const { place, configuration } = house;
  if (wanted.project && !configuration.isTrusted()) throw new UserError('this folder is not trusted: nothing of it is taken over. Start with --trust if you know it.');
  const from: ImportPlace = { userHome: place.userHome, env: place.env, project: wanted.project ? configuration.project : undefined, memory: place.home.memory };
  const targets = importTargets(house, wanted.project);
  const now = fieldsOf(targets.settings);
  const importer = importers.find(({ id }) => id === wanted.from);
  if (importer === undefined) {
    const all = await Promise.all(importers.map(async (one) => ({ importer: one, found: await one.read(from) })));
    return show(overview(all.map(({ importer, found }) => ({ importer, plan: found === undefined ? undefined : planImport(found, targets, now) })), wanted.project));
  }
  const found: Found | undefined = await importer.read(from);
  if (found === undefined) return show({ title: `${importer.label} has left nothing ${wanted.project ? 'in this project' : 'here'}`, body: [] });
  const plan = planImport(found, targets, now);
  if (!wanted.yes) show(planCard(importer, plan, targets, wanted.project, ask !== undefined));
  if (isEmpty(plan)) return wanted.yes ? show(planCard(importer, plan, targets, wanted.project, false)) : undefined;
  if (!wanted.yes && (ask === undefined || !(await ask(`Take that over from ${importer.label}?`, linesOf(plan))))) return undefined;
  const done = await applyImport(plan, targets, configuration.project);
  configuration.reload();
  return show(doneCard(importer, plan, done));
}

function fieldsOf(file: string): Readonly<Record<string, Json>> {
  try {
    const value = JSON.parse(readSmallFile(file)) as Json;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value as Readonly<Record<string, Json>> : {};
  } catch {
    return {};
  }
}

/** What a plan holds, by number. */
function amounts({ settings, rules, servers, documents }: ImportPlan): string {
  const of = (kind: 'commands' | 'agents'): number => documents.filter((document) => document.kind === kind).length;
  return [
    ...(settings.length > 0 ? [count(settings.length, 'setting')] : []), ...(rules.length > 0 ? [count(rules.length, 'rule')] : []), ...(servers.length > 0 ? [count(servers.length, 'server')] : []),
    ...(of('commands') > 0 ? [count(of('commands'), 'command')] : []), ...(of('agents') > 0 ? [count(of('agents'), 'agent')] : []),
  ].join(', ');
}

function overview(all: readonly { readonly importer: Importer; readonly plan: ImportPlan | undefined }[], project: boolean): Card {
  const there = all.flatMap(({ importer, plan }) => (plan === undefined ? [] : [[importer.id, isEmpty(plan) ? 'nothing new' : amounts(plan), plan.left.length === 0 ? '' : String(plan.left.length)]]));
  const where = project ? 'this project' : 'your home';
  if (there.length === 0) return { title: `No other shell has left anything in ${where}`, detail: `looked for ${all.map(({ importer }) => importer.label).join(', ')}`, body: [] };
  return {
    title: `Other shells in ${where}`, detail: `/import <name>${project ? ' --project' : ''} shows what would be taken over, and what not`,
    body: [{ type: 'table', head: ['', 'new here', 'stays behind'], align: ['left', 'left', 'right'], rows: there }],
  };
}

function linesOf(plan: ImportPlan): readonly string[] {
  return [
    ...plan.settings.map(({ key, value }) => `${key}: ${shown(value)}`),
    ...plan.rules.map(({ list, rule }) => `${list} ${rule}`),
    ...plan.servers.map(({ name, config }) => `server ${name}: ${serverWords(config)}`),
    ...plan.documents.map(({ kind, name }) => `${kind === 'commands' ? 'command' : 'agent'} ${name.replace(/\.md$/, '')}`),
  ];
}

function serverWords(config: Readonly<Record<string, Json>>): string {
  const { type, command, args, url, env, headers } = config;
  const pairs = (value: Json | undefined, show: (key: string, text: string) => string): readonly string[] => Object.entries(typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}).map(([key, text]) => show(key, shown(text)));
  // Whole: a variable or a header decides as much as the command.
  if (type !== 'stdio') return [shown(url ?? ''), ...pairs(headers, (key, text) => `with the header ${key}: ${text}`)].join(', ');
  return [...pairs(env, (key, text) => `${key}=${text}`), command, ...(Array.isArray(args) ? args as readonly Json[] : [])].map(String).join(' ');
}

function part(title: string, lines: readonly string[]): readonly CardBlock[] {
  return lines.length === 0 ? [] : [{ type: 'text', text: title }, { type: 'list', items: lines }];
}

function planCard({ id, label }: Importer, plan: ImportPlan, targets: ImportTargets, project: boolean, asks: boolean): Card {
  const how = isEmpty(plan) || asks ? [] : [{ type: 'text' as const, text: `/import ${id}${project ? ' --project' : ''} --yes takes it over.` }];
  const into = [...(plan.settings.length + plan.rules.length > 0 ? [targets.settings] : []), ...(plan.servers.length > 0 ? [targets.servers.file] : []), ...(plan.documents.length > 0 ? [targets.folder] : [])];
  return {
    title: isEmpty(plan) ? `${label}: nothing new to take over` : `${label}: ${amounts(plan)}`,
    ...(into.length > 0 && { detail: `into ${into.join(', ')}` }),
    body: [...part('Would be taken over:', linesOf(plan)), ...part('Stays as it is:', plan.kept), ...part('Is read as it stands:', plan.anyway), ...part('Cannot be taken over:', plan.left), ...how],
  };
}

function doneCard({ label }: Importer, plan: ImportPlan, { written, problems, backup }: Imported): Card {
  const secrets = plan.left.filter((line) => line.startsWith('secrets of the server'));
  return {
    title: problems.length === 0 ? `Taken over from ${label}: ${amounts(plan)}` : `Taken over from ${label}, but for ${count(problems.length, 'thing')}`,
    tone: problems.length === 0 ? 'good' : 'bad',
    ...(backup !== undefined && { detail: `the settings as they were: ${backup}` }),
    body: [...part('Written:', written), ...part('Not written:', problems), ...part('To be done:', secrets), ...(plan.servers.length > 0 ? [{ type: 'text' as const, text: 'Servers are connected in the background: /mcp shows how they do; those of .mcp.json wait for your agreement.' }] : [])],
  };
}
