import { readdirSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Json } from '#lib/brand.ts';
import { messageOf } from '#lib/errors.ts';
import { readSmallFile } from '#lib/small-file.ts';
import { count } from '#lib/text.ts';
import { isWithin } from '#lib/within.ts';
import { visibleLine } from './visible.ts';

type Fields = Readonly<Record<string, Json>>;
const isFields = (value: Json | undefined): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

const SETTINGS = ['.pinion/settings.json', '.pinion/settings.local.json', '.claude/settings.json', '.claude/settings.local.json'];
/** Folders whose files bring commands, agents or skills along. */
const FOLDERS: readonly (readonly [string, string])[] = [
  ['.pinion/commands', 'command'], ['.claude/commands', 'command'], ['.claude/agents', 'agent'], ['.pinion/agents', 'agent'],
  ['.claude/skills', 'skill'], ['.pinion/skills', 'skill'], ['.agents/skills', 'skill'],
  ['.claude/output-styles', 'output style'], ['.pinion/output-styles', 'output style'],
];
/** Keys that are a command, or hold one. */
const HELPERS = ['apiKeyHelper', 'statusLine', 'fileSuggestion', 'awsAuthRefresh', 'awsCredentialExport', 'otelHeadersHelper'];
const LARGEST = 1024 * 1024;
const MOST_LINES = 200;

/**
 * What a folder's configuration would allow, set or run, one line each. Reads files only: nothing is run, git neither. `start`
 * (absolute, in the folder) is where a session begins: what the folders from there up bring along counts too.
 */
export function wantsOf(folder: string, start = folder): readonly string[] {
  const wants = [
    ...SETTINGS.flatMap((name) => wantsOfFile(folder, name, name.startsWith('.pinion/') ? ofOwnSettings : ofSettings)),
    ...wantsOfFile(folder, '.mcp.json', ofServers), ...(start === folder ? [] : wantsOfFile(folder, join(relative(folder, start), '.mcp.json'), ofServers)),
    ...upTo(start, folder).flatMap((at) => FOLDERS.map(([name, what]) => [join(relative(folder, at), name), what] as const)).flatMap(([name, what]) => ofFolder(folder, name, what)),
  ].map(visibleLine);
  return wants.length <= MOST_LINES ? wants : [...wants.slice(0, MOST_LINES), `and ${wants.length - MOST_LINES} more`];
}

/** The folders from `start` up to `top`, the top first. */
function upTo(start: string, top: string): readonly string[] {
  const folders = [top];
  for (let at = start; at !== top && isWithin(top, at); at = dirname(at)) folders.splice(1, 0, at);
  return folders;
}

function wantsOfFile(folder: string, name: string, read: (fields: Fields) => readonly string[]): readonly string[] {
  const path = join(folder, name);
  try {
    if (statSync(path).size > LARGEST) return [`${name} is too large to be shown`];
    const value = JSON.parse(readSmallFile(path, LARGEST)) as Json;
    return isFields(value) ? read(value).map((line) => `${line} (${name})`) : [];
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
    return missing ? [] : [`${name} cannot be read: ${messageOf(error)}`];
  }
}

function ofSettings(fields: Fields): readonly string[] {
  const permissions = isFields(fields['permissions']) ? fields['permissions'] : {};
  return [
    ...texts(permissions['allow']).map((rule) => `allows ${rule} without a question`),
    ...texts(permissions['additionalDirectories']).map((path) => `adds the working folder ${path}`),
    ...(typeof permissions['defaultMode'] === 'string' ? [`starts in the mode ${permissions['defaultMode']}`] : []),
    ...(isFields(fields['env']) ? Object.entries(fields['env']).map(([key, value]) => `sets ${key}=${said(value)}`) : []),
    ...(isFields(fields['hooks']) ? hooks(fields['hooks']) : []),
    ...HELPERS.filter((key) => fields[key] !== undefined && fields[key] !== false).map((key) => `${key} runs ${said(commandIn(fields[key]))}`),
    ...(isFields(fields['mcpServers']) ? ofServers(fields) : []),
  ];
}

