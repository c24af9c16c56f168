import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Reply } from '#domain/ports.ts';
import type { ContentBlock, MessageParam } from '#domain/content.ts';
import { historyFaults } from '../support/messages-server/history.ts';
import { checkRequest } from '../support/messages-server/check.ts';
import { say } from '../support/messages-server/reply.ts';
import { startServer, type Step } from '../support/messages-server/server.ts';
import type { WireStep } from '../support/messages-server/wire.ts';
import { ask, clientFor, drain, type Drained, NO_MARKS, READ, requestOf, SYSTEM } from './harness.ts';

interface CaseStep extends WireStep {
  readonly then?: string;
  readonly connect?: string;
  readonly user?: string;
  readonly signal?: string;
  readonly disk?: string;
  readonly continue?: boolean;
}

interface Case {
  readonly id: string;
  readonly fault: string;
  readonly position: string;
  readonly wire: readonly CaseStep[];
  readonly expect: { readonly retry: boolean; readonly tool_runs: number; readonly assistant_messages_added: number; readonly duplicate_text: boolean; readonly user_sees: string };
}

const { cases } = JSON.parse(readFileSync(new URL('../cases/sse-faults.json', import.meta.url), 'utf8')) as { cases: readonly Case[] };
/** A dead process and a full disk are no matters of the client. */
const elsewhere = (step: CaseStep): boolean => step.signal === 'SIGKILL' || step.disk !== undefined;
const here = cases.filter(({ wire }) => !wire.some(elsewhere));
/** What a refusal of the request is answered with: the loop mends these, not the client. */
const REPAIRS: Readonly<Record<string, string>> = {
  SF015: 'tooLong', SF016: 'image', SF017: 'invalid', SF019: 'signature', SF020: 'signature', SF022: 'invalid', SF023: 'invalid', SF025: 'invalid',
};

const PATIENT = { headersMs: 10_000, idleMs: 10_000, stallMs: 10_000, totalMs: 15_000 };
const SHORT = { headersMs: 500, idleMs: 400, stallMs: 450, totalMs: 15_000 };

const HISTORIES: Readonly<Record<string, readonly MessageParam[]>> = {
  'first turn': [ask('read src/a.ts')],
  'turn with tools': [
    ask('first'),
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_0', name: 'read', input: { path: 'x' } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_0', content: [{ type: 'text', text: 'contents' }] }] },
  ],
  'after compaction': [ask('Summary of what went before: nothing much.\n\nread src/a.ts')],
};

test('the file holds the cases that this suite is about', () => {
  expect(cases.length).toBe(86);
  expect(here.length).toBe(79);
});

/** Only where something must run out are deadlines short: elsewhere a busy machine would be taken for a fault. */
const stalls = ({ wire }: Case): boolean => wire.some((step) => step.delay_ms !== undefined || step.repeat !== undefined);

for (const [moment, history] of Object.entries(HISTORIES)) {
  const named = (wanted: boolean): (readonly [string, Case])[] => here.filter((one) => stalls(one) === wanted).map((one) => [`${one.id} ${one.fault} ${one.position}`, one]);
  test.each(named(false))(`${moment}: %s`, (_, one) => checkCase(one, history));
  test.concurrent.each(named(true))(`${moment}: %s`, (_, one) => checkCase(one, history));
}

async function checkCase(one: Case, history: readonly MessageParam[]): Promise<void> {
  const { result, sent } = await play(one, history);
  const { reply, seen } = result;
  expectOutcome(one, result, sent);
  // Nothing that a screen still shows was said twice, and what is stored is what is seen.
  if (reply.kind === 'message' || reply.kind === 'interrupted') expect(visible(seen)).toBe(visible(textIn(reply.content)));
  expectNextValid(reply, history);
}

