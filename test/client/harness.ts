import type { MessageParam, TextBlock, ToolDefinition } from '#domain/content.ts';
import type { ModelFacts } from '#domain/model.ts';
import type { ModelDelta, Reply } from '#domain/ports.ts';
import type { CacheMarks, ModelRequest } from '#domain/request.ts';
import { type Client, type ClientOptions, createClient } from '#client/anthropic.ts';

export const NO_MARKS: CacheMarks = { system: false, blocks: [] };

export const OPUS: ModelFacts = {
  id: 'claude-opus-5-5', label: 'Opus 5.5', window: 1_000_000, maxOutput: 128_000, images: true, pdf: true,
  efforts: ['low', 'medium', 'high', 'xhigh', 'max'], defaultEffort: 'medium', thinking: 'adaptive', minimumCacheable: 512, known: true,
};

export const READ: ToolDefinition = { name: 'read', description: 'Reads a file.', input_schema: { type: 'object', properties: { path: { type: 'string' } } } };
export const SYSTEM: TextBlock = { type: 'text', text: 'You are a careful helper.' };

export function ask(words: string): MessageParam {
  return { role: 'user', content: [{ type: 'text', text: words }] };
}

export function requestOf(messages: readonly MessageParam[], more: Partial<ModelRequest> = {}): ModelRequest {
  return { model: OPUS.id, system: [SYSTEM], tools: [READ], messages, origins: [], headEnd: 0, answered: 0, ...more };
}

/** A client with a dummy key, waits of a millisecond and deadlines of tests. */
export function clientFor(url: string, more: Partial<ClientOptions> = {}): Client {
  return createClient({
    baseURL: url, apiKey: 'test-key', facts: (id) => ({ ...OPUS, id, label: id }), ...more,
    deadlines: { headersMs: 5_000, idleMs: 5_000, stallMs: 5_000, totalMs: 10_000, ...more.deadlines },
    retry: { tries: 3, budgetMs: 5_000, baseMs: 1, capMs: 2, overloadedBaseMs: 1, overloadedCapMs: 2, ...more.retry },
  });
}

export interface Drained {
  readonly reply: Reply;
  readonly deltas: readonly ModelDelta[];
  /** Text as a screen would show it at the end: what was discarded is gone. */
  readonly seen: string;
  readonly waits: readonly Extract<ModelDelta, { readonly type: 'waiting' }>[];
  readonly faults: readonly string[];
}

/** Runs a stream to its end; `on` may act on each delta. */
export async function drain(stream: AsyncGenerator<ModelDelta, Reply>, on: (delta: ModelDelta) => void = () => undefined): Promise<Drained> {
  const deltas: ModelDelta[] = [];
  let seen = '';
  for (;;) {
    const next = await stream.next();
    if (next.done === true) {
      return {
        reply: next.value, deltas, seen,
        waits: deltas.filter((delta) => delta.type === 'waiting'),
        faults: deltas.flatMap((delta) => (delta.type === 'fault' ? [delta.message] : [])),
      };
    }
    deltas.push(next.value);
    if (next.value.type === 'text') seen += next.value.text;
    if (next.value.type === 'discarded') seen = '';
    on(next.value);
  }
}

export function run(client: Client, request: ModelRequest = requestOf([ask('hi')]), signal: AbortSignal = new AbortController().signal, marks: CacheMarks = NO_MARKS): Promise<Drained> {
  return drain(client.stream(request, marks, signal));
}

/** The reply of a run that must have ended well. */
export function messageOf({ reply }: Drained): Extract<Reply, { readonly kind: 'message' }> {
  if (reply.kind !== 'message') throw new Error(`no message: ${JSON.stringify(reply)}`);
  return reply;
}
