import * as z from 'zod';
import type { McpPrompt } from '#domain/mcp.ts';
import { messageOf } from '#lib/errors.ts';
import { oneLine } from '#lib/names.ts';
import { count, wellFormed } from '#lib/text.ts';
import { type ContentDoors, resourcePiece } from './content.ts';
import type { Link } from './connect.ts';
import { recordOf } from './lists.ts';

const MOST_BYTES = 200_000;
const anything = z.record(z.string(), z.unknown());

/** The messages of a filled prompt as one text. `problem`: one line. */
export async function fillPrompt(link: Link, prompt: McpPrompt, args: Readonly<Record<string, string>>, doors: Pick<ContentDoors, 'envelope'>, signal: AbortSignal): Promise<{ readonly text: string } | { readonly problem: string }> {
  try {
    const { messages } = await link.client.request({ method: 'prompts/get', params: { name: prompt.name, arguments: { ...args } } }, anything, { signal });
    const all = (Array.isArray(messages) ? messages : []).map(recordOf).map((message) => ({ role: message['role'], text: textOf(message['content'], prompt.server, doors) })).filter(({ text }) => text.trim() !== '');
    const several = all.some(({ role }) => role === 'assistant');
    const text = wellFormed(all.map((one) => (several && one.role === 'assistant' ? `[The prompt has an answer here:]\n${one.text}` : one.text)).join('\n\n'));
    if (text.trim() === '') return { problem: `the prompt ${oneLine(prompt.name, 80)} of ${prompt.server} has no text.` };
    return Buffer.byteLength(text) > MOST_BYTES ? { problem: `the prompt ${oneLine(prompt.name, 80)} of ${prompt.server} has ${count(Buffer.byteLength(text), 'byte')}; at most ${MOST_BYTES} are sent.` } : { text };
  } catch (error) {
    return { problem: `${prompt.server} did not give its prompt ${oneLine(prompt.name, 80)}: ${oneLine(messageOf(error), 500)}.` };
  }
}

function textOf(content: unknown, server: string, doors: Pick<ContentDoors, 'envelope'>): string {
  return (Array.isArray(content) ? content : [content]).map(recordOf).map((block) => {
    if (block['type'] === 'text') return typeof block['text'] === 'string' ? block['text'] : '';
    if (block['type'] !== 'resource') return `[${oneLine(String(block['type']), 40)}: left out]`;
    const piece = resourcePiece(recordOf(block['resource']), server, doors);
    return 'text' in piece ? piece.text : `[${'note' in piece ? piece.note : `${oneLine(piece.label)}: left out`}]`;
  }).join('\n');
}
