import type { CommandContext } from '#domain/command.ts';
import type { Session } from '#domain/session.ts';
import type { OutputStyle } from '#domain/world.ts';
import type { Configuration } from './configuration.ts';
import type { Place } from './place.ts';

export interface ModeWing {
  /** The output style in effect in a session. */
  style(session: Session): Promise<OutputStyle | undefined>;
  styles(session: Session): ReturnType<CommandContext['styles']>;
  /** Keeps a plan in a file of its own; gives the absolute path. */
  keepPlan(text: string, session: Session): Promise<string>;
}

export function wireModes(_place: Place, _configuration: Configuration): ModeWing {
  return { style: () => Promise.resolve(undefined), styles: () => Promise.resolve({ all: [], now: undefined }), keepPlan: () => Promise.resolve('') };
}
