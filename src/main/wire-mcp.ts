import type { Asker } from '#domain/ports.ts';
import type { McpPort } from '#domain/mcp.ts';
import type { Arguments } from '#cli/arguments.ts';
import type { Tool } from '#tools/define.ts';
import type { Beside } from './beside.ts';
import type { Configuration } from './configuration.ts';
import type { Place } from './place.ts';
import type { ModelDesk } from './wire-model.ts';

export interface McpOptions extends Pick<Beside, 'tell'> {
  readonly place: Place;
  readonly args: Arguments;
  readonly configuration: Configuration;
  readonly desk: ModelDesk;
  readonly asker: Asker;
  readonly onNotice: (text: string) => void;
}

export interface McpWing extends McpPort {
  /** The tools of all connected servers, by names that are safe and unique. */
  tools(): readonly Tool[];
}

/** Servers of the Model Context Protocol. */
export function wireMcp(_options: McpOptions): McpWing {
  const none = (): readonly never[] => [];
  return {
    servers: none, tools: none, log: none, mentioned: () => Promise.resolve([]),
    start: () => undefined, close: () => undefined,
    prompt: (server) => Promise.resolve({ problem: `there is no server ${server}.` }),
    reconnect: (server) => Promise.resolve(`There is no server ${server}.`), login: (server) => Promise.resolve(`There is no server ${server}.`), logout: (server) => Promise.resolve(`There is no server ${server}.`),
  };
}
