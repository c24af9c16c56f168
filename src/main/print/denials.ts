import type { Json } from '#lib/brand.ts';
import type { Entry, Event } from '#domain/entry.ts';
import type { Session } from '#domain/session.ts';
import type { Call, CallId } from '#domain/tool.ts';

/** Calls that were refused, of a conversation and of its sub-agents. */
export interface Denials {
  /** Hears what the turn of a sub-agent yields. */
  agent(session: Session, event: Event): void;
  /** Those of sub-agents since it was asked last. */
  take(): readonly Call[];
}

export function createDenials(): Denials {
  let heard: Call[] = [];
  return {
    agent(session, event) {
      if (event.type === 'entry' && isRefusal(event.entry)) heard.push(...deniedIn(session.log, event.entry.callId));
    },
    take() {
      const taken = heard;
      heard = [];
      return taken;
    },
  };
}

/** The refused calls of these entries; `only`: this one. */
export function deniedIn(entries: readonly Entry[], only?: CallId): readonly Call[] {
  const refused = new Set<string>(only === undefined ? entries.filter(isRefusal).map(({ callId }) => callId) : [only]);
  return entries.flatMap((entry) => (entry.type === 'assistant' ? entry.content : [])).flatMap((block): Call[] => (
    block.type === 'tool_use' && refused.has(block.id) ? [{ id: block.id as CallId, tool: block.name, input: block.input as Json }] : []
  ));
}

function isRefusal(entry: Entry): entry is Extract<Entry, { readonly type: 'toolResult' }> {
  return entry.type === 'toolResult' && entry.result.kind === 'refused';
}
