import type { Session } from '#domain/session.ts';
import { completeAgent, completeMention, completeResource } from '#mentions/complete.ts';
import type { createFileIndex } from '#mentions/file-index.ts';
import { completeSymbol } from './complete-symbol.ts';
import type { House } from './house.ts';

/** What may stand behind an `@`: agents first, then resources of MCP servers, then files, then what language servers at work know by such a name. */
export async function completeAt(house: House, session: Session, index: ReturnType<typeof createFileIndex>, query: string): ReturnType<typeof completeMention> {
  const types = await house.agents.types(new AbortController().signal).catch(() => []);
  const agents = completeAgent([...house.agents.members(session).map(({ name }) => name), ...types.map(({ name }) => name)], query);
  const asked = completeSymbol(house.languages, house.place.cwd, query);
  const resources = completeResource(house.mcp.servers().flatMap((server) => server.resources), query);
  const { items, more } = await completeMention(index, query);
  const symbols = await asked;
  return { items: [...agents, ...resources, ...items, ...symbols.items], more: more || symbols.more };
}