/** Plays the case, then one good answer to whatever is sent again. */
async function play(one: Case, history: readonly MessageParam[]): Promise<{ result: Drained; sent: number }> {
  const controller = new AbortController();
  const nowhere = one.wire.some(({ connect }) => connect === 'nxdomain');
  const act = one.wire.findIndex(({ user, signal }) => user !== undefined || signal !== undefined);
  // The person acts once all that came before was seen; when nothing is to be seen, a moment after the server got there.
  const toSee = one.wire.slice(0, Math.max(act, 0)).filter(({ send }) => send?.includes('_delta"') === true && !send.includes('message_delta')).length;
  const silent = { act: () => { if (toSee === 0) setTimeout(() => { controller.abort(); }, 20); }, delay_ms: 10_000_000 };
  const steps = one.wire.filter(({ then, connect }) => then === undefined && connect === undefined).map((step, at) => (at === act ? silent : step));
  const script: Step[] = [{ wire: steps }, say('all well')];
  const server = await startServer({ script, scale: 0.001 });
  let left = toSee;
  try {
    const client = clientFor(nowhere ? 'http://name-that-is-not.invalid' : server.url, { deadlines: stalls(one) ? SHORT : PATIENT });
    const result = await drain(client.stream(requestOf(history), NO_MARKS, controller.signal), (delta) => {
      const counts = delta.type === 'text' || (delta.type === 'call' && delta.chars > 0);
      if (counts && (left -= 1) === 0 && act !== -1) controller.abort();
    });
    return { result, sent: server.requests.length };
  } finally {
    await server.close();
  }
}

function expectOutcome(one: Case, { reply, waits, deltas, seen }: Drained, sent: number): void {
  const repair = REPAIRS[one.id];
  if (repair !== undefined) {
    expect(reply).toMatchObject({ kind: 'failed', why: repair });
    expect(sent).toBe(1);
    return;
  }
  if (one.wire.some(({ user, signal }) => user !== undefined || signal !== undefined)) {
    expect(reply.kind).toBe('interrupted');
    expect(reply.kind === 'interrupted' && reply.content.length > 0 ? 1 : 0).toBe(one.expect.assistant_messages_added);
    expect(sent).toBe(1);
    return;
  }
  if (one.wire.some(({ connect }) => connect !== undefined)) {
    expect(reply).toMatchObject({ kind: 'failed', why: 'network', message: expect.stringContaining('name-that-is-not.invalid') });
    expect(waits.length).toBeGreaterThan(0);
    return;
  }
  // A paused turn goes on by the loop's hand, not the client's.
  const again = one.expect.retry && one.id !== 'SF129';
  expect(sent).toBe(again ? 2 : 1);
  expect(waits.length).toBe(again ? 1 : 0);
  if (again) {
    expect(reply).toMatchObject({ kind: 'message', content: [{ type: 'text', text: 'all well' }] });
    expect(seen).toBe('all well');
    expect(deltas.filter(({ type }) => type === 'discarded').length).toBe(deltas.findIndex(({ type }) => type === 'waiting') > 0 ? 1 : 0);
  } else if (reply.kind === 'failed') {
    expect(one.expect.assistant_messages_added).toBe(0);
    expect(reply.message).toMatch(/^[A-Z0-9].{20,}/);
  } else {
    expect(reply.content.length > 0 ? 1 : 0).toBe(one.expect.assistant_messages_added);
  }
}

/** What the loop makes of the reply is a request that the strict rules take. */
function expectNextValid(reply: Reply, history: readonly MessageParam[]): void {
  const content = reply.kind === 'failed' ? [] : reply.content;
  const results = content.flatMap((block) => (block.type === 'tool_use' ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: 'done' }] : []));
  const next = content.length === 0 ? history : [...history, { role: 'assistant', content }, { role: 'user', content: [...results, { type: 'text', text: 'go on' }] }];
  const body = { model: 'claude-opus-5-5', max_tokens: 1_000, system: [SYSTEM], tools: [READ], messages: next };
  expect(historyFaults(body)).toEqual([]);
  expect(checkRequest(body)).toBeUndefined();
}

function textIn(content: readonly ContentBlock[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
}

/** Blank text is seen as it comes and not kept. */
function visible(text: string): string {
  return text.trim();
}
