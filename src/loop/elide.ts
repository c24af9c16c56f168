import { cutToLength } from '#lib/text.ts';
import type { ContentBlock, MessageParam } from '#domain/content.ts';
import type { ModelRequest } from '#domain/request.ts';
import { isThinking, textBlock } from './blocks.ts';

/** How much of a request is left out so that it can be summarised; each one more than the one before. */
export interface Savings {
  /** The share of tool results (oldest first) whose content is left out, 0…1. */
  readonly results: number;
  readonly media: boolean;
  readonly thinking: boolean;
  /** Most UTF-16 units of any one text, except in the last message. */
  readonly text: number;
}

export const NOTHING_SAVED: Savings = { results: 0, media: false, thinking: false, text: Number.POSITIVE_INFINITY };

/** Steps from the whole request to its bones. Once something earlier is changed, no thinking fits any more. */
export const SAVINGS: readonly Savings[] = [
  NOTHING_SAVED,
  { ...NOTHING_SAVED, results: 0.5, thinking: true },
  { ...NOTHING_SAVED, results: 1, media: true, thinking: true },
  { results: 1, media: true, thinking: true, text: 1000 },
];

/** The request without what the savings leave out. The very same request when they leave out nothing. */
export function elided(request: ModelRequest, savings: Savings): ModelRequest {
  if (savings === NOTHING_SAVED) return request;
  const results = request.messages.reduce((sum, { content }) => sum + blocksOf(content).filter(({ type }) => type === 'tool_result').length, 0);
  const state = { left: Math.ceil(results * savings.results) };
  const last = request.messages.length - 1;
  const messages = request.messages.map((message, at): MessageParam => {
    const limits = { ...savings, text: at === last ? Number.POSITIVE_INFINITY : savings.text };
    if (message.role === 'system') return message;
    return { role: message.role, content: blocksOf(message.content).flatMap((block) => shrunk(block, limits, state)) };
  });
  return { ...request, messages, origins: messages.map(({ content }) => blocksOf(content).map(() => ({ what: 'note' as const, entries: [] }))) };
}

function shrunk(block: ContentBlock, savings: Savings, state: { left: number }): ContentBlock[] {
  if (isThinking(block)) return savings.thinking ? [] : [block];
  if (block.type === 'text') return [block.text.length > savings.text ? textBlock(cut(block.text, savings.text)) : block];
  if ((block.type === 'image' || block.type === 'document') && savings.media) return [textBlock(`[${block.type} left out to save room]`)];
  if (block.type === 'tool_use' && Number.isFinite(savings.text)) return [JSON.stringify(block.input).length > savings.text ? { ...block, input: {} } : block];
  if (block.type !== 'tool_result' || state.left === 0) return [block];
  state.left -= 1;
  return [{ ...block, content: [textBlock('[left out to save room]')] }];
}

/** Beginning and end of a text: what it is about stands in the one, how it ended in the other. */
function cut(text: string, limit: number): string {
  const half = Math.floor(limit / 2);
  const from = text.length - half;
  const tail = text.slice(/[\udc00-\udfff]/.test(text.charAt(from)) ? from + 1 : from);
  return `${cutToLength(text, half)}\n[…]\n${tail}`;
}

function blocksOf(content: MessageParam['content']): readonly ContentBlock[] {
  return typeof content === 'string' ? [textBlock(content)] : content;
}
