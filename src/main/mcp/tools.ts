import * as z from 'zod';
import type { Card } from '#domain/card.ts';
import type { ToolDefinition } from '#domain/content.ts';
import { headOf, loadedToolsOf } from '#domain/folds.ts';
import type { ToolOutcome } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { Json } from '#lib/brand.ts';
import { oneLine } from '#lib/names.ts';
import { count, cutToLength } from '#lib/text.ts';
import type { CallEnd } from '#mcp/call.ts';
import type { Content } from '#mcp/content.ts';
import { hashOf } from '#mcp/described.ts';
import { BYTES_PER_TOKEN } from '#mcp/limits.ts';
import type { McpTool } from '#mcp/servers.ts';
import type { RunContext, Tool } from '#tools/define.ts';
import { done, failed, interrupted } from '#tools/result.ts';

export interface ForeignDoors {
  /** Most tokens of text in one result; asked anew at each. */
  readonly outputTokens: () => number;
  /** What came back as parts for the model. */
  readonly content: (result: unknown, label: string, session: Session, signal: AbortSignal) => Promise<Content>;
  /** The user has let this tool run as it is described now. */
  readonly onRun: (tool: McpTool) => void;
}

const SUMMARY = 200;
const SHOWN_IN_CARD = 4000;

/** The definition of a server's tool. Without words of its own it has some of ours. */
export function definitionOf({ name, original, server, description, schema }: McpTool): ToolDefinition {
  return { name, description: description === '' ? `${oneLine(original, 80)}, a tool of the MCP server ${oneLine(server, 80)}.` : description, input_schema: { ...schema, type: 'object' } };
}

export function foreignTool(tool: McpTool, doors: ForeignDoors): Tool {
  const definition = definitionOf(tool);
  const said = tool.description === '' ? '' : oneLine(tool.description.split('\n', 1)[0] ?? '', SUMMARY);
  return {
    id: tool.name, description: definition.description ?? '', effect: 'executes', threads: 'all', deferred: said === '' ? oneLine(`${tool.original} of ${tool.server}`, SUMMARY) : said,
    input: z.unknown(), definition, alwaysLoad: tool.alwaysLoad, gone: tool.gone, get mostBytes() { return doors.outputTokens() * BYTES_PER_TOKEN + 4096; },
    bind(input) {
      if (typeof input !== 'object' || input === null || Array.isArray(input)) return { ok: false, message: `${tool.name} was called with input that is no object` };
      const given = withoutNulls(input as Readonly<Record<string, Json>>, tool.schema);
      const title = titleOf(tool, given);
      return {
        ok: true, title,
        run: (context) => run(tool, given, title, doors, context),
        preview: (): Card => ({ title, detail: `a tool of the MCP server ${oneLine(tool.server, 60)}`, body: [...(tool.description === '' ? [] : [{ type: 'text' as const, text: tool.description }]), { type: 'code', text: JSON.stringify(given, undefined, 2), language: 'json' }] }),
      };
    },
  };
}

function titleOf({ server, original }: McpTool, input: Readonly<Record<string, Json>>): string {
  const words = Object.values(input).filter((value) => typeof value === 'string' || typeof value === 'number').map(String).join(' ');
  return `${oneLine(server, 40)}: ${oneLine(original, 60)}${words === '' ? '' : ` ${oneLine(words, 80)}`}`;
}

/** Models send `null` for what they leave out; it stays where the schema speaks of null. */
function withoutNulls(input: Readonly<Record<string, Json>>, { properties }: Readonly<Record<string, Json>>): Readonly<Record<string, Json>> {
  const fields = typeof properties === 'object' && properties !== null && !Array.isArray(properties) ? properties as Readonly<Record<string, Json>> : {};
  return Object.fromEntries(Object.entries(input).filter(([key, value]) => value !== null || !Object.hasOwn(fields, key) || JSON.stringify(fields[key]).includes('null')));
}

async function* run(tool: McpTool, input: Readonly<Record<string, Json>>, title: string, doors: ForeignDoors, { session, signal }: RunContext): AsyncGenerator<string, ToolOutcome> {
  if (tool.gone) return failed(title, `The MCP server ${tool.server} is not connected any more, or has no such tool now.`);
  const changed = changeSince(tool, session);
  doors.onRun(tool);
  const end: CallEnd = yield* tool.call(input, session, signal);
  if (end.kind === 'interrupted') return interrupted(title, 'Interrupted by the user; the server was told. What it has done by then is not known.');
  if (end.kind === 'problem') return failed(title, end.why);
  const { parts, notes } = await doors.content(end.result, `${tool.server} ${tool.original}`, session, signal);
  const more = [...notes, ...(changed === undefined ? [] : [changed])].map((note) => ({ type: 'text' as const, text: `[${note}]` }));
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const shown = cutToLength(texts.join('\n'), SHOWN_IN_CARD);
  const card: Card = { title, detail: detailOf(parts.length - texts.length, texts, notes), body: shown === '' ? [] : [{ type: 'text', text: shown }] };
  const content = parts.length === 0 && more.length === 0 ? [{ type: 'text' as const, text: '(no output)' }] : [...parts, ...more];
  if (end.kind === 'ok') return done(content, card);
  return { result: { kind: 'failed', content, card: { ...card, tone: 'bad', detail: `failed: ${cutToLength(oneLine(texts[0] ?? 'the server does not say why', 200), 120)}` } } };
}

function detailOf(media: number, texts: readonly string[], notes: readonly string[]): string {
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  return [...(characters === 0 ? [] : [count(characters, 'character')]), ...(media === 0 ? [] : [count(media, 'picture or document', 'pictures or documents')]), ...(notes.length === 0 ? [] : [count(notes.length, 'note')])].join(', ') || 'no output';
}

/** The definition of a tool as the model of a session knows it. */
export function knownDefinition(name: string, { log }: Session): ToolDefinition | undefined {
  return headOf(log)?.tools.find((tool) => tool.name === name) ?? loadedToolsOf(log).find((tool) => tool.name === name);
}

/** What the model is to know where the server says something else of a tool than when the model was told of it. */
function changeSince(tool: McpTool, session: Session): string | undefined {
  const known = knownDefinition(tool.name, session);
  const now = definitionOf(tool);
  if (known === undefined || hashOf(known) === hashOf(now)) return undefined;
  const what = known.description === now.description ? 'takes other fields now' : `says of this tool now: ${oneLine(cutToLength(now.description ?? '', 600), 600)}`;
  return `since this tool was loaded, its server has changed it: it ${what}${hashOf({ ...known, description: '' }) === hashOf({ ...now, description: '' }) ? '' : `. Its input schema now: ${cutToLength(JSON.stringify(now.input_schema), 2000)}`}`;
}
