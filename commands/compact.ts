import { defineCommand } from '#domain/command.ts';

/** Replaces the conversation so far by a summary; pins and todos stay as they are. */
export default defineCommand({
  id: 'compact',
  group: 'Session',
  summary: 'Replace the conversation by a summary; pins and todos stay word for word',
  usage: '[what to keep]',
  run: (args) => ({ type: 'compact', keep: args.trim() }),
});
