import type { Call } from '#domain/tool.ts';
import type { Entry } from '#domain/entry.ts';
import type { Outcome } from '#domain/ports.ts';
import type { Json } from '#lib/brand.ts';
import { count } from '#lib/text.ts';

/** A call that had to be asked for while nobody was there to ask. */
export interface Denial {
  readonly tool_name: string;
  readonly tool_use_id: string;
  readonly tool_input: Json;
}

/** The one object that `--output-format json` prints. Field names are those that programs of this field expect. */
export interface PrintResult {
  readonly type: 'result';
  readonly subtype: 'success' | 'error_max_turns' | 'error_max_budget_usd' | 'error_max_structured_output_retries' | 'error_during_execution';
  readonly is_error: boolean;
  readonly result: string;
  readonly session_id: string;
  /** Model replies of this run; 0 for a slash command. */
  readonly num_turns: number;
  readonly duration_ms: number;
  readonly total_cost_usd: number;
  readonly usage: {
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly cache_read_input_tokens: number;
    readonly cache_creation_input_tokens: number;
  };
  readonly model: string;
  readonly permission_denials: readonly Denial[];
  /** Milliseconds that the model's answers took. */
  readonly duration_api_ms: number;
  /** Why the last reply ended, in the API's words; null where there is none. */
  readonly stop_reason: string | null;
  /** Why the run ended. */
  readonly terminal_reason: string;
  readonly modelUsage: Readonly<Record<string, ModelUsage>>;
  /** What went wrong; only where something did. */
  readonly errors?: readonly string[];
  /** With `--json-schema`: what the run came to; `result` is the same as text. */
  readonly structured_output?: Json;
  readonly uuid: string;
}

/** What one model was used for. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadInputTokens: number;
  readonly cacheCreationInputTokens: number;
  readonly webSearchRequests: number;
  readonly costUSD: number;
  readonly contextWindow: number;
  readonly maxOutputTokens: number;
}

export interface Run {
  readonly sessionId: string;
  /** Entries that this run added. */
  readonly entries: readonly Entry[];
  readonly outcome: Outcome;
  readonly durationMs: number;
  readonly usd: number | undefined;
  readonly model: string;
  readonly denials: readonly Call[];
  readonly apiMs: number;
  readonly models: Readonly<Record<string, ModelUsage>>;
  readonly uuid: string;
}

const SUBTYPES: Partial<Record<Outcome['kind'], PrintResult['subtype']>> = { outOfSteps: 'error_max_turns', outOfBudget: 'error_max_budget_usd' };

/** What a run came to. The text is the last answer's; a run that failed says why instead. */
export function resultOf(run: Run): PrintResult {
  const replies = run.entries.filter((entry) => entry.type === 'assistant');
  const spent = run.entries.flatMap((entry) => (entry.type === 'assistant' || entry.type === 'compaction' || entry.type === 'spent' ? [entry.usage] : []));
  const sum = (key: 'input' | 'output' | 'cacheRead' | 'cacheWrite'): number => spent.reduce((total, usage) => total + usage[key], 0);
  const failure = failureOf(run.outcome);
  return {
    type: 'result',
    subtype: failure === undefined ? 'success' : SUBTYPES[run.outcome.kind] ?? 'error_during_execution',
    is_error: failure !== undefined,
    result: failure ?? textOf(run.entries),
    session_id: run.sessionId,
    num_turns: replies.length,
    duration_ms: Math.round(run.durationMs),
    total_cost_usd: run.usd ?? 0,
    usage: { input_tokens: sum('input'), output_tokens: sum('output'), cache_read_input_tokens: sum('cacheRead'), cache_creation_input_tokens: sum('cacheWrite') },
    model: run.model,
    permission_denials: run.denials.map((call) => ({ tool_name: call.tool, tool_use_id: call.id, tool_input: call.input })),
    duration_api_ms: Math.round(run.apiMs),
    stop_reason: stopReason(replies.at(-1)?.stop),
    terminal_reason: terminalReason(run),
    modelUsage: run.models,
    ...(failure !== undefined && { errors: [failure] }),
    uuid: run.uuid,
  };
}

const stopReason = (stop: string | undefined): string | null => (stop === undefined || stop === 'interrupted' ? null : stop);

function terminalReason({ outcome, entries }: Run): string {
  switch (outcome.kind) {
    case 'answered': return 'completed';
    case 'interrupted': return entries.findLast(({ type }) => type === 'assistant' || type === 'toolResult')?.type === 'toolResult' ? 'aborted_tools' : 'aborted_streaming';
    case 'outOfSteps': return 'max_turns';
    case 'outOfBudget': return 'max_budget';
    case 'stopped': return 'stopped';
    case 'failed': return outcome.why === 'tooLong' ? 'prompt_too_long' : outcome.why === 'image' ? 'image_error' : 'model_error';
  }
}

/** Why the run did not come to an answer, in one line; undefined when it did. */
export function failureOf(outcome: Outcome): string | undefined {
  switch (outcome.kind) {
    case 'answered': return undefined;
    case 'interrupted': return 'interrupted';
    case 'outOfSteps': return `stopped after ${count(outcome.steps, 'model request')}, the most that --max-turns allows`;
    case 'outOfBudget':
    case 'stopped':
    case 'failed': return outcome.message;
  }
}

function textOf(entries: readonly Entry[]): string {
  const last = entries.findLast((entry) => entry.type === 'assistant');
  return last?.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n') ?? '';
}
