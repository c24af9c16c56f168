import { type Command, defineCommand } from '#domain/command.ts';

/** All commands and keys, made from their own definitions. */
export default defineCommand({
  id: 'help',
  aliases: ['?'],
  summary: 'Commands and keys',
  usage: '[command]',
  anytime: true,
  complete: (_args, { commands }) => commands.map(({ id }) => id),
  run(args, { commands, keys }) {
    const wanted = args.trim().replace(/^\//, '');
    const one = commands.find(({ id, aliases }) => id === wanted || aliases?.includes(wanted));
    if (one !== undefined) return { type: 'show', card: { title: line(one), body: [{ type: 'text', text: `${one.summary}.${also(one)}` }] } };
    if (wanted !== '') return { type: 'refuse', message: `There is no command /${wanted}. /help lists them.` };
    return {
      type: 'show',
      card: {
        title: 'Help',
        body: [
          { type: 'table', head: ['command', ''], rows: commands.map((command) => [line(command), command.summary]) },
          { type: 'table', head: ['key', ''], rows: keys.map((key) => [key.keys, key.what]) },
          { type: 'text', text: 'Type @ to mention a file, ! to run a command yourself, / for commands.' },
        ],
      },
    };
  },
});

const line = ({ id, usage }: Command): string => `/${id}${usage === undefined ? '' : ` ${usage}`}`;
const also = ({ aliases }: Command): string => (aliases === undefined ? '' : ` Also: ${aliases.map((alias) => `/${alias}`).join(', ')}.`);
