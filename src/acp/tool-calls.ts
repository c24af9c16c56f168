import { isAbsolute, resolve } from 'node:path';
import type { ToolCall, ToolCallContent, ToolCallLocation, ToolCallUpdate, ToolKind } from '@agentclientprotocol/sdk';
import type { Json } from '#lib/brand.ts';
import { sanitise } from '#lib/terminal.ts';
import type { Card } from '#domain/card.ts';
import type { Call, ToolResult } from '#domain/tool.ts';
import { diffContent, hunksOf } from './diffs.ts';
import { blockMarkdown, cardTitle, fence } from './markdown.ts';

const KINDS: Readonly<Record<string, ToolKind>> = {
  Read: 'read', Write: 'edit', Edit: 'edit', NotebookEdit: 'edit', Glob: 'search', Grep: 'search', ToolSearch: 'search', LSP: 'search',
  Bash: 'execute', TaskOutput: 'read', TaskStop: 'execute', WebFetch: 'fetch', WebSearch: 'fetch', Task: 'think', TodoWrite: 'think', Skill: 'read', ExitPlanMode: 'switch_mode',
};

export function kindOf(tool: string): ToolKind {
  return Object.hasOwn(KINDS, tool) ? KINDS[tool] ?? 'other' : 'other';
}

/** Most files that the result of one call names; a search finds any number. */
const MOST_LOCATIONS = 10;

/** A call that the model has just made: nobody has looked at it yet. */
export function announced(call: Call, cwd: string): ToolCall {
  return { toolCallId: call.id, title: titleOf(call), name: call.tool, kind: kindOf(call.tool), status: 'pending', rawInput: call.input, ...placed(locationsOf(call, undefined, cwd)) };
}

/** A call with its look: before it has run, or while it is asked about. */
export function shown(call: Call, card: Card, status: 'pending' | 'in_progress', cwd: string): ToolCallUpdate {
  return {
    toolCallId: call.id, title: cardTitle(card), name: call.tool, kind: kindOf(call.tool), status, rawInput: call.input,
    content: [...contentOf(call, card, cwd)], ...placed(locationsOf(call, card, cwd)),
  };
}

/** What a tool at work says now, in place of what it said before. */
export function progressing(toolCallId: string, call: Call | undefined, text: string): ToolCallUpdate {
  return { toolCallId, status: 'in_progress', content: [textContent(call?.tool === 'Bash' ? fence(text) : sanitise(text))] };
}

export function finished(call: Call, result: ToolResult, cwd: string): ToolCallUpdate {
  const { card, kind } = result;
  const files = new Map((result.files ?? []).map(({ path }) => [path, { path }]));
  const own = locationsOf(call, card, cwd);
  const content = contentOf(call, card, cwd);
  const touched = files.size > MOST_LOCATIONS ? [] : [...files.values()].filter(({ path }) => !own.some((one) => one.path === path));
  return {
    toolCallId: call.id, title: cardTitle(card), status: kind === 'ok' ? 'completed' : 'failed',
    content: content.length > 0 || kind === 'ok' ? [...content] : whyOf(result), ...placed([...own, ...touched]),
  };
}

const MOST_WHY = 2000;

function whyOf({ content }: ToolResult): ToolCallContent[] {
  const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  const why = fence(text.length > MOST_WHY ? `${text.slice(0, MOST_WHY)}…` : text);
  return why === '' ? [] : [textContent(why)];
}

function placed(locations: readonly ToolCallLocation[]): { locations?: ToolCallLocation[] } {
  return locations.length === 0 ? {} : { locations: [...locations] };
}

const textContent = (text: string): ToolCallContent => ({ type: 'content', content: { type: 'text', text } });

/** A card's blocks: diffs of a file as such, all else as Markdown. */
export function contentOf(call: Call, card: Card, cwd: string): readonly ToolCallContent[] {
  const path = kindOf(call.tool) === 'edit' ? pathOf(call, cwd) : undefined;
  return card.body.flatMap((block): readonly ToolCallContent[] => {
    if (block.type === 'diff' && path !== undefined) return wholeOf(call, path, block.patch) ?? diffContent(path, block.patch);
    const text = blockMarkdown(block);
    return text === '' ? [] : [textContent(text)];
  });
}

/** A new file is shown whole, though its card shows the beginning only. */
function wholeOf(call: Call, path: string, patch: string): readonly ToolCallContent[] | undefined {
  const text = call.tool === 'Write' ? field(call.input, 'content') : undefined;
  return text !== undefined && hunksOf(patch)[0]?.made === true ? [{ type: 'diff', path, oldText: null, newText: text }] : undefined;
}

const MOST_TITLE = 200;

function titleOf(call: Call): string {
  const what = ['file_path', 'notebook_path', 'path', 'command', 'pattern', 'url', 'query', 'description', 'skill'].map((name) => field(call.input, name)).find((text) => text !== undefined && text.trim() !== '');
  const line = sanitise((what ?? '').slice(0, MOST_TITLE), { newlines: false });
  return line === '' ? call.tool : `${call.tool} ${line}`;
}

/** Where a call looks or writes: one file, with its line where that is known. */
function locationsOf(call: Call, card: Card | undefined, cwd: string): readonly ToolCallLocation[] {
  const path = pathOf(call, cwd);
  if (path === undefined) return [];
  const patch = card?.body.find((block) => block.type === 'diff');
  const offset = valueOf(call.input, 'offset');
  const line = patch?.type === 'diff' ? hunksOf(patch.patch)[0]?.line : typeof offset === 'number' && Number.isInteger(offset) && offset > 0 ? offset : undefined;
  return [{ path, ...(line !== undefined && { line }) }];
}

/** The absolute path that a call of a tool of ours names. Tools of others may mean anything by such a word. */
function pathOf({ tool, input }: Call, cwd: string): string | undefined {
  if (!Object.hasOwn(KINDS, tool)) return undefined;
  const path = field(input, 'file_path') ?? field(input, 'notebook_path') ?? field(input, 'path');
  if (path === undefined || path === '' || path.includes('\0')) return undefined;
  return isAbsolute(path) ? path : resolve(cwd, path);
}

function valueOf(input: Json, name: string): unknown {
  return typeof input === 'object' && input !== null ? Object.entries(input).find(([key]) => key === name)?.[1] : undefined;
}

function field(input: Json, name: string): string | undefined {
  const value = valueOf(input, name);
  return typeof value === 'string' ? value : undefined;
}
