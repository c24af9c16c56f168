import { nearest } from '#lib/nearest.ts';
import { oneLine } from '#lib/names.ts';
import { defineCommand, type Effect } from '#domain/command.ts';

/** What other shells have left on this machine, and taking it over. */
export default defineCommand({
  id: 'import',
  group: 'Session',
  summary: 'Take over settings, servers and commands of other shells; alone: see them',
  usage: '[claude | codex | gemini | opencode | crush | cursor] [--project] [--yes]',
  complete(args, context) {
    const words = args.trimStart().split(/\s+/);
    return words.length === 1 ? context.importers().map(({ id }) => id) : ['--project', '--yes'];
  },
  run(args, context): Effect {
    const words = args.trim().split(/\s+/).filter((word) => word !== '');
    const flags = words.filter((word) => word.startsWith('-'));
    const [from, second] = words.filter((word) => !word.startsWith('-'));
    const ids = context.importers().map(({ id }) => id);
    const odd = flags.find((flag) => flag !== '--project' && flag !== '--yes');
    if (odd !== undefined) return { type: 'refuse', message: `/import knows --project and --yes, not ${oneLine(odd, 40)}.` };
    if (second !== undefined) return { type: 'refuse', message: `one at a time: /import ${from !== undefined && ids.includes(from) ? from : ids[0] ?? ''}.` };
    if (from !== undefined && !ids.includes(from)) {
      const near = nearest(from, ids);
      return { type: 'refuse', message: `nothing can be taken over from "${oneLine(from, 40)}". ${near === undefined ? `There are ${ids.join(', ')}.` : `Did you mean /import ${near}?`}` };
    }
    if (from === undefined && flags.includes('--yes')) return { type: 'refuse', message: `from which shell? /import shows what there is, /import ${ids[0] ?? ''} --yes takes it over.` };
    return { type: 'import', project: flags.includes('--project'), yes: flags.includes('--yes'), ...(from !== undefined && { from }) };
  },
});
