import { defineCommand } from '#domain/command.ts';

/** Turns plan mode on and off. */
export default defineCommand({
  id: 'plan',
  summary: 'Plan mode on or off: the model reads and thinks, and changes nothing',
  usage: '[on | off]',
  anytime: true,
  complete: () => ['on', 'off'],
  run(args, { mode }) {
    const word = args.trim();
    if (word !== '' && word !== 'on' && word !== 'off') return { type: 'refuse', message: 'It is /plan, /plan on or /plan off.' };
    const on = word === '' ? mode !== 'plan' : word === 'on';
    return { type: 'mode', mode: on ? 'plan' : 'default' };
  },
});
