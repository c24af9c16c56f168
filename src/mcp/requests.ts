import { pathToFileURL } from 'node:url';
import type { Client, ClientCapabilities } from '@modelcontextprotocol/client';
import type { Session } from '#domain/session.ts';
import { oneLine } from '#lib/names.ts';
import type { ElicitDoors } from './elicit.ts';
import type { ServerLog } from './log.ts';
import { elicitOverseen, type Overseer } from './overseen.ts';
import { type Consent, sample, type SampleDoors } from './sample.ts';

/** A call that is under way. Its time-out stands still while the person is asked. */
export interface Underway {
  readonly session: Session;
  pause(): void;
  resume(): void;
}

export interface RequestDoors extends ElicitDoors, SampleDoors {
  /** Working folders: absolute. */
  readonly roots: () => readonly string[];
  readonly overseer?: Overseer;
}

export const CAPABILITIES: ClientCapabilities = { roots: { listChanged: true }, sampling: {}, elicitation: { form: {}, url: {} } };

/** Questions that a server may put to the person within one call. */
const MOST_QUESTIONS = 10;

export interface Hung {
  readonly server: string;
  readonly log: ServerLog;
  readonly doors: RequestDoors;
  readonly consent: Consent;
  /** Calls that are under way, oldest first. */
  readonly underway: () => readonly Underway[];
  readonly onListChanged: (what: 'tools' | 'resources' | 'prompts') => void;
}

/** Hangs what a server may ask of us and tell us. */
export function hangRequests(client: Client, hung: Hung): void {
  const { server, log, doors, consent, underway } = hung;
  const asking = createTurns(underway);
  client.setRequestHandler('roots/list', () => ({ roots: doors.roots().map((root) => ({ uri: pathToFileURL(root).href, name: root.split('/').at(-1) ?? root })) }));
  client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq: { signal } }) => {
    const session = underway().at(-1)?.session;
    const answer = await asking(() => elicitOverseen(server, params, doors, session, signal));
    log.write(`[it asked the user: ${answer === undefined ? 'declined, it asks too often' : answer.action}]`);
    return answer ?? { action: 'decline' };
  });
  client.setRequestHandler('sampling/createMessage', async ({ params }, { mcpReq: { signal } }) => {
    const session = underway().at(-1)?.session;
    const answer = await asking(() => sample(server, params, consent, session, doors, signal));
    if (answer === undefined) throw new Error('Refused: it asks too often.');
    log.write('[it asked the model]');
    return answer;
  });
  client.setNotificationHandler('notifications/message', ({ params: { level, logger, data } }) => {
    log.write(`${level}${logger === undefined ? '' : ` ${oneLine(logger, 60)}`}: ${typeof data === 'string' ? data : JSON.stringify(data) ?? ''}`);
  });
  client.setNotificationHandler('notifications/elicitation/complete', () => {
    log.write('[what the user was sent to do elsewhere is done]');
    doors.overseer?.told('elicitation_complete', `what the MCP server ${oneLine(server, 60)} asked for is done`, underway().at(-1)?.session);
  });
  client.setNotificationHandler('notifications/tools/list_changed', () => { hung.onListChanged('tools'); });
  client.setNotificationHandler('notifications/resources/list_changed', () => { hung.onListChanged('resources'); });
  client.setNotificationHandler('notifications/prompts/list_changed', () => { hung.onListChanged('prompts'); });
}

/** One question at a time and not without end; the calls' clocks stand still meanwhile. */
function createTurns(underway: () => readonly Underway[]): <T>(task: () => Promise<T>) => Promise<T | undefined> {
  let last: Promise<unknown> = Promise.resolve();
  const asked = new WeakMap<Underway, number>();
  let withoutCall = 0;
  return async (task) => {
    const call = underway().at(-1);
    const used = call === undefined ? (withoutCall += 1) : (asked.get(call) ?? 0) + 1;
    if (call !== undefined) asked.set(call, used);
    if (used > MOST_QUESTIONS) return undefined;
    const before = last;
    const mine = (async () => {
      await before.catch(() => undefined);
      const calls = underway();
      for (const one of calls) one.pause();
      try {
        return await task();
      } finally {
        for (const one of calls) one.resume();
      }
    })();
    last = mine.catch(() => undefined);
    return await mine;
  };
}
