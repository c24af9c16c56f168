import { percent, tokens } from '#lib/numbers.ts';
import { type ContextView, defineCommand } from '#domain/command.ts';
import type { Row } from '#domain/request.ts';

/** Every block of the next request: where it comes from, how old it is, what it weighs. */
export default defineCommand({
  id: 'context',
  summary: 'What the model will be sent: every block with its origin, age and tokens',
  anytime: true,
  async run(_args, context) {
    const view = await context.context();
    return {
      type: 'show',
      card: {
        title: 'Context', detail: headline(view),
        body: [
          { type: 'table', head: ['part', 'tokens', 'share'], align: ['left', 'right', 'right'], rows: groups(view.rows, view.estimated) },
          {
            type: 'table', head: ['block', 'from', 'age', 'tokens'], align: ['left', 'left', 'right', 'right'],
            rows: view.rows.map((row) => [row.label, row.origin, row.age === 0 ? 'new' : String(row.age), tokens(row.tokens)]),
          },
          { type: 'text', text: accuracy(view) },
        ],
      },
    };
  },
});

function headline({ estimated, limit, window, model }: ContextView): string {
  return `~${tokens(estimated)} of ${tokens(limit)} tokens (${percent(estimated / limit)}), window ${tokens(window)}, ${model}`;
}

function groups(rows: readonly Row[], whole: number): string[][] {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(row.group, (sums.get(row.group) ?? 0) + row.tokens);
  return [...sums].map(([group, sum]) => [group, tokens(sum), percent(whole === 0 ? 0 : sum / whole)]);
}

function accuracy({ measured, error }: ContextView): string {
  if (measured === undefined) return 'All numbers are estimates; they are scaled to the API\'s own count after the first reply. Age counts steps since a block was first sent.';
  const off = error === undefined ? '' : `; the estimate of it was off by ${error >= 0 ? '+' : ''}${(error * 100).toFixed(1)} %`;
  return `The last request was measured at ${tokens(measured)} tokens${off}. Age counts steps since a block was first sent.`;
}
