import type { Client } from '@modelcontextprotocol/client';
import * as z from 'zod';
import type { McpPrompt, McpResource } from '#domain/mcp.ts';
import type { Json } from '#lib/brand.ts';
import { messageOf } from '#lib/errors.ts';
import { oneLine } from '#lib/names.ts';
import { cutToBytes, wellFormed } from '#lib/text.ts';
import { exposedName } from './names.ts';
import { repairSchema } from './schema.ts';

/** A tool as its server describes it. `name` is the one that the model calls, `original` the server's. */
export interface FoundTool {
  readonly name: string;
  readonly original: string;
  readonly description: string;
  readonly schema: Record<string, Json>;
}

export interface FoundTools {
  readonly tools: readonly FoundTool[];
  /** Which tools could not be used, or were changed, one line each. */
  readonly notes: readonly string[];
}

const MOST_PAGES = 50;
const MOST_TOOLS = 512;
const MOST_OTHERS = 2000;
export const DESCRIPTION_BYTES = 2048;
const MOST_NOTES = 50;
const LONGEST_URI = 2048;

/** Whatever a server's own list holds, one odd item does not cost the others. */
const page = (key: string) => z.record(z.string(), z.unknown()).transform((result) => ({ items: Array.isArray(result[key]) ? result[key] as readonly unknown[] : [], next: typeof result['nextCursor'] === 'string' ? result['nextCursor'] : '' }));

async function all(client: Client, method: string, key: string, most: number, signal: AbortSignal): Promise<{ readonly items: readonly unknown[]; readonly cut: boolean }> {
  const items: unknown[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const result = await client.request({ method, params: cursor === undefined ? {} : { cursor } }, page(key), { signal });
    for (const item of result.items) items.push(item);
    const { next } = result;
    if (items.length > most) return { items: items.slice(0, most), cut: true };
    if (next === '' || next === cursor) return { items, cut: false };
    cursor = next;
  }
  return { items, cut: true };
}

export async function listTools(client: Client, slug: string, signal: AbortSignal): Promise<FoundTools> {
  const { items, cut } = await all(client, 'tools/list', 'tools', MOST_TOOLS, signal);
  const tools = new Map<string, FoundTool>();
  const notes: string[] = cut ? [`it has more than ${MOST_TOOLS} tools: only the first ${items.length} are used`] : [];
  for (const item of items) {
    const read = readTool(item, slug);
    if (typeof read === 'string') notes.push(read);
    else if (tools.has(read.name)) notes.push(`tool ${oneLine(read.original, 80)}: left out, there are two of that name`);
    else tools.set(read.name, read);
  }
  return { tools: [...tools.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), notes: notes.length <= MOST_NOTES ? notes : [...notes.slice(0, MOST_NOTES), `and ${notes.length - MOST_NOTES} more of the kind`] };
}

function readTool(item: unknown, slug: string): FoundTool | string {
  try {
    return toolOf(item, slug);
  } catch (error) {
    // Nested deeper than anything can be written again.
    return `tool ${oneLine(String(recordOf(item)['name']), 80)}: left out, ${messageOf(error)}`;
  }
}

/** A text: why it is left out. */
function toolOf(item: unknown, slug: string): FoundTool | string {
  const { name, description, inputSchema } = recordOf(item);
  if (typeof name !== 'string' || name === '') return 'a tool without a name: left out';
  const repaired = repairSchema(inputSchema);
  if (!repaired.ok) return `tool ${oneLine(name, 80)}: left out, ${oneLine(repaired.why, 200)}`;
  return { name: exposedName(slug, name), original: name, description: described(description), schema: repaired.schema };
}

function described(text: unknown): string {
  const whole = typeof text === 'string' ? wellFormed(text.slice(0, 4 * DESCRIPTION_BYTES)).trim() : '';
  const shown = cutToBytes(whole, DESCRIPTION_BYTES);
  return shown.length < whole.length ? `${shown}…` : shown;
}

export async function listResources(client: Client, server: string, signal: AbortSignal): Promise<readonly McpResource[]> {
  const { items } = await all(client, 'resources/list', 'resources', MOST_OTHERS, signal);
  return items.map(recordOf).flatMap(({ uri, name, title, description, mimeType }): readonly McpResource[] => (typeof uri !== 'string' || uri === '' || uri.length > LONGEST_URI ? [] : [{
    server, uri, name: textOr(title, textOr(name, uri)),
    ...(typeof description === 'string' && description !== '' && { description: textOr(description, '') }),
    ...(typeof mimeType === 'string' && { mime: textOr(mimeType, '') }),
  }]));
}

export async function listPrompts(client: Client, server: string, signal: AbortSignal): Promise<readonly McpPrompt[]> {
  const { items } = await all(client, 'prompts/list', 'prompts', MOST_OTHERS, signal);
  return items.map(recordOf).flatMap(({ name, description, title, arguments: args }): readonly McpPrompt[] => (typeof name !== 'string' || name === '' ? [] : [{
    server, name, description: textOr(description, textOr(title, '')),
    args: (Array.isArray(args) ? args : []).map(recordOf).flatMap((arg) => (typeof arg['name'] === 'string' && arg['name'] !== '' ? [{ name: arg['name'], description: textOr(arg['description'], ''), required: arg['required'] === true }] : [])),
  }]));
}

const LONGEST_TEXT = 1000;

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? wellFormed(value.slice(0, LONGEST_TEXT)) : otherwise;
}

export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value as Readonly<Record<string, unknown>> : {};
}
