import type { Session } from '#domain/session.ts';
import { completeAgent, completeMention } from '#mentions/complete.ts';
import type { createFileIndex } from '#mentions/file-index.ts';
import type { House } from './house.ts';

/** What may stand behind an `@`: agents first, then files. */
export async function completeAt(house: House, session: Session, index: ReturnType<typeof createFileIndex>, query: string): ReturnType<typeof completeMention> {
  const types = await house.agents.types(new AbortController().signal).catch(() => []);
  const agents = completeAgent([...house.agents.members(session).map(({ name }) => name), ...types.map(({ name }) => name)], query);
  const { items, more } = await completeMention(index, query);
  return { items: [...agents, ...items], more };
}
