import { describe, expect, it } from 'vitest';
import type { Usage } from '#domain/content.ts';
import type { EntryBody } from '#domain/entry.ts';
import { cacheHealthOf } from '#accounting/cache-health.ts';
import { statusLineInput } from '#main/status-line/facts.ts';
import { LogSession } from '#session/session.ts';
import { household } from '../support/household.ts';
import { statusLinesOf, drawStatusLines } from '#ui/status-line-output.ts';
import { width } from '#lib/terminal.ts';

const usage = (input: number, cacheRead: number, cacheWrite: number, cacheWrite1h = 0, output = 50): Usage => ({ input, output, cacheRead, cacheWrite, cacheWrite1h });

/** A session whose clock goes on by `ms` before each entry. */
function sessionOf(entries: readonly (readonly [ms: number, EntryBody])[]): LogSession {
  let now = Date.parse('2026-01-01T00:00:00Z');
  const session = new LogSession('0f00-1', [], undefined, () => new Date(now));
  for (const [ms, body] of entries) {
    now += ms;
    session.append(body);
  }
  return session;
}

const reply = (used: Usage, model = 'claude-opus-5-5'): EntryBody => ({ type: 'assistant', content: [{ type: 'text', text: 'x' }], usage: used, stop: 'end_turn', model });
const head = (model = 'claude-opus-5-5', text = 's'): EntryBody => ({ type: 'head', system: [{ type: 'text', text }], tools: [], model });
const prompt: EntryBody = { type: 'prompt', text: 'hi' };
const edit = (patch: string, kind: 'ok' | 'failed' = 'ok'): EntryBody => ({
  type: 'toolResult', callId: 'c' as never, tool: 'Edit',
  result: { kind, content: [], files: [{ path: '/a', hash: 'h' as never, how: 'write', kept: false }], card: { title: 'Edit', body: [{ type: 'diff', patch }] } },
});

describe('the cache of a conversation', () => {
  const health = (...entries: readonly (readonly [number, EntryBody])[]) => cacheHealthOf(sessionOf(entries).log);

  it('is counted, and goes cold', () => {
    const now = health([0, head()], [0, prompt], [1000, reply(usage(10, 0, 5000))], [0, prompt], [2000, reply(usage(10, 5000, 100))]);
    expect(now).toMatchObject({ requests: 2, observed: true, life: '5m', read: 5000, written: 5100, uncached: 20, misses: 0, rebuilds: 0, prompt: 5110, lastMiss: undefined });
    expect(now.expiresAtMs).toBe(Date.parse('2026-01-01T00:00:03Z') + 300_000);
    expect(health([0, reply(usage(10, 0, 5000, 5000))]).life).toBe('1h');
    expect(health([0, reply(usage(10, 0, 0))])).toMatchObject({ observed: false, expiresAtMs: undefined });
  });

  it.each([
    ['too long a pause', [[301_000, reply(usage(6000, 0, 0))]], ['ttl_expired_5m']],
    ['another model', [[0, head('claude-haiku-5-5')], [1000, reply(usage(6000, 0, 0), 'claude-haiku-5-5')]], ['model_changed']],
    ['another system text', [[0, head('claude-opus-5-5', 'other')], [1000, reply(usage(6000, 0, 0))]], ['system_prompt_changed']],
    ['nobody knows', [[1000, reply(usage(6000, 0, 0))]], ['unknown']],
  ] as readonly (readonly [string, readonly (readonly [number, EntryBody])[], readonly string[]])[])('was missed: %s', (_, after, causes) => {
    const now = health([0, head()], [0, reply(usage(10, 0, 5000))], ...after);
    expect(now).toMatchObject({ misses: 1, rebuilds: 0, missTokens: 5000, lastMiss: { causes } });
  });

  it('is written anew where the conversation was changed on purpose; small differences are none', () => {
    const compaction: EntryBody = { type: 'compaction', summary: 's', trigger: 'manual', usage: usage(0, 0, 0), model: 'm', tokensBefore: 1 };
    expect(health([0, reply(usage(10, 0, 5000))], [0, compaction], [0, reply(usage(10, 0, 900))])).toMatchObject({ misses: 0, rebuilds: 1, missTokens: 0 });
    expect(health([0, reply(usage(10, 0, 5000))], [0, reply(usage(10, 4900, 900))])).toMatchObject({ misses: 0, rebuilds: 0 });
    expect(health([0, reply(usage(10, 0, 1500))], [0, reply(usage(10, 0, 1500))])).toMatchObject({ misses: 0 });
  });
});

