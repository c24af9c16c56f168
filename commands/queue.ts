import { oneLine } from '#lib/names.ts';
import { count } from '#lib/text.ts';
import type { Card } from '#domain/card.ts';
import { type CommandContext, defineCommand, type Effect } from '#domain/command.ts';
import { onOneLine } from '#domain/task-words.ts';

type Waiting = ReturnType<CommandContext['waiting']>[number];

const VERBS = ['edit', 'rm', 'clear'] as const;

/** What was entered while the model works and was not delivered yet. Up takes the newest back. */
export default defineCommand({
  id: 'queue',
  group: 'At work',
  summary: 'What waits to be sent; show it, take it back to edit it, or remove it',
  usage: '[edit <n> | rm <n…> | clear]',
  anytime: true,
  complete(args, { waiting }) {
    if (/^\s*\S*$/.test(args)) return VERBS;
    return /^\s*(?:edit|rm)\s/.test(args) ? waiting().map((_, i) => String(i + 1)) : [];
  },
  run(args, { waiting, surface }) {
    const [, verb = '', rest = ''] = /^\s*(\S*)\s*([\s\S]*)$/.exec(args) ?? [];
    const items = waiting();
    if (verb === '') return { type: 'show', card: listCard(items) };
    if (!VERBS.some((known) => known === verb)) return refuse(`/queue has no "${oneLine(verb, 40)}". It has ${VERBS.join(', ')}.`);
    if (items.length === 0) return refuse('Nothing waits to be sent.');
    if (verb === 'clear') return rest.trim() === '' ? { type: 'takeBack', ids: items.map(({ id }) => id), how: 'remove' } : refuse('It is /queue clear for all that waits, or /queue rm <n…>.');
    if (rest.trim() === '') return surface === 'screen' ? { type: 'takeBack', how: verb === 'edit' ? 'edit' : 'remove' } : refuse(`Say which one: /queue ${verb} <n>.`);
    return withItems(rest, items, (ids) => (verb === 'edit' && ids.length > 1 ? refuse('One at a time: /queue edit <n>.') : { type: 'takeBack', ids, how: verb === 'edit' ? 'edit' : 'remove' }));
  },
});

function refuse(message: string): Effect {
  return { type: 'refuse', message };
}

/** Items by their numbers, with blanks or commas between: all of them, or none and a word why. */
function withItems(numbers: string, items: readonly Waiting[], then: (ids: readonly string[]) => Effect): Effect {
  const wanted = [...new Set(numbers.split(/[\s,]+/).map((number) => number.replace(/^#/, '')).filter((number) => number !== ''))];
  const ids = wanted.map((number) => (/^\d+$/.test(number) ? items[Number(number) - 1]?.id : undefined));
  const missing = wanted[ids.indexOf(undefined)];
  if (missing !== undefined || wanted.length === 0) return refuse(`${missing === undefined ? 'Say which one' : `There is no number ${oneLine(missing, 40)}`}: ${count(items.length, 'line')} ${items.length === 1 ? 'waits' : 'wait'}.`);
  return then(ids.filter((id) => id !== undefined));
}

function listCard(items: readonly Waiting[]): Card {
  if (items.length === 0) return { title: 'Queue', detail: 'nothing waits to be sent', body: [] };
  return {
    title: 'Queue', detail: `${count(items.length, 'line')}, delivered at the next step or when the work in hand is done`,
    body: [{ type: 'table', head: [''], rows: items.map(({ text }, i) => [`${i + 1} ${onOneLine(text, 500)}`]) }],
  };
}
