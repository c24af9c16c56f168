import { nearest } from '#lib/nearest.ts';
import { tokens } from '#lib/numbers.ts';
import { defineCommand } from '#domain/command.ts';

/** Changes the model; written into the session as a new head. */
export default defineCommand({
  id: 'model',
  summary: 'Show or change the model',
  usage: '[id]',
  complete: (_args, context) => context.models().map(({ id }) => id),
  run(args, context) {
    const wanted = args.trim();
    if (wanted === '' && context.surface === 'screen') return { type: 'model' };
    if (wanted === '') {
      return { type: 'show', card: { title: `Model: ${context.model.id}`, body: [{ type: 'table', head: ['id', 'window'], align: ['left', 'right'], rows: context.models().map((model) => [model.id, tokens(model.window)]) }] } };
    }
    const known = context.models().map(({ id }) => id);
    const lines = known.filter((id) => id.split('-').includes(wanted));
    const [line] = lines;
    if (line !== undefined && !known.includes(wanted)) return { type: 'model', id: line };
    const near = known.includes(wanted) ? undefined : nearest(wanted, known);
    // A gateway may serve names that no table knows: only a slip of a known name is taken for one.
    if (near !== undefined) return { type: 'refuse', message: `No model ${wanted} is known. Did you mean ${near}? Start with --model ${wanted} to use it all the same.` };
    return { type: 'model', id: wanted };
  },
});
