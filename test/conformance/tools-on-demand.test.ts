import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadedToolsOf } from '#domain/folds.ts';
import { command as hook, hooked } from '../hooks/people.ts';
import { hostileCommand, tool } from '../mcp/fixtures.ts';
import { startEditor } from '../support/editor.ts';
import { household, type Dweller, type Household } from '../support/household.ts';
import { historyFaults, prefixFaults } from '../support/messages-server/history.ts';
import { call, say, type ScriptedReply, think } from '../support/messages-server/reply.ts';
import { type MessagesServer, type Recorded, type ServerOptions, startServer } from '../support/messages-server/server.ts';
import { blocksOf, invalid, list, obj, text } from '../support/messages-server/shape.ts';

const FILES = { 'a.txt': 'one\n', 'AGENTS.md': 'Be brief.\n', '.git/HEAD': 'ref: refs/heads/main\n', '.git/config': '' };
const PAGE = 'http://localhost:1/';
const load = (query = 'select:WebFetch'): ScriptedReply => ({ content: [think('I need a tool.'), call('ToolSearch', { query })] });
const fetchPage: ScriptedReply = { content: [think('Now the page.'), call('WebFetch', { url: PAGE })] };

async function at(script: readonly ScriptedReply[], more: ServerOptions = {}, env: Readonly<Record<string, string>> = {}): Promise<{ server: MessagesServer; home: Household; dweller: Dweller }> {
  const answers = [...script];
  const server = await startServer({ now: () => 0, script: () => answers.shift() ?? say('Done.'), ...more });
  onTestFinished(() => server.close());
  const home = household(FILES, server, env);
  return { server, home, dweller: await home.open() };
}

const toolsIn = ({ body }: Recorded, deferred: boolean): readonly string[] => list(body['tools']).map(obj).filter((tool) => (tool['defer_loading'] === true) === deferred).map(({ name }) => text(name));
const referencesIn = ({ body }: Recorded): readonly string[] => list(body['messages']).flatMap((message) => blocksOf(obj(message)['content'])).flatMap((block) => (block['type'] === 'tool_result' ? blocksOf(block['content']) : []))
  .flatMap((part) => (part['type'] === 'tool_reference' ? [text(part['tool_name'])] : []));
const remindersIn = ({ body }: Recorded): string => JSON.stringify(body['messages']).split('<system-reminder>').slice(1).join('\n');

/** No request was refused, and each began as the one before. */
function sound({ requests }: MessagesServer, from = 0): void {
  expect(requests.flatMap(({ refusal }) => refusal ?? [])).toEqual([]);
  for (const { body } of requests) expect(historyFaults(body)).toEqual([]);
  for (const [i, now] of requests.entries()) {
    const last = requests[i - 1];
    if (last === undefined || i <= from) continue;
    expect(prefixFaults(last.body, now.body)).toEqual([]);
    expect(now.usage?.cache_read_input_tokens).toBeGreaterThanOrEqual((last.usage?.cache_read_input_tokens ?? 0) + (last.usage?.cache_creation_input_tokens ?? 0));
  }
}

test('a tool is loaded and called, and neither the cache nor bound thinking is lost by it', async () => {
  const { server, dweller } = await at([load(), fetchPage]);
  await dweller.turn('Fetch my page');
  await dweller.turn('And?');
  sound(server);
  const [first, second, third, last] = server.requests;
  expect(server.requests).toHaveLength(4);
  expect(first === undefined ? [] : toolsIn(first, false)).toEqual(expect.arrayContaining(['Bash', 'Edit', 'Read', 'ToolSearch', 'Write']));
  expect(JSON.stringify(first?.body['tools'])).not.toContain('WebFetch"');
  expect(remindersIn(first ?? failing())).toContain('- WebFetch: Fetches a web page or another document by its address.');
  for (const request of [second, third, last]) {
    expect(toolsIn(request ?? failing(), true)).toEqual(['WebFetch']);
    expect(referencesIn(request ?? failing())).toEqual(['WebFetch']);
  }
  expect(JSON.stringify(third?.body['messages'])).toContain('is this machine or one of its network');
  expect(dweller.faults()).toEqual([]);
});

