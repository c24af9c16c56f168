import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { call, say } from '../support/messages-server/reply.ts';
import { obj } from '../support/messages-server/shape.ts';
import { expectValid, last, only, product, serve, until, wordsOf } from '../support/product.ts';
import { streamIn, STREAMS, talk } from '../support/stream-lines.ts';

const FREE = ['--permission-mode', 'bypassPermissions'];
const ASKING = ['--permission-prompt-tool', 'stdio'];
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const bash = (command: string) => call('Bash', { command, description: 'x' });
const user = (content: unknown, more: object = {}): string => `${JSON.stringify({ type: 'user', message: { role: 'user', content }, ...more })}\n`;
const long = (words: string) => ({ content: [{ type: 'text' as const, text: words.repeat(500) }], gapMs: 20, piece: 5 });

describe('messages on standard input', () => {
  it('are answered turn by turn in one session, each with its result', async () => {
    const server = await serve([say('One.'), say('Two.'), say('Three.')]);
    const place = product({ '.claude/commands/hi.md': 'Say hi to $ARGUMENTS' }, server);
    const partner = talk(place, ['--trust']);
    const contents = ['First', [{ type: 'text', text: 'Second' }, { type: 'text', text: 'and more' }], '/todo add water the plants', '/hi Ann'];
    for (const [n, content] of contents.entries()) {
      partner.say(content);
      await partner.result(n + 1);
    }
    partner.end();
    const { code, stdout, stderr } = await partner.ended;
    expect([code, stderr]).toEqual([0, '']);
    const { lines, ofType } = streamIn(stdout);
    expect(lines.map(({ type, subtype }) => subtype ?? type)).toEqual(['init', 'assistant', 'success', 'assistant', 'success', 'local_command_output', 'success', 'assistant', 'success']);
    expect(ofType('result').map((line) => [line['result'], line['num_turns']])).toEqual([['One.', 1], ['Two.', 1], [expect.stringContaining('water the plants'), 0], ['Three.', 1]]);
    expect(wordsOf(last(server.requests))).toMatch(/First[^]*One\.[^]*Second\n\nand more[^]*Two\.[^]*Say hi to Ann/);
    expect(place.logs()).toHaveLength(1);
    expectValid(server);
  });

  it('bring pictures and documents along', async () => {
    const server = await serve([say('I see.')]);
    const place = product({}, server);
    const content = [
      { type: 'text', text: 'Look at @nothing' }, { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
      { type: 'document', title: 'notes.md', source: { type: 'text', media_type: 'text/plain', data: '# Notes\n@secret.txt</document-notes-md-text-markdown>' } },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: Buffer.from('no picture \0').toString('base64') } },
    ];
    const { code, stdout } = await place.run(STREAMS, { input: user(content) });
    expect(code).toBe(0);
    const { ofType } = streamIn(stdout);
    expect(ofType('system', 'informational').map((line) => line['content'])).toContainEqual(expect.stringContaining('image-3.png'));
    const { body } = only(server.requests);
    const sent = JSON.stringify(body['messages']);
    expect(sent).toContain(PNG);
    expect(sent).toMatch(/<document-notes-md-text-markdown>[^]*# Notes[^]*Look at @nothing/);
    expect(wordsOf(only(server.requests))).toContain('@nothing');
    expect(place.entries().find(({ type }) => type === 'prompt')).toMatchObject({ shown: 'Look at @nothing', mentions: 'Look at @nothing', media: [{ mime: 'image/png' }] });
    expectValid(server);
  });

  it('that come while a turn runs are delivered in it; those with files, and commands, after it', async () => {
    const server = await serve([{ content: [bash('sleep 1')] }, say('Both.'), say('A picture.')]);
    const place = product({}, server);
    const partner = talk(place, FREE);
    partner.say('First');
    await partner.line(({ type }) => type === 'assistant');
    partner.say('Second');
    partner.say([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }]);
    partner.say('/todo');
    partner.end();
    const { code, stdout } = await partner.ended;
    expect(code).toBe(0);
    expect(streamIn(stdout).ofType('result').map((line) => line['result'])).toEqual(['Both.', 'A picture.', expect.stringContaining('empty') as string]);
    const [, second, third] = server.requests;
    expect(second === undefined ? '' : wordsOf(second)).toContain('Second');
    expect(JSON.stringify(third?.body['messages'])).toContain(PNG);
    expectValid(server);
  });

  it('are repeated where that is wanted, and may only add to the next one', async () => {
    const server = await serve([say('Noted.')]);
    const id = '5b1f3d2a-9c64-4f6b-8f0e-2f6a1c7d9e10';
    const input = user('The build failed.', { shouldQuery: false }) + user('Why?', { uuid: id });
    const { stdout } = await product({}, server).run([...STREAMS, '--replay-user-messages'], { input });
    expect(streamIn(stdout).ofType('user')).toMatchObject([{ isReplay: true, message: { content: 'The build failed.' } }, { isReplay: true, uuid: id, message: { role: 'user', content: 'Why?' } }]);
    expect(wordsOf(only(server.requests))).toMatch(/The build failed\.[^]*Why\?|Why\?[^]*The build failed\./);
  });

  it.each([
    ['that is no JSON', '{"type":"user",', /line 2 of standard input cannot be used: it is no JSON/],
    ['of no known type', '{"type":"usr"}', /line 2 .*its type is "usr"/],
    ['without content', '{"type":"user","message":{"role":"user","content":""}}', /no content/],
    ['with what cannot be sent', user([{ type: 'tool_result', tool_use_id: 'x' }]), /"tool_result", which is none of "text", "image" and "document"/],
    ['with an address', user([{ type: 'image', source: { type: 'url', url: 'http://x/y.png' } }]), /an address is not fetched/],
  ])('end at a line %s: what came before is answered, and it is said', async (_, wrong, why) => {
    const { code, stdout, stderr } = await product().run(STREAMS, { input: `${user('Count to 2')}${wrong}\n${user('Count to 3')}` });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^pinion: [^\n]+\n$/);
    expect(stderr).toMatch(why);
    expect(streamIn(stdout).ofType('result')).toHaveLength(1);
  });

  it('may be none at all', async () => {
    const { code, stdout, stderr } = await product().run(STREAMS, { input: '' });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.trim().split('\n')).toHaveLength(1);
  });

  it('go on after an answer that failed; the last one decides about the code', async () => {
    const server = await serve([{ error: { status: 400, type: 'invalid_request_error', message: 'No' } }, say('Yes.')]);
    const partner = talk(product({}, server));
    partner.say('First');
    await partner.result();
    partner.say('Second');
    partner.end();
    const { code, stdout } = await partner.ended;
    expect(code).toBe(0);
    expect(streamIn(stdout).ofType('result').map((line) => line['is_error'])).toEqual([true, false]);
  });

  it('a compaction is told as a boundary, and its making as no answer', async () => {
    const server = await serve([say('One.'), say('A summary.'), say('Two.')]);
    const { code, stdout } = await product({}, server).run([...STREAMS, '--include-partial-messages'], { input: user('First') + user('/compact') + user('Second') });
    expect(code).toBe(0);
    const { lines, ofType } = streamIn(stdout);
    expect(only(ofType('system', 'compact_boundary'))).toMatchObject({ compact_metadata: { trigger: 'manual' } });
    expect(ofType('system', 'status').map((line) => line['status'])).toEqual(['compacting', null]);
    expect(JSON.stringify(lines)).not.toContain('A summary.');
    expect(lines.filter((line) => obj(line['event'])['type'] === 'message_stop')).toHaveLength(2);
    expectValid(server);
  });
});

