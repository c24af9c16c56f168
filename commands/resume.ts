import { oneLine } from '#lib/names.ts';
import { defineCommand } from '#domain/command.ts';

/** Goes on with a stored session. */
export default defineCommand({
  id: 'resume',
  aliases: ['continue'],
  group: 'Session',
  summary: 'Go on with an earlier session',
  usage: '[id]',
  async complete(_args, context) {
    try {
      return (await context.sessions()).map(({ id }) => id).filter((id) => id !== context.session.id);
    } catch {
      return [];
    }
  },
  async run(args, context) {
    const wanted = args.trim().toLowerCase();
    if (wanted === '') return { type: 'resume' };
    if (context.session.id === wanted) return { type: 'refuse', message: 'That is the session that you are in.' };
    const sessions = (await context.sessions()).filter(({ id }) => id !== context.session.id);
    const fits = sessions.filter(({ id }) => id.toLowerCase().startsWith(wanted));
    const [first] = fits.filter(({ id }) => id === wanted || fits.length === 1);
    if (first !== undefined) return { type: 'resume', id: first.id };
    const shown = oneLine(wanted, 40);
    return { type: 'refuse', message: fits.length === 0 ? `No session begins with ${shown}. Choose one with /resume.` : `${fits.length} sessions begin with ${shown}. Give more of the id.` };
  },
});
