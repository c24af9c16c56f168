import { dollars, percent, tokens } from '#lib/numbers.ts';
import { type CostView, defineCommand } from '#domain/command.ts';

/** What the session cost so far, by model. */
export default defineCommand({
  id: 'cost',
  aliases: ['usage'],
  summary: 'Tokens and money of this session, by model',
  anytime: true,
  run(_args, context) {
    const cost = context.cost();
    return {
      type: 'show',
      card: {
        title: `Cost: ${dollars(cost.usd)}`, detail: shares(cost),
        body: cost.perModel.length === 0 ? [] : [{
          type: 'table', head: ['model', 'requests', 'input', 'cache read', 'cache write', 'output', 'cost'], align: ['left', 'right', 'right', 'right', 'right', 'right', 'right'],
          rows: cost.perModel.map((row) => [row.model, String(row.requests), tokens(row.input), tokens(row.cacheRead), tokens(row.cacheWrite), tokens(row.output), dollars(row.usd)]),
        }],
      },
    };
  },
});

function shares({ input, cacheRead, cacheWrite, output }: CostView): string {
  const prompt = input + cacheRead + cacheWrite;
  return prompt === 0 ? 'no request was made yet' : `${tokens(prompt)} in (${percent(cacheRead / prompt)} from cache), ${tokens(output)} out`;
}
