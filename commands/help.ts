import { nearest } from '#lib/nearest.ts';
import { oneLine } from '#lib/names.ts';
import type { CardBlock } from '#domain/card.ts';
import { type Command, defineCommand } from '#domain/command.ts';

/** All commands and keys, made from their own definitions. */
export default defineCommand({
  id: 'help',
  aliases: ['?'],
  summary: 'Commands and keys, or what one command takes',
  usage: '[command]',
  anytime: true,
  complete: (_args, { commands }) => commands.map(({ id }) => id),
  run(args, { commands, keys }) {
    const wanted = args.trim().replace(/^\//, '');
    if (wanted === '') {
      return {
        type: 'show',
        card: {
          title: 'Help',
          body: [
            { type: 'table', head: ['command', 'does'], rows: commands.map(({ id, summary }) => [`/${id}`, summary]) },
            ...(keys.length === 0 ? [] : [{ type: 'table', head: ['key', 'does'], rows: keys.map((key) => [key.keys, key.what]) } satisfies CardBlock]),
            { type: 'text', text: 'Type @ to mention a file, ! to run a command yourself, / for commands. /help <command> tells what one takes.' },
          ],
        },
      };
    }
    const one = commands.find(({ id, aliases }) => id === wanted || id === wanted.toLowerCase() || aliases?.includes(wanted.toLowerCase()));
    if (one !== undefined) return { type: 'show', card: { title: line(one), body: [{ type: 'text', text: `${one.summary}.${also(one)}` }] } };
    const near = nearest(wanted, commands.flatMap(({ id, aliases = [] }) => [id, ...aliases]));
    return { type: 'refuse', message: `There is no command /${oneLine(wanted, 40)}. ${near === undefined ? '/help lists them.' : `Did you mean /help ${near}?`}` };
  },
});

const line = ({ id, usage }: Command): string => `/${id}${usage === undefined ? '' : ` ${usage}`}`;
const also = ({ aliases }: Command): string => (aliases === undefined ? '' : ` Also: ${aliases.map((alias) => `/${alias}`).join(', ')}.`);
