import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { methods, type RequestPermissionRequest, type ToolCallUpdate } from '@agentclientprotocol/sdk';
import { describe, expect, it } from 'vitest';
import { edit } from '../support/acp-client.ts';
import { call, failWith, say, type ScriptedReply } from '../support/messages-server/reply.ts';
import type { Recorded } from '../support/messages-server/server.ts';
import { expectValid, isAlive, last, only, product, serve, until, wordsOf } from '../support/product.ts';
import { tempFolder } from '../support/temp.ts';

const replies = (...all: ScriptedReply[]) => {
  let next = 0;
  return (): ScriptedReply => all[Math.min(next++, all.length - 1)] ?? say('?');
};
const calls = (...content: ReturnType<typeof call>[]): ScriptedReply => ({ content });
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const ASK = call('AskUserQuestion', { questions: [{ question: 'Which colour?', header: 'Colour', options: [{ label: 'red', description: 'warm' }, { label: 'blue' }] }, { question: 'Which parts?', header: 'Parts', multiSelect: true, options: [{ label: 'door' }, { label: 'roof' }] }] });
const textOf = (question: RequestPermissionRequest | undefined): string => JSON.stringify(question?.toolCall.content);
const contentOf = (one: Readonly<Record<string, unknown>> | ToolCallUpdate | undefined): string => JSON.stringify(one?.['content' as keyof typeof one]);

