import type { ConfiguredServer } from '#domain/mcp.ts';
import type { Question } from '#domain/ports.ts';
import { visibleLine } from '#gate/visible.ts';
import type { Entrance } from '#main/entrance.ts';
import type { House } from '#main/house.ts';
import { reachedBy } from './cards.ts';
import { createServerDesk, type ServerDesk } from './servers.ts';

/** What keeps servers from starting where nobody can be asked: one line per broken entry, and per server that waits for approval. */
export function serverNotices(house: Pick<House, 'place' | 'args' | 'configuration'>): readonly string[] {
  const { servers, problems } = createServerDesk(house).read();
  // That the folder is not trusted is said once, for all that it brings along.
  const waiting = servers.filter(({ approval }) => approval === 'needed' && house.configuration.isTrusted());
  return [...problems, ...waiting.map(({ name, from }) => visibleLine(`the MCP server ${name} (${from}) was not approved and does not start: pinion mcp approve ${name}, or --mcp-config ${from}`))];
}

/** Asks once of each server that a trusted repository brings along whether it may start. Both answers are kept, bound to what it is. */
export async function askForServers({ house, questions, show }: Pick<Entrance, 'house' | 'questions' | 'show'>): Promise<void> {
  const desk = createServerDesk(house);
  const { servers, problems } = desk.read();
  for (const message of problems) show({ type: 'fault', where: 'mcp', message });
  if (!house.configuration.isTrusted()) return;
  for (const server of servers) {
    if (server.approval !== 'needed') continue;
    const answer = await questions.ask(approvalQuestion(server, desk), new AbortController().signal);
    // A question that nobody answered comes again.
    if (answer !== undefined) await desk.keep(server, answer.kind === 'yes' || answer.kind === 'always' ? 'given' : 'refused');
  }
}

/** All that decides what runs and where it connects to, in full: what is not shown cannot be agreed to. */
export function approvalQuestion(server: ConfiguredServer, desk: Pick<ServerDesk, 'launch'>): Question {
  const { name, from, config } = server;
  const launch = desk.launch(server);
  const written = reachedBy(server);
  const resolved = reachedBy({ ...server, config: launch.config });
  const lines = [
    config.type === 'stdio' ? `It runs: ${resolved}` : `It connects to: ${resolved}`, ...(resolved === written ? [] : [`as written: ${written}`]),
    ...(config.type === 'stdio' ? Object.entries(config.env).map(([key, value]) => `with ${key}=${value}`) : [
      ...Object.entries(config.headers).map(([key, value]) => `with the header ${key}: ${value}`), ...(config.headersHelper === undefined ? [] : [`It runs, for further headers: ${config.headersHelper}`]),
      ...(config.oauth === undefined ? [] : [`It signs in with: ${JSON.stringify(config.oauth)}`]),
    ]),
    ...(config.type === 'stdio' || config.headersHelper !== undefined ? [`in: ${launch.cwd}`] : []), `It stands in: ${from}`, ...launch.notes,
    `A change of it asks again. Both answers are kept; /mcp approve ${name} and /mcp refuse ${name} change them.`,
  ];
  return { kind: 'confirm', title: visibleLine(`This repository brings the MCP server ${name} along. May it start?`), lines: lines.map(visibleLine) };
}
