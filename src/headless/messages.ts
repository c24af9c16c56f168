import type { Json } from '#lib/brand.ts';
import type { ContentBlock, Part, Usage } from '#domain/content.ts';
import type { Entry, EntryOf, Event } from '#domain/entry.ts';
import { faultLine } from '#domain/fault.ts';
import type { HookNews } from '#domain/hooks.ts';
import type { BlobPort, FailureKind } from '#domain/ports.ts';
import type { CallId, ToolResult } from '#domain/tool.ts';
import { cardText } from './card-text.ts';

/** A line of the stream before it has its session and its own id. */
export interface Message {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Whose messages these are, and what is to be told. */
export interface Telling {
  /** The call that a sub-agent works for; null for the conversation itself. */
  readonly parent: CallId | null;
  /** The sub-agent's own name. */
  readonly agent?: string;
  readonly blobs: Pick<BlobPort, 'get'>;
  /** Reminders are told too. */
  readonly verbose: boolean;
  /** Whether the person decided about a call: their no is no news to them. */
  readonly asked: (call: CallId) => boolean;
}

/** What an entry of the log is on the stream: nothing, one line or more. */
export function messagesOf(entry: Entry, telling: Telling): readonly Message[] {
  const { parent } = telling;
  switch (entry.type) {
    case 'assistant': return entry.content.length === 0 ? [] : [{ type: 'assistant', message: replyOf(entry), parent_tool_use_id: parent }];
    case 'toolResult': return [...denialOf(entry, telling), resultMessage(entry, telling)];
    case 'reminder': return telling.verbose && entry.parts.length > 0
      ? [{ type: 'user', message: { role: 'user', content: entry.parts.map((part) => blockOf(part, telling.blobs)) }, parent_tool_use_id: parent, isSynthetic: true, origin: { kind: 'reminder', source: entry.source } }] : [];
    default: return parent === null ? systemOf(entry) : [];
  }
}

/** What happens for eyes only, as far as the stream tells of it. */
export function messagesOfEvent(event: Exclude<Event, { readonly type: 'entry' }>): readonly Message[] {
  switch (event.type) {
    case 'waiting': return [{
      type: 'system', subtype: 'api_retry', attempt: event.attempt, max_retries: event.most ?? event.attempt, retry_delay_ms: Math.round(event.ms),
      error_status: event.status ?? null, error: ERRORS[event.why ?? ''] ?? 'unknown', message: event.reason,
    }];
    case 'fault': return [informational(faultLine(event), 'warning')];
    case 'doing': return event.what === 'compacting' ? [{ type: 'system', subtype: 'status', status: 'compacting' }] : [];
    default: return [];
  }
}

export function informational(content: string, level: 'info' | 'warning' | 'error'): Message {
  return { type: 'system', subtype: 'informational', content, level };
}

/** A run of a hook. */
export function hookMessage(news: HookNews): Message {
  const about = { type: 'system', subtype: `hook_${news.type}`, hook_id: news.id, hook_name: news.name, hook_event: news.event };
  if (news.type === 'started') return about;
  const { stdout, stderr } = news;
  const said = { ...about, output: [stdout, stderr].filter((text) => text !== '').join('\n'), stdout, stderr };
  return news.type === 'progress' ? said : { ...said, ...(news.exitCode !== undefined && { exit_code: news.exitCode }), outcome: news.outcome };
}

/** Why a request failed, in the words of the field. */
const ERRORS: Readonly<Record<string, string>> = {
  auth: 'authentication_failed', permission: 'authentication_failed', limit: 'rate_limit', overloaded: 'server_error', server: 'server_error', network: 'server_error',
  invalid: 'invalid_request', tooLong: 'invalid_request', image: 'invalid_request', signature: 'invalid_request', notFound: 'invalid_request',
} satisfies Record<FailureKind, string>;

function systemOf(entry: Entry): readonly Message[] {
  const system = (subtype: string, fields: Readonly<Record<string, unknown>>): readonly Message[] => [{ type: 'system', subtype, ...fields }];
  switch (entry.type) {
    case 'compaction': return system('compact_boundary', { compact_metadata: { trigger: entry.trigger === 'manual' ? 'manual' : 'auto', pre_tokens: entry.tokensBefore } });
    case 'notice': return [informational(entry.text, entry.level)];
    case 'mode': return system('status', { status: null, permissionMode: entry.mode });
    case 'command': return system('local_command_output', { content: cardText(entry.card) });
    case 'task': return taskMessage(entry);
    default: return [];
  }
}

const ENDS = { done: 'completed', failed: 'failed', stopped: 'stopped', lost: 'failed' } as const;

function taskMessage({ task: { id, kind, title, state, file, result } }: EntryOf<'task'>): readonly Message[] {
  if (state === 'running') return [{ type: 'system', subtype: 'task_started', task_id: id, description: title, task_type: kind === 'shell' ? 'local_bash' : 'local_agent' }];
  return [{ type: 'system', subtype: 'task_notification', task_id: id, status: ENDS[state], output_file: file, summary: result ?? title }];
}

/** A reply as the Messages API gives it. */
function replyOf({ id, content, usage, stop, model, messageId }: EntryOf<'assistant'>): Readonly<Record<string, unknown>> {
  return {
    id: messageId ?? `msg_pinion_${id}`, type: 'message', role: 'assistant', model, content, stop_reason: stop === 'interrupted' ? null : stop, stop_sequence: null, usage: usageOf(usage),
  };
}

function usageOf({ input, output, cacheRead, cacheWrite, cacheWrite1h, searches }: Usage): Readonly<Record<string, unknown>> {
  return {
    input_tokens: input, output_tokens: output, cache_read_input_tokens: cacheRead, cache_creation_input_tokens: cacheWrite,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite - cacheWrite1h, ephemeral_1h_input_tokens: cacheWrite1h },
    ...(searches !== undefined && { server_tool_use: { web_search_requests: searches } }),
  };
}

