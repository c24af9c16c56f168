import { oneLine } from '#lib/names.ts';
import { dollars, percent, tokens } from '#lib/numbers.ts';
import { count } from '#lib/text.ts';
import type { CardBlock } from '#domain/card.ts';
import { type CostView, defineCommand } from '#domain/command.ts';

/** What the session cost so far, by model. */
export default defineCommand({
  id: 'cost',
  aliases: ['usage'],
  group: 'Model and money',
  summary: 'Tokens and money of this session, by model',
  anytime: true,
  async run(_args, context) {
    const cost = context.cost();
    const { budgetUsd } = await context.usage();
    const of = budgetUsd === undefined ? '' : ` of ${dollars(budgetUsd)}`;
    return { type: 'show', card: { title: `Cost: ${sum(cost)}${of}`, detail: shares(cost), body: cost.perModel.length === 0 ? [] : [table(cost), ...besides(cost), ...unpriced(cost)] } };
  },
});

/** Of a model without a price only the others' money is known. */
function sum({ usd, perModel }: CostView): string {
  if (usd !== undefined) return dollars(usd);
  const known = perModel.reduce((all, row) => all + (row.usd ?? 0), 0);
  return known === 0 ? 'not known' : `${dollars(known)} and more`;
}

function shares({ input, cacheRead, cacheWrite, output }: CostView): string {
  const prompt = input + cacheRead + cacheWrite;
  return prompt === 0 ? 'no request was made yet' : `${tokens(prompt)} tokens in (${percent(cacheRead / prompt)} from the cache), ${tokens(output)} out`;
}

function table({ perModel }: CostView): CardBlock {
  return {
    type: 'table', head: ['model', 'requests', 'new', 'from cache', 'to cache', 'out', 'cost'], align: ['left', 'right', 'right', 'right', 'right', 'right', 'right'],
    rows: perModel.map((row) => [row.model, String(row.requests), tokens(row.input), tokens(row.cacheRead), tokens(row.cacheWrite), tokens(row.output), row.usd === undefined ? 'not known' : dollars(row.usd)]),
  };
}

const MOST_ROWS = 20;

/** What the table above holds of sub-agents and small jobs, the dearest first. */
function besides({ beside = [] }: CostView): readonly CardBlock[] {
  if (beside.length === 0) return [];
  const sorted = beside.toSorted((a, b) => (b.usd ?? 0) - (a.usd ?? 0) || b.tokens - a.tokens);
  const more = sorted.length - MOST_ROWS;
  return [
    { type: 'table', head: ['of it beside the conversation', 'requests', 'tokens', 'cost'], align: ['left', 'right', 'right', 'right'],
      rows: sorted.slice(0, MOST_ROWS).map(({ what, requests, tokens: all, usd }) => [oneLine(what, 60), String(requests), tokens(all), usd === undefined ? 'not known' : dollars(usd)]) },
    ...(more > 0 ? [{ type: 'text' as const, text: `and ${count(more, 'more', 'more')}` }] : []),
  ];
}

function unpriced({ perModel }: CostView): readonly CardBlock[] {
  const models = perModel.filter(({ usd }) => usd === undefined).map(({ model }) => model);
  return models.length === 0 ? [] : [{ type: 'text', text: `No price is known for ${models.join(', ')}.` }];
}
