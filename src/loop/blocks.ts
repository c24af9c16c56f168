import type Anthropic from '@anthropic-ai/sdk';
import { defuse } from '#lib/defuse.ts';
import { wellFormed } from '#lib/text.ts';
import type { ContentBlock, MediaPart, Part, TextBlock, TextPart } from '#domain/content.ts';
import type { EntryOf } from '#domain/entry.ts';
import type { BlobPort } from '#domain/ports.ts';
import { REMINDER_TAG } from '#domain/reminder.ts';
import { repaired } from './repair.ts';

export type MediaBlock = Anthropic.ImageBlockParam | Anthropic.DocumentBlockParam;
export type ResultBlock = Anthropic.ToolResultBlockParam;
export type ReferenceBlock = Anthropic.ToolReferenceBlockParam;
export type ResultContent = TextBlock | MediaBlock | ReferenceBlock;

export const NO_OUTPUT = '(no output)';
export const EMPTY_PROMPT = '(empty message)';
export const NO_RESULT = 'There is no result: the call was cut off before it finished. It may have run in part.';
export const LEFT_OUT = '(taken out of the conversation by the user)';

export function isBlank(text: string): boolean {
  return text.trim() === '';
}

export function textBlock(text: string): TextBlock {
  return { type: 'text', text };
}

const cleaned = new WeakMap<TextPart, string>();

/** Text that others wrote, fit for a request: no lone surrogate, no look-alike of the program's own tag. */
export function clean(text: string): string {
  return defuse(wellFormed(text), REMINDER_TAG);
}

function cleanPart(part: TextPart): string {
  const known = cleaned.get(part);
  if (known !== undefined) return known;
  const text = clean(part.text);
  cleaned.set(part, text);
  return text;
}

/** A picture or PDF as the API takes it; a line of text where its bytes are gone, empty or left out. */
export function mediaBlock(part: MediaPart, blobs: BlobPort, leftOut: boolean): MediaBlock | TextBlock {
  const name = clean(part.name.replace(/\s+/g, ' ')).trim() || part.mime;
  if (leftOut) return textBlock(`[${name}: left out of the conversation]`);
  const data = encoded.get(part) ?? encode(part, blobs);
  if (data === '') return textBlock(`[${name}: its contents are no longer stored]`);
  return part.mime === 'application/pdf'
    ? { type: 'document', source: { type: 'base64', media_type: part.mime, data } }
    : { type: 'image', source: { type: 'base64', media_type: part.mime, data } };
}

/** Kept by the part, which lives as long as its log: each request holds the same pictures again. */
const encoded = new WeakMap<MediaPart, string>();

function encode(part: MediaPart, blobs: BlobPort): string {
  const bytes = blobs.get(part.blob.hash);
  if (bytes === undefined) return '';
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  encoded.set(part, data);
  return data;
}

/** Texts that are not blank, fit for a request but for tags: whoever wraps them defuses them, and a text is defused once. */
export function textsOf(parts: readonly Part[]): string[] {
  return parts.flatMap((part) => (part.type === 'text' && !isBlank(part.text) ? [wellFormed(part.text)] : []));
}

export function mediaOf(parts: readonly Part[]): MediaPart[] {
  return parts.filter((part): part is MediaPart => part.type === 'media');
}

const SAID_OF = {
  ok: NO_OUTPUT,
  failed: 'The tool failed and gave no reason.',
  refused: 'The call was refused.',
  interrupted: 'The user interrupted the call before it finished. It may have run in part.',
} as const;

/**
 * What a call's result looks like on the wire, without its id. A result that is an error may hold text only; one that refers
 * to tools (`loadable`: those of the request that are deferred) may hold nothing else.
 */
export function resultContent(entry: EntryOf<'toolResult'>, blobs: BlobPort, leftOut: { whole: boolean; media: boolean }, loadable: ReadonlySet<string>): { content: ResultContent[]; isError: boolean } {
  const { kind, content, loads = [] } = entry.result;
  const isError = kind !== 'ok';
  if (leftOut.whole) return { content: [textBlock(LEFT_OUT)], isError };
  const references = isError ? [] : [...new Set(loads.map(({ name }) => name))].filter((name) => loadable.has(name));
  if (references.length > 0) return { content: references.map((name): ReferenceBlock => ({ type: 'tool_reference', tool_name: name })), isError };
  const blocks: ResultContent[] = content.flatMap((part): ResultContent[] => {
    if (part.type === 'text') return isBlank(part.text) ? [] : [textBlock(cleanPart(part))];
    return [mediaBlock(part, blobs, leftOut.media || isError)];
  });
  if (blocks.length === 0) blocks.push(textBlock(SAID_OF[kind]));
  else if (kind === 'interrupted') blocks.push(textBlock('(interrupted by the user)'));
  return { content: blocks, isError };
}

