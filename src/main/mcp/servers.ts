import type { ConfiguredServer } from '#domain/mcp.ts';
import { UserError } from '#lib/errors.ts';
import type { Arguments } from '#cli/arguments.ts';
import { type Decision, keepDecision } from '#mcp/config/approvals.ts';
import { type Launch, launchOf } from '#mcp/config/launch.ts';
import { type ReadServers, readServers } from '#mcp/config/read.ts';
import { namesIn, type WriteTarget } from '#mcp/config/write.ts';
import type { Configuration } from '#main/configuration.ts';
import type { Place } from '#main/place.ts';

/** The servers that are configured for a place. Nothing is kept: each call reads the files, so that several desks agree. */
export interface ServerDesk {
  read(): ReadServers;
  launch(server: ConfiguredServer): Launch;
  /** Whether a server of this name is written there, whatever it is. */
  holds(target: WriteTarget, name: string): boolean;
  /** Lets a server of the repository start, or not, from now on; bound to what it is now. Throws a UserError (one line) for others. */
  decide(name: string, decision: Decision): Promise<ConfiguredServer>;
  /** As `decide`, for a server as it was read: what the user was shown is what they decided on. */
  keep(server: ConfiguredServer, decision: Decision): Promise<void>;
}

export function createServerDesk({ place, args, configuration }: { readonly place: Place; readonly args: Pick<Arguments, 'mcpConfig' | 'strictMcpConfig'>; readonly configuration: Configuration }): ServerDesk {
  const { cwd, home, userHome, env } = place;
  const { project } = configuration;
  const read = (): ReadServers => readServers({
    project, cwd, userHome, file: home.mcp.servers, approvals: home.mcp.approvals, flags: args.mcpConfig, strict: args.strictMcpConfig,
    trusted: configuration.isTrusted(), settings: configuration.settings().mcp,
  });
  const keep = (server: ConfiguredServer, decision: Decision): Promise<void> => keepDecision(home.mcp.approvals, project, server, decision);
  return {
    read, keep,
    holds: (target, name) => namesIn(target).includes(name),
    launch: (server) => launchOf(server, { env: { ...env, ...configuration.settings().env }, cwd, project }),
    async decide(name, decision) {
      const server = read().servers.find((one) => one.name === name);
      if (server === undefined) throw new UserError(`there is no server ${name}.`);
      if (server.scope !== 'project') throw new UserError(`${name} is one of your own servers (${server.from}): it needs no approval. pinion mcp remove ${name} takes it away.`);
      await keep(server, decision);
      return server;
    },
  };
}