describe('a session of an editor', () => {
  it('is opened, streams its answer, and is kept where pinion -c finds it', async () => {
    const server = await serve(replies(say('The answer of the model is here.', { piece: 8 }), say('Gone on.')));
    const place = product({}, server);
    const editor = edit(place);
    const hello = await editor.initialize();
    expect(hello).toMatchObject({ protocolVersion: 1, agentInfo: { name: 'pinion' }, agentCapabilities: { loadSession: true, promptCapabilities: { image: true, audio: false, embeddedContext: true }, mcpCapabilities: { http: true, sse: true }, sessionCapabilities: { list: {}, resume: {}, close: {} } } });
    const opened = await editor.agent.request(methods.agent.session.new, { cwd: place.cwd, mcpServers: [] });
    expect(opened).toMatchObject({ modes: { currentModeId: 'default' }, configOptions: [{ id: 'mode', category: 'mode' }, { id: 'model', category: 'model', currentValue: 'claude-opus-5-5' }] });
    expect(opened.modes?.availableModes.map(({ id }) => id)).toEqual(['default', 'acceptEdits', 'plan', 'auto']);
    expect(await editor.prompt(opened.sessionId, 'What is it?')).toBe('end_turn');
    expect(editor.text()).toBe('The answer of the model is here.');
    expect(editor.of('agent_message_chunk').length).toBeGreaterThan(2);
    expect(last(editor.of('usage_update'))).toMatchObject({ used: expect.any(Number) as number, size: expect.any(Number) as number, cost: { currency: 'USD' } });
    expect(editor.of('session_info_update')).toMatchObject([{ title: 'What is it?' }]);
    expect(last(editor.of('available_commands_update')).availableCommands).toEqual(expect.arrayContaining([expect.objectContaining({ name: 'pin', input: { hint: expect.stringContaining('<path>') as string } }), expect.objectContaining({ name: 'context' })]) as unknown[]);
    expect(last(editor.of('available_commands_update')).availableCommands.map(({ name }) => name)).not.toContain('exit');
    const listed = await editor.agent.request(methods.agent.session.list, { cwd: place.cwd });
    expect(listed.sessions).toMatchObject([{ sessionId: opened.sessionId, cwd: place.cwd, title: 'What is it?' }]);
    expect((await editor.agent.request(methods.agent.session.list, { cwd: '/' })).sessions).toEqual([]);
    editor.leave();
    expect(await editor.ended).toEqual({ code: 0, signal: null, stderr: '' });
    expect((await place.run(['-c', '-p', 'go on'])).stdout).toBe('Gone on.\n');
    expect(wordsOf(last(server.requests))).toContain('The answer of the model is here.');
    expectValid(server);
  });

  it('is loaded with all that was said and done, and resumed without', async () => {
    const todos = call('TodoWrite', { todos: [{ content: 'read', status: 'completed' }, { content: 'write', status: 'in_progress' }] });
    const server = await serve(replies(calls(call('Read', { file_path: 'a.txt' }), todos), say('Read it.'), say('Later.')));
    const place = product({ 'a.txt': 'one\ntwo\n' }, server);
    const first = edit(place);
    const id = await first.open();
    await first.prompt(id, [{ type: 'text', text: 'Look at this:' }, { type: 'image', mimeType: 'image/png', data: PIXEL }]);
    expect(last(first.of('plan')).entries).toMatchObject([{ content: 'read', status: 'completed' }, { content: 'write', status: 'in_progress' }]);
    first.leave();
    await first.ended;
    const second = edit(place);
    await second.initialize();
    const loaded = await second.agent.request(methods.agent.session.load, { sessionId: id, cwd: place.cwd, mcpServers: [] });
    expect(loaded).toMatchObject({ modes: { currentModeId: 'default' } });
    expect(second.text('user_message_chunk')).toBe('Look at this:');
    expect(second.of('user_message_chunk').map(({ content }) => content.type)).toEqual(['text', 'image']);
    expect(second.text()).toBe('Read it.');
    expect(second.calls()).toMatchObject([
      { title: expect.stringContaining('Read a.txt') as string, kind: 'read', status: 'completed', locations: [{ path: join(place.cwd, 'a.txt') }] }, { name: 'TodoWrite', status: 'completed' },
    ]);
    expect(only(second.of('plan')).entries).toHaveLength(2);
    second.forget();
    expect(await second.prompt(id, 'And?')).toBe('end_turn');
    expect(second.text()).toBe('Later.');
    second.forget();
    await second.agent.request(methods.agent.session.resume, { sessionId: id, cwd: place.cwd });
    expect(second.of('user_message_chunk')).toEqual([]);
    await expect(second.agent.request(methods.agent.session.load, { sessionId: 'nobody', cwd: place.cwd, mcpServers: [] })).rejects.toMatchObject({ code: -32002 });
    await second.agent.request(methods.agent.session.close, { sessionId: id });
    await expect(second.prompt(id, 'still there?')).rejects.toMatchObject({ code: -32002 });
    expectValid(server);
  });

  it('stands beside others in one program, each in its own folder, with turns at the same time', async () => {
    const arrived: string[] = [];
    let release = (): void => undefined;
    const both = new Promise<void>((resolve) => { release = resolve; });
    const server = await serve(async (request: Recorded) => {
      const words = wordsOf(request);
      const which = words.includes('the first') ? 'first' : 'second';
      arrived.push(which);
      if (new Set(arrived).size === 2) release();
      await both;
      return words.includes(`${which}.txt`) ? say(`${which} done`) : calls(call('Glob', { pattern: '*' }));
    });
    const place = product({ 'first.txt': '' }, server);
    const other = tempFolder({ 'second.txt': '' });
    const editor = edit(place);
    const [a, b] = [await editor.open(), await editor.open(other)];
    expect(await Promise.all([editor.prompt(a, 'the first'), editor.prompt(b, 'the second')])).toEqual(['end_turn', 'end_turn']);
    expect([editor.text('agent_message_chunk', a), editor.text('agent_message_chunk', b)]).toEqual(['first done', 'second done']);
    expect(place.logs()).toHaveLength(2);
    expectValid(server);
  });
});

