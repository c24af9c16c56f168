import * as z from 'zod';
import type { Card } from '#domain/card.ts';
import type { ToolDefinition } from '#domain/content.ts';
import type { ToolOutcome, ToolPort } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import { loadedToolsOf } from '#domain/folds.ts';
import type { Call, DeferredTool } from '#domain/tool.ts';
import type { Json } from '#lib/brand.ts';
import { messageOf } from '#lib/errors.ts';
import { shelf } from '#lib/shelf.ts';
import type { BadInput, Bound, Tool, ToolContext } from './define.ts';
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
}

export interface Toolbox extends ToolPort {
  deferred(): readonly DeferredTool[];
}

/**
 * The tools as the loop sees them. Whatever happens in a call, there is one outcome: bad input, an unknown tool and a tool
 * that throws are failed results, an interrupt is answered within 100 ms. Definitions are made once and are sorted by name,
 * so that their bytes stay the same from request to request.
 */
export function createToolbox(options: ToolboxOptions): Toolbox {
  const { context } = options;
  const tools = new Map(shelf('tools', options.tools).map((tool) => [tool.id, tool]));
  let definitions: readonly ToolDefinition[] | undefined;
  let deferred: readonly DeferredTool[] | undefined;
  return {
    definitions: () => definitions ??= [...tools.values()].filter((tool) => tool.deferred === undefined).map(definitionOf).sort((a, b) => (a.name < b.name ? -1 : 1)),
    deferred: () => deferred ??= [...tools.values()].flatMap(deferredOf).sort((a, b) => (a.definition.name < b.definition.name ? -1 : 1)),
    effect: (call) => tools.get(call.tool)?.effect,
    preview: async (call, session) => preview(tools.get(call.tool), call, session, context),
    async *run(call, session, signal) {
      const bound = bind(tools, call);
      if (!bound.ok) return settle(failed(call.tool, `${bound.message}${howToLoad(call.tool, session, context)}`));
      if (signal.aborted) return settle(interrupted(bound.title, 'Interrupted by the user before it began. Nothing was done.'));
      const judged = options.judged?.(call);
      return settle(yield* guarded(bound.run({ ...context, session, signal, callId: call.id, ...(judged !== undefined && { judged }) }), bound.title, signal));
    },
  };
}

/** JSON Schema of a tool's input, as the API takes it. */
export function definitionOf(tool: Tool): ToolDefinition {
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
  return tool.deferred === undefined ? [] : [{ definition: definitionOf(tool), summary: tool.deferred, threads: tool.threads }];
}

/** The model may call a tool of which it never saw the definition: bad input is then no wonder. */
function howToLoad(name: string, session: Session, context: ToolContext): string {
  const unseen = context.loadable(session).some(({ definition }) => definition.name === name) && !loadedToolsOf(session.log).some((tool) => tool.name === name);
  return unseen ? `. Its fields are seen once it is loaded: ToolSearch with the query select:${name}` : '';
}

function bind(tools: ReadonlyMap<string, Tool>, call: Call): Bound | BadInput {
  const tool = tools.get(call.tool);
  if (tool === undefined) return { ok: false, message: `there is no tool "${call.tool}"; there are ${[...tools.keys()].sort().join(', ')}` };
  if (isBrokenJson(call.input)) {
    return { ok: false, message: `the input of this ${call.tool} call was not valid JSON (cut short?); nothing was done. Send it again; write long content in several parts` };
  }
  return tool.bind(withoutNulls(call.input));
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
    const bound = tool === undefined || isBrokenJson(call.input) ? undefined : tool.bind(withoutNulls(call.input));
    if (bound?.ok === true) return await bound.preview({ ...context, session });
    return { title: call.tool, detail: bound === undefined ? 'cannot be run' : bound.message, tone: 'bad', body: [] };
  } catch (error) {
    return { title: call.tool, detail: messageOf(error), tone: 'bad', body: [] };
  }
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

function settle(outcome: ToolOutcome): ToolOutcome {
  return { ...outcome, result: atIntake(outcome.result) };
}
