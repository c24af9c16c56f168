import { oneLine } from '#lib/names.ts';
import { parseDollars } from '#lib/money.ts';
import { dollars, percent } from '#lib/numbers.ts';
import { type CommandContext, defineCommand, type Effect } from '#domain/command.ts';
import type { UsageFacts } from '#domain/world.ts';

/** What the session may cost: warned at 80 %, paused before the request that would cross it. */
export default defineCommand({
  id: 'budget',
  group: 'Model and money',
  summary: 'What this session may cost: show it, set it, take it away',
  usage: '[<dollars> | off]',
  anytime: true,
  complete: () => ['off'],
  async run(args, context) {
    const wanted = args.trim();
    const usage = await context.usage();
    if (wanted === '') return { type: 'show', card: { title: titleOf(usage), body: [{ type: 'text', text: usage.budgetUsd === undefined ? 'Set one with /budget 5. The session then pauses before the request that would cross it; you can raise it and go on.' : rest(usage, usage.budgetUsd) }] } };
    if (/^(?:off|none|no)$/i.test(wanted)) return usage.budgetUsd === undefined ? { type: 'show', card: { title: titleOf(usage), body: [] } } : set('off', { ...usage, budgetUsd: undefined });
    const usd = parseDollars(wanted);
    if (usd === undefined) return { type: 'refuse', message: `"${oneLine(wanted, 40)}" is no sum. Write /budget 5, /budget $0.50 or /budget off.` };
    return set(usd, { ...usage, budgetUsd: usd });
  },
});

function set(value: number | 'off', usage: Awaited<ReturnType<CommandContext['usage']>>): Effect {
  const { budgetUsd } = usage;
  return {
    type: 'append', entries: [{ type: 'option', name: 'budgetUsd', value }],
    card: { title: titleOf(usage), ...(budgetUsd !== undefined && { detail: rest(usage, budgetUsd), tone: (usage.usd ?? 0) >= budgetUsd ? 'bad' as const : 'normal' as const }), body: [] },
  };
}

function titleOf({ budgetUsd, usd }: UsageFacts): string {
  return budgetUsd === undefined ? `Budget: none (${dollars(usd)} spent)` : `Budget: ${dollars(usd)} of ${dollars(budgetUsd)}`;
}

function rest({ usd }: UsageFacts, budgetUsd: number): string {
  if (usd === undefined) return 'A model without a known price was used: what the others cost is counted.';
  if (usd >= budgetUsd) return 'It is spent: the next request waits until you raise it.';
  return `${percent(usd / budgetUsd)} spent, ${dollars(budgetUsd - usd)} left`;
}