describe('what must be asked', () => {
  const EDIT = call('Edit', { file_path: 'a.txt', old_string: 'four', new_string: 'FOUR' });

  it('is shown with the change that it would make; yes, no and always', async () => {
    const server = await serve(replies(
      calls(EDIT), say('Done.'), calls(call('Bash', { command: 'touch made', description: 'x' })), say('Ran.'), calls(call('Bash', { command: 'touch made', description: 'x' })), say('Again.'),
      calls(call('Write', { file_path: 'new.txt', content: 'x\n' })), say('never said'),
    ));
    const place = product({ 'a.txt': 'one\ntwo\nthree\nfour\nfive\n' }, server);
    const editor = edit(place, { answer: ({ toolCall }) => (toolCall.kind === 'execute' ? 'always' : JSON.stringify(toolCall.rawInput).includes('new.txt') ? 'no' : 'once') });
    const id = await editor.open();
    expect(await editor.prompt(id, 'edit')).toBe('end_turn');
    const question = only(editor.asked);
    expect(question.options).toMatchObject([{ optionId: 'once', kind: 'allow_once' }, { kind: 'allow_always' }, { optionId: 'no', kind: 'reject_once' }]);
    expect(question.toolCall).toMatchObject({ kind: 'edit', status: 'pending', locations: [{ path: join(place.cwd, 'a.txt'), line: 4 }] });
    expect(question.toolCall.content).toEqual(expect.arrayContaining([{ type: 'diff', path: join(place.cwd, 'a.txt'), oldText: 'one\ntwo\nthree\nfour\nfive', newText: 'one\ntwo\nthree\nFOUR\nfive' }]) as unknown[]);
    expect(only(editor.calls())).toMatchObject({ toolCallId: question.toolCall.toolCallId, status: 'completed', kind: 'edit', rawInput: { old_string: 'four' } });
    expect(contentOf(only(editor.calls()))).toContain('FOUR');
    expect(readFileSync(join(place.cwd, 'a.txt'), 'utf8')).toContain('FOUR');
    expect(await editor.prompt(id, 'run')).toBe('end_turn');
    expect(await editor.prompt(id, 'again')).toBe('end_turn');
    expect(editor.asked).toHaveLength(2);
    expect(await editor.prompt(id, 'write')).toBe('end_turn');
    expect(last(editor.asked).toolCall.content).toEqual(expect.arrayContaining([{ type: 'diff', path: join(place.cwd, 'new.txt'), oldText: null, newText: 'x\n' }]) as unknown[]);
    expect(last(editor.calls())).toMatchObject({ status: 'failed' });
    expect(editor.text()).not.toContain('never said');
    expectValid(server);
  });

  it('is a no when the editor closes the question; a cancelled turn ends with its question open', async () => {
    const server = await serve(replies(calls(EDIT), calls(EDIT), say('After all.')));
    const place = product({ 'a.txt': 'four\n' }, server);
    let never = false;
    const editor = edit(place, { answer: () => (never ? new Promise<string>(() => undefined) : 'cancelled') });
    const id = await editor.open();
    expect(await editor.prompt(id, 'edit')).toBe('end_turn');
    expect(only(editor.calls())).toMatchObject({ status: 'failed' });
    never = true;
    const turn = editor.prompt(id, 'once more');
    const waiting = editor.prompt(id, 'and then?');
    await until(() => editor.asked.length === 2);
    await editor.cancel(id);
    expect(await turn).toBe('cancelled');
    expect(await waiting).toBe('cancelled');
    expect(editor.calls().every(({ status }) => status === 'failed')).toBe(true);
    expect(await editor.prompt(id, 'on')).toBe('end_turn');
    expect(editor.text()).toContain('After all.');
    expect(wordsOf(last(server.requests))).not.toContain('and then?');
    expect(readFileSync(join(place.cwd, 'a.txt'), 'utf8')).toBe('four\n');
    expectValid(server);
  });

  it('a plan is laid before the user, who says how to go on; the model asks one question after the other', async () => {
    const server = await serve(replies(calls(call('ExitPlanMode', { plan: '# Plan\n\n1. look\n2. change\n' })), calls(call('Write', { file_path: 'b.txt', content: 'b\n' })), say('Built.'), calls(ASK), say('ok')));
    const place = product({}, server);
    const editor = edit(place, { answer: ({ toolCall: { kind }, options }) => (kind === 'switch_mode' ? 'edits' : options[1]?.optionId ?? '') });
    const id = await editor.open();
    await editor.agent.request(methods.agent.session.setMode, { sessionId: id, modeId: 'plan' });
    expect(await editor.prompt(id, 'plan it')).toBe('end_turn');
    expect(only(editor.asked)).toMatchObject({ toolCall: { kind: 'switch_mode' }, options: [{ kind: 'allow_once' }, { optionId: 'edits' }, { optionId: 'auto' }, { kind: 'reject_once' }] });
    expect(textOf(only(editor.asked))).toContain('2. change');
    expect(editor.of('current_mode_update').map(({ currentModeId }) => currentModeId)).toEqual(['plan', 'acceptEdits']);
    expect(last(editor.of('plan')).entries.map(({ content }) => content)).toEqual(['look', 'change']);
    expect(readFileSync(join(place.cwd, 'b.txt'), 'utf8')).toBe('b\n');
    await expect(editor.agent.request(methods.agent.session.setMode, { sessionId: id, modeId: 'bypassPermissions' })).rejects.toMatchObject({ code: -32602, message: expect.stringContaining('default, acceptEdits, plan, auto') as string });
    editor.forget();
    expect(await editor.prompt(id, 'ask me')).toBe('end_turn');
    const asked = editor.asked.slice(1);
    expect(asked.map(({ toolCall }) => toolCall.title)).toEqual(['Which colour?', 'Which parts?']);
    expect(asked[0]?.options.map(({ name }) => name)).toEqual(['red', 'blue', 'None of these']);
    expect(wordsOf(last(server.requests))).toMatch(/Which colour\? → blue[^]*Which parts\? → roof/);
    expect(editor.calls().every(({ status }) => status === 'completed')).toBe(true);
    expectValid(server);
  });

  it('a folder is trusted by a question before the first prompt, and each of its servers; without it nothing of it holds', async () => {
    const files = { '.pinion/settings.json': JSON.stringify({ permissions: { allow: ['Bash(touch *)'] } }) };
    const touch = calls(call('Bash', { command: 'touch made', description: 'x' }));
    const server = await serve(replies(touch, say('Ran.'), touch, say('Heard.')));
    const place = product(files, server);
    const command = 'printf \'{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"the hook was here"}}\'';
    const hooked = tempFolder({ '.claude/settings.json': JSON.stringify({ hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command }] }] } }), '.mcp.json': JSON.stringify({ mcpServers: { theirs: { command: 'false' } } }) });
    const editor = edit(place, { answer: ({ toolCall: { title }, options }) => ([place.cwd, hooked, 'theirs'].some((name) => title?.includes(name) === true) ? options[0]?.optionId ?? '' : 'no') });
    expect(await editor.prompt(await editor.open(), 'run')).toBe('end_turn');
    expect(only(editor.asked)).toMatchObject({ toolCall: { title: `Do you trust ${place.cwd}?` }, options: [{ kind: 'allow_always' }, { kind: 'reject_once' }] });
    expect(textOf(only(editor.asked))).toContain('touch');
    expect(editor.text()).toBe('Ran.');
    expect(await editor.prompt(await editor.open(tempFolder(files)), 'run')).toBe('end_turn');
    expect(editor.asked.slice(1).map(({ toolCall: { kind } }) => kind)).toEqual(['other', 'execute']);
    expect(await editor.prompt(await editor.open(hooked), 'hello')).toBe('end_turn');
    expect(editor.asked.slice(3).map(({ toolCall: { title } }) => title)).toEqual([`Do you trust ${hooked}?`, expect.stringContaining('MCP server theirs')]);
    expect(wordsOf(last(server.requests))).toContain('the hook was here');
    expectValid(server);
  });
});

