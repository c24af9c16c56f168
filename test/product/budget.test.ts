import { describe, expect, it } from 'vitest';
import { call, say, type ScriptedReply } from '../support/messages-server/reply.ts';
import { product, resultIn, serve } from '../support/product.ts';

/** A call that costs 64 cents with the default model. */
const glob = (pattern: string): ScriptedReply => ({ content: [call('Glob', { pattern })], stop: 'tool_use', usage: { input_tokens: 150_000, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 }, output_tokens: 2000 } });

describe('a budget in print mode', () => {
  const JSON_OUT = ['--output-format', 'json'];
  it('ends with code 1 and a subtype of its own', async () => {
    const server = await serve([glob('*'), say('never')]);
    const { run } = product({}, server);
    const args = ['-p', 'Look', '--max-budget-usd', '$0.70', '--allowed-tools', 'Glob'];
    const { code, stdout, stderr } = await run([...args, ...JSON_OUT]);
    expect(code).toBe(1);
    expect(resultIn(stdout)).toMatchObject({ subtype: 'error_max_budget_usd', is_error: true, result: expect.stringContaining('--max-budget-usd') as string });
    expect(resultIn(stdout).total_cost_usd).toBeCloseTo(0.64, 3);
    expect(stderr).toBe('');
    expect(server.requests).toHaveLength(1);
  });
  it('goes on with a larger one', async () => {
    const server = await serve([glob('*'), say('Here.')]);
    const { run } = product({}, server);
    expect((await run(['-p', 'Look', '--max-budget-usd', '0.70'])).code).toBe(1);
    expect(await run(['-c', '-p', 'go on', '--max-budget-usd', '5'])).toMatchObject({ code: 0, stdout: 'Here.\n', stderr: '' });
  });
  it('says beside the answer that 80 % are reached', async () => {
    const { run } = product({}, await serve([glob('*'), say('Here.')]));
    expect(await run(['-p', 'Look', '--max-budget-usd', '1.4'])).toEqual({ code: 0, stdout: 'Here.\n', stderr: 'pinion: This session comes to 80 % of its budget of $1.40. At $1.40 it pauses; /budget raises it.\n' });
  });
  it.each(['0', '-1', 'much', ''])('refuses %j as a sum', async (sum) => {
    const { run } = product();
    expect(await run(['-p', 'x', '--max-budget-usd', sum])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('a sum above 0') as string });
  });
  it('takes it from the settings, and not what is no sum', async () => {
    const server = await serve([glob('*'), say('never')]);
    const { run } = product({ '.pinion/settings.json': '{"budgetUsd": 0.7}' }, server);
    expect(await run(['-p', 'Look', '--trust'])).toMatchObject({ code: 1, stderr: expect.stringContaining('Budget: $0.64 of $0.70 is spent') as string });
    const odd = product({ '.pinion/settings.json': '{"budgetUsd": -1}' }, await serve([say('Hi.')]));
    expect((await odd.run(['-p', 'x', '--trust'])).stderr).toContain('"budgetUsd" must be a number above 0; it was left out.');
  });
});
