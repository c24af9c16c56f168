import { messageOf } from '#lib/errors.ts';
import { NO_USAGE } from '#domain/content.ts';
import type { Entry, EntryBody, Event } from '#domain/entry.ts';
import type { HookSaid } from '#domain/hooks.ts';
import type { ModelDelta, ModelPort, Reply } from '#domain/ports.ts';
import type { ModelRequest } from '#domain/request.ts';
import type { Session } from '#domain/session.ts';
import { abandon, ABORTED, GRACE_MS, patience } from './abort.ts';
import { isBlank, textBlock } from './blocks.ts';

/** Appends a body and tells of it. */
export function* keep(session: Session, body: EntryBody): Generator<Event, Entry> {
  const entry = session.append(body);
  yield { type: 'entry', entry };
  return entry;
}

/** Keeps what hooks said, and gives the line with which they stop what they were told of. An interrupt leaves out what they would have said. */
export async function* heard(saying: Promise<HookSaid>, session: Session, signal: AbortSignal): AsyncGenerator<Event, string | undefined> {
  try {
    const said = await patience(signal).await(saying);
    if (said === ABORTED) return undefined;
    for (const body of said.entries) yield* keep(session, body);
    return said.stop;
  } catch (thrown) {
    yield { type: 'fault', where: 'hooks', message: messageOf(thrown) };
    return undefined;
  }
}

/**
 * Sends a request and yields what is to be seen of its answer. After an interrupt the port may wind up for a moment; if
 * it does not, the reply is made of the text that came until then. A port that throws is a failed reply.
 */
export async function* ask(request: ModelRequest, model: ModelPort, signal: AbortSignal): AsyncGenerator<Event, Reply> {
  const stream = model.stream(request, signal);
  const wait = patience(signal, GRACE_MS);
  let text = '';
  try {
    for (;;) {
      const next = await wait.await(stream.next());
      if (next === ABORTED) return interruptedReply(text, request.model);
      if (next.done === true) return next.value;
      if (next.value.type === 'text') text += next.value.text;
      if (next.value.type === 'discarded') text = '';
      yield eventOf(next.value);
    }
  } catch (thrown) {
    return { kind: 'failed', why: 'server', message: `The model client failed: ${messageOf(thrown)}` };
  } finally {
    abandon(stream);
  }
}

function interruptedReply(text: string, model: string): Reply {
  return { kind: 'interrupted', content: isBlank(text) ? [] : [textBlock(text)], usage: NO_USAGE, model };
}

function eventOf(delta: ModelDelta): Event {
  switch (delta.type) {
    case 'text': return { type: 'textDelta', text: delta.text };
    case 'thinking': return { type: 'thinkingDelta', text: delta.text, ...(delta.tokens === undefined ? {} : { tokens: delta.tokens }) };
    case 'call': return { type: 'callDelta', tool: delta.tool, chars: delta.chars };
    default: return delta;
  }
}