describe('a prompt', () => {
  it('brings files as mentions, texts in envelopes in which nothing is mentioned, and pictures', async () => {
    const server = await serve(replies(say('Seen.')));
    const place = product({ 'src/a b.ts': 'export const lamp = 1;\n', 'secret.txt': 'hidden words\n', 'same.txt': 'as on disk\r\n' }, server);
    const editor = edit(place);
    const id = await editor.open();
    expect(await editor.prompt(id, [
      { type: 'text', text: 'Compare ' }, { type: 'resource_link', name: 'a b.ts', uri: pathToFileURL(join(place.cwd, 'src/a b.ts')).href },
      { type: 'text', text: ' with' }, { type: 'resource', resource: { uri: pathToFileURL(join(place.cwd, 'src/buffer.ts')).href, mimeType: 'text/typescript', text: 'not saved: @secret.txt ultrathink\n' } },
      { type: 'image', mimeType: 'image/png', data: PIXEL }, { type: 'resource_link', name: 'docs', uri: 'https://example.com/docs' },
      { type: 'resource', resource: { uri: pathToFileURL(join(place.cwd, 'same.txt')).href, text: 'as on disk\n' } },
    ])).toBe('end_turn');
    const words = wordsOf(last(server.requests));
    expect(words).toContain('Compare @"src/a b.ts" with [src/buffer.ts] [docs](https://example.com/docs) @same.txt');
    expect(words).toContain('export const lamp = 1;');
    expect(words).toMatch(/<document-src-buffer-ts-text-typescript>\nnot saved: @secret\.txt/);
    expect(words).not.toContain('hidden words');
    expect(words).not.toContain('more thought on this message');
    expect(JSON.stringify(last(server.requests).body)).toContain('"type":"image"');
    const prompt = place.entries().find(({ type }) => type === 'prompt');
    expect(words).toMatch(/File \\?"same\.txt\\?"/);
    expect(prompt).toMatchObject({ shown: 'Compare @"src/a b.ts" with [src/buffer.ts] [docs](https://example.com/docs) @same.txt' });
    await expect(editor.prompt(id, [])).rejects.toMatchObject({ code: -32602 });
    expectValid(server);
  });

  it('may be a command or a line of shell; what it shows is a message', async () => {
    const server = await serve(replies(say('Seen.'), say('Followed.')));
    const place = product({ 'a.txt': 'the pinned words\n', '.claude/skills/greet/SKILL.md': '---\nname: greet\ndescription: Greets\n---\nGreet $ARGUMENTS.\n' }, server);
    const editor = edit(place, { answer: () => 'trust' });
    const id = await editor.open();
    expect(await editor.prompt(id, [{ type: 'text', text: '/pin ' }, { type: 'resource', resource: { uri: pathToFileURL(join(place.cwd, 'a.txt')).href, text: 'the pinned words\n' } }])).toBe('end_turn');
    expect(place.entries()).toMatchObject([{ type: 'attach', attachment: { id: 'file:a.txt' } }, { type: 'command', line: '/pin a.txt' }]);
    expect(editor.text()).toContain('a.txt');
    expect(await editor.prompt(id, '!echo from the shell')).toBe('end_turn');
    expect(last(editor.calls())).toMatchObject({ kind: 'execute', status: 'completed', title: '! echo from the shell' });
    expect(await editor.prompt(id, 'What is pinned?')).toBe('end_turn');
    expect(wordsOf(last(server.requests))).toMatch(/from the shell[^]*the pinned words/);
    editor.forget();
    await editor.prompt(id, '/context');
    expect(editor.text()).toMatch(/\*\*Context\*\*[^]*\| part \| tokens \|/);
    await editor.prompt(id, '/nonsense');
    expect(editor.text()).toContain('There is no command /nonsense.');
    await editor.prompt(id, '/model claude-haiku-5-5');
    expect(editor.text()).toContain('**Model: ');
    await editor.prompt(id, '/clear');
    expect(editor.text()).toContain('begin a new conversation in your editor');
    expect(await editor.prompt(id, '/greet Ada')).toBe('end_turn');
    expect(wordsOf(last(server.requests))).toContain('Greet Ada.');
    expect(editor.text()).toContain('Followed.');
    await editor.prompt(id, '/plan on');
    expect(last(editor.of('current_mode_update')).currentModeId).toBe('plan');
    expect(last(editor.of('config_option_update')).configOptions).toMatchObject([{ id: 'mode', currentValue: 'plan' }, {}]);
    const set = await editor.agent.request(methods.agent.session.setConfigOption, { sessionId: id, configId: 'model', value: 'claude-haiku-5-5' });
    expect(set.configOptions).toMatchObject([{}, { currentValue: 'claude-haiku-5-5' }]);
    expectValid(server);
  });

  it('that is cancelled keeps what was said; why others ended is said in the words of the protocol, and a failure in words for people', async () => {
    const all = replies(say('a very long answer that nobody waits for '.repeat(40), { gapMs: 20, piece: 10 }), say('Short.'), say('cut', { stop: 'max_tokens' }), { content: [], stop: 'refusal' }, calls(call('Glob', { pattern: '*' })));
    const server = await serve((request) => (wordsOf(request).includes('fail now') ? failWith(401, 'authentication_error', 'invalid x-api-key') : all()));
    const editor = edit(product({}, server), { args: ['--max-turns', '1'] });
    const id = await editor.open();
    const turn = editor.prompt(id, 'talk');
    await until(() => editor.text().includes('long answer'));
    expect(await editor.prompt(id, '/todo add look at it')).toBe('end_turn');
    expect(only(editor.of('plan')).entries).toMatchObject([{ content: 'look at it', status: 'pending' }]);
    await editor.cancel(id);
    expect(await turn).toBe('cancelled');
    expect(await editor.prompt(id, 'again')).toBe('end_turn');
    expect(editor.text()).toMatch(/Short\.$/);
    expect(await editor.prompt(id, 'one')).toBe('max_tokens');
    expect(await editor.prompt(id, 'two')).toBe('refusal');
    expect(await editor.prompt(id, 'three')).toBe('max_turn_requests');
    const error = await editor.prompt(id, 'fail now').then(() => undefined, (thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: -32000, message: expect.stringContaining('key') as string });
  });
});

