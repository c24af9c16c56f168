import { nearest } from '#lib/nearest.ts';
import { oneLine } from '#lib/names.ts';
import { tokens } from '#lib/numbers.ts';
import { type CommandContext, defineCommand, type Effect } from '#domain/command.ts';

/** What a server may call a model. */
const ID = /^[\w./:@+[\]-]{1,200}$/;

/** Changes the model; written into the session as a new head. */
export default defineCommand({
  id: 'model',
  group: 'Model and money',
  summary: 'Show or change the model',
  usage: '[id]',
  complete: (_args, context) => context.models().map(({ id }) => id),
  run(args, context) {
    const wanted = args.trim();
    if (wanted === '') return context.surface === 'screen' ? { type: 'model' } : list(context);
    const id = named(wanted, context);
    if (id === undefined && !ID.test(wanted)) return { type: 'refuse', message: `"${oneLine(wanted, 60)}" can be no model's id. /model lists them.` };
    if (id === context.model.id) return { type: 'show', card: { title: `Model: ${id}`, detail: 'it answers already', body: [] } };
    if (id !== undefined) return { type: 'model', id };
    const near = nearest(wanted, context.models().map((model) => model.id));
    // A gateway may serve names that no table knows: only a slip of a known name is taken for one.
    if (near !== undefined) return { type: 'refuse', message: `No model ${oneLine(wanted, 60)} is known. Did you mean ${near}? Start with --model ${oneLine(wanted, 60)} to use it all the same.` };
    return { type: 'model', id: wanted };
  },
});

/** A known id, by itself, by the name of its line (`opus`: the newest of it) or by its label (`Opus 5.5`). */
function named(wanted: string, context: CommandContext): string | undefined {
  const word = wanted.toLowerCase();
  const models = context.models();
  if (wanted === context.model.id) return wanted;
  return (models.find(({ id }) => id === word) ?? models.find(({ label }) => label.toLowerCase() === word) ?? models.find(({ id }) => /^[a-z]+$/.test(word) && word !== 'claude' && id.split('-').includes(word)))?.id;
}

function list(context: CommandContext): Effect {
  return {
    type: 'show',
    card: {
      title: `Model: ${context.model.id}`,
      body: [{ type: 'table', head: ['id', 'window'], align: ['left', 'right'], rows: context.models().map((model) => [model.id, tokens(model.window)]) }],
    },
  };
}
