import { defineCommand } from '#domain/command.ts';

/** Asks for a key and keeps it for later starts. */
export default defineCommand({
  id: 'login',
  group: 'Model and money',
  summary: 'Enter an API key; it is kept in a file that only you can read',
  run: (args) => (args.trim() === '' ? { type: 'login' } : { type: 'refuse', message: 'Do not write a key on the line, where the history keeps it: /login alone asks for it.' }),
});