it('settings of other shells are shown and taken over once the editor\'s person agrees; a setting is written down', async () => {
  const place = product();
  writeFileSync(join(mkdirSync(join(place.env['HOME'] ?? '', '.claude'), { recursive: true }) ?? '', 'settings.json'), JSON.stringify({ model: 'sonnet' }));
  let answer = 'no';
  const editor = edit(place, { answer: ({ options }) => options.find(({ kind }) => kind.startsWith(answer === 'no' ? 'reject' : 'allow'))?.optionId ?? 'cancelled' });
  const id = await editor.open();
  const own = (): string => (existsSync(join(place.home, 'settings.json')) ? readFileSync(join(place.home, 'settings.json'), 'utf8') : '');
  await editor.prompt(id, '/import claude');
  expect([editor.asked.length, own()]).toEqual([1, '']);
  answer = 'yes';
  await editor.prompt(id, '/import claude');
  expect(JSON.parse(own())).toMatchObject({ model: 'sonnet' });
  expect(editor.text()).toContain('Taken over from');
  await editor.prompt(id, '/config set diffTool terminal');
  expect(JSON.parse(own())).toMatchObject({ diffTool: 'terminal' });
});

describe('what stands beside the conversation', () => {
  it('servers of the editor are connected; an agent that ends beside it is told in a turn of its own; saved settings hold at once', async () => {
    const memory = fileURLToPath(new URL('../../node_modules/@modelcontextprotocol/server-memory/dist/index.js', import.meta.url));
    const isSub = ({ body }: Recorded): boolean => JSON.stringify(body['system']).includes('You are a sub-agent');
    const all = replies(calls(call('Task', { subagent_type: 'general', description: 'find it', prompt: 'Find it.', run_in_background: true })), say('Started.'), say('It has found it.'), calls(call('Bash', { command: 'touch made', description: 'x' })), say('Touched.'));
    const server = await serve((request) => (isSub(request) ? say('found', { delayMs: 300 }) : all()));
    const place = product({}, server);
    const editor = edit(place, { answer: () => 'no' });
    const id = await editor.open(place.cwd, [{ name: 'kept', command: process.execPath, args: [memory], env: [{ name: 'MEMORY_FILE_PATH', value: join(place.home, 'graph.json') }] }]);
    expect(await editor.prompt(id, 'start it')).toBe('end_turn');
    await until(() => editor.text().endsWith('It has found it.'));
    await expect.poll(async () => {
      editor.forget();
      await editor.prompt(id, '/mcp');
      return editor.text();
    }, { timeout: 15_000, interval: 200 }).toMatch(/kept[^\n]*connected/);
    mkdirSync(place.home, { recursive: true });
    writeFileSync(join(place.home, 'settings.json'), JSON.stringify({ permissions: { allow: ['Bash(touch *)'] }, model: 'claude-haiku-5-5' }));
    await until(() => JSON.stringify(editor.of('config_option_update')).includes('"currentValue":"claude-haiku-5-5"'));
    expect(await editor.prompt(id, 'touch it')).toBe('end_turn');
    expect(editor.text()).toMatch(/Touched\.$/);
    expect(editor.asked).toEqual([]);
    expectValid(server);
  });
});