/** What decided against a call, in the words of the field. */
const REASONS = { rule: 'rule', mode: 'mode', hook: 'hook', user: 'other', unattended: 'other' } as const satisfies Record<NonNullable<ToolResult['refusedBy']>, string>;

/** A refusal that nobody was asked about. */
function denialOf({ callId, tool, result }: EntryOf<'toolResult'>, { asked, agent }: Telling): readonly Message[] {
  if (result.kind !== 'refused' || asked(callId)) return [];
  const message = textOf(result.content);
  return [{ type: 'system', subtype: 'permission_denied', tool_name: tool, tool_use_id: callId, ...(agent !== undefined && { agent_id: agent }), ...(result.refusedBy !== undefined && { decision_reason_type: REASONS[result.refusedBy] }), decision_reason: message, message }];
}

function resultMessage({ callId, result }: EntryOf<'toolResult'>, { parent, blobs }: Telling): Message {
  const { kind, content, card } = result;
  const blocks = content.filter((part) => part.type === 'media' || part.text.trim() !== '').map((part) => blockOf(part, blobs));
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  const said = texts.length === blocks.length ? texts.join('\n\n') || '(no output)' : blocks;
  return {
    type: 'user', message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: callId, content: said, ...(kind !== 'ok' && { is_error: true }) }] },
    parent_tool_use_id: parent, tool_use_result: { kind, card: card as unknown as Json },
  };
}

function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.type === 'text' && part.text.trim() !== '' ? [part.text] : [])).join('\n\n');
}

function blockOf(part: Part, blobs: Telling['blobs']): ContentBlock {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const bytes = blobs.get(part.blob.hash);
  if (bytes === undefined) return { type: 'text', text: `[${part.name}: its contents are no longer stored]` };
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  return part.mime === 'application/pdf'
    ? { type: 'document', source: { type: 'base64', media_type: part.mime, data } }
    : { type: 'image', source: { type: 'base64', media_type: part.mime, data } };
}
