import { isAbsolute, join, resolve } from 'node:path';
import type { Json } from '#lib/brand.ts';
import { messageOf } from '#lib/errors.ts';
import { oneLine } from '#lib/names.ts';
import { readSmallFile } from '#lib/small-file.ts';
import type { ConfiguredServer, McpScope } from '#domain/mcp.ts';
import { readDecisions, serverHash } from './approvals.ts';
import { isFields, nameProblem, parseServer } from './parse.ts';

/*
 * Which servers are configured, and which of them may start.
 *
 *   readServers(options: ReadOptions): { servers: readonly ConfiguredServer[]; problems: readonly string[] }   // one a name, by precedence
 *   launchOf(server, { env, cwd, project }): Launch                                    (launch.ts: variables put in, environment, directory)
 *   headersFrom(command, { launch, name, signal }): Promise<Record<string, string>>    (headers-helper.ts: throws one line)
 *   serverHash(name, config): string, keepDecision(file, project, server, decision)    (approvals.ts)
 *   addServer(target, name, value), removeServer(target, name)                         (write.ts)
 *   authOf(name, config, { file, fetch }): AuthProvider | undefined                    (../auth/provider.ts: for the transport's `authProvider`)
 *   signIn({ name, config, file, fetch, show, open, paste?, signal }): Promise<string> (../auth/login.ts: one line; throws one line)
 *   signOut({ name, url, file, fetch }): Promise<string>                               (../auth/login.ts)
 *
 * `src/main/mcp/servers.ts` hangs these for a place: `createServerDesk({ place, args, configuration })`. `problems`, and which
 * servers wait for approval, are told to the user by `src/main/mcp/door.ts`; whoever connects need not.
 */

export interface ReadOptions {
  /** The top of the repository, else the start directory; and the start directory. Real paths. */
  readonly project: string;
  readonly cwd: string;
  readonly userHome: string;
  /** Our own file of servers, and the file of approvals. */
  readonly file: string;
  readonly approvals: string;
  /** Values of `--mcp-config`: files, or JSON. */
  readonly flags: readonly string[];
  /** Only those. */
  readonly strict: boolean;
  readonly trusted: boolean;
  /** What the settings say of servers of `.mcp.json`: `enableAll` and `enabled` out of the user's own settings only. */
  readonly settings: { readonly enableAll: boolean; readonly enabled: readonly string[]; readonly disabled: readonly string[] };
}

export interface ReadServers {
  /** One of each name, the strongest, in the order of their names. */
  readonly servers: readonly ConfiguredServer[];
  /** One line per entry or file that cannot be used. */
  readonly problems: readonly string[];
}

type Found = Omit<ConfiguredServer, 'approval'>;

const PROJECT_FILE = '.mcp.json';
const MOST_BYTES = 4 * 1024 * 1024;
/** The state of another shell, which keeps histories in it. */
const MOST_STATE_BYTES = 64 * 1024 * 1024;

/** Reads every file anew; never throws. */
export function readServers(options: ReadOptions): ReadServers {
  const problems: string[] = [];
  const byName = new Map<string, Found>();
  // Weakest first: a later one of a name takes its place.
  for (const found of [...(options.strict ? [] : fromFiles(options, problems)), ...options.flags.flatMap((flag) => fromFlag(flag, options.cwd, problems))]) byName.set(found.name, found);
  const decisions = readDecisions(options.approvals, options.project);
  const servers = [...byName.values()].map((found): ConfiguredServer => ({ ...found, ...standing(found, options, decisions) }));
  return { servers: servers.sort((a, b) => (a.name < b.name ? -1 : 1)), problems };
}

