import type { SessionUpdate } from '@agentclientprotocol/sdk';
import { describe, expect, it } from 'vitest';
import { createNarrator, type NarratorOptions } from '#acp/updates.ts';
import type { Entry, EntryBody, EntryId, Event } from '#domain/entry.ts';
import { NO_USAGE } from '#domain/content.ts';
import type { CallId } from '#domain/tool.ts';

let made = 0;
const entry = (body: EntryBody): Entry => ({ ...body, id: `e${(made += 1)}` as EntryId, at: '2026-01-01T00:00:00Z' });
const event = (body: EntryBody): Event => ({ type: 'entry', entry: entry(body) });
const assistant = (content: Extract<EntryBody, { type: 'assistant' }>['content']): EntryBody => ({ type: 'assistant', content, usage: NO_USAGE, stop: 'end_turn', model: 'm' });
const USE = { type: 'tool_use', id: 'c1', name: 'Read', input: { file_path: 'a.ts' } } as const;
const RESULT: EntryBody = { type: 'toolResult', callId: 'c1' as CallId, tool: 'Read', result: { kind: 'ok', content: [], card: { title: 'Read a.ts', detail: '2 lines', body: [] } } };

function narrate(events: readonly Event[], more: Partial<NarratorOptions> = {}): readonly SessionUpdate[] {
  const narrator = createNarrator({ cwd: () => '/w', log: () => [], notices: false, compactions: false, picture: () => undefined, ...more });
  return events.flatMap((one) => narrator.tell(one));
}

const texts = (updates: readonly SessionUpdate[], kind = 'agent_message_chunk'): readonly string[] => updates.flatMap((update) => (update.sessionUpdate === kind && 'content' in update && update.content !== null && !Array.isArray(update.content) && update.content?.type === 'text' ? [update.content.text] : []));

describe('a turn', () => {
  it('is told once: what was streamed is not told again by its entry', () => {
    const updates = narrate([{ type: 'thinkingDelta', text: 'hm' }, { type: 'textDelta', text: 'Hel' }, { type: 'textDelta', text: 'lo\r' }, event(assistant([{ type: 'thinking', thinking: 'hm', signature: 's' }, { type: 'text', text: 'Hello\r' }, USE])), event(assistant([{ type: 'text', text: 'whole' }]))]);
    expect(texts(updates).join('|')).toBe('Hel|lo|␍|whole');
    expect(texts(updates, 'agent_thought_chunk')).toEqual(['hm']);
    expect(updates.filter(({ sessionUpdate }) => sessionUpdate === 'tool_call')).toMatchObject([{ toolCallId: 'c1', status: 'pending' }]);
  });

  it('a call is announced once, whatever comes first', () => {
    const call = { id: 'c1' as CallId, tool: 'Read', input: { file_path: 'a.ts' } };
    const card = { title: 'Read a.ts', body: [] };
    const kinds = narrate([{ type: 'toolStarted', call, card }, { type: 'toolProgress', callId: call.id, text: '50 %' }, event(assistant([USE])), event(RESULT)]);
    expect(kinds.map((update) => [update.sessionUpdate, 'status' in update ? update.status : undefined])).toEqual([['tool_call', 'pending'], ['tool_call_update', 'in_progress'], ['tool_call_update', 'in_progress'], ['tool_call_update', 'completed']]);
    expect(narrate([event(RESULT)]).map(({ sessionUpdate }) => sessionUpdate)).toEqual(['tool_call', 'tool_call_update']);
  });

  it('an answer that is asked for again says so, and begins anew', () => {
    const updates = narrate([{ type: 'textDelta', text: 'half' }, { type: 'discarded' }, { type: 'discarded' }, { type: 'textDelta', text: 'whole' }, event(assistant([{ type: 'text', text: 'whole' }]))]);
    expect(texts(updates)).toEqual(['half', expect.stringContaining('asked for again'), 'whole']);
  });

  it('mode, todos and an approved plan', () => {
    const plan: EntryBody = { type: 'plan', file: '/p', text: '- one', state: 'approved' };
    const updates = narrate([event({ type: 'mode', mode: 'plan' }), event(plan), event({ ...plan, state: 'rejected' }), event({ type: 'attach', by: 'model', attachment: { kind: 'todo', id: 'todo:list', items: [{ id: 1, text: 'x', state: 'done', by: 'model' }] } })]);
    expect(updates).toMatchObject([{ currentModeId: 'plan' }, { sessionUpdate: 'plan', entries: [{ content: 'one' }] }, { entries: [{ content: 'x', status: 'completed' }] }]);
  });
});

