import type { SessionUpdate } from '@agentclientprotocol/sdk';
import { costOf } from '#accounting/cost.ts';
import type { Entry } from '#domain/entry.ts';
import { cutToLength } from '#lib/text.ts';

const MOST_TITLE = 80;

/** The conversation is called by its first words; undefined where they were told already, or there are none. */
export function titleUpdate(log: readonly Entry[]): SessionUpdate | undefined {
  const prompts = log.filter((entry) => entry.type === 'prompt');
  const [first] = prompts;
  if (prompts.length !== 1 || first === undefined) return undefined;
  const title = cutToLength((first.shown ?? first.text).replace(/\s+/g, ' ').trim(), MOST_TITLE);
  return title === '' ? undefined : { sessionUpdate: 'session_info_update', title, updatedAt: first.at };
}

/** What the last request held, of a window of so many tokens, and what all has cost. */
export function usageUpdate(log: readonly Entry[], window: number): SessionUpdate | undefined {
  const last = log.findLast((entry) => entry.type === 'assistant' && entry.content.length > 0);
  if (last?.type !== 'assistant') return undefined;
  const { input, output, cacheRead, cacheWrite } = last.usage;
  const { usd } = costOf(log);
  return { sessionUpdate: 'usage_update', used: input + output + cacheRead + cacheWrite, size: window, ...(usd !== undefined && { cost: { amount: usd, currency: 'USD' } }) };
}