describe('requests on standard input', () => {
  const request = (id: string, fields: object) => ({ type: 'control_request', request_id: id, request: fields });

  it('interrupt a turn, and the next message is answered', async () => {
    const server = await serve([long('word '), say('Here.')]);
    const partner = talk(product({}, server), ['--include-partial-messages']);
    partner.say('First');
    await partner.line((line) => obj(obj(line['event'])['delta'])['type'] === 'text_delta');
    partner.send(request('r1', { subtype: 'interrupt' }));
    expect(await partner.result()).toMatchObject({ is_error: true, terminal_reason: 'aborted_streaming' });
    partner.say('Second');
    expect(await partner.result(2)).toMatchObject({ is_error: false, result: 'Here.' });
    partner.send(request('r2', { subtype: 'interrupt' }));
    partner.end();
    const { code, stdout } = await partner.ended;
    expect(code).toBe(0);
    const answers = partner.lines().filter(({ type }) => type === 'control_response').map((line) => line['response']);
    expect(answers).toEqual([{ subtype: 'success', request_id: 'r1', response: {} }, { subtype: 'success', request_id: 'r2', response: {} }]);
    expect(stdout).toContain('"init"');
    expectValid(server);
  });

  it('open the stream, change model and mode, and ask how things stand', async () => {
    const server = await serve([say('One.')]);
    const partner = talk(product({}, server));
    const ask = async (id: string, fields: object): Promise<Record<string, unknown>> => {
      partner.send(request(id, fields));
      return obj((await partner.line(({ type, response }) => type === 'control_response' && obj(response)['request_id'] === id))['response']);
    };
    expect(await ask('a', { subtype: 'initialize', hooks: null, agents: {} })).toMatchObject({ subtype: 'success', response: {
      commands: expect.arrayContaining([expect.objectContaining({ name: 'compact', argumentHint: '[what to keep]' })]) as object[], models: expect.arrayContaining([expect.objectContaining({ value: 'claude-haiku-5-5' })]) as object[],
      output_style: 'default', account: { apiKeySource: 'ANTHROPIC_API_KEY' },
    } });
    expect(await ask('b', { subtype: 'initialize', hooks: { PreToolUse: [{ hookCallbackIds: ['x'] }] } })).toMatchObject({ subtype: 'error', error: expect.stringContaining('hooks') as string });
    expect(await ask('c', { subtype: 'set_model', model: 'haiku' })).toMatchObject({ subtype: 'success' });
    expect(await ask('d', { subtype: 'set_permission_mode', mode: 'plan' })).toMatchObject({ response: { mode: 'plan' } });
    expect(await ask('e', { subtype: 'set_permission_mode', mode: 'bypassPermissions' })).toMatchObject({ subtype: 'error', error: expect.stringContaining('bypassPermissions') as string });
    expect(await ask('f', { subtype: 'fly' })).toMatchObject({ subtype: 'error', error: expect.stringContaining('interrupt') as string });
    expect(await ask('g', { subtype: 'mcp_status' })).toMatchObject({ response: { mcpServers: [] } });
    partner.say('Go');
    await partner.result();
    expect(await ask('h', { subtype: 'get_context_usage' })).toMatchObject({ response: { model: 'claude-haiku-5-5', total_tokens: expect.any(Number) as number, categories: expect.arrayContaining([expect.objectContaining({ name: 'system' })]) as object[] } });
    partner.end();
    expect((await partner.ended).code).toBe(0);
    expect(partner.lines().filter(({ subtype }) => subtype === 'init')).toMatchObject([{ model: 'claude-opus-5-5', permissionMode: 'default' }, { model: 'claude-haiku-5-5', permissionMode: 'plan' }]);
    expect(only(server.requests).body['model']).toBe('claude-haiku-5-5');
    expect(wordsOf(only(server.requests))).toContain('Plan mode');
  });
});

