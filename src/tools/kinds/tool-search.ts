import * as z from 'zod';
import type { DeferredTool } from '#domain/tool.ts';
import { firstNames, oneLine } from '#lib/names.ts';
import { nearest } from '#lib/nearest.ts';
import { count } from '#lib/text.ts';
import { defineTool } from '../define.ts';
import { someText, wholeNumber } from '../fields.ts';
import { done, failed } from '../result.ts';
import description from './tool-search.md';

const MOST_FOUND = 20;
const FOUND = 5;
const SELECT = /^\s*select:\s*/i;

const input = z.strictObject({
  query: someText.describe('Words, or `select:Name,Name`'),
  max_results: wholeNumber(1, MOST_FOUND).optional().describe(`Default ${FOUND}`),
});

interface Found {
  readonly tools: readonly DeferredTool[];
  /** What was asked for and is not there. */
  readonly notes: readonly string[];
}

export const toolSearch = defineTool({
  id: 'ToolSearch',
  description,
  effect: 'reads',
  input,
  title: ({ query }) => `ToolSearch ${oneLine(query, 100)}`,
  async *run({ query, max_results: most = FOUND }, context) {
    const title = `ToolSearch ${oneLine(query, 100)}`;
    const loadable = context.loadable(context.session);
    const { tools, notes } = SELECT.test(query) ? selected(query.replace(SELECT, ''), loadable) : await ranked(query, loadable, most);
    if (tools.length === 0) return failed(title, [...notes, `There are: ${namesOf(loadable)}.`].join(' '), { detail: 'no tool found' });
    const lines = tools.map(({ definition, summary }) => `${definition.name}: ${summary}`);
    const said = [`Loaded, can be called now: ${namesOf(tools)}.`, ...notes].join(' ');
    return done(said, { title, detail: [count(tools.length, 'tool'), ...notes].join('; '), body: [{ type: 'list', items: lines }] }, { loads: tools.map(({ definition }) => definition) });
  },
});

function namesOf(tools: readonly DeferredTool[]): string {
  return firstNames(tools.map(({ definition }) => definition.name)) || 'none';
}

/** Tools that were named. A name with another case is taken; one that is nearly right is told. */
function selected(names: string, loadable: readonly DeferredTool[]): Found {
  const tools: DeferredTool[] = [];
  const notes: string[] = [];
  for (const name of new Set(names.split(/[\s,]+/).filter((part) => part !== '').slice(0, MOST_FOUND))) {
    const found = loadable.find(({ definition }) => definition.name.toLowerCase() === name.toLowerCase());
    if (found === undefined) notes.push(missing(name, loadable));
    else if (!tools.includes(found)) tools.push(found);
  }
  return { tools, notes: tools.length === 0 && notes.length === 0 ? ['No tool was named.'] : notes };
}

function missing(name: string, loadable: readonly DeferredTool[]): string {
  const near = nearest(name, loadable.map(({ definition }) => definition.name));
  return `"${oneLine(name, 64)}" is no tool that can be loaded${near === undefined ? '' : ` (meant ${near}?)`}.`;
}

async function ranked(query: string, loadable: readonly DeferredTool[], most: number): Promise<Found> {
  const { default: MiniSearch } = await import('minisearch');
  const index = new MiniSearch({
    fields: ['name', 'summary', 'description'], idField: 'at',
    tokenize: (text) => text.replace(/([a-z0-9])([A-Z])/g, '$1 $2').split(/[^\p{L}\p{N}]+/u).filter((word) => word !== ''),
    searchOptions: { boost: { name: 4, summary: 2 }, prefix: true, fuzzy: (word) => (word.length > 4 ? 0.2 : false) },
  });
  index.addAll(loadable.map(({ definition, summary }, at) => ({ at, name: definition.name, summary, description: definition.description ?? '' })));
  const tools = index.search(query).slice(0, most).flatMap(({ id }) => loadable[Number(id)] ?? []);
  return { tools, notes: tools.length === 0 ? ['No tool fits these words.'] : [] };
}
