import { oneLine } from '#lib/names.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';

interface Named {
  readonly name: string;
  /** What it does; unknown of those that were announced by an earlier process. */
  readonly summary?: string;
}

const LONGEST_SUMMARY = 200;

/** Tools that are loaded on demand: all of them at first, then those that came or went. What has been loaded stays on the list. */
export default defineSource<readonly Named[]>({
  id: 'deferred_tools_delta', on: ['prompt', 'step'], threads: 'all', cadence: 'onChange', limits: { tokens: 6000 },
  observe({ tools }) {
    const deferred = tools.deferred();
    return deferred.length === 0 ? absent : deferred;
  },
  keep: (now) => now.map(({ name }) => name),
  revive: (stored) => (Array.isArray(stored) && stored.every((name) => typeof name === 'string') ? stored.map((name) => ({ name })) : undefined),
  full: (now) => `More tools, to be loaded with ToolSearch before they are called:\n${now.map(lineOf).join('\n')}`,
  delta: (before, now) => {
    const came = now.filter(({ name }) => !before.some((tool) => tool.name === name));
    const went = before.filter(({ name }) => !now.some((tool) => tool.name === name));
    const lines = [
      ...(came.length === 0 ? [] : [`More tools can be loaded with ToolSearch now:\n${came.map(lineOf).join('\n')}`]),
      ...(went.length === 0 ? [] : [`No longer available: ${went.map(({ name }) => oneLine(name, 64)).join(', ')}`]),
    ];
    return lines.length === 0 ? undefined : lines.join('\n\n');
  },
  gone: () => 'There are no tools left that could be loaded with ToolSearch.',
});

function lineOf({ name, summary }: Named): string {
  return `- ${oneLine(name, 64)}${summary === undefined || summary === '' ? '' : `: ${oneLine(summary, LONGEST_SUMMARY)}`}`;
}
