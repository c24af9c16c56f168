import { expect } from 'vitest';
import * as z from 'zod';
import type { Product, Running } from './product.ts';
import { until } from './product.ts';

const uuid = z.uuid();
const count = z.number().int().nonnegative();
const parent = z.string().nullable();
const own = { session_id: uuid, uuid };

const usage = z.strictObject({
  input_tokens: count, output_tokens: count, cache_read_input_tokens: count, cache_creation_input_tokens: count,
  cache_creation: z.strictObject({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count }), server_tool_use: z.strictObject({ web_search_requests: count }).optional(),
});
const text = z.strictObject({ type: z.literal('text'), text: z.string() });
const media = z.strictObject({ type: z.enum(['image', 'document']), source: z.strictObject({ type: z.literal('base64'), media_type: z.string(), data: z.string().min(1) }) });
const replyBlock = z.union([
  text, z.strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
  z.strictObject({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.record(z.string(), z.unknown()) }),
]);
const result = z.strictObject({ type: z.literal('tool_result'), tool_use_id: z.string(), content: z.union([z.string().min(1), z.array(z.union([text, media]))]), is_error: z.literal(true).optional() });

const assistant = z.strictObject({
  type: z.literal('assistant'), parent_tool_use_id: parent, ...own,
  message: z.strictObject({ id: z.string(), type: z.literal('message'), role: z.literal('assistant'), model: z.string(), content: z.array(replyBlock).min(1), stop_reason: z.string().nullable(), stop_sequence: z.null(), usage }),
});
const user = z.strictObject({
  type: z.literal('user'), parent_tool_use_id: parent, ...own, isReplay: z.literal(true).optional(), isSynthetic: z.literal(true).optional(), origin: z.unknown().optional(), tool_use_result: z.unknown().optional(),
  message: z.strictObject({ role: z.literal('user'), content: z.union([z.string(), z.array(z.union([text, media, result]))]) }),
});
const event = z.strictObject({
  type: z.literal('stream_event'), parent_tool_use_id: parent, ...own,
  event: z.looseObject({ type: z.enum(['message_start', 'content_block_start', 'content_block_delta', 'content_block_stop', 'message_delta', 'message_stop']) }),
});
const system = <T extends z.ZodRawShape>(subtype: string, fields: T) => z.strictObject({ type: z.literal('system'), subtype: z.literal(subtype), ...own, ...fields });
const names = z.array(z.string());
const hook = { hook_id: z.string(), hook_name: z.string(), hook_event: z.string() };

const SYSTEM = [
  system('init', {
    cwd: z.string(), tools: names.min(5), mcp_servers: z.array(z.strictObject({ name: z.string(), status: z.enum(['connected', 'failed', 'needs-auth', 'pending', 'disabled']) })), model: z.string(),
    permissionMode: z.string(), slash_commands: names.min(5), apiKeySource: z.string(), pinion_version: z.string(), claude_code_version: z.string(), output_style: z.string(), agents: names, skills: names,
    plugins: z.array(z.unknown()), effort: z.string().optional(), betas: names, capabilities: names,
  }),
  system('status', { status: z.enum(['compacting']).nullable(), permissionMode: z.string().optional() }),
  system('compact_boundary', { compact_metadata: z.strictObject({ trigger: z.enum(['manual', 'auto']), pre_tokens: count }) }),
  system('api_retry', { attempt: count, max_retries: count, retry_delay_ms: count, error_status: z.number().nullable(), error: z.enum(['authentication_failed', 'rate_limit', 'invalid_request', 'server_error', 'unknown']), message: z.string() }),
  system('permission_denied', { tool_name: z.string(), tool_use_id: z.string(), agent_id: z.string().optional(), decision_reason_type: z.enum(['rule', 'mode', 'hook', 'other']).optional(), decision_reason: z.string(), message: z.string() }),
  system('informational', { content: z.string().min(1), level: z.enum(['info', 'warning', 'error']) }),
  system('local_command_output', { content: z.string() }),
  system('task_started', { task_id: z.string(), description: z.string(), task_type: z.string() }),
  system('task_notification', { task_id: z.string(), status: z.enum(['completed', 'failed', 'stopped']), output_file: z.string(), summary: z.string() }),
  system('hook_started', hook),
  system('hook_progress', { ...hook, output: z.string(), stdout: z.string(), stderr: z.string() }),
  system('hook_response', { ...hook, output: z.string(), stdout: z.string(), stderr: z.string(), exit_code: z.number().optional(), outcome: z.enum(['success', 'error', 'cancelled']) }),
];

