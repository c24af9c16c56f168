import { nearest } from '#lib/nearest.ts';
import { oneLine } from '#lib/names.ts';
import type { Card, CardBlock } from '#domain/card.ts';
import { type Command, type CommandContext, defineCommand } from '#domain/command.ts';

/** Commands and keys, made from their own definitions. */
export default defineCommand({
  id: 'help',
  aliases: ['?'],
  group: 'Session',
  summary: 'Commands and keys, or what one command takes; keys: all keys',
  usage: '[<command> | keys]',
  anytime: true,
  complete: (_args, { commands }) => ['keys', ...commands.map(({ id }) => id)],
  run(args, { commands, keys }) {
    const wanted = args.trim().replace(/^\//, '');
    if (wanted === '') return { type: 'show', card: overview(commands, keys) };
    const one = commands.find(({ id, aliases }) => id === wanted || id === wanted.toLowerCase() || aliases?.includes(wanted.toLowerCase()));
    if (one !== undefined) return { type: 'show', card: { title: line(one), body: [{ type: 'text', text: `${one.summary}.${also(one)}` }] } };
    if (wanted.toLowerCase() === 'keys') return { type: 'show', card: { title: 'Keys', body: [keyTable('key', keys.filter(({ editing }) => editing !== true)), keyTable('writing', keys.filter(({ editing }) => editing === true))].flat() } };
    const near = nearest(wanted, commands.flatMap(({ id, aliases = [] }) => [id, ...aliases]));
    return { type: 'refuse', message: `There is no command /${oneLine(wanted, 40)}. ${near === undefined ? '/help lists them.' : `Did you mean /help ${near}?`}` };
  },
});

function overview(commands: readonly Command[], keys: CommandContext['keys']): Card {
  const groups = [...new Set(commands.map(({ group }) => group))];
  return {
    title: 'Help',
    body: [
      ...groups.map((group): CardBlock => ({
        type: 'table', head: [group ?? 'Skills and more', ''],
        rows: commands.filter((command) => command.group === group).map(({ id, summary, ...command }) => [`/${id}`, command.group === undefined ? summary : summary.split('; ', 1).join('')]),
      })),
      ...keyTable('Keys', keys.filter(({ editing }) => editing !== true)),
      { type: 'text', text: `Type @ to mention a file, ! to run a command yourself, / for commands. /help <command> tells what one takes${keys.length === 0 ? '' : ', /help keys all keys'}.` },
    ],
  };
}

function keyTable(head: string, keys: CommandContext['keys']): readonly CardBlock[] {
  return keys.length === 0 ? [] : [{ type: 'table', head: [head, ''], rows: keys.map((key) => [key.keys, key.what]) }];
}

const line = ({ id, usage }: Command): string => `/${id}${usage === undefined ? '' : ` ${usage}`}`;
const also = ({ aliases }: Command): string => (aliases === undefined ? '' : ` Also: ${aliases.map((alias) => `/${alias}`).join(', ')}.`);
