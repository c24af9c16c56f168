import { setTimeout as sleep } from 'node:timers/promises';
import { DEMO_MODEL } from '#domain/model.ts';
import { createPromptCache, tokensOfText } from './cache.ts';
import type { Turn } from './rule.ts';
import { replyTo } from './rules.ts';
import { shaped, withoutShaping } from './shaped.ts';
import { type DemoRequest, viewOf } from './view.ts';

export interface DemoOptions {
  /** Milliseconds between two pieces of an answer; 0 sends it at once. Default: 6. */
  readonly paceMs?: number;
}

/**
 * The built-in model that needs no key and no network: a `fetch` for the same SDK client that talks to the real API, so that
 * the production path is the path that runs. Rule-based; its prompt cache behaves as the API's.
 */
export function demoFetch({ paceMs = 6 }: DemoOptions = {}): typeof fetch {
  const cache = createPromptCache();
  let ids = 0;
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : String(input));
    init?.signal?.throwIfAborted();
    if (!url.pathname.endsWith('/v1/messages')) return fault(404, 'not_found_error', 'The demo model serves /v1/messages only.');
    const request = parsed(await bodyText(input, init));
    if (request === undefined) return fault(400, 'invalid_request_error', 'The body is no JSON object with messages.');
    const usage = cache.use({ ...request, model: request.model ?? DEMO_MODEL });
    const talk = viewOf(request);
    const turn = shaped(replyTo(withoutShaping(talk)), request, talk);
    ids += 1;
    const events = eventsOf(turn, { id: `msg_demo_${ids}`, call: `toolu_demo_${Date.now().toString(36)}_${ids}`, model: request.model ?? DEMO_MODEL, usage });
    return new Response(stream(events, paceMs, init?.signal ?? undefined), { headers: { 'content-type': 'text/event-stream', 'request-id': `req_demo_${ids}` } });
  };
}

async function bodyText(input: Parameters<typeof fetch>[0], init: RequestInit | undefined): Promise<string> {
  if (typeof init?.body === 'string') return init.body;
  return input instanceof Request && init?.body === undefined ? input.text() : new Response(init?.body ?? null).text();
}

function parsed(body: string): DemoRequest | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && 'messages' in value && Array.isArray(value.messages) ? (value as DemoRequest) : undefined;
  } catch {
    return undefined;
  }
}

function fault(status: number, type: string, message: string): Response {
  return Response.json({ type: 'error', error: { type, message } }, { status });
}

interface Frame {
  readonly event: { readonly type: string; readonly [key: string]: unknown };
  /** Whether to pause after it. */
  readonly pause: boolean;
}

function* eventsOf(turn: Turn, at: { id: string; call: string; model: string; usage: object }): Generator<Frame> {
  const frame = (event: Frame['event'], pause = false): Frame => ({ event, pause });
  const output = tokensOfText(`${turn.say ?? ''}${turn.call === undefined ? '' : JSON.stringify(turn.call.input)}`);
  yield frame({ type: 'message_start', message: { id: at.id, type: 'message', role: 'assistant', model: at.model, content: [], stop_reason: null, stop_sequence: null, usage: { ...at.usage, output_tokens: 1 } } });
  let index = 0;
  if (turn.say !== undefined && turn.say.trim() !== '') {
    yield frame({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } });
    for (const text of piecesOf(turn.say)) yield frame({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } }, true);
    yield frame({ type: 'content_block_stop', index });
    index += 1;
  }
  if (turn.call !== undefined) {
    yield frame({ type: 'content_block_start', index, content_block: { type: 'tool_use', id: at.call, name: turn.call.tool, input: {} } });
    yield frame({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: JSON.stringify(turn.call.input) } }, true);
    yield frame({ type: 'content_block_stop', index });
  }
  yield frame({ type: 'message_delta', delta: { stop_reason: turn.call === undefined ? 'end_turn' : 'tool_use', stop_sequence: null }, usage: { output_tokens: Math.max(1, output) } });
  yield frame({ type: 'message_stop' });
}

/** Words with the blanks after them, a few at a time: as a model's answer arrives. */
function piecesOf(text: string): readonly string[] {
  return text.match(/(?:\S+\s*|\s+){1,4}/g) ?? [text];
}

function stream(frames: Iterable<Frame>, paceMs: number, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const iterator = frames[Symbol.iterator]();
  return new ReadableStream({
    async pull(controller) {
      if (signal?.aborted === true) return controller.error(signal.reason);
      const next = iterator.next();
      if (next.done === true) return controller.close();
      controller.enqueue(encoder.encode(`event: ${next.value.event.type}\ndata: ${JSON.stringify(next.value.event)}\n\n`));
      if (next.value.pause && paceMs > 0) await sleep(paceMs, undefined, signal === undefined ? {} : { signal });
    },
    cancel: () => { iterator.return?.(); },
  });
}

