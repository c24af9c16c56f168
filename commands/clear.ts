import { defineCommand } from '#domain/command.ts';

/** A new session; what the user keeps in view comes along. */
export default defineCommand({
  id: 'clear',
  aliases: ['new'],
  group: 'Session',
  summary: 'Start a new session that keeps your pins and open todos',
  usage: '[--all]',
  complete: () => ['--all'],
  run(args) {
    const word = args.trim();
    if (word !== '' && word !== '--all') return { type: 'refuse', message: 'It is /clear, or /clear --all to leave pins and todos behind too.' };
    return { type: 'clear', all: word === '--all' };
  },
});
