import type { TaskPort } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { Beside } from './beside.ts';
import type { Configuration } from './configuration.ts';
import type { Place } from './place.ts';

export interface TaskOptions extends Beside {
  readonly place: Place;
  readonly configuration: Configuration;
  readonly cwd: (session: Session) => string;
}

export interface TaskWing extends TaskPort {
  /** Sends what runs in the foreground to the background. False when there is nothing. */
  background(session: Session): boolean;
  /** Ends all that runs, at the end of the program. */
  close(): void;
}

export function wireTasks(_options: TaskOptions): TaskWing {
  const none = { problem: 'there are no tasks' };
  return {
    list: () => Promise.resolve([]), startShell: () => Promise.resolve(none), read: () => Promise.resolve(none), stop: () => Promise.resolve(none),
    background: () => false, close: () => undefined,
  };
}
