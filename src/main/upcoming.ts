import type { ContextView } from '#domain/command.ts';
import type { Entry, EntryBody, EntryId } from '#domain/entry.ts';
import type { ModelRequest } from '#domain/request.ts';
import type { Session } from '#domain/session.ts';
import { project } from '#loop/project.ts';
import type { House } from './house.ts';
import { nextRequest } from './wire-model.ts';

/**
 * What the next request holds: what stands in the conversation already, and, unless the model is at work on it, what the next
 * prompt will bring along besides its own words. Sources are asked what they would say; nothing is written.
 */
export async function contextOf(house: House, session: Session, working: boolean): Promise<ContextView> {
  const { desk, blobs } = house;
  const now = nextRequest(session.log, house.head(), blobs);
  const view = await desk.meter.contextView(now, session.log);
  if (working) return view;
  const { reminders } = await house.reminders.reminders.collect('prompt', session, new AbortController().signal);
  const log = [...session.log, ...[{ type: 'prompt' as const, text: '' }, ...reminders].map(pretended)];
  const rows = await desk.meter.describe(withoutPrompt({ ...project(log, blobs), model: now.model, system: now.system, tools: now.tools }), log);
  return { ...view, coming: rows.slice(view.rows.length) };
}

function pretended(body: EntryBody, at: number): Entry {
  return { ...body, id: `coming-${at}` as EntryId, at: '' };
}

/** Its own words, which nobody knows yet, stand last in the last message. */
function withoutPrompt({ messages, origins, ...rest }: ModelRequest): ModelRequest {
  const last = messages.at(-1);
  const content = last === undefined || typeof last.content === 'string' ? [] : last.content.slice(0, -1);
  if (last === undefined || content.length === 0) return { ...rest, messages: messages.slice(0, -1), origins: origins.slice(0, -1) };
  return { ...rest, messages: [...messages.slice(0, -1), { role: 'user', content }], origins: [...origins.slice(0, -1), (origins.at(-1) ?? []).slice(0, -1)] };
}
