import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '#lib/brand.ts';
import type { ContentBlock, StopReason, Usage } from '#domain/content.ts';
import type { Entry, EntryBody, Event, HeadBody } from '#domain/entry.ts';
import { undeliveredOf } from '#domain/folds.ts';
import type { Collected, Fit, ModelDelta, Outcome, Ports, Reply, ToolOutcome, Verdict } from '#domain/ports.ts';
import type { Moment, ReminderBody, SourceId } from '#domain/reminder.ts';
import type { ModelRequest } from '#domain/request.ts';
import type { Session } from '#domain/session.ts';
import type { Call } from '#domain/tool.ts';
import { query } from '#loop/query.ts';
import { checkRequest, flatten } from '../support/checker.ts';
import { memoryBlobs, memorySession } from '../support/logs.ts';

export const USAGE: Usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 };

/** What a scripted model does with one request. */
export type Scripted = Reply | ((request: ModelRequest, signal: AbortSignal) => AsyncGenerator<ModelDelta, Reply>);

export const message = (content: readonly ContentBlock[], stop: StopReason = 'end_turn', detail?: string): Reply => (
  { kind: 'message', content, usage: USAGE, stop, model: 'm', ...(detail === undefined ? {} : { detail }) });
export const says = (text: string, stop: StopReason = 'end_turn'): Reply => message([{ type: 'text', text }], stop);
export const asks = (...calls: readonly ContentBlock[]): Reply => message(calls, 'tool_use');
export const fails = (why: Extract<Reply, { kind: 'failed' }>['why'], at?: { message: number; block: number }): Reply => (
  { kind: 'failed', why, message: `it failed: ${why}`, ...(at === undefined ? {} : { at }) });

export interface Script {
  readonly replies?: readonly Scripted[];
  readonly tools?: Readonly<Record<string, { effect?: 'reads' | 'writes' | 'executes'; run: (call: Call, signal: AbortSignal) => AsyncGenerator<string, ToolOutcome> | Promise<string> | string }>>;
  readonly verdict?: (call: Call, signal: AbortSignal) => Verdict | Promise<Verdict>;
  readonly goOn?: (what: string) => boolean | Promise<boolean>;
  readonly collect?: (moment: Moment, session: Session, signal: AbortSignal) => Collected | Promise<Collected>;
  readonly fit?: (request: ModelRequest) => Fit | Promise<Fit>;
  readonly head?: () => HeadBody;
  readonly window?: number;
}

export interface Rig {
  readonly session: Session & { readonly log: Entry[] };
  readonly ports: Ports;
  readonly requests: ModelRequest[];
  readonly moments: Moment[];
  readonly events: Event[];
  /** Runs a turn to its end and checks that every request was valid. */
  turn(text: string | undefined, options?: { signal?: AbortSignal; maxSteps?: number }): Promise<Outcome>;
  types(): string[];
}

/** Delivers queued words as the product's own source does. */
export const deliverQueue = (moment: Moment, session: Session): Collected => {
  const queued = undeliveredOf(session.log);
  const last = queued.at(-1);
  if (last === undefined) return { reminders: [], faults: [] };
  const reminder: ReminderBody = { type: 'reminder', moment, source: 'queued_commands' as SourceId, form: 'delta', parts: [], userTexts: queued.map(({ text }) => text), snapshot: last.id };
  return { reminders: [reminder], faults: [] };
};

export const toolText = (text: string): ToolOutcome => ({ result: { kind: 'ok', content: [{ type: 'text', text }], card: { title: 'tool', body: [] } } });

async function* scripted(reply: Scripted | undefined, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelDelta, Reply> {
  if (reply === undefined) throw new Error('the script has no reply for this request');
  if (typeof reply === 'function') return yield* reply(request, signal);
  if (reply.kind === 'message') for (const block of reply.content) if (block.type === 'text') yield { type: 'text', text: block.text };
  return reply;
}

async function* running(tool: NonNullable<Script['tools']>[string] | undefined, call: Call, signal: AbortSignal): AsyncGenerator<string, ToolOutcome> {
  const made = tool?.run(call, signal) ?? '';
  if (typeof made === 'object' && Symbol.asyncIterator in made) return yield* made;
  return toolText(await made);
}

export function rig(script: Script = {}, bodies: readonly EntryBody[] = []): Rig {
  const session = memorySession(bodies);
  const requests: ModelRequest[] = [];
  const moments: Moment[] = [];
  const events: Event[] = [];
  const replies = [...script.replies ?? []];
  const tools = script.tools ?? {};
  const ports: Ports = {
    model: {
      stream(request, signal) {
        requests.push(request);
        return scripted(replies.shift(), request, signal);
      },
      fit: async (request) => await script.fit?.(request) ?? { tokens: 100, limit: 1000, fits: true },
      facts: () => ({ id: 'm', label: 'M', window: script.window ?? 200_000, maxOutput: 1000, images: true, pdf: true, efforts: [], thinking: 'adaptive', minimumCacheable: 512, known: true }),
    },
    tools: {
      definitions: () => Object.keys(tools).map((name) => ({ name, input_schema: { type: 'object' as const } })),
      effect: ({ tool }) => (tools[tool] === undefined ? undefined : tools[tool].effect ?? 'executes'),
      preview: async ({ tool }) => ({ title: tool, body: [] }),
      run: (call, _session, signal) => running(tools[call.tool], call, signal),
    },
    reminders: {
      async collect(moment, at, signal) {
        moments.push(moment);
        return await script.collect?.(moment, at, signal) ?? { reminders: [], faults: [] };
      },
    },
    gate: {
      ask: async (call, _session, signal) => await script.verdict?.(call, signal) ?? { kind: 'allow' },
      goOn: async (what) => await script.goOn?.(what) ?? false,
    },
    world: { now: () => new Date(0), blobs: memoryBlobs(), head: script.head ?? (() => ({ type: 'head', system: [{ type: 'text', text: 'You help.' }], tools: [], model: 'm' })) },
  };
  return {
    session, ports, requests, moments, events,
    async turn(text, { signal = new AbortController().signal, maxSteps = 20 } = {}) {
      const run = query(session, text === undefined ? undefined : { text }, ports, signal, { maxSteps });
      for (;;) {
        const next = await run.next();
        if (next.done === true) {
          const faults = requests.flatMap((request) => checkRequest(request));
          if (faults.length > 0) throw new Error(faults.join('\n'));
          return next.value;
        }
        events.push(next.value);
      }
    },
    types: () => session.log.map(({ type }) => type),
  };
}

/** The text that the model was given in a request, a block a line. */
export function shown(request: ModelRequest | undefined): string[] {
  return request === undefined ? [] : flatten(request);
}

export function lastResults(session: Session): { kind: string; text: string }[] {
  return session.log.flatMap((entry) => (entry.type === 'toolResult' ? [{ kind: entry.result.kind, text: entry.result.content.map((part) => (part.type === 'text' ? part.text : part.name)).join('|') }] : []));
}

/** Never answers, and takes no notice of an interrupt. */
export async function never(): Promise<never> {
  await new Promise(() => undefined);
  throw new Error('unreachable');
}

export { sleep };
export const json = (value: unknown): Json => value as Json;
