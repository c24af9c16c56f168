import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadedToolsOf } from '#domain/folds.ts';
import { call, say, type ScriptedReply } from '../support/messages-server/reply.ts';
import type { MessagesServer, Recorded } from '../support/messages-server/server.ts';
import { list, obj, text } from '../support/messages-server/shape.ts';
import { tool } from './fixtures.ts';
import { at, connect, ECHO, load, resultsIn, toolNames, use } from './house.ts';

const isSub = ({ body }: Recorded): boolean => JSON.stringify(body['system']).includes('You are a sub-agent');
const namesIn = ({ body }: Recorded): readonly string[] => list(body['tools']).map((one) => text(obj(one)['name']));
const refusals = ({ requests }: MessagesServer): readonly unknown[] => requests.flatMap(({ refusal }) => refusal ?? []);
const servers = { s: { tools: [tool('echo'), tool('pid')] }, other: { tools: [tool('echo')] } };

/** A turn in which the lead starts one sub-agent, which does these steps. */
async function delegated(type: string, header: string, steps: readonly ScriptedReply[], more: Parameters<typeof at>[1] = {}) {
  const left = { lead: [{ content: [call('Task', { subagent_type: type, description: 'echo it', prompt: 'Echo it.' })] }], sub: [...steps] };
  const made = await at(servers, { files: { [`.pinion/agents/${type}.md`]: `---\nname: ${type}\ndescription: echoes\n${header}---\nEcho.\n` }, script: (request) => (isSub(request) ? left.sub : left.lead).shift(), ...more });
  await made.dweller.turn('Have it echoed');
  return { ...made, subs: made.server.requests.filter(isSub) };
}

describe('a sub-agent', () => {
  it('loads a tool of a server in its own thread, and calls it', async () => {
    const { server, dweller, subs } = await delegated('helper', '', [load(ECHO), use(ECHO, { message: 'from below' }), say('Echoed.')]);
    expect(refusals(server)).toEqual([]);
    expect(JSON.stringify(subs[0]?.body['messages'])).toContain(`- ${ECHO}`);
    expect(JSON.stringify(subs.at(-1)?.body['messages'])).toContain('echo: from below');
    expect(loadedToolsOf(dweller.log)).toEqual([]);
    expect(server.requests.filter((request) => !isSub(request)).flatMap(namesIn)).not.toContain(ECHO);
  });
  it.each(['mcp__s', 'mcp__s__*', 'mcp__s__echo, mcp__s__pid'])('of a type with the tools %s has those, on demand, and no others', async (tools) => {
    const { server, subs } = await delegated('echoer', `tools: ${tools}\n`, [load(ECHO), use(ECHO, { message: 'mine' }), load('mcp__other__echo'), say('Echoed.')]);
    expect(refusals(server)).toEqual([]);
    expect(subs[0] === undefined ? [] : namesIn(subs[0])).toEqual(['ToolSearch']);
    expect(JSON.stringify(subs[0]?.body['messages'])).not.toContain('mcp__other__echo');
    const last = JSON.stringify(subs.at(-1)?.body['messages']);
    expect(last).toContain('echo: mine');
    expect(last).toContain('\\"mcp__other__echo\\" is no tool that can be loaded');
  });
  it('of a type without the tools of a server does not see them', async () => {
    const { subs } = await delegated('quiet', 'disallowedTools: mcp__s\n', [load(ECHO), say('Not there.')]);
    expect(JSON.stringify(subs[0]?.body['messages'])).not.toContain(ECHO);
    expect(JSON.stringify(subs[0]?.body['messages'])).toContain('mcp__other__echo');
  });
  it('whose server comes while it works can load its tools then', async () => {
    const left = { lead: [{ content: [call('Task', { subagent_type: 'echoer', description: 'echo it', prompt: 'Echo it.' })] }], sub: [{ content: [call('ToolSearch', { query: 'echo' })], delayMs: 3000 }, load(ECHO), use(ECHO, { message: 'late' }), say('Echoed.')] };
    const { server, dweller } = await at(servers, { later: true, files: { '.pinion/agents/echoer.md': '---\nname: echoer\ndescription: echoes\ntools: mcp__s__*\n---\nEcho.\n' }, script: (request) => (isSub(request) ? left.sub : left.lead).shift() });
    await dweller.turn('Have it echoed', async (event) => { if (event.type === 'toolStarted' && event.call.tool === 'Task') await connect(dweller); });
    const subs = server.requests.filter(isSub);
    expect(refusals(server)).toEqual([]);
    expect(subs[0] === undefined ? [] : namesIn(subs[0])).toEqual(['ToolSearch']);
    expect(JSON.stringify(subs.at(-1)?.body['messages'])).toContain('echo: late');
  });
});