test('what is loaded stays through resume, and stands apart after a fork, a rewind and a compaction', async () => {
  const { server, home, dweller } = await at([load(), say('Loaded.')]);
  await dweller.turn('Load it');
  dweller.close();
  const second = await home.open({ resume: true });
  await second.turn('Again');
  sound(server);
  const prompt = second.log.find(({ type }) => type === 'prompt');
  second.conversation.append([{ type: 'rewind', to: prompt?.id ?? failing() }]);
  await second.turn('Instead');
  const rewound = server.requests.at(-1) ?? failing();
  expect([rewound.refusal, toolsIn(rewound, true), referencesIn(rewound)]).toEqual([undefined, ['WebFetch'], []]);
  expect(rewound.usage?.cache_read_input_tokens).toBeGreaterThan(0);
  await second.command('/compact');
  await second.turn('Go on');
  const compacted = server.requests.at(-1) ?? failing();
  expect([compacted.refusal, toolsIn(compacted, true), referencesIn(compacted)]).toEqual([undefined, ['WebFetch'], []]);
  expect(remindersIn(compacted)).toContain('- WebFetch: ');
  expect(await second.command('/context')).toBeDefined();
  expect((await second.context().context()).rows.filter(({ label }) => label.startsWith('WebFetch'))).toMatchObject([{ label: 'WebFetch (on demand, not loaded now)', tokens: 0 }]);
});

test('a tool that is loaded again is referred to again, and stands in the list once', async () => {
  const { server, dweller } = await at([load('select:WebFetch'), load('web pages'), say('ok')]);
  await dweller.turn('Load it twice');
  sound(server);
  const last = server.requests.at(-1) ?? failing();
  expect(referencesIn(last).filter((name) => name === 'WebFetch')).toHaveLength(2);
  expect(new Set(toolsIn(last, true)).size).toBe(toolsIn(last, true).length);
});

test('a server that knows no tools on demand gets plain ones, and is asked once', async () => {
  const { server, dweller } = await at([load(), say('ok'), say('and ok')], { refuse: ({ raw }) => (raw.includes('defer_loading') ? invalid('tools.12.custom.defer_loading: Extra inputs are not permitted') : undefined) });
  await dweller.turn('Load it');
  await dweller.turn('And?');
  // There the list of tools is what thinking is bound to.
  expect(dweller.faults()).toEqual([expect.stringContaining('knows no tools that are loaded on demand'), expect.stringContaining('earlier thinking no longer fits')]);
  expect(server.requests.filter(({ refusal }) => refusal?.message.includes('defer_loading'))).toHaveLength(1);
  const last = server.requests.at(-1) ?? failing();
  expect([toolsIn(last, true), toolsIn(last, false).at(-1), referencesIn(last)]).toEqual([[], 'WebFetch', []]);
});

test.each([
  ['ENABLE_TOOL_SEARCH=false', { ENABLE_TOOL_SEARCH: 'false' }, undefined],
  ['the reminder switched off', {}, { remindersOff: ['deferred_tools_delta'] }],
  ['a rule against the search', {}, { permissions: { deny: ['ToolSearch'] } }],
])('with %s all tools are in the list from the start', async (_, env, settings) => {
  const { server, home, dweller } = await at([fetchPage, say('ok')], {}, env);
  let now = dweller;
  if (settings !== undefined) {
    dweller.close();
    home.write('.pinion/settings.json', JSON.stringify(settings));
    now = await home.open();
  }
  await now.turn('Fetch');
  sound(server);
  const [first = failing()] = server.requests;
  expect(toolsIn(first, false)).toContain('WebFetch');
  expect(toolsIn(first, false)).not.toContain('ToolSearch');
  expect(remindersIn(first)).not.toContain('ToolSearch');
  expect(loadedToolsOf(now.log)).toEqual([]);
});

test('what a rule forbids is neither named nor loaded', async () => {
  const { server, home, dweller } = await at([load('select:WebFetch'), load('web'), say('ok')]);
  dweller.close();
  home.write('.pinion/settings.json', JSON.stringify({ permissions: { deny: ['WebFetch', 'WebSearch'] } }));
  const now = await home.open();
  await now.turn('Load it');
  sound(server);
  expect(remindersIn(server.requests[0] ?? failing())).not.toMatch(/WebFetch|WebSearch/);
  expect(toolsIn(server.requests.at(-1) ?? failing(), true)).not.toContain('WebFetch');
});