describe('what the editor can', () => {
  it('what it holds unsaved is told with a Read and not written over; its forms take what the model asks', async () => {
    const server = await serve(replies(calls(call('Read', { file_path: 'a.txt' })), calls(call('Write', { file_path: 'a.txt', content: 'mine\n' })), say('I see.'), calls(call('Write', { file_path: 'a.txt', content: 'mine\n' })), say('Written.'), calls(ASK), say('ok')));
    const place = product({ 'a.txt': 'one\ntwo\n' }, server);
    let held = 'one\nTWO, not saved\n';
    const forms: object[] = [];
    const editor = edit(place, {
      args: ['--permission-mode', 'acceptEdits'], capabilities: { fs: { readTextFile: true }, elicitation: { form: {} } }, file: () => held, form: (question) => {
        forms.push(question);
        return { action: 'accept', content: { q1: 'blue', q2: ['door', 'roof'], q2_own: 'windows' } };
      },
    });
    const id = await editor.open();
    expect(await editor.prompt(id, 'look')).toBe('end_turn');
    const words = wordsOf(last(server.requests));
    expect(words).toMatch(/not saved\. Above is what is on disk[^]*-two\n\+TWO, not saved/);
    expect(words).toContain('It was not written: the user saves or drops them first.');
    expect(readFileSync(join(place.cwd, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
    held = 'one\r\ntwo\r\n';
    expect(await editor.prompt(id, 'now')).toBe('end_turn');
    expect(readFileSync(join(place.cwd, 'a.txt'), 'utf8')).toBe('mine\n');
    expect(await editor.prompt(id, 'ask me')).toBe('end_turn');
    expect(only(forms)).toMatchObject({ mode: 'form', requestedSchema: { properties: { q1: { type: 'string', title: 'Colour', description: 'Which colour?', oneOf: [{ const: 'red' }, { const: 'blue' }] }, q2: { type: 'array', items: { anyOf: [{ const: 'door' }, { const: 'roof' }] } }, q2_own: { type: 'string' } } } });
    expect(wordsOf(last(server.requests))).toMatch(/Which colour\? → blue[^]*Which parts\? → door, roof, windows/);
    expectValid(server);
  });
});

describe('the connection', () => {
  it('takes what is no message, no method and no session of it with an error each, and goes on; nothing else stands on its output', async () => {
    const place = product();
    const messages: readonly object[] = [
      { id: 1, method: 'session/list', params: {} }, { id: 2, method: 'initialize', params: { protocolVersion: 99 } },
    ];
    const later: readonly object[] = [
      { id: 3, method: 'session/nothing', params: {} },
      { id: 4, method: 'session/prompt', params: { sessionId: 'nobody', prompt: [] } }, { id: 5, method: 'session/new', params: { cwd: 'relative', mcpServers: [] } },
      { id: 6, method: 'session/new', params: { cwd: '/there/is/no/such', mcpServers: [] } }, { id: 7, method: 'session/new', params: { cwd: place.cwd } },
      { id: 8, method: 'session/new', params: { cwd: place.cwd, mcpServers: [] } }, { method: 'session/cancel', params: { sessionId: 'nobody' } },
    ];
    const lines = (all: readonly object[]): string => all.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');
    const running = place.start(['acp'], { open: true, input: `this is no JSON\n[]\n{"jsonrpc":"2.0"}\n${lines(messages)}` });
    const answers = (): readonly { id: unknown; method?: string; error?: { code: number; message: string }; result?: object }[] => running.stdout().split('\n').slice(0, -1).map((line) => JSON.parse(line) as ReturnType<typeof answers>[number]);
    await until(() => answers().some(({ id }) => id === 2));
    running.write(lines(later));
    await until(() => answers().some(({ id }) => id === 8));
    running.kill('SIGTERM');
    expect(await running.ended).toMatchObject({ code: 143, stderr: '' });
    expect(answers().filter(({ id }) => id === null).map(({ error }) => error?.code)).toEqual(expect.arrayContaining([-32600, -32600, -32700]) as unknown[]);
    const codes = Object.fromEntries(answers().filter(({ id }) => typeof id === 'number').map(({ id, error }) => [id, error?.code]));
    expect(codes).toEqual({ 1: -32600, 2: undefined, 3: -32601, 4: -32002, 5: -32602, 6: -32602, 7: -32602, 8: undefined });
    expect(answers().find(({ id }) => id === 2)?.result).toMatchObject({ protocolVersion: 1 });
    expect(answers().find(({ id }) => id === 6)?.error?.message).toContain('is no directory');
  });

  it('ends with the input: what runs ends with it, and the code is 0', async () => {
    const server = await serve(replies(calls(call('Bash', { command: 'echo $$ > pid; exec sleep 300', run_in_background: true, description: 'x' })), say('slow '.repeat(400), { gapMs: 50 })));
    const place = product({}, server);
    const editor = edit(place, { args: ['--permission-mode', 'bypassPermissions'] });
    const id = await editor.open();
    void editor.prompt(id, 'run').catch(() => undefined);
    await until(() => editor.text().includes('slow'));
    const pid = Number(readFileSync(join(place.cwd, 'pid'), 'utf8'));
    expect(isAlive(pid)).toBe(true);
    editor.leave();
    expect(await editor.ended).toMatchObject({ code: 0 });
    await until(() => !isAlive(pid));
    expect(place.entries().some((entry) => entry.type === 'assistant' && entry.stop === 'interrupted')).toBe(true);
  });

  it('without a key and without the demo model the editor is told how to sign in', async () => {
    const place = product();
    const strict = edit(place, { env: { PINION_NO_DEMO: '1' }, capabilities: { auth: { terminal: true } } });
    const hello = await strict.initialize() as { authMethods?: { id: string }[] };
    expect(hello.authMethods?.map(({ id }) => id)).toEqual(['api-key', 'login']);
    await expect(strict.open()).rejects.toMatchObject({ code: -32000, message: expect.stringContaining('no API key') as string });
    await expect(strict.agent.request(methods.agent.authenticate, { methodId: 'api-key' })).rejects.toMatchObject({ code: -32000 });
    const terminal = place.open({ args: ['acp', '--login'] });
    await terminal.waitFor('it is not shown');
    terminal.enter('sk-ant-kept');
    await terminal.expectLeft();
    expect(terminal.lines().join('\n')).not.toContain('sk-ant-kept');
    expect(JSON.parse(readFileSync(join(place.home, 'credentials.json'), 'utf8'))).toEqual({ apiKey: 'sk-ant-kept' });
    await strict.agent.request(methods.agent.authenticate, { methodId: 'login' });
    const id = await strict.open();
    await strict.agent.request(methods.agent.session.close, { sessionId: id });
    const demo = edit(place);
    await demo.initialize();
    await demo.agent.request(methods.agent.authenticate, { methodId: 'demo' });
    expect(await demo.prompt(await demo.open(), 'What can you do?')).toBe('end_turn');
    expect(demo.text()).toContain('demo');
    await expect(demo.agent.request(methods.agent.authenticate, { methodId: 'nonsense' })).rejects.toMatchObject({ code: -32602 });
  });
});
