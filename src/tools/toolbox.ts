import * as z from 'zod';
import type { Card } from '#domain/card.ts';
import type { ToolDefinition } from '#domain/content.ts';
import type { ToolOutcome, ToolPort } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import { loadedToolsOf } from '#domain/folds.ts';
import type { Amendment, Call, DeferredTool, ProposedFile } from '#domain/tool.ts';
import type { Json } from '#lib/brand.ts';
import { messageOf } from '#lib/errors.ts';
import { shelf } from '#lib/shelf.ts';
import type { BadInput, Bound, Tool, ToolContext } from './define.ts';
import { writeAmended } from './files/amended.ts';
import { atIntake, failed, interrupted } from './result.ts';

/** Milliseconds that a tool has after an interrupt to say itself what it had done. */
const LAST_WORD_MS = 30;

export interface ToolboxOptions {
  readonly tools: readonly Tool[];
  /** Tools of others that are connected now. */
  readonly foreign?: () => readonly Tool[];
  readonly context: ToolContext;
  /** The real paths for which a call was allowed: it uses no others. Undefined for one that nobody judged. */
  readonly judged?: (call: Call) => readonly string[] | undefined;
  /** What the user made of the file that a call proposed; it is written in place of that. */
  readonly amended?: (call: Call) => Amendment | undefined;
}

export interface Toolbox extends ToolPort {
  deferred(): readonly DeferredTool[];
  /** The text file that a call would leave. Undefined for a call that leaves none, or would fail. */
  propose(call: Call, session: Session): Promise<ProposedFile | undefined>;
}

/**
 * The tools as the loop sees them. Whatever happens in a call, there is one outcome: bad input, an unknown tool and a tool
 * that throws are failed results, an interrupt is answered within 100 ms. Definitions are made once and are sorted by name,
 * so that their bytes stay the same from request to request.
 */
export function createToolbox(options: ToolboxOptions): Toolbox {
  const { context } = options;
  const tools = new Map(shelf('tools', options.tools).map((tool) => [tool.id, tool]));
  const foreign = foreignTools(options.foreign ?? (() => []));
  const find = (name: string): Tool | undefined => tools.get(name) ?? foreign().byName.get(name);
  let definitions: readonly ToolDefinition[] | undefined;
  let deferred: readonly DeferredTool[] | undefined;
  return {
    definitions: () => definitions ??= [...tools.values()].filter((tool) => tool.deferred === undefined).map(definitionOf).sort((a, b) => (a.name < b.name ? -1 : 1)),
    deferred() {
      const others = foreign().deferred;
      deferred ??= [...tools.values()].flatMap(deferredOf).sort(byName);
      return others.length === 0 ? deferred : [...deferred, ...others].sort(byName);
    },
    effect: (call) => find(call.tool)?.effect,
    preview: async (call, session) => preview(find(call.tool), call, session, context),
    async *run(call, session, signal) {
      const bound = bind(find(call.tool), call, tools);
      if (!bound.ok) return settle(failed(call.tool, `${bound.message}${howToLoad(call.tool, session, context)}`));
      if (signal.aborted) return settle(interrupted(bound.title, 'Interrupted by the user before it began. Nothing was done.'));
      const judged = options.judged?.(call);
      const around = { ...context, session, signal, callId: call.id, ...(judged !== undefined && { judged }) };
      const amended = options.amended?.(call);
      return settle(yield* guarded(amended === undefined ? bound.run(around) : atOnce(writeAmended(bound.title, amended, around)), bound.title, signal), find(call.tool)?.mostBytes);
    },
    async propose(call, session) {
      const bound = bind(find(call.tool), call, tools);
      return bound.ok ? await bound.propose?.({ ...context, session }) : undefined;
    },
  };
}

/** JSON Schema of a tool's input, as the API takes it. */
export function definitionOf(tool: Tool): ToolDefinition {
  if (tool.definition !== undefined) return tool.definition;
  const { $schema: _, ...schema } = z.toJSONSchema(tool.input, { reused: 'inline', override: ({ jsonSchema }) => { shorten(jsonSchema); } });
  return { name: tool.id, description: tool.description, input_schema: { ...schema, type: 'object' } };
}

const NO_BOUND = 1_000_000;

/** What no model needs to be told: that text is not empty, and bounds that nobody reaches. Each request holds it. */
function shorten(schema: { minLength?: number | undefined; maximum?: number | undefined }): void {
  if (schema.minLength === 1) delete schema.minLength;
  if ((schema.maximum ?? 0) >= NO_BOUND) delete schema.maximum;
}

