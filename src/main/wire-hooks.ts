import type { Asker, GatePort, ToolPort } from '#domain/ports.ts';
import type { HookFeed, HookPort } from '#domain/hooks.ts';
import type { Session } from '#domain/session.ts';
import type { Beside } from './beside.ts';
import type { Configuration } from './configuration.ts';
import type { Place } from './place.ts';
import type { AgentWing } from './agent-wing.ts';

export interface HookOptions extends Pick<Beside, 'tell'> {
  readonly place: Place;
  readonly configuration: Configuration;
  readonly agents: () => AgentWing;
  readonly onNotice: (text: string) => void;
}

/** Programs of the user's that are told what happens, and may say something to it. */
export interface HookWing {
  /** The runs of hooks, as they happen. */
  readonly feed: HookFeed;
  readonly port: HookPort;
  /** Asks hooks before the gate; deny and ask rules hold whatever they say. */
  gate(gate: GatePort): GatePort;
  /** Tells hooks what tools came to. */
  tools(tools: ToolPort): ToolPort;
  /** Tells hooks of questions to the person, which some may answer. */
  asker(asker: Asker): Asker;
  /** Why a prompt is not to be sent (one line); undefined: go on. */
  prompt(text: string, session: Session, signal: AbortSignal): Promise<string | undefined>;
  /** A session begins or is gone on with. */
  begin(how: 'startup' | 'resume' | 'clear' | 'compact' | 'fork', session: Session): Promise<void>;
  /** A turn has ended with an answer. True: what hooks said is in the log, and the model is to go on. */
  stop(session: Session, signal: AbortSignal): Promise<boolean>;
  end(reason: 'clear' | 'resume' | 'logout' | 'prompt_input_exit' | 'other', session: Session): Promise<void>;
}

export function wireHooks(_options: HookOptions): HookWing {
  return {
    feed: { listen: () => () => undefined },
    port: { beforeCompact: () => Promise.resolve({ entries: [] }), afterCompact: () => Promise.resolve({ entries: [] }), afterCalls: () => Promise.resolve({ entries: [] }) },
    gate: (gate) => gate, tools: (tools) => tools, asker: (asker) => asker,
    prompt: () => Promise.resolve(undefined), begin: () => Promise.resolve(), stop: () => Promise.resolve(false), end: () => Promise.resolve(),
  };
}