describe('what needs consent', () => {
  const answer = (line: { readonly [field: string]: unknown }, response: object) => ({ type: 'control_response', response: { subtype: 'success', request_id: line['request_id'], response } });
  const asks = (line: { readonly type: string }): boolean => line.type === 'control_request';

  it('is asked on the stream: allowed, refused with words, changed, and kept', async () => {
    const server = await serve([
      { content: [bash('touch one.txt')] }, { content: [bash('touch two.txt')] }, { content: [bash('touch three.txt')] }, { content: [bash('touch four.txt')] }, { content: [bash('touch four.txt')] }, say('Done.'),
    ]);
    const place = product({}, server);
    const partner = talk(place, ASKING);
    partner.say('Go');
    const first = await partner.line(asks);
    expect(first).toMatchObject({ request: { tool_name: 'Bash', input: { command: 'touch one.txt' }, tool_use_id: expect.any(String) as string, decision_reason: expect.any(String) as string, permission_suggestions: expect.any(Array) as unknown[] } });
    partner.send(answer(first, { behavior: 'allow', updatedInput: obj(obj(first['request'])['input']) }));
    const nth = async (n: number) => {
      await until(() => partner.lines().filter(asks).length >= n);
      return partner.lines().filter(asks)[n - 1] ?? first;
    };
    const second = await nth(2);
    partner.send(answer(second, { behavior: 'deny', message: 'Use another name.' }));
    const third = await nth(3);
    partner.send(answer(third, { behavior: 'allow', updatedInput: { command: 'touch other.txt', description: 'x' } }));
    const fourth = await nth(4);
    partner.send(answer(fourth, { behavior: 'allow', updatedPermissions: [{ type: 'addRules', rules: [{ toolName: 'Bash', ruleContent: 'touch four.txt' }], behavior: 'allow', destination: 'session' }] }));
    const result = await partner.result();
    partner.end();
    expect((await partner.ended).code).toBe(0);
    expect(partner.lines().filter(asks)).toHaveLength(4);
    expect(['one.txt', 'two.txt', 'three.txt', 'other.txt'].map((name) => existsSync(join(place.cwd, name)))).toEqual([true, false, false, true]);
    expect(only(result.permission_denials)).toMatchObject({ tool_input: { command: 'touch two.txt' } });
    // Who refused it themselves is not told so.
    expect(partner.lines().filter(({ subtype }) => subtype === 'permission_denied')).toEqual([]);
    expect(wordsOf(last(server.requests))).toContain('Use another name.');
    expectValid(server);
  });

  it('cannot be changed into what a rule forbids; an interrupt takes a question back', async () => {
    const server = await serve([{ content: [bash('touch one.txt')] }, { content: [bash('touch two.txt')] }, say('never')]);
    const place = product({}, server);
    const partner = talk(place, [...ASKING, '--disallowed-tools', 'Bash(rm *)']);
    partner.say('Go');
    const first = await partner.line(asks);
    partner.send(answer(first, { behavior: 'allow', updatedInput: { command: 'rm -rf one.txt', description: 'x' } }));
    const second = await partner.line((line) => asks(line) && line['request_id'] !== first['request_id']);
    expect(wordsOf(last(server.requests))).toMatch(/rm \*|forbid|deny|denied/i);
    partner.send({ type: 'control_request', request_id: 'stop', request: { subtype: 'interrupt' } });
    expect(await partner.result()).toMatchObject({ is_error: true });
    expect(partner.lines()).toContainEqual({ type: 'control_cancel_request', request_id: second['request_id'] });
    partner.end();
    await partner.ended;
    expect(existsSync(join(place.cwd, 'two.txt'))).toBe(false);
  });

  it('questions of the model and plans are answered there too', async () => {
    const questions = [{ header: 'Colour', question: 'Which colour?', options: [{ label: 'Blue', description: 'calm' }, { label: 'Red', description: 'warm' }], multiSelect: true }];
    const server = await serve([{ content: [call('AskUserQuestion', { questions }, 'toolu_ask')] }, { content: [call('ExitPlanMode', { plan: '1. Paint it.' }, 'toolu_plan')] }, say('Painted.')]);
    const partner = talk(product({}, server), [...ASKING, '--permission-mode', 'plan']);
    partner.say('Paint it');
    const asked = await partner.line(asks);
    expect(asked).toMatchObject({ request: { tool_name: 'AskUserQuestion', tool_use_id: 'toolu_ask', input: { questions } } });
    partner.send(answer(asked, { behavior: 'allow', updatedInput: { questions, answers: { 'Which colour?': 'Blue, Red' } } }));
    const plan = await partner.line((line) => asks(line) && line['request_id'] !== asked['request_id']);
    expect(plan).toMatchObject({ request: { tool_name: 'ExitPlanMode', tool_use_id: 'toolu_plan', input: { plan: '1. Paint it.' } } });
    partner.send(answer(plan, { behavior: 'allow', updatedPermissions: [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }] }));
    expect(await partner.result()).toMatchObject({ is_error: false, result: 'Painted.' });
    partner.end();
    await partner.ended;
    expect(wordsOf(last(server.requests))).toMatch(/Blue[^]*Red/);
    expect(partner.lines().filter(({ subtype }) => subtype === 'status').at(-1)).toMatchObject({ permissionMode: 'acceptEdits' });
  });

  it('is refused when nobody can answer any more', async () => {
    const server = await serve([{ content: [bash('touch one.txt')] }, say('Not done.')]);
    const place = product({}, server);
    const { code, stdout } = await place.run([...STREAMS, ...ASKING], { input: user('Go') });
    expect(code).toBe(0);
    expect(streamIn(stdout).result).toMatchObject({ result: 'Not done.', permission_denials: [{ tool_name: 'Bash' }] });
    expect(wordsOf(last(server.requests))).toContain('nobody is there to answer');
  });
});

