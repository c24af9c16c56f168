import { tokens } from '#lib/numbers.ts';
import { type CommandContext, defineCommand, type Effect, type PinOptions } from '#domain/command.ts';

const OPTIONS: Readonly<Record<string, keyof PinOptions>> = { '--snapshot': 'snapshot', '--path': 'pathOnly', '--whole': 'whole' };

/** Keeps a file, a range, a directory's listing, a glob, a note or a command's output in front of the model. */
export default defineCommand({
  id: 'pin',
  summary: 'Keep a file, directory, note or command output in view; without arguments list the pins',
  usage: '[<path>[#10-40] | <dir>/ | <glob> | !<command> | note <text>] [--snapshot | --path | --whole]',
  anytime: true,
  complete: (args) => (args.includes('--') ? Object.keys(OPTIONS) : []),
  async run(args, context): Promise<Effect> {
    const { text, options, unknown } = parse(args);
    if (unknown !== undefined) return { type: 'refuse', message: `/pin has no option ${unknown}. There are ${Object.keys(OPTIONS).join(', ')}.` };
    if (text === '') return list(context);
    if (options.pathOnly && options.whole) return { type: 'refuse', message: '--path pins the path only, --whole all of the contents: choose one.' };
    const found = await context.lookUpPin(text, options);
    if (!found.ok) return { type: 'refuse', message: found.message };
    return {
      type: 'append', entries: [found.entry],
      card: { title: `Pinned ${found.label}`, ...(found.note !== undefined && { detail: found.note }), tone: 'good', body: [] },
    };
  },
});

function parse(args: string): { text: string; options: PinOptions; unknown?: string } {
  // A command's own options belong to the command.
  if (args.startsWith('!')) return { text: args.trim(), options: { snapshot: false, pathOnly: false, whole: false } };
  const words = args.split(/\s+/).filter((word) => word !== '');
  const given = words.filter((word) => word.startsWith('--'));
  const unknown = given.find((word) => OPTIONS[word] === undefined);
  const text = given.reduce((rest, word) => rest.replace(word, ' '), args).trim();
  const has = (key: keyof PinOptions): boolean => given.some((word) => OPTIONS[word] === key);
  return { text, options: { snapshot: has('snapshot'), pathOnly: has('pathOnly'), whole: has('whole') }, ...(unknown !== undefined && { unknown }) };
}

async function list(context: CommandContext): Promise<Effect> {
  const pins = await context.pins();
  if (pins.length === 0) {
    return { type: 'show', card: { title: 'Nothing is pinned', body: [{ type: 'text', text: 'Pin a file with /pin <path>: the model then sees it as it is, through every compaction.' }] } };
  }
  return {
    type: 'show',
    card: {
      title: 'Pins', body: [{
        type: 'table', head: ['id', 'tokens', ''], align: ['left', 'right', 'left'],
        rows: pins.map((pin) => [pin.id, `~${tokens(pin.tokens)}`, pin.note ?? '']),
      }],
    },
  };
}
