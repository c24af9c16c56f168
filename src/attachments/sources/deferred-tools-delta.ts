import { oneLine } from '#lib/names.ts';
import { count } from '#lib/text.ts';
import type { Json } from '#lib/brand.ts';
import type { Entry } from '#domain/entry.ts';
import { inViewOf } from '#domain/folds.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';

interface Named {
  readonly name: string;
  /** What it does; unknown of those that were announced by an earlier process. */
  readonly summary?: string;
}

const LONGEST_NAME = 64;
const LONGEST_SUMMARY = 200;
/** UTF-8 bytes of the names and summaries of one reminder. */
const MOST_BYTES = 16_000;
/** Of them, what the names that went may take. */
const MOST_GONE_BYTES = 1500;

/**
 * Tools that are loaded on demand: all of them at first, then those that came or went. What has been loaded stays on the list.
 * Where there are very many, summaries give way to names, and names to their number.
 */
export default defineSource<readonly Named[]>({
  id: 'deferred_tools_delta', on: ['prompt', 'step'], threads: 'all', cadence: 'onChange', limits: { tokens: 6000 },
  observe({ tools, outside, log }) {
    const offered = tools.deferred();
    // What a server brought along is not gone while servers are still being connected.
    const awaited = outside.mcp.servers().some(({ state }) => state === 'connecting') ? newIn(offered, lastNamed(log)).filter(({ name }) => name.startsWith('mcp__')) : [];
    const deferred = awaited.length === 0 ? offered : [...offered, ...awaited].sort((a, b) => (a.name < b.name ? -1 : 1));
    return deferred.length === 0 ? absent : deferred;
  },
  keep: (now) => now.map(({ name }) => name),
  revive: namesIn,
  full: (now) => `More tools, to be loaded with ToolSearch before they are called:\n${listed(now).text}`,
  delta: (before, now) => {
    const came = newIn(before, now);
    const went = newIn(now, before);
    const lines = [
      ...(came.length === 0 ? [] : [`More tools can be loaded with ToolSearch now:\n${listed(came).text}`]),
      ...(went.length === 0 ? [] : [`No longer available: ${named(went, MOST_GONE_BYTES).text}`]),
    ];
    return lines.length === 0 ? undefined : lines.join('\n\n');
  },
  gone: () => 'There are no tools left that could be loaded with ToolSearch.',
  notes: (now, before) => {
    const { bare, unnamed } = listed(before === undefined ? now : newIn(before, now));
    return [
      ...(bare === 0 ? [] : [`${count(bare, 'tool')} that can be loaded on demand ${bare === 1 ? 'was' : 'were'} named to the model without a summary`]),
      ...(unnamed === 0 ? [] : [`${count(unnamed, 'tool')} that can be loaded on demand ${unnamed === 1 ? 'was' : 'were'} not named to the model, which can search for ${unnamed === 1 ? 'it' : 'them'}`]),
    ];
  },
});

function lastNamed(log: readonly Entry[]): readonly Named[] {
  const last = inViewOf(log).findLast((entry) => entry.type === 'reminder' && entry.source === 'deferred_tools_delta');
  return last?.type === 'reminder' ? namesIn(last.snapshot) ?? [] : [];
}

function namesIn(stored: Json): readonly Named[] | undefined {
  return Array.isArray(stored) && stored.every((name) => typeof name === 'string') ? stored.map((name) => ({ name })) : undefined;
}

function newIn(before: readonly Named[], now: readonly Named[]): readonly Named[] {
  const known = new Set(before.map(({ name }) => name));
  return now.filter(({ name }) => !known.has(name));
}

interface Listed {
  readonly text: string;
  /** How many are named without their summary, and how many not at all. */
  readonly bare: number;
  readonly unnamed: number;
}

/** With summaries as far as they fit beside the names of all others; the rest as names, then as a number. */
function listed(tools: readonly Named[]): Listed {
  const costs = tools.map(({ name }) => Buffer.byteLength(nameOf(name)) + 2);
  let left = MOST_BYTES - costs.reduce((sum, cost) => sum + cost, 0);
  let told = 0;
  for (; told < tools.length; told += 1) {
    const tool = tools[told];
    if (tool === undefined) break;
    left -= Buffer.byteLength(lineOf(tool)) + 1 - (costs[told] ?? 0);
    if (left < 0) break;
  }
  const rest = tools.slice(told);
  const lines = tools.slice(0, told).map(lineOf);
  if (rest.length === 0) return { text: lines.join('\n'), bare: 0, unnamed: 0 };
  const { text, unnamed } = named(rest, MOST_BYTES - lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0));
  return { text: [...lines, `${told === 0 ? 'By name only' : 'And, by name only'} (ToolSearch tells what they do): ${text}`].join('\n'), bare: rest.length - unnamed, unnamed };
}

/** Names as far as they fit, then how many there are beside them. */
function named(tools: readonly Named[], mostBytes: number): { readonly text: string; readonly unnamed: number } {
  let left = mostBytes;
  let shown = 0;
  for (; shown < tools.length; shown += 1) {
    left -= Buffer.byteLength(nameOf(tools[shown]?.name ?? '')) + 2;
    if (left < 0) break;
  }
  const unnamed = tools.length - shown;
  const names = tools.slice(0, shown).map(({ name }) => nameOf(name)).join(', ');
  return { text: unnamed === 0 ? names : `${names} and ${unnamed} more that are not named here; ToolSearch finds them by words`, unnamed };
}

const nameOf = (name: string): string => oneLine(name, LONGEST_NAME);

function lineOf({ name, summary }: Named): string {
  return `- ${nameOf(name)}${summary === undefined || summary === '' ? '' : `: ${oneLine(summary, LONGEST_SUMMARY)}`}`;
}