function fromFiles({ project, cwd, userHome, file, trusted }: ReadOptions, problems: string[]): readonly Found[] {
  const theirs = join(userHome, '.claude.json');
  const [others, own] = [readFields(theirs, problems, MOST_STATE_BYTES), readFields(file, problems)];
  const local = (fields: Fields | undefined, from: string): readonly Found[] => (project === cwd ? [cwd] : [project, cwd]).flatMap((folder) => {
    const projects = fields?.['projects'];
    const here = isFields(projects) && Object.hasOwn(projects, folder) ? projects[folder] : undefined;
    return isFields(here) ? serversIn(here, 'local', from, problems) : [];
  });
  const shared = (project === cwd ? [cwd] : [project, cwd]).map((folder) => join(folder, PROJECT_FILE));
  // What is wrong in a repository that is not trusted is nobody's concern yet.
  const muted = trusted ? problems : [];
  return [
    ...(others === undefined ? [] : serversIn(others, 'user', theirs, problems)), ...(own === undefined ? [] : serversIn(own, 'user', file, problems)),
    ...shared.flatMap((from) => {
      const fields = readFields(from, muted);
      return fields === undefined ? [] : serversIn(fields, 'project', from, muted);
    }),
    ...local(others, theirs), ...local(own, file),
  ];
}

type Fields = Readonly<Record<string, Json>>;

function readFields(file: string, problems: string[], most = MOST_BYTES): Fields | undefined {
  try {
    const value = JSON.parse(readSmallFile(file, most)) as Json;
    if (isFields(value)) return value;
    problems.push(`${file}: it must hold one JSON object; no server was read from it.`);
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
    if (!missing) problems.push(`${file}: ${messageOf(error).replace(/\.$/, '')}; no server was read from it.`);
  }
  return undefined;
}

function serversIn(fields: Fields, scope: McpScope, from: string, problems: string[]): readonly Found[] {
  const servers = fields['mcpServers'];
  if (servers === undefined) return [];
  if (!isFields(servers)) {
    problems.push(`${from}: "mcpServers" must be an object; no server was read from it.`);
    return [];
  }
  return Object.entries(servers).flatMap(([name, entry]): readonly Found[] => {
    const odd = nameProblem(name, true);
    const parsed = odd === undefined ? parseServer(entry) : { problem: odd };
    if ('config' in parsed) return [{ name, scope, from, config: parsed.config }];
    problems.push(`${from}: server ${oneLine(name, 60)}: ${parsed.problem}; it was left out.`);
    return [];
  });
}

function fromFlag(flag: string, cwd: string, problems: string[]): readonly Found[] {
  const { from, fields, problem } = readFlag(flag, cwd);
  if (fields === undefined) {
    problems.push(problem ?? from);
    return [];
  }
  return serversIn(fields, 'flag', from, problems);
}

/** What a value of `--mcp-config` holds. `problem`: one line. */
export function readFlag(flag: string, cwd: string): { readonly from: string; readonly fields?: Fields; readonly problem?: string } {
  const inline = flag.trimStart().startsWith('{');
  const from = inline ? '--mcp-config' : isAbsolute(flag) ? flag : resolve(cwd, flag);
  try {
    const value = JSON.parse(inline ? flag : readSmallFile(from, MOST_BYTES)) as Json;
    if (isFields(value) && isFields(value['mcpServers'])) return { from, fields: value };
    return { from, problem: `--mcp-config${inline ? '' : ` ${oneLine(flag)}`}: it must be a JSON object with "mcpServers".` };
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENAMETOOLONG');
    return { from, problem: `--mcp-config${inline ? '' : ` ${oneLine(flag)}`}: ${missing ? 'there is no such file' : messageOf(error).replace(/\.$/, '')}.` };
  }
}

/** Whether a server may start, and why not. What the user wrote themselves may. */
function standing(found: Found, { trusted, settings }: ReadOptions, decisions: ReturnType<typeof readDecisions>): Pick<ConfiguredServer, 'approval' | 'why'> {
  const { name, scope } = found;
  if (scope !== 'project') return { approval: 'given' };
  if (settings.disabled.includes(name)) return { approval: 'off', why: 'switched off by "disabledMcpjsonServers" in the settings' };
  const decision = decisions.get(serverHash(name, found.config));
  if (decision === 'refused') return { approval: 'refused', why: `you refused it; /mcp approve ${name} lets it start` };
  if (!trusted) return { approval: 'needed', why: 'the folder is not trusted: start pinion in it and answer the question there (with -p: --trust)' };
  if (decision === 'given' || settings.enableAll || settings.enabled.includes(name)) return { approval: 'given' };
  return { approval: 'needed', why: `it comes with the repository and waits for your approval: /mcp approve ${name}` };
}
