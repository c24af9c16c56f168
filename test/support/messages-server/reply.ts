import { tokensOfText, type CacheUsage } from '#client/demo/cache.ts';
import { extend, prefixOf, sign } from './binding.ts';
import { obj, type Obj, text } from './shape.ts';

/** A block of a scripted reply. A call's `json` is sent in place of its input, byte for byte. Thinking is signed by the server. */
export type ReplyBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string }
  | { readonly type: 'redacted_thinking' }
  | { readonly type: 'tool_use'; readonly name: string; readonly input: unknown; readonly id?: string; readonly json?: string }
  /** A block of any other type, sent whole in its start event. */
  | { readonly type: 'raw'; readonly block: Obj };

export interface ScriptedReply {
  readonly content: readonly ReplyBlock[];
  /** Default: `tool_use` when there is a call, else `end_turn`. */
  readonly stop?: string | null;
  readonly stopDetails?: Obj;
  /** Overrides single figures of the simulated usage. */
  readonly usage?: Obj;
  /** Most characters in one delta. Default 40. */
  readonly piece?: number;
  /** Milliseconds before the headers. */
  readonly delayMs?: number;
  /** Milliseconds between events. */
  readonly gapMs?: number;
}

/** A scripted refusal: an error with its HTTP status. */
export interface ScriptedError {
  readonly error: { readonly status: number; readonly type: string; readonly message: string; readonly details?: Obj };
  readonly headers?: Readonly<Record<string, string>>;
}

export const say = (words: string, more: Omit<ScriptedReply, 'content'> = {}): ScriptedReply => ({ content: [{ type: 'text', text: words }], ...more });

export const call = (name: string, input: unknown, id?: string): ReplyBlock => ({ type: 'tool_use', name, input, ...(id === undefined ? {} : { id }) });

export const think = (thinking: string): ReplyBlock => ({ type: 'thinking', thinking });

export const failWith = (status: number, type: string, message: string, headers: Readonly<Record<string, string>> = {}, details?: Obj): ScriptedError =>
  ({ error: { status, type, message, ...(details === undefined ? {} : { details }) }, headers });

export interface Rendered {
  /** The whole message, as a request without `stream` gets it. */
  readonly message: Obj;
  /** The same as server-sent events, in order. */
  readonly events: readonly Obj[];
}

/** Makes a reply to a request: signs its thinking, numbers its calls, and cuts it into events. */
export function renderReply(body: Obj, reply: ScriptedReply, usage: CacheUsage, ids: { next(prefix: string): string }, defaultDisplay: 'omitted' | 'summarized'): Rendered {
  const model = text(body['model']);
  const blocks = blocksToSend(body, reply, ids, text(obj(body['thinking'])['display']) || defaultDisplay);
  const stop = reply.stop === undefined ? (blocks.some(({ block }) => block['type'] === 'tool_use') ? 'tool_use' : 'end_turn') : reply.stop;
  const output = { output_tokens: blocks.reduce((sum, { block }) => sum + tokensOfText(JSON.stringify(block)), 1) };
  const whole = { ...usage, ...output, service_tier: 'standard', ...reply.usage };
  const start = { id: ids.next('msg'), type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null, usage: { ...whole, output_tokens: 1 } };
  const ending = { stop_reason: stop, stop_sequence: null, ...(reply.stopDetails === undefined ? {} : { stop_details: reply.stopDetails }) };
  return {
    message: { ...start, ...ending, content: blocks.map(({ block }) => block), usage: whole },
    events: [
      { type: 'message_start', message: start },
      { type: 'ping' },
      ...blocks.flatMap((block, index) => eventsOf(block, index, reply.piece ?? 40)),
      { type: 'message_delta', delta: ending, usage: { output_tokens: whole.output_tokens } },
      { type: 'message_stop' },
    ],
  };
}

interface Sent {
  readonly block: Obj;
  readonly json?: string;
}

function blocksToSend(body: Obj, reply: ScriptedReply, ids: { next(prefix: string): string }, display: string): readonly Sent[] {
  const model = text(body['model']);
  let prefix = prefixOf(body);
  return reply.content.map((scripted) => {
    const sent = sentOf(scripted, ids, display);
    const signed = scripted.type === 'thinking' ? { ...sent.block, signature: sign(model, prefix, sent.block) }
      : scripted.type === 'redacted_thinking' ? { ...sent.block, data: sign(model, prefix, sent.block) } : sent.block;
    prefix = extend(prefix, 'assistant', signed);
    return { ...sent, block: signed };
  });
}

function sentOf(scripted: ReplyBlock, ids: { next(prefix: string): string }, display: string): Sent {
  switch (scripted.type) {
    case 'text': return { block: { type: 'text', text: scripted.text } };
    case 'thinking': return { block: { type: 'thinking', thinking: display === 'omitted' ? '' : scripted.thinking } };
    case 'redacted_thinking': return { block: { type: 'redacted_thinking' } };
    case 'tool_use': return {
      block: { type: 'tool_use', id: scripted.id ?? ids.next('toolu'), name: scripted.name, input: scripted.input },
      json: scripted.json ?? JSON.stringify(scripted.input),
    };
    case 'raw': return { block: scripted.block };
  }
}

function eventsOf({ block, json }: Sent, index: number, piece: number): readonly Obj[] {
  const delta = (change: Obj): Obj => ({ type: 'content_block_delta', index, delta: change });
  const stop = { type: 'content_block_stop', index };
  const start = (first: Obj): Obj => ({ type: 'content_block_start', index, content_block: first });
  if (block['type'] === 'text') {
    return [start({ type: 'text', text: '' }), ...cut(text(block['text']), piece).map((part) => delta({ type: 'text_delta', text: part })), stop];
  }
  if (block['type'] === 'thinking') {
    const parts = cut(text(block['thinking']), piece).map((part) => delta({ type: 'thinking_delta', thinking: part }));
    return [start({ type: 'thinking', thinking: '', signature: '' }), ...parts, delta({ type: 'signature_delta', signature: block['signature'] }), stop];
  }
  if (block['type'] === 'tool_use' && json !== undefined) {
    const parts = ['', ...cut(json, piece)].map((part) => delta({ type: 'input_json_delta', partial_json: part }));
    return [start({ ...block, input: {} }), ...parts, stop];
  }
  return [start(block), stop];
}

/** Parts of at most `size` code points. */
function cut(whole: string, size: number): readonly string[] {
  const points = Array.from(whole);
  return Array.from({ length: Math.ceil(points.length / size) }, (_, at) => points.slice(at * size, (at + 1) * size).join(''));
}
