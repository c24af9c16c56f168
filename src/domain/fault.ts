import type { Fault } from './entry.ts';

/** What went wrong, on one line. Where nothing is named the message speaks for itself. */
export function faultLine({ where, message }: Fault): string {
  return where === '' ? message : `${where}: ${message}`;
}
