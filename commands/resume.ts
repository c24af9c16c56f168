import { defineCommand } from '#domain/command.ts';

/** Goes on with a stored session. */
export default defineCommand({
  id: 'resume',
  aliases: ['continue'],
  summary: 'Go on with an earlier session',
  usage: '[id]',
  async complete(_args, context) {
    return (await context.sessions()).map(({ id }) => id);
  },
  async run(args, context) {
    const wanted = args.trim();
    if (wanted === '') return { type: 'resume' };
    const fits = (await context.sessions()).filter(({ id }) => id.startsWith(wanted));
    const [first] = fits;
    if (first === undefined) return { type: 'refuse', message: `No session begins with ${wanted}. Choose one with /resume.` };
    if (fits.length > 1) return { type: 'refuse', message: `${fits.length} sessions begin with ${wanted}. Give more of the id.` };
    return { type: 'resume', id: first.id };
  },
});
