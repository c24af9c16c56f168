import { dollars, percent, tokens } from '#lib/numbers.ts';
import { type ContextView, defineCommand } from '#domain/command.ts';
import type { Row } from '#domain/request.ts';

/** Every block of the next request: where it comes from, how old it is, what it weighs. */
export default defineCommand({
  id: 'context',
  group: 'In view',
  summary: 'What the model will be sent; every block with its origin, age and tokens',
  anytime: true,
  async run(_args, context) {
    const view = await context.context();
    const coming = view.coming ?? [];
    const { usd, budgetUsd } = await context.usage();
    return {
      type: 'show',
      card: {
        title: 'Context', detail: headline(view),
        body: [
          { type: 'table', head: ['part', 'tokens', 'share'], align: ['left', 'right', 'right'], rows: groups(view) },
          { type: 'table', head: ['age', 'tokens', 'block', 'from'], align: ['right', 'right', 'left', 'left'], rows: [...view.rows.map((row) => line(row, row.age === 0 ? 'new' : String(row.age))), ...coming.map((row) => line(row, 'next'))] },
          ...(coming.length === 0 ? [] : [{ type: 'text' as const, text: `What is marked "next" comes with the next prompt: ~${tokens(coming.reduce((sum, row) => sum + row.tokens, 0))} tokens, not counted above.` }]),
          { type: 'text', text: accuracy(view) },
          ...(budgetUsd === undefined ? [] : [{ type: 'text' as const, text: `Budget: ${dollars(usd)} of ${dollars(budgetUsd)} spent.` }]),
        ],
      },
    };
  },
});

function line(row: Row, age: string): string[] {
  return [age, tokens(row.tokens), row.label, originOf(row)];
}

function headline({ estimated, limit, window, model }: ContextView): string {
  return `~${tokens(estimated)} of ${tokens(limit)} tokens (${percent(estimated / limit)}), window ${tokens(window)}, ${model}`;
}

/** Heaviest first; they add up to the last line. */
function groups({ rows }: ContextView): string[][] {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(row.group, (sums.get(row.group) ?? 0) + row.tokens);
  const whole = rows.reduce((sum, row) => sum + row.tokens, 0);
  return [...[...sums].sort(([, a], [, b]) => b - a).map(([group, sum]) => [group, tokens(sum), percent(sum / whole)]), ['all', tokens(whole), percent(whole / whole)]];
}

/** Nothing where the block's own words name it: a narrow window has room for one of them. */
function originOf({ label, origin }: Row): string {
  return label.toLowerCase().startsWith(origin.toLowerCase()) ? '' : origin;
}

function accuracy({ measured, error }: ContextView): string {
  const age = 'Age counts the model\'s replies since a block was first sent.';
  if (measured === undefined) return `All numbers are estimates; they are scaled to the API's own count after the first reply. ${age}`;
  const off = error === undefined ? '' : `; the estimate of it was off by ${error >= 0 ? '+' : ''}${(error * 100).toFixed(1)} %`;
  return `The last request was measured at ${tokens(measured)} tokens${off}. ${age}`;
}
