import { oneLine } from '#lib/names.ts';
import { cutToLength } from '#lib/text.ts';
import type { Card } from '#domain/card.ts';
import { defineCommand } from '#domain/command.ts';

const MOST_SHOWN = 380;

/** Shows the output styles, or sets one for this session. */
export default defineCommand({
  id: 'output-style',
  group: 'At work',
  summary: 'How answers are written; show the styles, or set one for this session',
  usage: '[name | default]',
  anytime: true,
  complete: async (_args, context) => (await context.styles()).all.map(({ name }) => name),
  async run(args, context) {
    const { all, now } = await context.styles();
    const wanted = args.trim();
    if (wanted === '') return { type: 'show', card: listing(all, now) };
    const style = all.find(({ name }) => name.toLowerCase() === wanted.toLowerCase());
    if (style === undefined) return { type: 'refuse', message: `${cutToLength(`There is no output style "${oneLine(wanted, 60)}". There are ${all.map(({ name }) => oneLine(name, 60)).join(', ')}`, MOST_SHOWN)}.` };
    const detail = style.name === now ? 'as before' : 'from the next prompt on, in this session';
    return { type: 'append', entries: [{ type: 'option', name: 'outputStyle', value: style.name }], card: { title: `Output style: ${style.name}`, detail, body: [] } };
  },
});

function listing(all: readonly { readonly name: string; readonly description: string; readonly from: string }[], now: string | undefined): Card {
  return {
    title: `Output style: ${now ?? 'default'}`,
    detail: '/output-style <name> sets one for this session',
    body: [{ type: 'table', head: ['', 'style', ''], rows: all.map(({ name, description, from }) => [name === now ? '●' : '', name, from === 'built in' ? description : `${description} (${from})`.trim()]) }],
  };
}
