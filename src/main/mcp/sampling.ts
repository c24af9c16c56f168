import { DEMO_MODEL, SMALL_MODEL } from '#domain/model.ts';
import type { Session } from '#domain/session.ts';
import type { ModelRequest } from '#domain/request.ts';
import { oneLine } from '#lib/names.ts';
import type { SampleDoors, SampleRequest } from '#mcp/sample.ts';
import type { Beside } from '#main/beside.ts';
import type { ModelDesk } from '#main/wire-model.ts';

/** Characters that one token has at most, in what is streamed: beyond them an answer is cut off. */
const CHARACTERS_PER_TOKEN = 6;

/** Asks a small model for a server, in a request that holds nothing of the conversation; what it cost stands in the session's log. */
export function createSampler(desk: ModelDesk, tell: Beside['tell']): SampleDoors['sample'] {
  return async (asked, session, signal) => {
    const model = desk.id() === DEMO_MODEL || !desk.facts().known ? desk.id() : SMALL_MODEL;
    const port = desk.port(session, () => model);
    const request = requestOf(asked, model);
    const fit = await port.fit(request);
    if (fit.unaffordable !== undefined) return { problem: `Refused: ${fit.unaffordable}` };
    if (!fit.fits) return { problem: 'Refused: it is too long for the model.' };
    const enough = new AbortController();
    const stream = port.stream(request, AbortSignal.any([signal, enough.signal]));
    let characters = 0;
    let next = await stream.next();
    for (; next.done !== true; next = await stream.next()) {
      if (next.value.type === 'text') characters += next.value.text.length;
      if (characters > asked.maxTokens * CHARACTERS_PER_TOKEN) enough.abort(new Error('the answer is long enough'));
    }
    const reply = next.value;
    if (reply.kind === 'failed') return { problem: reply.message };
    keepCost(session, asked.server, model, reply.usage, tell);
    if (signal.aborted) return { problem: 'Interrupted by the user.' };
    const text = reply.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
    if (text.trim() === '') return { problem: 'The model gave no answer.' };
    return { text, model, stop: reply.kind === 'message' && reply.stop === 'end_turn' ? 'endTurn' : 'maxTokens' };
  };
}

function keepCost(session: Session, server: string, model: string, usage: Extract<Session['log'][number], { type: 'spent' }>['usage'], tell: Beside['tell']): void {
  tell(session, { type: 'entry', entry: session.append({ type: 'spent', what: `for the MCP server ${oneLine(server, 60)}`, model, usage, requests: 1 }) });
}

function requestOf({ system, messages, maxTokens }: SampleRequest, model: string): ModelRequest {
  const all = messages.at(-1)?.role === 'assistant' ? [...messages, { role: 'user' as const, text: 'Go on.' }] : messages;
  const sent = all.map(({ role, text }) => ({ role, content: [{ type: 'text' as const, text }] }));
  return {
    model, system: [{ type: 'text', text: `${system === '' ? '' : `${system}\n\n`}Answer with at most ${maxTokens} tokens.` }], tools: [], messages: sent, headEnd: 0, answered: 0,
    origins: sent.map(({ content }) => content.map(() => ({ what: 'note' as const, entries: [] }))),
  };
}