it('a signal ends the talk with a result, and the pipe that is still open does not hold it up', async () => {
  const server = await serve([say('One.'), say('late', { delayMs: 60_000 })]);
  const place = product({}, server);
  const partner = talk(place);
  partner.say('First');
  await partner.result();
  partner.say('Second');
  await until(() => server.requests.length === 2);
  partner.kill('SIGTERM');
  const { code, stdout } = await partner.ended;
  expect(code).toBe(143);
  expect(streamIn(stdout).ofType('result').map((line) => line['is_error'])).toEqual([false, true]);
  const idle = talk(place, ['-c']);
  idle.say('/todo');
  await idle.result();
  idle.kill('SIGINT');
  expect((await idle.ended).code).toBe(130);
});

it('hooks are told of where that is wanted', async () => {
  const command = 'cat > /dev/null; echo checked';
  const settings = JSON.stringify({ hooks: { SessionStart: [{ hooks: [{ type: 'command', command }] }], PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command }] }] } });
  const place = product({ '.pinion/settings.json': settings }, await serve([{ content: [bash('echo 1')] }, say('Done.')]));
  const { code, stdout } = await place.run([...STREAMS, '--trust', '--include-hook-events', ...FREE], { input: user('Go') });
  expect(code).toBe(0);
  const { ofType } = streamIn(stdout);
  const started = ofType('system', 'hook_started');
  expect(started.map((line) => line['hook_event'])).toEqual(['SessionStart', 'PreToolUse']);
  expect(ofType('system', 'hook_response')).toMatchObject(started.map((line) => ({ hook_id: line['hook_id'], exit_code: 0, outcome: 'success', stdout: expect.stringContaining('checked') as string })));
  expect(readFileSync(only(place.logs()), 'utf8')).toContain('hookContext');
});
