import type { AgentPort } from '#domain/agents.ts';
import type { HeadBody } from '#domain/entry.ts';
import type { Asker, Ports } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { Beside } from './beside.ts';
import type { Configuration } from './configuration.ts';
import type { Place } from './place.ts';

export interface AgentOptions extends Beside {
  readonly place: Place;
  readonly configuration: Configuration;
  readonly asker: Asker;
  /** What the main conversation's requests begin with. */
  readonly head: () => HeadBody;
  /** The ports of a thread. */
  readonly ports: (session: Session) => Ports;
}

/** Sub-agents, each a thread with a session and log of its own. */
export function wireAgents(_options: AgentOptions): AgentPort {
  return {
    types: () => Promise.resolve([]), self: () => undefined, members: () => [], mail: () => Promise.resolve([]),
    send: () => Promise.resolve({ problem: 'there are no agents' }), live: () => [], stop: () => false, background: () => false,
    async* run() { return { kind: 'failed', text: 'there are no agents', steps: 0, spent: [] }; },
  };
}
