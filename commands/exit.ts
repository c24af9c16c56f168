import { defineCommand } from '#domain/command.ts';

/** Ends the program; the session can be gone on with. */
export default defineCommand({
  id: 'exit',
  aliases: ['quit'],
  group: 'Session',
  summary: 'Leave; the session stays for -c and /resume',
  anytime: true,
  run: () => ({ type: 'exit' }),
});
