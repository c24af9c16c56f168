import { nearest } from '#lib/nearest.ts';
import { oneLine } from '#lib/names.ts';
import { cutToLength } from '#lib/text.ts';
import type { CardBlock } from '#domain/card.ts';
import { defineCommand, type Effect } from '#domain/command.ts';
import type { SettingsView, SettingView, WritableScope } from '#domain/settings.ts';

const SCOPES = { user: 'yours', project: 'project', local: 'yours, here', session: 'session', flag: 'flag' } as const;
const MOST_SHOWN = 300;
const MOST_IN_TABLE = 40;

/** All settings, where each comes from; and changing them in the user's own files. */
export default defineCommand({
  id: 'config',
  aliases: ['settings'],
  group: 'Session',
  summary: 'Settings as they are now and where each comes from; find, set or unset one',
  usage: '[<words> | list | set <key> <value> | unset <key>] [--project | --local]',
  anytime: true,
  complete(args, context) {
    const words = args.trimStart().split(/\s+/);
    const { rows } = context.settings();
    const keys = rows.map(({ key }) => key);
    if (words.length === 1) return ['list', 'set', 'unset', ...keys];
    if (words[0] !== 'set' && words[0] !== 'unset') return [];
    if (words.length === 2) return words[0] === 'set' ? keys : rows.filter(({ from }) => from.some(({ scope }) => scope !== 'flag')).map(({ key }) => key);
    const row = rows.find(({ key }) => key === words[1]);
    return [...(words[0] === 'set' && words.length === 3 ? row?.words ?? [] : []), '--project', '--local'];
  },
  run(args, context): Effect {
    const view = context.settings();
    const [verb = '', ...rest] = args.trim().split(/\s+/);
    if (verb === '') return context.surface === 'screen' ? { type: 'configure' } : list(view.rows, 'Settings');
    if (verb === 'list' && rest.length === 0) return list(view.rows, 'Settings');
    if (verb === 'set' || verb === 'unset') return change(verb, args.trim().slice(verb.length).trim(), view);
    return find(args.trim(), view);
  },
});

function change(verb: 'set' | 'unset', text: string, view: SettingsView): Effect {
  const [, flag] = /(?:^|\s)--(user|project|local)\s*$/.exec(text) ?? [];
  const scope = (flag ?? 'user') as WritableScope;
  const [, key = '', value = ''] = /^(\S+)\s*([\s\S]*)$/.exec(flag === undefined ? text : text.replace(/\s*--\w+\s*$/, '')) ?? [];
  if (key === '' || key.startsWith('--')) return refuse(`${verb} which setting? /config set <key> <value>, /config unset <key>; /config lists them.`);
  if (verb === 'set' && value === '') return refuse(`set ${oneLine(key, 60)} to what? /config set ${oneLine(key, 60)} <value>; /config unset takes it out.`);
  if (verb === 'unset' && value !== '') return refuse(`unset takes one key and nothing behind it: /config unset ${oneLine(key, 60)}.`);
  const planned = view.change(key, verb === 'set' ? value : undefined, scope);
  return 'problem' in planned ? refuse(planned.problem) : { type: 'configure', change: planned.change };
}

function find(wanted: string, { rows, files }: SettingsView): Effect {
  const exact = rows.find(({ key }) => key.toLowerCase() === wanted.toLowerCase());
  if (exact !== undefined) return one(exact, files);
  const words = wanted.toLowerCase().split(/\s+/);
  const found = rows.filter((row) => words.every((word) => `${row.key} ${row.what}`.toLowerCase().includes(word)));
  if (found.length > 0) return list(found, `Settings with ${words.map((word) => `"${oneLine(word, 30)}"`).join(' and ')}`);
  const near = nearest(wanted, rows.map(({ key }) => key));
  return refuse(`No setting has "${oneLine(wanted, 60)}" in it. ${near === undefined ? '/config lists them all.' : `Did you mean /config ${near}?`}`);
}

function list(rows: readonly SettingView[], title: string): Effect {
  const set = rows.filter(({ from }) => from.length > 0);
  const others = rows.filter(({ from }) => from.length === 0);
  const tables: readonly CardBlock[] = [
    ...(set.length === 0 ? [] : [{ type: 'table' as const, head: ['set', 'value', 'by'], rows: set.map((row) => [row.key, valueOf(row, MOST_IN_TABLE), by(row)]) }]),
    ...(others.length === 0 ? [] : [{ type: 'table' as const, head: ['default', 'value'], rows: others.map((row) => [row.key, plain(row.fallback)]) }]),
  ];
  return { type: 'show', card: { title, detail: '/config <key> tells of one, /config set <key> <value> changes it', body: tables } };
}

function one(row: SettingView, files: SettingsView['files']): Effect {
  const effect = row.takesEffect === 'start' ? 'A change holds from the next start on.' : row.takesEffect === 'session' ? 'A change holds for new sessions.' : 'A change holds at once.';
  const from = row.from.map(({ scope, file }) => `${SCOPES[scope]}: ${file}`);
  return {
    type: 'show',
    card: {
      title: `${row.key}: ${valueOf(row, MOST_SHOWN)}`,
      ...(row.what !== '' && { detail: plain(row.what) }),
      body: [
        { type: 'list', items: [...(row.from.length === 0 ? ['the default'] : from), ...(row.from.length === 0 ? [] : [`default: ${plain(row.fallback)}`]), ...(row.words.length === 0 ? [] : [`one of ${row.words.join(', ')}`])] },
        { type: 'text', text: `${effect} /config set ${row.key} <value> writes ${files.user}; with --project or --local it is the project's ${/[^/\\]*$/.exec(files.project)?.[0] ?? ''} or ${/[^/\\]*$/.exec(files.local)?.[0] ?? ''}.` },
      ],
    },
  };
}

function by({ from }: SettingView): string {
  return [...new Set(from.map(({ scope, file }) => (scope === 'flag' && file.startsWith('--') ? file : SCOPES[scope])))].join(', ');
}

/** Texts without their quotes, everything else as JSON. */
function valueOf({ value, fallback }: SettingView, most: number): string {
  if (value === undefined) return plain(fallback);
  const shown = typeof value === 'string' ? value : JSON.stringify(value);
  return shown.length <= most ? shown : `${cutToLength(shown, most - 1)}…`;
}

/** What the README marks as code. */
function plain(markdown: string): string {
  return markdown.replaceAll('`', '');
}

const refuse = (message: string): Effect => ({ type: 'refuse', message });
