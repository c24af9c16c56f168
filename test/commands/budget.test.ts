import { expect, it } from 'vitest';
import { optionsOf } from '#domain/folds.ts';
import { nothing } from '../support/nothing.ts';
import { desk } from './support.ts';

const facts = async (usd: number | undefined, budgetUsd: number | undefined) => ({ ...await nothing.usage(), usd, budgetUsd });
const with_ = (usd: number | undefined, budgetUsd: number | undefined) => desk({}, { usage: () => facts(usd, budgetUsd) });

it('shows what is spent of what', async () => {
  expect(await with_(0.12, 5).shown('budget')).toContain('Budget: $0.12 of $5.00\n');
  expect(await with_(0.12, 5).shown('budget')).toContain('2% spent, $4.88 left');
  expect(await with_(0.12, undefined).shown('budget')).toContain('Budget: none ($0.12 spent)');
  expect(await with_(6, 5).shown('budget')).toContain('the next request waits until you raise it');
  expect(await with_(undefined, 5).shown('budget')).toContain('without a known price');
});

it('is set as people write sums, and taken away', async () => {
  for (const [written, usd] of [['5', 5], ['$5', 5], ['5 usd', 5], ['0.50', 0.5], ['1,000', 1000]] as const) {
    const at = with_(0.1, undefined);
    expect(await at.shown(`budget ${written}`)).toContain('Budget: $0.10 of $');
    expect(optionsOf(at.session.log).budgetUsd).toBe(usd);
  }
  const at = with_(0.1, 5);
  expect(await at.shown('budget off')).toContain('Budget: none');
  expect(optionsOf(at.session.log).budgetUsd).toBe('off');
  const none = with_(0.1, undefined);
  await none.shown('budget off');
  expect(none.session.log).toEqual([]);
});

it('refuses what is no sum', async () => {
  for (const words of ['five', '0', '-3', '5 eur', '9999999']) expect(await with_(0, undefined).refused(`budget ${words}`)).toBe(`"${words}" is no sum. Write /budget 5, /budget $0.50 or /budget off.`);
});

it('stands in /cost and /context where there is one', async () => {
  const cost = { usd: 0.12, input: 10, output: 5, cacheRead: 0, cacheWrite: 0, perModel: [{ model: 'm', requests: 3, usd: 0.12, input: 10, output: 5, cacheRead: 0, cacheWrite: 0 }], beside: [{ what: 'agent-1 (explore)', requests: 2, tokens: 1234, usd: 0.02 }, { what: 'Read\nexample.org', requests: 1, tokens: 9, usd: undefined }] };
  const at = desk({}, { usage: () => facts(0.12, 5), cost: () => cost });
  const shown = await at.shown('cost');
  expect(shown).toContain('Cost: $0.12 of $5.00');
  expect(shown).toMatch(/of it beside the conversation.*\n.*agent-1 \(explore\).*2.*1\.2k.*\$0\.02\n.*Read\\u\{A\}example\.org.*not known/);
  expect(await at.shown('context')).toContain('Budget: $0.12 of $5.00 spent.');
  expect(await desk({}, { cost: () => cost }).shown('cost')).not.toContain(' of $');
});
