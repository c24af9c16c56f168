import { defineCommand } from '#domain/command.ts';

/** Forgets the kept key. */
export default defineCommand({
  id: 'logout',
  group: 'Model and money',
  summary: 'Forget the key that /login kept',
  run: () => ({ type: 'logout' }),
});
