import { randomUUID } from 'node:crypto';
import type { Event } from '#domain/entry.ts';
import type { HookNews } from '#domain/hooks.ts';
import type { Session } from '#domain/session.ts';
import type { Call, CallId } from '#domain/tool.ts';
import type { Arguments } from '#cli/arguments.ts';
import type { Lines } from '#headless/lines.ts';
import { hookMessage, type Message, messagesOf, messagesOfEvent, type Telling } from '#headless/messages.ts';
import type { Overhearing } from '#main/beside.ts';
import type { Conversation } from '#main/conversation.ts';
import type { House } from '#main/house.ts';
import { createDenials } from './denials.ts';

/** What happens in a conversation and its sub-agents, as lines of JSON. */
export interface StreamOut {
  /** For the house: what comes through the model's door, and what sub-agents do. */
  readonly overhear: Overhearing;
  /** Hears the hooks of a house, where that is wanted: what they do before the first line is told after it. */
  readonly listen: (house: House) => void;
  /** From now on of this conversation; what is in its log already is not told. */
  attach(house: House, conversation: Conversation): void;
  /** Writes a line with the session's and its own id. */
  send(message: Message): void;
  /** Writes a line as it is. */
  plain(value: Readonly<Record<string, unknown>>): void;
  /** Something happened in the conversation: what its log has more is told first. */
  hear(event?: Event): void;
  /** The person decides about this call. */
  asked(call: CallId): void;
  /** Resolves when the reader has taken enough for more. */
  taken(): Promise<void>;
  /** Milliseconds that the model's answers have taken so far. */
  apiMs(): number;
  /** What sub-agents were refused since it was asked last. */
  denied(): readonly Call[];
}

interface Attached {
  readonly house: House;
  readonly conversation: Conversation;
  session: Session;
  /** Entries of the log that were told. */
  told: number;
}

export function createStreamOut(lines: Lines, { includePartialMessages, includeHookEvents, verbose }: Arguments): StreamOut {
  let held: Attached | undefined;
  let apiMs = 0;
  const denials = createDenials();
  const asked = new Set<string>();
  /** Threads that are being summarised: what comes through their door then is no answer. */
  const compacting = new WeakSet<Session>();
  const { send, hook } = createSender(lines, () => held?.conversation.session.id ?? '');
  const telling = ({ house }: Attached, parent: CallId | null, agent?: string): Telling => ({ parent, blobs: house.blobs, verbose, asked: (call) => asked.has(call), ...(agent !== undefined && { agent }) });
  const follow = (session: Session, event: Event | undefined): boolean => {
    if (event?.type === 'doing' && event.what === 'compacting') compacting.add(session);
    else if (event?.type === 'entry') return compacting.delete(session);
    return false;
  };
  const hear = (event?: Event): void => {
    if (held === undefined) return;
    const { session } = held.conversation;
    if (session !== held.session) Object.assign(held, { session, told: 0 });
    const fresh = session.log.slice(held.told);
    held.told = session.log.length;
    for (const entry of fresh) for (const message of messagesOf(entry, telling(held, null))) send(message);
    if (follow(session, event)) send({ type: 'system', subtype: 'status', status: null });
    if (event !== undefined && event.type !== 'entry') for (const message of messagesOfEvent(event)) send(message);
  };
  /** The call that a thread answers to; undefined where it is none of this conversation's. */
  const parentOf = (session: Session): CallId | null | undefined => (session === held?.conversation.session ? null : held?.house.agents.callOf(session));
  const overhear: Overhearing = {
    ...(includePartialMessages && { raw(session: Session, event: unknown) {
      const parent = parentOf(session);
      if (parent !== undefined && !compacting.has(session)) send({ type: 'stream_event', event, parent_tool_use_id: parent });
    } }),
    took: (_session, ms) => { apiMs += ms; },
    agent(session, event) {
      const parent = parentOf(session);
      if (held === undefined || parent === undefined || parent === null) return undefined;
      follow(session, event);
      denials.agent(session, event);
      if (event.type === 'entry') for (const message of messagesOf(event.entry, telling(held, parent, held.house.agents.self(session)?.name))) send(message);
      return lines.taken();
    },
  };
  return {
    overhear, send, hear,
    plain: (value) => { lines.write(value); },
    attach(house, conversation) {
      const { session } = conversation;
      held = { house, conversation, session, told: session.log.length };
    },
    listen(house) {
      if (includeHookEvents) house.hooks.feed.listen(hook);
    },
    asked: (call) => { asked.add(call); },
    taken: () => lines.taken(),
    apiMs: () => apiMs,
    denied: denials.take,
  };
}

/** Writes messages with the session's id and their own. What hooks do before the first of all others waits for it. */
function createSender(lines: Lines, sessionId: () => string) {
  let begun = false;
  const early: Message[] = [];
  const write = (message: Message): void => { lines.write({ ...message, session_id: sessionId(), uuid: message['uuid'] ?? randomUUID() }); };
  return {
    send(message: Message): void {
      write(message);
      begun = true;
      for (const waiting of early.splice(0)) write(waiting);
    },
    hook(news: HookNews): void {
      const message = hookMessage(news);
      if (begun) write(message);
      else early.push(message);
    },
  };
}
