import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { bytes as size } from '#lib/numbers.ts';

/** Most bytes of one message of a server. */
export const MOST_MESSAGE_BYTES = 16 * 1024 * 1024;

/**
 * What stands for an answer that was too long to be held: an error under the same id, so that the call ends at once and the server
 * is kept. `waiting`: ids that an answer is awaited for; undefined where that is not known. Undefined where the ends of the message
 * do not tell which call it answers.
 */
export function errorForLong(head: string, tail: string, bytes: number, waiting: ReadonlySet<number> | undefined): JSONRPCMessage | undefined {
  const ids = [/^\s*\{[^{[]*?"id"\s*:\s*(\d{1,15})\s*[,}]/.exec(head)?.[1], /"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail)?.[1]];
  const known = ids.flatMap((id) => (id === undefined ? [] : [Number(id)])).find((id) => waiting === undefined || waiting.has(id));
  const id = known ?? (waiting?.size === 1 ? [...waiting][0] : undefined);
  return id === undefined ? undefined : longAnswer(id, bytes);
}

export function longAnswer(id: number | string, bytes: number): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error: { code: -32603, message: `the answer of the server was ${size(bytes)} long or more; at most ${size(MOST_MESSAGE_BYTES)} are taken. Ask for less at a time` } };
}