test('a sub-agent loads what its type may have, and nothing else', async () => {
  const isSub = ({ body }: Recorded): boolean => JSON.stringify(body['system']).includes('You are a sub-agent');
  const steps = { lead: [{ content: [call('Task', { subagent_type: 'reader', description: 'read a page', prompt: 'Read it.' })] }], sub: [load('select:WebFetch,SendMessage,TaskStop'), fetchPage, say('Read.')] };
  const { server, home, dweller } = await at([], { script: (request) => (isSub(request) ? steps.sub : steps.lead).shift() ?? say('Done.') });
  dweller.close();
  home.write('.pinion/agents/reader.md', '---\nname: reader\ndescription: reads pages\ntools: Read, WebFetch, ToolSearch\n---\nRead pages.\n');
  const now = await home.open();
  await now.turn('Have it read');
  expect(server.requests.flatMap(({ refusal }) => refusal ?? [])).toEqual([]);
  const subs = server.requests.filter(isSub);
  expect(subs).toHaveLength(3);
  expect(toolsIn(subs[0] ?? failing(), false)).toEqual(['Read', 'ToolSearch']);
  expect(remindersIn(subs[0] ?? failing())).toMatch(/- WebFetch: /);
  expect(remindersIn(subs[0] ?? failing())).not.toMatch(/SendMessage|TaskStop/);
  expect(toolsIn(subs[2] ?? failing(), true)).toEqual(['WebFetch']);
  expect(loadedToolsOf(now.log)).toEqual([]);
});

test('the first request of a session stays under 16 KiB, with every tool in reach', async () => {
  const { server, dweller } = await at([say('Hello.')]);
  await dweller.turn('Hello');
  const [first = failing()] = server.requests;
  expect(Buffer.byteLength(first.raw)).toBeLessThan(16 * 1024);
  const named = new Set([...toolsIn(first, false), ...[...remindersIn(first).matchAll(/- (\w+): /g)].map(([, name = '']) => name)]);
  for (const name of ['Read', 'Write', 'Edit', 'Glob', 'Grep', 'Bash', 'TodoWrite', 'ToolSearch', 'WebFetch', 'WebSearch', 'Skill', 'Task', 'TaskOutput', 'TaskStop', 'SendMessage', 'AskUserQuestion', 'ExitPlanMode']) expect([name, named.has(name)]).toEqual([name, true]);
});

test('so it does with all wings on: three servers of 100 tools, an editor, hooks and a language server', async () => {
  const server = await startServer({ now: () => 0, script: () => say('Hello.') });
  onTestFinished(() => server.close());
  const home = household(FILES, server);
  const many = (n: number) => hostileCommand({ instructions: `Words of the server ${n}. ${'More of them. '.repeat(40)}`, tools: Array.from({ length: 100 }, (_, i) => tool(`do_${n}_${i}`, `Does the ${i}th thing of ${n}, at great length. ${'And says so. '.repeat(30)}`)) });
  const said = JSON.stringify({ hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: 'The build is green.' } });
  mkdirSync(home.home, { recursive: true });
  writeFileSync(join(home.home, 'settings.json'), hooked({ SessionStart: [hook(`cat >/dev/null; echo '${said}'`)] }));
  const editor = await startEditor({ locks: join(home.home, '..', '.claude', 'ide'), folders: [home.cwd] });
  const dweller = await home.open({ args: { print: false, ide: true, mcpConfig: [JSON.stringify({ mcpServers: { one: many(1), two: many(2), three: many(3) } })] } });
  dweller.house.start();
  dweller.house.hooks.begin('startup', dweller.conversation.session);
  await dweller.house.mcp.settled(20_000);
  await dweller.house.editor.ready();
  editor.select(join(home.cwd, 'a.txt'), 1, 1, 'one');
  await expect.poll(async () => (await dweller.house.editor.selection(new AbortController().signal))?.text, { timeout: 20_000 }).toBe('one');
  await dweller.turn('Hello');
  const [first = failing()] = server.requests;
  expect(dweller.house.mcp.tools()).toHaveLength(300);
  expect(Buffer.byteLength(JSON.stringify(first.body['tools']))).toBeLessThan(16 * 1024);
  const told = new Map(dweller.log.flatMap((entry) => (entry.type === 'reminder' ? [[String(entry.source), Buffer.byteLength(entry.parts.map((part) => (part.type === 'text' ? part.text : '')).join(''))] as const] : [])));
  for (const kind of ['mcp_instructions_delta', 'deferred_tools_delta', 'hook_context', 'ide_selection']) expect([kind, told.has(kind)]).toEqual([kind, true]);
  // What the user's own servers say of themselves and name comes on top, within caps of their own.
  const others = (told.get('mcp_instructions_delta') ?? 0) + (told.get('deferred_tools_delta') ?? 0);
  expect(Buffer.byteLength(first.raw) - others).toBeLessThan(16 * 1024);
  expect(told.get('deferred_tools_delta')).toBeLessThanOrEqual(18_000);
  expect(told.get('mcp_instructions_delta')).toBeLessThanOrEqual(3 * 2300);
});

function failing(): never {
  throw new Error('it is not there');
}
