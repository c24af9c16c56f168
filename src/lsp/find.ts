import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, extname, isAbsolute, join } from 'node:path';
import type { LanguageServer, LanguageServerSetting } from '#domain/languages.ts';
import type { Json } from '#lib/brand.ts';
import { readSmallFile } from '#lib/small-file.ts';
import { isWithin, realPathOf } from '#lib/within.ts';
import { KNOWN_SERVERS, type KnownProgram, type KnownServer } from './known.ts';

/** What a search for servers stands on. */
export interface Grounds {
  /** The top of the project, absolute and real. */
  readonly project: string;
  readonly env: Readonly<Record<string, string>>;
  readonly trusted: boolean;
  readonly configured: Readonly<Record<string, LanguageServerSetting | false>>;
  /** Names of configured ones to which the user has not agreed as they are now. */
  readonly held?: ReadonlySet<string>;
}

/** A server that is there. */
export interface FoundServer {
  readonly name: string;
  readonly extensions: Readonly<Record<string, string>>;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly rootMarkers: readonly string[];
  readonly from: LanguageServer['from'];
  /** Whether it may start now: what could run something of the project waits until the folder is trusted. */
  readonly allowed: boolean;
  readonly initializationOptions?: Json;
  readonly settings?: Json;
}

/** All servers that there are for a project, those of the settings first. Looks for files only. */
export function findServers(grounds: Grounds): readonly FoundServer[] {
  const own = Object.entries(grounds.configured).flatMap(([name, setting]) => (setting === false ? [] : [ofSetting(name, setting, grounds)]));
  const known = KNOWN_SERVERS.filter(({ name }) => !Object.hasOwn(grounds.configured, name)).flatMap((server) => ofKnown(server, grounds) ?? []);
  return [...own, ...known];
}

/** The server for a file, with its language's id. */
export function serverFor(path: string, found: readonly FoundServer[]): { readonly server: FoundServer; readonly languageId: string } | undefined {
  const ending = extname(path).toLowerCase();
  const server = found.find(({ extensions }) => Object.hasOwn(extensions, ending));
  const languageId = server?.extensions[ending];
  return server === undefined || languageId === undefined ? undefined : { server, languageId };
}

/** How to get a server for a file's language; undefined for one that nobody knows. */
export function whatToInstall(path: string): string | undefined {
  const ending = extname(path).toLowerCase();
  return KNOWN_SERVERS.find(({ extensions }) => Object.hasOwn(extensions, ending))?.install;
}

function ofSetting(name: string, setting: LanguageServerSetting, { project, env, trusted, held }: Grounds): FoundServer {
  const { command, args, extensions, rootMarkers } = setting;
  const path = command.includes('/') ? (isAbsolute(command) ? command : join(project, command)) : onPath(command, env, project)?.path ?? command;
  return {
    name, args, extensions, rootMarkers, command: path, env: setting.env, from: 'settings', allowed: trusted && held?.has(name) !== true,
    ...(setting.initializationOptions !== undefined && { initializationOptions: setting.initializationOptions as Json }), ...(setting.settings !== undefined && { settings: setting.settings as Json }),
  };
}

/** The project's own program goes first: it is of the version that the project is written for. */
function ofKnown(known: KnownServer, { project, env, trusted }: Grounds): FoundServer | undefined {
  const make = (program: KnownProgram, path: string, from: 'project' | 'machine'): FoundServer => ({
    name: known.name, extensions: known.extensions, command: path, args: program.args, env: {}, rootMarkers: known.rootMarkers ?? [], from, allowed: trusted || (from === 'machine' && program.harmless === true),
    ...(known.settings !== undefined && { settings: known.settings as Json }), ...(program.initializationOptions !== undefined && { initializationOptions: program.initializationOptions as Json }),
  });
  for (const program of known.programs) {
    const path = join(project, 'node_modules', '.bin', program.file);
    if (isProgram(path) && isRecent(path, program)) return make(program, path, 'project');
  }
  for (const program of known.programs) {
    const there = onPath(program.file, env, project);
    if (there !== undefined && isRecent(there.path, program)) return make(program, there.path, there.own ? 'project' : 'machine');
  }
  return undefined;
}

/** `own`: it lies in the project, whatever the PATH says. What a package runner puts there (`node_modules/.bin`) is not installed. */
function onPath(file: string, env: Readonly<Record<string, string>>, project: string): { readonly path: string; readonly own: boolean } | undefined {
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    if (!isAbsolute(folder) || /(?:^|\/)node_modules\/\.bin\/?$/.test(folder)) continue;
    const path = join(folder, file);
    if (isProgram(path)) return { path, own: isWithin(project, realPathOf(path)) };
  }
  return undefined;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** By the version of the package that the program lies in. */
function isRecent(path: string, { since }: KnownProgram): boolean {
  if (since === undefined) return true;
  for (let at = dirname(realPathOf(path)); at !== dirname(at) && basename(at) !== 'node_modules'; at = dirname(at)) {
    const major = majorIn(join(at, 'package.json'));
    if (major !== undefined) return major >= since;
  }
  return false;
}

function majorIn(file: string): number | undefined {
  try {
    const fields = JSON.parse(readSmallFile(file)) as { version?: unknown };
    const major = Number.parseInt(String(fields.version), 10);
    return Number.isNaN(major) ? undefined : major;
  } catch {
    return undefined;
  }
}

/** The folder that a server works in for a file: the nearest one that holds the likeliest mark, else the whole project. */
export function rootFor(path: string, markers: readonly string[], project: string): string {
  for (const marker of markers) {
    for (let at = dirname(path); isWithin(project, at); at = dirname(at)) {
      if (existsSync(join(at, marker))) return at;
      if (at === dirname(at)) break;
    }
  }
  return project;
}