const RESULT = z.strictObject({
  type: z.literal('result'), subtype: z.enum(['success', 'error_max_turns', 'error_during_execution', 'error_max_budget_usd', 'error_max_structured_output_retries']), ...own, is_error: z.boolean(), duration_ms: count, duration_api_ms: count, num_turns: count,
  result: z.string(), stop_reason: z.string().nullable(), terminal_reason: z.string(), total_cost_usd: z.number().nonnegative(), model: z.string(),
  usage: z.strictObject({ input_tokens: count, output_tokens: count, cache_read_input_tokens: count, cache_creation_input_tokens: count }),
  modelUsage: z.record(z.string(), z.strictObject({ inputTokens: count, outputTokens: count, cacheReadInputTokens: count, cacheCreationInputTokens: count, webSearchRequests: count, costUSD: z.number().nonnegative(), contextWindow: count, maxOutputTokens: count })),
  permission_denials: z.array(z.strictObject({ tool_name: z.string(), tool_use_id: z.string(), tool_input: z.unknown() })), errors: names.optional(), structured_output: z.unknown().optional(),
});

const CONTROL = [
  z.strictObject({ type: z.literal('control_request'), request_id: uuid, request: z.looseObject({ subtype: z.literal('can_use_tool'), tool_name: z.string(), input: z.unknown() }) }),
  z.strictObject({ type: z.literal('control_cancel_request'), request_id: uuid }),
  z.strictObject({ type: z.literal('control_response'), response: z.union([
    z.strictObject({ subtype: z.literal('success'), request_id: z.string(), response: z.record(z.string(), z.unknown()) }), z.strictObject({ subtype: z.literal('error'), request_id: z.string(), error: z.string() }),
  ]) }),
];

export type Result = z.infer<typeof RESULT>;
export type Line = { readonly type: string; readonly subtype?: string; readonly [field: string]: unknown };

/** The lines of a stream, each checked against the shape that its type has. A piece of a line at the end is left out. */
export function linesIn(stdout: string): readonly Line[] {
  return stdout.split('\n').slice(0, -1).map((line) => {
    // eslint-disable-next-line no-control-regex -- what must not be there
    expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\\ud[89ab]..(?!\\ud[c-f])/);
    const value = JSON.parse(line) as Line;
    const shape = shapeOf(value);
    const checked = shape.safeParse(value);
    expect(checked.success ? '' : `${line.slice(0, 600)}\n${z.prettifyError(checked.error)}`).toBe('');
    return value;
  });
}

function shapeOf(value: Line): z.ZodType {
  switch (value.type) {
    case 'assistant': return assistant;
    case 'user': return user;
    case 'stream_event': return event;
    case 'result': return RESULT;
    case 'system': return SYSTEM.find(({ shape }) => shape.subtype.value === value.subtype) ?? z.never();
    default: return CONTROL.find(({ shape }) => shape.type.value === value.type) ?? z.never();
  }
}

/** A whole stream: `init` stands first, a result last, all of one session, each line with an id of its own. */
export function streamIn(stdout: string): { readonly lines: readonly Line[]; readonly result: Result; ofType(type: string, subtype?: string): readonly Line[] } {
  expect(stdout.endsWith('\n')).toBe(true);
  const lines = linesIn(stdout);
  expect(lines[0]).toMatchObject({ type: 'system', subtype: 'init' });
  expect(lines.at(-1)).toMatchObject({ type: 'result' });
  const spoken = lines.filter((line) => 'uuid' in line);
  expect(new Set(spoken.map((line) => line['session_id'])).size).toBe(1);
  expect(new Set(spoken.map((line) => line['uuid'])).size).toBe(spoken.length);
  return { lines, result: lines.at(-1) as unknown as Result, ofType: (type, subtype) => lines.filter((line) => line.type === type && (subtype === undefined || line.subtype === subtype)) };
}

/** Somebody who speaks with the program line by line. */
export interface Talk extends Running {
  lines(): readonly Line[];
  send(value: unknown): void;
  say(content: unknown, more?: object): void;
  /** Resolves with the first line that fits, from the `from`th on. */
  line(fits: (line: Line) => boolean, from?: number): Promise<Line>;
  /** Resolves with the `n`th result (from 1). */
  result(n?: number): Promise<Result>;
}

export const STREAMS = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json'];

export function talk(place: Product, args: readonly string[] = []): Talk {
  const running = place.start([...STREAMS, ...args], { open: true });
  let parsed: readonly Line[] = [];
  let upTo = 0;
  const lines = (): readonly Line[] => {
    const stdout = running.stdout();
    const end = stdout.lastIndexOf('\n') + 1;
    if (end > upTo) parsed = [...parsed, ...linesIn(stdout.slice(upTo, end))];
    upTo = end;
    return parsed;
  };
  const send = (value: unknown): void => { running.write(`${JSON.stringify(value)}\n`); };
  const line = async (fits: (line: Line) => boolean, from = 0): Promise<Line> => {
    await until(() => lines().slice(from).some(fits));
    return lines().slice(from).find(fits) ?? { type: '' };
  };
  return {
    ...running, lines, send, line,
    say: (content, more = {}) => { send({ type: 'user', message: { role: 'user', content }, ...more }); },
    async result(n = 1) {
      const results = (): readonly Line[] => lines().filter(({ type }) => type === 'result');
      await until(() => results().length >= n);
      return results()[n - 1] as unknown as Result;
    },
  };
}