export function shellText(entry: EntryOf<'shell'>, leftOut: boolean): string {
  if (leftOut) return LEFT_OUT;
  const output = isBlank(entry.output) ? NO_OUTPUT : entry.output;
  const ending = entry.task !== undefined ? `it goes on in the background as ${entry.task}` : entry.exitCode === null ? 'it was stopped' : `exit code ${entry.exitCode}`;
  return clean(`I ran this command myself:\n$ ${entry.command}\n${output}\n(${ending})`);
}

export function summaryText(summary: string): string {
  return clean(`The conversation before this point was replaced by this summary, to save room:\n\n${isBlank(summary) ? '(nothing was noted)' : summary}`);
}

/** A call as it stands in the log, and the id under which the request knows it. */
export interface WireCall {
  readonly raw: string;
  readonly id: string;
}

export interface AssistantView {
  readonly blocks: readonly ContentBlock[];
  readonly calls: readonly WireCall[];
}

/** Server-side results that may stand in an assistant message, besides text, thinking and calls. */
const SERVER_RESULTS = new Set<string>([
  'web_search_tool_result', 'web_fetch_tool_result', 'code_execution_tool_result', 'bash_code_execution_tool_result',
  'text_editor_code_execution_tool_result', 'tool_search_tool_result',
]);

/**
 * The blocks of an answer as they are sent back: verbatim, less what the API would refuse. Blocks of a kind that is not
 * known are not sent. `idFor` gives a call an id that no other call of the request has.
 */
export function assistantView(entry: EntryOf<'assistant'>, how: { readonly stripped: boolean; readonly leftOut: boolean }, idFor: (raw: string) => string): AssistantView {
  const calls: WireCall[] = [];
  const blocks: ContentBlock[] = [];
  for (const block of entry.content) {
    const sent = sentBack(block, entry.stop === 'interrupted', how);
    if (sent === undefined) continue;
    if (sent.type !== 'tool_use') {
      blocks.push(sent);
      continue;
    }
    const id = idFor(sent.id);
    calls.push({ raw: sent.id, id });
    const { name, input } = repaired(sent);
    blocks.push({ ...repaired(sent), id, name: toolName(name), input: how.leftOut ? {} : toolInput(input) });
  }
  if (how.leftOut && entry.content.length > 0) blocks.unshift(textBlock(LEFT_OUT));
  return { calls, blocks: blocks.some((block) => !isThinking(block)) ? blocks : [] };
}

function sentBack(block: ContentBlock, interrupted: boolean, how: { readonly stripped: boolean; readonly leftOut: boolean }): ContentBlock | undefined {
  if (interrupted && block.type !== 'text') return undefined;
  if (how.leftOut) return block.type === 'tool_use' ? block : undefined;
  if (isThinking(block)) return how.stripped || !isWhole(block) ? undefined : block;
  if (block.type === 'text') return typeof block.text === 'string' && !isBlank(block.text) ? repaired(block) : undefined;
  if (block.type === 'tool_use') return block;
  return block.type === 'server_tool_use' || SERVER_RESULTS.has(block.type) ? repaired(block) : undefined;
}

export type ThinkingBlock = Anthropic.ThinkingBlockParam | Anthropic.RedactedThinkingBlockParam;

export function isThinking(block: ContentBlock): block is ThinkingBlock {
  return block.type === 'thinking' || block.type === 'redacted_thinking';
}

/** Thinking goes back byte for byte or not at all: without a signature, or with text that no request can hold, not at all. */
function isWhole(block: ThinkingBlock): boolean {
  if (repaired(block) !== block) return false;
  return block.type === 'thinking' ? typeof block.signature === 'string' && block.signature !== '' : block.data !== '';
}

function toolName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unknown';
}

function toolInput(input: unknown): object {
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? input : { value: input ?? null };
}