describe('what a status line command is given', () => {
  const at = Date.parse('2026-01-01T00:01:00Z');
  async function given(entries: readonly (readonly [number, EntryBody])[]): Promise<Record<string, unknown>> {
    const { house } = await household({}, { url: 'http://127.0.0.1:9' }).open();
    return await statusLineInput(house, { session: sessionOf(entries), file: '/s/x.jsonl' }, at) as Record<string, unknown>;
  }

  it('before the first reply', async () => {
    const input = await given([]);
    expect(input).toMatchObject({
      session_id: '0f00-1', transcript_path: '/s/x.jsonl', model: { id: 'claude-opus-5-5', display_name: expect.any(String) as string }, output_style: { name: 'default' },
      workspace: { current_dir: input['cwd'], project_dir: input['cwd'], added_dirs: [] }, exceeds_200k_tokens: false, fast_mode: false,
      cost: { total_cost_usd: 0, total_api_duration_ms: 0, total_lines_added: 0, total_lines_removed: 0 },
      context_window: { total_input_tokens: 0, total_output_tokens: 0, used_percentage: null, remaining_percentage: null, current_usage: null },
    });
    expect(input).not.toHaveProperty('prompt_cache');
    expect(input).not.toHaveProperty('prompt_id');
  });

  it('after replies and edits: shares without output, time of the model, lines', async () => {
    const input = await given([
      [0, prompt], [0, head()], [4000, reply(usage(100, 0, 199_900, 199_900, 700))], [500, edit('@@ -1,2 +1,3 @@\n-a\n+b\n+c\n d')], [0, edit('@@ -1 +1 @@\n-x\n+y', 'failed')],
      [1000, { type: 'queued', text: 'q' }], [1000, reply(usage(300, 199_900, 0, 0, 900))],
    ]);
    expect(input).toMatchObject({
      prompt_id: '000001', exceeds_200k_tokens: true,
      cost: { total_api_duration_ms: 6000, total_lines_added: 2, total_lines_removed: 1 },
      context_window: { total_input_tokens: 200_200, total_output_tokens: 900, current_usage: { input_tokens: 300, output_tokens: 900, cache_creation_input_tokens: 0, cache_read_input_tokens: 199_900 } },
      prompt_cache: { warm: true, caching_observed: true, ttl: '1h', requests: 2, misses: 0, expected_rebuilds: 0, recache_tokens_if_cold: 200_200, expires_at: Date.parse('2026-01-01T00:00:06Z') / 1000 + 3600 },
    });
    const { context_window_size: size, used_percentage: used, remaining_percentage: left } = input['context_window'] as Record<string, number>;
    expect(used).toBe(Math.round((200_200 / (size ?? 1)) * 100));
    expect((used ?? 0) + (left ?? 0)).toBe(100);
    expect((input['prompt_cache'] as Record<string, number>)['hit_ratio']).toBeCloseTo(199_900 / 400_200, 4);
  });

  it('after a compaction nothing is measured yet', async () => {
    const input = await given([[0, reply(usage(10, 0, 5000))], [2000, { type: 'compaction', summary: 's', trigger: 'manual', usage: usage(1, 1, 1), model: 'm', tokensBefore: 1 }]]);
    expect(input['context_window']).toMatchObject({ used_percentage: null, current_usage: null });
    expect((input['cost'] as Record<string, number>)['total_api_duration_ms']).toBe(2000);
  });
});

describe('what a status line command writes', () => {
  const E = '\x1b';

  it('keeps colours and links, and nothing else', () => {
    expect(statusLinesOf(`${E}[31mred${E}[0m ${E}]8;;https://a.b/c${E}\\link${E}]8;;\x07 end\r\n`)).toEqual([`${E}[31mred${E}[0m ${E}]8;;https://a.b/c${E}\\link${E}]8;;${E}\\ end`]);
    expect(statusLinesOf(`a${E}[2Jb${E}[10;10Hc${E}]0;title\x07d${E}(Be${E}[?25lf`)).toEqual(['abcdef']);
    expect(statusLinesOf(`a${E}]52;c;aGk=\x07b${E}Pq#0${E}\\c`)[0]).not.toContain(E);
    expect(statusLinesOf(`a\x07\x08\u009bb${E}`)).toEqual(['a␇␈<U+009B>b␛']);
    expect(statusLinesOf(`${E}]8;;javascript:alert(1)\x07x${E}]8;;\x07`)).toEqual(['x']);
    expect(statusLinesOf(`${E}]8;;https://a b\x07x`)).toEqual(['x']);
  });

  it('closes what a line opened', () => {
    expect(statusLinesOf(`${E}[1;32mone\ntwo`)).toEqual([`${E}[1;32mone${E}[0m`, 'two']);
    expect(statusLinesOf(`${E}]8;;https://a\x07x`)).toEqual([`${E}]8;;https://a${E}\\x${E}]8;;${E}\\`]);
    expect(statusLinesOf(`${E}[31mx${E}[m`)).toEqual([`${E}[31mx${E}[m`]);
  });

  it('is a few lines, blank ones around them gone', () => {
    expect(statusLinesOf('\n\na\n\nb\n \n')).toEqual(['a', '', 'b']);
    expect(statusLinesOf('x\n'.repeat(50))).toHaveLength(8);
    expect(statusLinesOf('x'.repeat(100_000))[0]).toHaveLength(4096);
  });

  it('is drawn within its columns, plain where the theme is', () => {
    const lines = statusLinesOf(`${E}[31m${'漢字 '.repeat(40)}${E}]8;;https://a.b${E}\\${'x'.repeat(200)}`);
    for (const columns of [1, 2, 7, 40, 80]) for (const line of drawStatusLines(lines, 3, columns, (_, text) => `${E}[2m${text}${E}[22m`)) expect(width(line), String(columns)).toBeLessThanOrEqual(columns);
    expect(drawStatusLines(lines, 3, 400, (_, text) => text)[0]).not.toContain(E);
    expect(drawStatusLines(['a', 'b'], 1, 80, (_, text) => text)).toEqual(['a']);
    expect(drawStatusLines(['a'], -1, 80, (_, text) => text)).toEqual([]);
  });
});

