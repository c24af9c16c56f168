import { dirname } from 'node:path';
import type { ConfiguredServer, McpServerConfig } from '#domain/mcp.ts';
import { headerProblem, urlProblem } from './parse.ts';

/** What a server is started or reached with: variables are put in. */
export interface Launch {
  readonly config: McpServerConfig;
  /** The whole environment of its process, or of its `headersHelper`. */
  readonly env: Readonly<Record<string, string>>;
  /** Where its process, or its `headersHelper`, runs. */
  readonly cwd: string;
  /** Variables that are not set and stand there as they were written, one line each. */
  readonly notes: readonly string[];
  /** Why it cannot be started at all, one line. */
  readonly problem?: string;
}

export interface LaunchOptions {
  readonly env: Readonly<Record<string, string>>;
  /** The start directory, and the top of the project. */
  readonly cwd: string;
  readonly project: string;
}

/** Variables that sign our own requests or say where our own files are: never given to what a repository brings along. */
const OURS = /^(?:ANTHROPIC_|PINION_|CLAUDE_CODE_)/i;
const PLACE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/**
 * Puts `${NAME}` and `${NAME:-default}` in, in command, arguments, env, address and headers. A variable that is not set stays
 * there as it is written. To a server of the repository (scope `project`) our own keys are as if they were not set.
 */
export function launchOf(server: ConfiguredServer, { env, cwd, project }: LaunchOptions): Launch {
  const given: Readonly<Record<string, string>> = { ...(server.scope === 'project' ? Object.fromEntries(Object.entries(env).filter(([name]) => !OURS.test(name))) : env), CLAUDE_PROJECT_DIR: project };
  const missing = new Set<string>();
  const put = (text: string): string => text.replace(PLACE, (whole, name: string, otherwise?: string) => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value !== undefined && (value !== '' || otherwise === undefined)) return value;
    if (otherwise === undefined) missing.add(name);
    return otherwise ?? whole;
  });
  const named = (texts: Readonly<Record<string, string>>): Record<string, string> => Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, put(text)]));
  const { config: written } = server;
  const config: McpServerConfig = written.type === 'stdio'
    ? { ...written, command: put(written.command), args: written.args.map(put), env: named(written.env) }
    : { ...written, url: put(written.url), headers: named(written.headers) };
  const problem = config.type === 'stdio' ? (config.command.trim() === '' ? 'its command is empty' : undefined) : urlProblem(config.url) ?? headerProblem(config.headers);
  return {
    config, cwd: server.scope === 'project' ? dirname(server.from) : cwd,
    env: config.type === 'stdio' ? { ...given, ...config.env } : given,
    notes: [...missing].map((name) => (server.scope === 'project' && OURS.test(name) && Object.hasOwn(env, name) ? `${name} is not given to a server of the repository; it stands there as written` : `the variable ${name} is not set; it stands there as written`)),
    ...(problem !== undefined && { problem }),
  };
}
