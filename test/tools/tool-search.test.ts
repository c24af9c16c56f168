import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { Entry } from '#domain/entry.ts';
import { loadedToolsOf } from '#domain/folds.ts';
import type { CallId, DeferredTool } from '#domain/tool.ts';
import { defineTool } from '#tools/define.ts';
import { done } from '#tools/result.ts';
import { toolSearch } from '#tools/kinds/tool-search.ts';
import { createToolbox, type Toolbox } from '#tools/toolbox.ts';
import type { Json } from '#lib/brand.ts';
import type { Session } from '#domain/session.ts';
import { finish, memorySession, openHouse, textOf } from './support.ts';

const later = (id: string, deferred: string, description = 'It is described here at some length.') => defineTool({
  id, deferred, description, effect: 'reads', input: z.strictObject({ url: z.string() }), title: () => id,
  async *run({ url }) { return done(`ran with ${url}`, { title: id, body: [] }); },
});
const LATER = [later('WebFetch', 'Reads a page of the web.'), later('SendMessage', 'Writes to another agent.'), later('TaskStop', 'Ends a background task.', 'Kills a shell or an agent.')];

function open(except: readonly string[] = []): { readonly toolbox: Toolbox; readonly session: Session & { readonly log: readonly Entry[] }; say(tool: string, input: Json): Promise<string> } {
  const session = memorySession();
  const offered = (): readonly DeferredTool[] => toolbox.deferred().filter(({ definition }) => !except.includes(definition.name));
  const toolbox = createToolbox({ tools: [toolSearch, ...LATER], context: { ...openHouse().context, loadable: offered } });
  return {
    toolbox, session,
    async say(tool, input) {
      const outcome = await finish(toolbox.run({ id: 'a' as CallId, tool, input }, session, new AbortController().signal));
      session.append({ type: 'toolResult', callId: 'a' as CallId, tool, result: outcome.result });
      return `${outcome.result.kind}: ${textOf(outcome)}`;
    },
  };
}

const loaded = ({ log }: Session): readonly string[] => loadedToolsOf(log).map(({ name }) => name);

describe('tools on demand', () => {
  test('are not among the definitions, but known by name and what they do', () => {
    const { toolbox } = open();
    expect(toolbox.definitions().map(({ name }) => name)).toEqual(['ToolSearch']);
    expect(toolbox.deferred().map(({ definition, summary }) => [definition.name, summary])).toEqual([
      ['SendMessage', 'Writes to another agent.'], ['TaskStop', 'Ends a background task.'], ['WebFetch', 'Reads a page of the web.'],
    ]);
  });

  test('are found by words, in any form, and loaded with their whole definition', async () => {
    const house = open();
    expect(await house.say('ToolSearch', { query: 'read a web page' })).toMatch(/^ok: Loaded, can be called now: WebFetch/);
    expect(loadedToolsOf(house.session.log)[0]).toMatchObject({ name: 'WebFetch', input_schema: { type: 'object', required: ['url'] } });
    expect(await house.say('ToolSearch', { query: 'kill', max_results: 1 })).toBe('ok: Loaded, can be called now: TaskStop.');
    expect(await house.say('ToolSearch', { query: 'sendmessages' })).toContain('SendMessage');
    expect(loaded(house.session)).toEqual(['WebFetch', 'TaskStop', 'SendMessage']);
  });

  test('are loaded by name, and what is not there is told', async () => {
    const house = open();
    expect(await house.say('ToolSearch', { query: 'select:WebFetch,taskstop, Fly' })).toBe('ok: Loaded, can be called now: WebFetch, TaskStop. "Fly" is no tool that can be loaded.');
    expect(await house.say('ToolSearch', { query: 'select: WebFetsh' })).toBe('failed: "WebFetsh" is no tool that can be loaded (meant WebFetch?). There are: SendMessage, TaskStop, WebFetch.');
    expect(await house.say('ToolSearch', { query: 'select:' })).toContain('No tool was named.');
    expect(await house.say('ToolSearch', { query: 'zzzz qqqq' })).toBe('failed: No tool fits these words. There are: SendMessage, TaskStop, WebFetch.');
  });

  test('that a session may not have cannot be loaded', async () => {
    const house = open(['WebFetch']);
    expect(await house.say('ToolSearch', { query: 'select:WebFetch' })).toMatch(/^failed: "WebFetch" is no tool/);
    expect(await house.say('ToolSearch', { query: 'web page' })).toMatch(/^failed: No tool fits/);
    expect(loaded(house.session)).toEqual([]);
  });

  test('run when they are called without; input that does not fit says how to see the fields', async () => {
    const house = open();
    expect(await house.say('WebFetch', { url: 'x' })).toBe('ok: ran with x');
    expect(await house.say('WebFetch', { link: 'x' })).toContain('it is loaded: ToolSearch with the query select:WebFetch');
    await house.say('ToolSearch', { query: 'select:WebFetch' });
    expect(await house.say('WebFetch', { link: 'x' })).not.toContain('ToolSearch');
  });
});