function deferredOf(tool: Tool): readonly DeferredTool[] {
  return tool.deferred === undefined || tool.gone === true ? [] : [{ definition: definitionOf(tool), summary: tool.deferred, threads: tool.threads, ...(tool.alwaysLoad === true && { alwaysLoad: true }) }];
}

const byName = (a: DeferredTool, b: DeferredTool): number => (a.definition.name < b.definition.name ? -1 : 1);

/** Tools of others, looked through once as long as the list is the same. */
function foreignTools(list: () => readonly Tool[]): () => { readonly byName: ReadonlyMap<string, Tool>; readonly deferred: readonly DeferredTool[] } {
  let seen: readonly Tool[] | undefined;
  let made = { byName: new Map<string, Tool>(), deferred: [] as readonly DeferredTool[] };
  return () => {
    const now = list();
    if (now !== seen) made = { byName: new Map(now.map((tool) => [tool.id, tool])), deferred: now.flatMap(deferredOf) };
    seen = now;
    return made;
  };
}

/** The model may call a tool of which it never saw the definition: bad input is then no wonder. */
function howToLoad(name: string, session: Session, context: ToolContext): string {
  const unseen = context.loadable(session).some(({ definition }) => definition.name === name) && !loadedToolsOf(session.log).some((tool) => tool.name === name);
  return unseen ? `. Its fields are seen once it is loaded: ToolSearch with the query select:${name}` : '';
}

function bind(tool: Tool | undefined, call: Call, tools: ReadonlyMap<string, Tool>): Bound | BadInput {
  if (tool === undefined) return { ok: false, message: `there is no tool "${call.tool}"; there are ${[...tools.keys()].sort().join(', ')}` };
  if (isBrokenJson(call.input)) {
    return { ok: false, message: `the input of this ${call.tool} call was not valid JSON (cut short?); nothing was done. Send it again; write long content in several parts` };
  }
  return tool.bind(inputOf(tool, call));
}

/** What another program is to be given is its own concern. */
function inputOf({ definition }: Tool, { input }: Call): Json {
  return definition === undefined ? withoutNulls(input) : input;
}

/** What the client makes of a call's input that does not parse. */
function isBrokenJson(input: Json): boolean {
  return typeof input === 'object' && input !== null && 'INVALID_JSON' in input;
}

/** Models send `null` for what they leave out; no field of ours takes one. */
function withoutNulls(input: Json): Json {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return input;
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null));
}

async function preview(tool: Tool | undefined, call: Call, session: Session, context: ToolContext): Promise<Card> {
  try {
    const bound = tool === undefined || isBrokenJson(call.input) ? undefined : tool.bind(inputOf(tool, call));
    if (bound?.ok === true) return await bound.preview({ ...context, session });
    return { title: call.tool, detail: bound === undefined ? 'cannot be run' : bound.message, tone: 'bad', body: [] };
  } catch (error) {
    return { title: call.tool, detail: messageOf(error), tone: 'bad', body: [] };
  }
}

async function* atOnce(outcome: Promise<ToolOutcome>): AsyncGenerator<string, ToolOutcome> {
  return await outcome;
}

async function* guarded(running: AsyncGenerator<string, ToolOutcome>, title: string, signal: AbortSignal): AsyncGenerator<string, ToolOutcome> {
  const late = graceAfter(signal);
  try {
    for (;;) {
      const step = await Promise.race([running.next(), late.passed]);
      if (step === undefined) {
        running.return(neverUsed).catch(() => undefined);
        return interrupted(title, 'Interrupted by the user before it was finished. It may be half done: look before you go on.');
      }
      if (step.done === true) return step.value;
      yield step.value;
    }
  } catch (error) {
    if (signal.aborted) return interrupted(title, 'Interrupted by the user before it was finished.');
    return failed(title, messageOf(error));
  } finally {
    late.clear();
  }
}

const neverUsed: ToolOutcome = interrupted('', '');

/** Resolves a little after the signal aborted; never without. */
function graceAfter(signal: AbortSignal): { readonly passed: Promise<undefined>; clear(): void } {
  let timer: NodeJS.Timeout | undefined;
  let start = (): void => undefined;
  const passed = new Promise<undefined>((resolve) => {
    start = () => { timer = setTimeout(() => { resolve(undefined); }, LAST_WORD_MS); };
  });
  signal.addEventListener('abort', start, { once: true });
  return {
    passed,
    clear() {
      signal.removeEventListener('abort', start);
      clearTimeout(timer);
    },
  };
}

function settle(outcome: ToolOutcome, mostBytes?: number): ToolOutcome {
  return { ...outcome, result: atIntake(outcome.result, mostBytes) };
}
