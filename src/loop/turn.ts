import { setMaxListeners } from 'node:events';
import type { Outcome, Ports } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';

/** What one turn knows besides the log: how often it has done what it may do only so often. */
export interface Turn {
  readonly session: Session;
  readonly ports: Ports;
  readonly signal: AbortSignal;
  compactions: number;
  /** Replies in this turn that were cut in the middle of a call. */
  cuts: number;
  pauses: number;
  /** Length of the log from which on repeated calls count. */
  watchedFrom: number;
}

export interface Ended {
  readonly kind: 'ended';
  readonly outcome: Outcome;
}

export function startTurn(session: Session, ports: Ports, signal: AbortSignal): Turn {
  // Each call of a reply listens for itself, and a reply may have many: Node would warn of it on the person's screen.
  setMaxListeners(0, signal);
  return { session, ports, signal, compactions: 0, cuts: 0, pauses: 0, watchedFrom: session.log.length };
}

export function ended(outcome: Outcome): Ended {
  return { kind: 'ended', outcome };
}

export const INTERRUPTED: Ended = ended({ kind: 'interrupted' });

export function stopped(message: string): Outcome {
  return { kind: 'stopped', message };
}
