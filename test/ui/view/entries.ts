import type { Card } from '#domain/card.ts';
import type { ContentBlock } from '#domain/content.ts';
import { NO_USAGE } from '#domain/content.ts';
import type { Entry, EntryBody, EntryId } from '#domain/entry.ts';
import type { SourceId } from '#domain/reminder.ts';
import type { CallId } from '#domain/tool.ts';

/** Gives bodies ids and times in order, as a session does. */
export function createLog(): (body: EntryBody) => Entry {
  let next = 0;
  return (body) => ({ ...body, id: `e${String(next++).padStart(5, '0')}` as EntryId, at: '2026-11-30T12:00:00.000Z' });
}

export const text = (words: string): ContentBlock => ({ type: 'text', text: words });

export function assistant(content: readonly ContentBlock[], stop = 'end_turn', output = 10): EntryBody {
  return { type: 'assistant', content, usage: { ...NO_USAGE, output }, stop, model: 'm' };
}

export function reminder(source: string, words: string, more: { moment?: 'prompt' | 'step'; userTexts?: string[]; snapshot?: string } = {}): EntryBody {
  return {
    type: 'reminder', moment: more.moment ?? 'prompt', source: source as SourceId, form: 'full', parts: words === '' ? [] : [{ type: 'text', text: words }],
    snapshot: more.snapshot ?? null, ...(more.userTexts === undefined ? {} : { userTexts: more.userTexts }),
  };
}

export const card = (title: string, body = ''): Card => ({ title, body: body === '' ? [] : [{ type: 'text', text: body }] });

export const callId = (id: string): CallId => id as CallId;

export function toolResult(id: string, title: string, body = '', kind: 'ok' | 'failed' = 'ok'): EntryBody {
  return { type: 'toolResult', callId: callId(id), tool: 'T', result: { kind, content: [], card: card(title, body) } };
}
