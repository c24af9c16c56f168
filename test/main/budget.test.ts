import { describe, expect, it } from 'vitest';
import { costOf } from '#accounting/cost.ts';
import type { Entry } from '#domain/entry.ts';
import { household } from '../support/household.ts';
import { call, say, type ScriptedReply } from '../support/messages-server/reply.ts';
import type { Recorded } from '../support/messages-server/server.ts';
import { serve } from '../support/product.ts';

/** A reply that costs 64 cents with the default model. */
const dear = (reply: ScriptedReply): ScriptedReply => ({ ...reply, usage: { input_tokens: 150_000, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 }, output_tokens: 2000 } });
const notices = (log: readonly Entry[]): readonly string[] => log.flatMap((entry) => (entry.type === 'notice' ? [entry.text] : []));
const glob = (pattern: string): ScriptedReply => dear({ content: [call('Glob', { pattern })], stop: 'tool_use' });

describe('a budget of a session', () => {
  it('pauses the turn before the request that would cross it; raised, the turn goes on', async () => {
    const server = await serve([glob('*'), glob('a*'), say('Done.')]);
    const home = household({ 'a.txt': 'x' }, server);
    const at = await home.open({ args: { maxBudgetUsd: 1.5 } });
    const outcome = await at.turn('Look around');
    expect(outcome).toMatchObject({ kind: 'outOfBudget', message: expect.stringMatching(/^Budget: \$1\.28 of \$1\.50 is spent, and the next request would cost about \$\d\.\d+\. Nothing was sent\. Raise the budget \(\/budget \d/) as string });
    expect(server.requests).toHaveLength(2);
    expect(at.log.at(-1)).toMatchObject({ type: 'notice', level: 'warning' });
    expect(await at.command('/budget')).toContain('$1.28 of $1.50');
    await at.command('/budget $9');
    expect(await at.turn('go on')).toEqual({ kind: 'answered' });
    expect(server.requests).toHaveLength(3);
    expect(notices(at.log).filter((text) => text.includes('80 %'))).toHaveLength(1);
    // The pause is no part of what the model is sent.
    expect(server.requests[2]?.raw).not.toContain('Nothing was sent');
    at.close();
    const again = await home.open({ resume: true });
    expect((await again.context().usage()).budgetUsd).toBe(9);
    expect(await again.command('/budget off')).toContain('none');
    expect((await again.context().usage()).budgetUsd).toBeUndefined();
    again.close();
    expect((await (await home.open({ resume: true, args: { maxBudgetUsd: 3 } })).context().usage()).budgetUsd).toBe(3);
  });

  it('of a model without a known price says so once, and holds nothing up', async () => {
    const server = await serve([say('One.'), say('Two.')], { strict: false });
    const at = await household({}, server).open({ args: { model: 'llama-9', maxBudgetUsd: 0.01 } });
    expect(await at.turn('a')).toEqual({ kind: 'answered' });
    expect(await at.turn('b')).toEqual({ kind: 'answered' });
    expect(notices(at.log)).toEqual(['No price is known for llama-9: the budget of $0.01 cannot be watched while it answers.']);
  });

  it('warns once when the next request comes to 80 %', async () => {
    const server = await serve([glob('*'), glob('a*'), say('Done.'), say('Again.')]);
    const at = await household({}, server).open({ args: { maxBudgetUsd: 2.3 } });
    await at.turn('a');
    expect(notices(at.log).filter((text) => text.includes('80 %'))).toEqual(['This session comes to 80 % of its budget of $2.30. At $2.30 it pauses; /budget raises it.']);
    await at.command('/budget 1.6');
    await at.turn('b');
    expect(notices(at.log).filter((text) => text.includes('80 %'))).toHaveLength(2);
  });

  it('counts sub-agents, which pause before they cross it', async () => {
    const isSub = ({ body }: Recorded): boolean => JSON.stringify((body['messages'] as readonly unknown[]).slice(0, 1)).includes('Dig deep');
    let subRequests = 0;
    const server = await serve((request) => {
      if (request.raw.includes('tool_result') && !isSub(request)) return say('It was too dear.');
      if (!isSub(request)) return { content: [call('Task', { subagent_type: 'general', description: 'dig', prompt: 'Dig deep' })], stop: 'tool_use' };
      subRequests += 1;
      return glob(`*${subRequests}`);
    });
    const at = await household({ 'a.txt': 'x' }, server).open({ args: { maxBudgetUsd: 1.5 } });
    expect(await at.turn('Go')).toEqual({ kind: 'answered' });
    const cost = costOf(at.log);
    expect(subRequests).toBe(2);
    expect(cost.usd).toBeGreaterThan(1.28);
    expect(cost.usd).toBeLessThanOrEqual(1.5);
    expect(cost.beside).toMatchObject([{ requests: 2 }]);
    expect(cost.perModel.reduce((sum, { requests }) => sum + requests, 0)).toBe(server.requests.length);
    const result = at.log.findLast((entry) => entry.type === 'toolResult');
    expect(JSON.stringify(result)).toContain('Budget: $1.3');
  });
});