/** What in settings of other agents has another meaning, or none. */
function ofOwnSettings(fields: Fields): readonly string[] {
  const { outputStyle, companion, plansDirectory, budgetUsd } = fields;
  return [
    ...ofSettings(fields),
    ...(isFields(fields['languageServers']) ? languageServers(fields['languageServers']) : []),
    ...(outputStyle === undefined ? [] : [`has answers written in the style ${said(outputStyle)}`]),
    ...(companion === undefined ? [] : [`introduces a persona: ${said(companion)}`]),
    ...(plansDirectory === undefined ? [] : [`has plans kept in ${said(plansDirectory)}`]),
    ...(budgetUsd === undefined ? [] : [`limits what a session may cost to ${said(budgetUsd)} dollars`]),
  ];
}

function languageServers(servers: Fields): readonly string[] {
  return Object.entries(servers).map(([name, server]) => {
    if (!isFields(server)) return `switches the language server ${name} off`;
    // What they are set to may name programs too.
    const set = ['initializationOptions', 'settings'].filter((key) => server[key] !== undefined).map((key) => `, with ${key} ${said(server[key])}`);
    return `starts the language server ${name}: ${commandOf(server)}${set.join('')}`;
  });
}

function hooks(events: Fields): readonly string[] {
  return Object.entries(events).flatMap(([event, groups]) => (Array.isArray(groups) ? groups : [groups]).flatMap((group) => {
    const inner = isFields(group) && Array.isArray(group['hooks']) ? (group['hooks'] as readonly Json[]) : [group];
    const matcher = isFields(group) && typeof group['matcher'] === 'string' && group['matcher'] !== '' ? ` (${group['matcher']})` : '';
    return inner.map((hook) => `at ${event}${matcher} ${hookIn(hook)}`);
  }));
}

/** Whole, with all that decides what runs, what is sent where, and what a model is asked. */
function hookIn(hook: Json): string {
  if (!isFields(hook)) return `runs ${said(hook)}`;
  const { type, command, args, url, headers, server, tool, input, prompt, shell } = hook;
  if (type === 'http') return `sends to ${said(url)}${headers === undefined ? '' : ` with the headers ${said(headers)}`}`;
  if (type === 'mcp_tool') return `calls ${said(tool)} of the server ${said(server)}${input === undefined ? '' : ` with ${said(input)}`}`;
  if (type === 'prompt' || type === 'agent') return `asks ${type === 'agent' ? 'a sub-agent' : 'a model'}: ${said(prompt)}`;
  return `runs ${said(command ?? hook)}${args === undefined ? '' : ` with the arguments ${said(args)}`}${shell === undefined ? '' : ` in ${said(shell)}`}`;
}

function ofServers(fields: Fields): readonly string[] {
  const servers = isFields(fields['mcpServers']) ? fields['mcpServers'] : {};
  return Object.entries(servers).map(([name, server]) => {
    if (!isFields(server)) return `starts the server ${name}`;
    // As it is read: without a type, what has a command is a program, whatever address stands beside it.
    if ((server['type'] ?? (server['command'] === undefined ? 'http' : 'stdio')) === 'stdio') return `starts the server ${name}: ${commandOf(server)}`;
    const more = [
      ...(server['headers'] === undefined ? [] : [`, with the headers ${said(server['headers'])}`]), ...(server['oauth'] === undefined ? [] : [`, signing in with ${said(server['oauth'])}`]),
      ...(server['headersHelper'] === undefined ? [] : [`, and runs ${said(server['headersHelper'])} for it`]),
    ];
    return `connects the server ${name} at ${said(server['url'])}${more.join('')}`;
  });
}

function commandOf({ env, command, args }: Fields): string {
  const set = isFields(env) ? Object.entries(env).map(([key, value]) => `${key}=${said(value)} `).join('') : '';
  return `${set}${[said(command), ...texts(args)].join(' ')}`;
}

function ofFolder(folder: string, name: string, what: string): readonly string[] {
  try {
    const entries = readdirSync(join(folder, name));
    return entries.length === 0 ? [] : [`brings ${count(entries.length, what)} along (${name})`];
  } catch {
    return [];
  }
}

function commandIn(value: Json | undefined): Json | undefined {
  return isFields(value) ? value['command'] ?? value['url'] ?? value['prompt'] ?? value : value;
}

function texts(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

/** Whole, never cut: what is not shown cannot be agreed to. */
function said(value: Json | undefined): string {
  return typeof value === 'string' ? value : value === undefined ? 'something' : JSON.stringify(value);
}
