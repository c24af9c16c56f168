import { DEMO_MODEL, SMALL_MODEL } from '#domain/model.ts';
import type { SearchPort } from '#domain/ports.ts';
import { searchWeb } from '#client/web-search.ts';
import type { ModelDesk } from './wire-model.ts';

/** The search of the model's own server: a small model does it, where the server has one. */
export function wireSearch(desk: ModelDesk): SearchPort {
  return {
    offered: () => desk.id() !== DEMO_MODEL && desk.id().startsWith('claude-') && !desk.search.refused(),
    search: (wish, session, signal) => searchWeb(wish, {
      models: [...new Set(desk.facts().known ? [SMALL_MODEL, desk.id()] : [desk.id()])],
      stream: (request, inner) => desk.port(session, () => request.model).stream(request, inner),
      onRefused: () => { desk.search.refuse(); },
    }, signal),
  };
}
