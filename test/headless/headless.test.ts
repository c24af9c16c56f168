import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Card } from '#domain/card.ts';
import type { Entry } from '#domain/entry.ts';
import type { Outcome } from '#domain/ports.ts';
import type { CallId } from '#domain/tool.ts';
import { cardText, fitText } from '#headless/card-text.ts';
import { resultOf } from '#headless/result.ts';
import { withPiped } from '#headless/stdin.ts';

const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cacheWrite1h: 0 };
const said = (...texts: string[]): Entry => ({ id: '1', at: '', type: 'assistant', stop: 'end_turn', model: 'm', usage, content: texts.map((text) => ({ type: 'text', text })) }) as unknown as Entry;

describe('the result of a run', () => {
  const run = (outcome: Outcome, entries: Entry[] = [said('first'), said('a', 'b')]) => resultOf({ sessionId: 's', entries, outcome, durationMs: 12.6, usd: undefined, apiMs: 7.4, models: {}, uuid: 'u', model: 'm', denials: [{ id: 'c' as CallId, tool: 'Bash', input: { command: 'x' } }] });
  it('is the last answer with the sums of all replies', () => {
    expect(run({ kind: 'answered' })).toEqual({
      type: 'result', subtype: 'success', is_error: false, result: 'a\n\nb', session_id: 's', num_turns: 2, duration_ms: 13, total_cost_usd: 0,
      usage: { input_tokens: 2, output_tokens: 4, cache_read_input_tokens: 6, cache_creation_input_tokens: 8 }, model: 'm',
      permission_denials: [{ tool_name: 'Bash', tool_use_id: 'c', tool_input: { command: 'x' } }],
      duration_api_ms: 7, stop_reason: 'end_turn', terminal_reason: 'completed', modelUsage: {}, uuid: 'u',
    });
  });
  it('says why there is no answer', () => {
    expect(run({ kind: 'outOfSteps', steps: 3 })).toMatchObject({ subtype: 'error_max_turns', is_error: true, result: expect.stringContaining('3') as string });
    expect(run({ kind: 'failed', why: 'auth', message: 'no key' })).toMatchObject({ subtype: 'error_during_execution', is_error: true, result: 'no key' });
    expect(run({ kind: 'interrupted' }, [])).toMatchObject({ is_error: true, num_turns: 0 });
  });
});

it('draws cards as plain text', () => {
  const card: Card = {
    title: 'T', detail: 'd', body: [
      { type: 'table', head: ['name', 'n'], align: ['left', 'right'], rows: [['日本', '5'], ['a', '100']] },
      { type: 'list', items: ['x', 'y\u001b[31m'] },
    ],
  };
  const text = cardText(card);
  expect(text.split('\n').slice(0, 5)).toEqual(['T (d)', '', 'name    n', '日本    5', 'a     100']);
  expect(text).toContain('- x\n- y');
  expect(text).not.toContain('\u001b');
});

describe('piped input', () => {
  it('is the prompt, or stands fenced after it', () => {
    expect(withPiped(undefined, undefined)).toBeUndefined();
    expect(withPiped('p', undefined)).toBe('p');
    expect(withPiped(undefined, 'text\n')).toBe('text');
    expect(withPiped('p', 'a @b\n')).toBe('p\n\n```\na @b\n```');
    expect(withPiped('p', 'a\n````x')).toBe('p\n\n`````\na\n````x\n`````');
  });
  it('is nothing from a terminal', async () => {
    const { readStdin } = await import('#headless/stdin.ts');
    expect(await readStdin(Object.assign(new PassThrough(), { isTTY: true }), false)).toBeUndefined();
  });
});

it('text for a terminal breaks between words, below the last column of a table, and leaves addresses whole', () => {
  expect(fitText('short\nAdded files to /a/long/path/that/stays/whole. Try it.', 24)).toBe('short\nAdded files to\n/a/long/path/that/stays/whole.\nTry it.');
  expect(fitText('name  state\nevery  not approved: the folder is not trusted', 30)).toBe('name  state\nevery  not approved: the\n       folder is not trusted');
});