describe('what is for the user\'s eyes', () => {
  const events: readonly Event[] = [
    { type: 'fault', where: 'pins', message: 'gone' }, { type: 'waiting', attempt: 1, reason: 'overloaded', ms: 1500 }, event({ type: 'notice', level: 'error', text: 'broken\u001b' }), { type: 'doing', what: 'compacting' },
    event({ type: 'compaction', summary: 'S', trigger: 'manual', usage: NO_USAGE, model: 'm', tokensBefore: 1 }), event({ type: 'task', task: { id: 'shell-1', kind: 'shell', title: 'sleep', state: 'done', file: '/f' } }),
  ];

  it('is notices and compactions where the client knows them', () => {
    expect(narrate(events, { notices: true, compactions: true })).toMatchObject([
      { severity: 'warning', title: 'pins: gone' }, { severity: 'info', title: 'overloaded; trying again in 2 s' }, { severity: 'error', title: 'broken␛' },
      { sessionUpdate: 'compaction_update', compactionId: 'compaction-1', status: 'in_progress' }, { compactionId: 'compaction-1', status: 'completed', summary: [{ text: 'S' }] }, { severity: 'info', title: 'shell-1 is done: sleep' },
    ]);
  });

  it('else what matters is a message, and the rest passes as a thought', () => {
    const updates = narrate(events);
    expect(texts(updates).map((text) => text.trim())).toEqual(['> Note: pins: gone', '> Error: broken␛', expect.stringContaining('replaced by a summary')]);
    expect(texts(updates, 'agent_thought_chunk')).toHaveLength(3);
  });
});

it('a stored conversation is told again with the user\'s words, without what was taken back and what is no news', () => {
  const first = entry({ type: 'prompt', text: 'long text', shown: '/greet Ada' });
  const picture = { type: 'media', mime: 'image/png', blob: { hash: 'h' as never, bytes: 3 }, name: 'p' } as const;
  const todos = (text: string): Entry => entry({ type: 'attach', by: 'user', attachment: { kind: 'todo', id: 'todo:list', items: [{ id: 1, text, state: 'open', by: 'user' }] } });
  const queued = entry({ type: 'queued', text: 'taken back' });
  const log = [
    first, entry(assistant([{ type: 'text', text: 'Hi' }])), entry({ type: 'prompt', text: 'refused' }), entry({ type: 'rewind', to: first.id }), entry(assistant([{ type: 'thinking', thinking: 't', signature: '' }, { type: 'text', text: 'Ho' }, USE])), entry(RESULT),
    todos('old'), todos('new'), queued, entry({ type: 'unqueued', target: queued.id }), entry({ type: 'prompt', text: 'look', media: [picture, { ...picture, mime: 'application/pdf', name: 'd.pdf' }] }),
    entry({ type: 'mode', mode: 'plan' }), entry({ type: 'command', line: '/todo', card: { title: 'Todos', body: [] } }), entry({ type: 'shell', command: 'ls', output: 'a', exitCode: 1 }), entry({ type: 'notice', level: 'info', text: 'psst' }),
  ];
  const updates = createNarrator({ cwd: () => '/w', log: () => log, notices: true, compactions: true, picture: () => Buffer.from('abc') }).retell(log);
  expect(texts(updates, 'user_message_chunk')).toEqual(['/greet Ada', 'look', '[d.pdf]', '/todo']);
  expect(updates.find((update) => update.sessionUpdate === 'user_message_chunk' && update.content.type === 'image')).toMatchObject({ content: { mimeType: 'image/png', data: 'YWJj' } });
  expect(texts(updates)).toEqual(['Ho', '**Todos**\n\n']);
  expect(updates.filter(({ sessionUpdate }) => sessionUpdate === 'plan')).toMatchObject([{ entries: [{ content: 'new' }] }]);
  expect(updates.some(({ sessionUpdate }) => sessionUpdate === 'current_mode_update' || sessionUpdate === 'notice')).toBe(false);
  expect(updates.filter(({ sessionUpdate }) => sessionUpdate === 'tool_call')).toMatchObject([{ toolCallId: 'c1' }, { kind: 'execute', status: 'failed', rawInput: { command: 'ls' } }]);
});