describe('a skill', () => {
  it.each(['mcp__s', 'mcp__s__*', ECHO])('that is granted %s has it run without a question, and no other server', async (grant) => {
    const { dweller } = await at(servers, {
      modeless: true, files: { '.pinion/skills/echoing/SKILL.md': `---\nname: echoing\ndescription: echoes\nallowed-tools: ${grant}\n---\nEcho.\n` }, answer: () => ({ kind: 'no' }),
      script: [load(`${ECHO},mcp__other__echo`), use(ECHO, { message: 'granted' }), use('mcp__other__echo', { message: 'asked' })],
    });
    await dweller.command('/echoing');
    expect(resultsIn(dweller)[1]).toBe('echo: granted');
    expect(dweller.asked.map((question) => (question.kind === 'permission' ? question.call.tool : question.kind))).toEqual(['mcp__other__echo']);
  });
});

describe('the environment of the settings', () => {
  const setting = (cwd: string, env: Readonly<Record<string, string>>): void => {
    const file = join(cwd, '.pinion', 'settings.json');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify({ env }));
  };

  it('says how long calls and results may be, from the next call on', async () => {
    const { dweller, cwd } = await at({ s: { tools: [tool('big'), tool('silent')] } }, { script: [load('mcp__s__big,mcp__s__silent'), use('mcp__s__big', { bytes: 5000 }), say('Whole.'), use('mcp__s__big', { bytes: 5000 }), use('mcp__s__silent')] });
    await dweller.turn('One');
    expect(resultsIn(dweller)[1]).toHaveLength(5000);
    setting(cwd, { MAX_MCP_OUTPUT_TOKENS: '100', MCP_TOOL_TIMEOUT: '200' });
    dweller.house.configuration.reload();
    await dweller.turn('Two');
    expect(resultsIn(dweller)[2]).toContain('the first 400 bytes of 5000');
    expect(resultsIn(dweller)[3]).toContain('No answer within 0.2 s');
  });
  it('says how long a server may take to answer, from the next try on, and is put into what starts it', async () => {
    const { dweller, cwd } = await at({ slow: { initialize: 'slow', ms: 600 }, named: { instructions: 'x' } }, { later: true, fields: { named: { env: { OF: '${OF_SETTINGS}' } } } });
    setting(cwd, { MCP_TIMEOUT: '100', OF_SETTINGS: 'yes' });
    dweller.house.configuration.reload();
    await connect(dweller);
    const server = (name: string) => dweller.house.mcp.servers().find((one) => one.name === name);
    expect(server('slow')).toMatchObject({ state: 'failed', detail: 'it had no answer within 0.1 s' });
    setting(cwd, { OF_SETTINGS: 'yes' });
    dweller.house.configuration.reload();
    expect(await dweller.house.mcp.reconnect('slow', new AbortController().signal)).toContain('slow is connected');
    await dweller.house.mcp.reconnect('named', new AbortController().signal);
    expect(server('named')).toMatchObject({ state: 'connected', notes: [] });
  });
  it('switches loading on demand off for what comes then', async () => {
    const { server, dweller, cwd } = await at({ s: { tools: [tool('echo')] } }, { script: [say('One.'), use(ECHO, { message: 'at once' })] });
    await dweller.turn('First');
    setting(cwd, { ENABLE_TOOL_SEARCH: 'false' });
    dweller.house.configuration.reload();
    await dweller.turn('Second');
    expect(refusals(server)).toEqual([]);
    expect(toolNames(server, 0)).not.toContain(ECHO);
    expect(toolNames(server, 1)).toContain(ECHO);
    expect(resultsIn(dweller)).toEqual(['echo: at once']);
  });
});
