import { oneLine } from '#lib/names.ts';
import { defineCommand } from '#domain/command.ts';
import text from './init.md';

/** Has the model write or improve the project's AGENTS.md. What stands behind it is a wish of the user's. */
export default defineCommand({
  id: 'init',
  group: 'At work',
  summary: 'Have the model write or improve AGENTS.md for this project',
  usage: '[<what matters to you>]',
  run(args) {
    const wish = args.trim();
    return { type: 'submit', prompt: wish === '' ? text.trim() : `${text.trim()}\n\nThe user adds: ${wish}`, shown: wish === '' ? '/init' : `/init ${oneLine(wish)}` };
  },
});
