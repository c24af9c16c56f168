import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { call, failWith, say, think } from '../support/messages-server/reply.ts';
import { obj } from '../support/messages-server/shape.ts';
import { expectValid, isAlive, last, only, product, serve, until, wordsOf } from '../support/product.ts';
import { type Line, linesIn, streamIn } from '../support/stream-lines.ts';

const STREAM = ['--output-format', 'stream-json'];
const FREE = ['--permission-mode', 'bypassPermissions'];
const bash = (command: string) => call('Bash', { command, description: 'x' });
const eventsIn = (lines: readonly Line[]) => lines.filter(({ type }) => type === 'stream_event').map((line) => obj(line['event']));
const subs = (line: Line): boolean => line['parent_tool_use_id'] !== null && line['parent_tool_use_id'] !== undefined;

describe('one prompt', () => {
  it('is a stream of what the model said and what tools came to, from init to result', async () => {
    const server = await serve([{ content: [think('Hm.'), { type: 'text', text: 'I look.' }, call('Read', { file_path: 'a.txt' })] }, say('It says *here*.')]);
    const place = product({ 'a.txt': 'here\n', '.claude/agents/finder.md': '---\nname: finder\ndescription: Finds\n---\nFind.\n', '.claude/skills/tidy/SKILL.md': '---\nname: tidy\ndescription: Tidies\n---\nTidy.\n' }, server);
    const { code, stdout, stderr } = await place.run(['-p', 'What is in a.txt?', ...STREAM, '--trust', '--permission-mode', 'acceptEdits']);
    expect([code, stderr]).toEqual([0, '']);
    const { lines, result } = streamIn(stdout);
    expect(lines.map(({ type, subtype }) => subtype ?? type)).toEqual(['init', 'status', 'assistant', 'user', 'assistant', 'success']);
    const [init, , asked, told, answered] = lines;
    expect(init).toMatchObject({
      cwd: place.cwd, model: 'claude-opus-5-5', permissionMode: 'acceptEdits', apiKeySource: 'ANTHROPIC_API_KEY', output_style: 'default', mcp_servers: [], plugins: [],
      tools: expect.arrayContaining(['Read', 'Bash', 'Task', 'WebFetch']) as string[], slash_commands: expect.arrayContaining(['compact', 'tidy']) as string[], agents: expect.arrayContaining(['finder']) as string[], skills: ['tidy'],
    });
    const content = (obj(asked?.['message'])['content'] as readonly Record<string, unknown>[]);
    expect(content.map(({ type }) => type)).toEqual(['thinking', 'text', 'tool_use']);
    expect(told).toMatchObject({ message: { content: [{ tool_use_id: content[2]?.['id'], content: expect.stringContaining('here') as string }] }, tool_use_result: { kind: 'ok' } });
    expect(answered).toMatchObject({ message: { stop_reason: 'end_turn', content: [{ type: 'text', text: 'It says *here*.' }] } });
    expect(result).toMatchObject({ subtype: 'success', is_error: false, num_turns: 2, result: 'It says *here*.', stop_reason: 'end_turn', terminal_reason: 'completed' });
    const used = result.modelUsage['claude-opus-5-5'];
    expect(used).toMatchObject({ inputTokens: result.usage.input_tokens, outputTokens: result.usage.output_tokens, cacheReadInputTokens: result.usage.cache_read_input_tokens, contextWindow: 1_000_000 });
    expect(used?.costUSD).toBeCloseTo(result.total_cost_usd, 9);
    expect(result.duration_api_ms).toBeLessThanOrEqual(result.duration_ms);
    expect(place.entries().some(({ type }) => type === 'prompt')).toBe(true);
    expectValid(server);
  });

  it('brings the events of the server along where they are wanted, and only then', async () => {
    const reply = { content: [think('Let me see.'), { type: 'text' as const, text: 'A long enough answer to be cut into pieces, with ünïcode 🌱.' }, bash('echo hi')], piece: 7 };
    const server = await serve([reply, say('Done.')]);
    const { code, stdout } = await product({}, server).run(['-p', 'Go', ...STREAM, '--include-partial-messages', ...FREE]);
    expect(code).toBe(0);
    const { lines } = streamIn(stdout);
    const events = eventsIn(lines);
    expect(events.filter(({ type }) => type === 'message_start')).toHaveLength(2);
    const first = events.slice(0, events.findIndex(({ type }) => type === 'message_stop') + 1);
    const blocks: Record<string, unknown>[] = [];
    for (const { type, index, content_block: block, delta } of first) {
      const at = Number(index);
      const { text = '', thinking = '', partial_json: json = '', signature } = obj(delta) as Record<string, string>;
      if (type === 'content_block_start') blocks[at] = { ...obj(block), json: '' };
      const now = blocks[at];
      if (type === 'content_block_delta' && now !== undefined) blocks[at] = { ...now, ...('text' in now && { text: `${String(now['text'])}${text}` }), ...('thinking' in now && { thinking: `${String(now['thinking'])}${thinking}` }), ...(signature !== undefined && { signature }), json: `${String(now['json'])}${json}` };
    }
    const built = blocks.map(({ json, ...block }) => (block['type'] === 'tool_use' ? { ...block, input: JSON.parse(String(json)) as unknown } : block));
    const whole = lines.find(({ type }) => type === 'assistant');
    expect(obj(whole?.['message'])['content']).toEqual(built);
    // What is told whole comes after its pieces.
    expect(lines.findIndex(({ type }) => type === 'assistant')).toBe(lines.findIndex((line) => obj(line['event'])['type'] === 'message_stop') + 1);
    const quiet = await product({}, await serve([say('Done.')])).run(['-p', 'Go', ...STREAM]);
    expect(streamIn(quiet.stdout).ofType('stream_event')).toEqual([]);
  });

  it('tells what sub-agents say and do as theirs', async () => {
    const isSub = (request: Parameters<typeof wordsOf>[0]): boolean => JSON.stringify(request.body['system']).includes('You are a sub-agent');
    let [lead, sub] = [0, 0];
    const server = await serve((request) => {
      if (isSub(request)) return (sub += 1) === 1 ? { content: [call('Read', { file_path: 'a.txt' })] } : sub === 2 ? { content: [bash('touch no')] } : say('found it');
      return (lead += 1) === 1 ? { content: [call('Task', { subagent_type: 'general', description: 'find', prompt: 'Find.' }, 'toolu_lead')] } : say('It was found.');
    });
    const { stdout } = await product({ 'a.txt': 'here\n' }, server).run(['-p', 'Go', ...STREAM, '--include-partial-messages']);
    const { lines, result } = streamIn(stdout);
    const theirs = lines.filter(subs);
    expect(new Set(theirs.map((line) => line['parent_tool_use_id']))).toEqual(new Set(['toolu_lead']));
    expect(theirs.filter(({ type }) => type !== 'stream_event').map(({ type }) => type)).toEqual(['assistant', 'user', 'assistant', 'user', 'assistant']);
    expect(eventsIn(theirs).filter(({ type }) => type === 'message_stop')).toHaveLength(3);
    expect(lines.filter((line) => !subs(line) && (line.type === 'assistant' || line.type === 'user')).map(({ type }) => type)).toEqual(['assistant', 'user', 'assistant']);
    expect(only(lines.filter(({ subtype }) => subtype === 'permission_denied'))).toMatchObject({ tool_name: 'Bash', agent_id: expect.any(String) as string, decision_reason_type: 'other' });
    expect(result).toMatchObject({ result: 'It was found.', num_turns: 2, permission_denials: [{ tool_name: 'Bash', tool_input: { command: 'touch no' } }] });
    expect(result.total_cost_usd).toBeCloseTo(Object.values(result.modelUsage).reduce((sum, { costUSD }) => sum + costUSD, 0), 9);
  });

  it('tells what went wrong on the way, and of refusals', async () => {
    const server = await serve([failWith(429, 'rate_limit_error', 'Slow down', { 'retry-after': '0' }), failWith(503, 'api_error', 'Down', { 'retry-after': '0' }), { content: [bash('touch made.txt')] }, say('I may not.')]);
    const place = product({}, server);
    const { code, stdout, stderr } = await place.run(['-p', 'Go', ...STREAM]);
    expect([code, stderr]).toEqual([0, '']);
    const { ofType, result } = streamIn(stdout);
    expect(ofType('system', 'api_retry')).toMatchObject([{ attempt: 1, max_retries: 10, error_status: 429, error: 'rate_limit' }, { attempt: 2, error_status: 503, error: 'server_error' }]);
    const denied = only(ofType('system', 'permission_denied'));
    const told = only(ofType('user'));
    expect(denied).toMatchObject({ tool_name: 'Bash', message: expect.stringContaining('nobody is there to answer') as string });
    expect(told).toMatchObject({ message: { content: [{ tool_use_id: denied['tool_use_id'], is_error: true }] } });
    expect(only(result.permission_denials)).toMatchObject({ tool_name: 'Bash', tool_use_id: denied['tool_use_id'], tool_input: { command: 'touch made.txt' } });
    expect(existsSync(join(place.cwd, 'made.txt'))).toBe(false);
  });

  it('a refusal says what decided it: a rule, the mode, or a hook', async () => {
    const hooks = { PreToolUse: [{ matcher: 'Write', hooks: [{ type: 'command', command: 'echo no >&2; exit 2' }] }] };
    const server = await serve([{ content: [bash('rm x')] }, { content: [call('Write', { file_path: 'a', content: '' })] }, { content: [bash('touch y')] }, say('I may not.')]);
    const place = product({ 'settings.json': JSON.stringify({ permissions: { deny: ['Bash(rm *)'] }, hooks }) }, server);
    const { ofType, result } = streamIn((await place.run(['-p', 'Go', ...STREAM, '--settings', 'settings.json', '--permission-mode', 'plan'])).stdout);
    expect(ofType('system', 'permission_denied').map((line) => line['decision_reason_type'])).toEqual(['rule', 'hook', 'mode']);
    expect(result.permission_denials).toHaveLength(3);
  });

  it.each([
    ['the server refuses', [failWith(401, 'authentication_error', 'invalid x-api-key')], [], { subtype: 'error_during_execution', num_turns: 0, terminal_reason: 'model_error', stop_reason: null }],
    ['steps run out', [{ content: [bash('echo')] }], ['--max-turns', '1', ...FREE], { subtype: 'error_max_turns', num_turns: 1, terminal_reason: 'max_turns', stop_reason: 'tool_use' }],
    ['money runs out', [{ content: [bash('echo')], usage: { output_tokens: 200_000 } }], ['--max-budget-usd', '0.5', ...FREE], { subtype: 'error_max_budget_usd', num_turns: 1, terminal_reason: 'max_budget' }],
    ['the model refuses', [{ content: [{ type: 'text' as const, text: 'No' }], stop: 'refusal' }], [], { subtype: 'error_during_execution', terminal_reason: 'stopped', stop_reason: 'refusal' }],
  ])('ends with a result that says so when %s', async (_, script, args, expected) => {
    const { code, stdout } = await product({}, await serve(script)).run(['-p', 'Go', ...STREAM, ...args]);
    const { result } = streamIn(stdout);
    expect(code).toBe(1);
    expect(result).toMatchObject({ is_error: true, errors: [result.result], ...expected });
  });

  it('may be a slash command; one that is wrong is an error', async () => {
    const place = product({ '.claude/commands/hi.md': 'Say hi to $ARGUMENTS' }, await serve([say('Hi Ann.')]));
    const todo = streamIn((await place.run(['-p', '/todo add water the plants', ...STREAM])).stdout);
    expect(todo.lines.map(({ subtype }) => subtype)).toEqual(['init', 'local_command_output', 'success']);
    expect(todo.result).toMatchObject({ num_turns: 0, result: expect.stringContaining('water the plants') as string, modelUsage: {} });
    const { code, stdout } = await place.run(['-p', '/todo ad x', ...STREAM]);
    expect([code, streamIn(stdout).result]).toMatchObject([2, { is_error: true, subtype: 'error_during_execution', result: expect.stringContaining('/todo add') as string }]);
    expect(streamIn((await place.run(['-p', '/hi Ann', ...STREAM, '--trust'])).stdout).result).toMatchObject({ num_turns: 1, result: 'Hi Ann.' });
  });

  it('shows reminders as what they are to whoever wants to see all', async () => {
    const { stdout } = await product({ 'AGENTS.md': 'Be brief.\n' }, await serve([say('Yes.')])).run(['-p', 'Go', ...STREAM, '--verbose', '--trust']);
    const told = streamIn(stdout).ofType('user');
    expect(told.every((line) => line['isSynthetic'] === true)).toBe(true);
    expect(told.map((line) => obj(line['origin'])['source'])).toEqual(expect.arrayContaining(['environment', 'memory']));
    expect(JSON.stringify(told)).toContain('Be brief.');
  });

  it('is safe to print whatever the model, files and tools say', async () => {
    const hostile = 'a\u001b]0;x\u0007b\u009b31mc\u202ed\u2028e\ud83df';
    const server = await serve([{ content: [{ type: 'text', text: 'x' }, call('Read', { file_path: 'a.txt' })] }, { content: [{ type: 'text', text: 'a\u009b31m\u202eb' }] }]);
    const { stdout } = await product({ 'a.txt': hostile }, server).run(['-p', 'Go \u202e', ...STREAM, '--include-partial-messages']);
    expect(streamIn(stdout).result.result).toBe('a\u009b31m\u202eb');
  });
});

describe('an interrupt', () => {
  const long = { content: [{ type: 'text' as const, text: 'word '.repeat(2000) }], gapMs: 20, piece: 5 };
  const cases: readonly [string, Parameters<typeof serve>[0], (text: string) => boolean, Record<string, unknown>][] = [
    ['before the answer begins', [say('late', { delayMs: 60_000 })], (text) => text.includes('"init"'), { terminal_reason: 'aborted_streaming' }],
    ['while the answer comes', [long], (text) => text.includes('text_delta'), { num_turns: 1, terminal_reason: 'aborted_streaming', stop_reason: null }],
    ['while a tool works', [{ content: [bash('echo begun > begun; sleep 60')] }], (text) => text.includes('"assistant"'), { num_turns: 1, terminal_reason: 'aborted_tools' }],
    ['while it waits to ask again', [failWith(429, 'rate_limit_error', 'Slow', { 'retry-after': '50' })], (text) => text.includes('api_retry'), { terminal_reason: 'aborted_streaming' }],
  ];
  it.each(cases)('%s leaves a whole stream with a result at its end', async (_, script, begun, expected) => {
    const server = await serve(script);
    const place = product({}, server);
    const running = place.start(['-p', 'Go', ...STREAM, '--include-partial-messages', ...FREE]);
    await until(() => begun(running.stdout()) && (server.requests.length > 0));
    if (expected['terminal_reason'] === 'aborted_tools') await until(() => existsSync(join(place.cwd, 'begun')));
    running.kill('SIGINT');
    const { code, stdout } = await running.ended;
    expect(code).toBe(130);
    expect(streamIn(stdout).result).toMatchObject({ is_error: true, subtype: 'error_during_execution', ...expected });
    expectValid(server);
  });

  it('by SIGTERM has its own code, and JSON has its one object', async () => {
    const place = product({}, await serve([say('late', { delayMs: 60_000 }), say('late', { delayMs: 60_000 })]));
    const streaming = place.start(['-p', 'Go', ...STREAM]);
    await until(() => streaming.stdout().includes('"init"'));
    streaming.kill('SIGTERM');
    expect((await streaming.ended).code).toBe(143);
    const json = place.start(['-p', 'Go', '--output-format', 'json']);
    await until(() => place.logs().length === 2);
    json.kill('SIGINT');
    const { code, stdout } = await json.ended;
    expect([code, JSON.parse(stdout)]).toMatchObject([130, { type: 'result', is_error: true, result: 'interrupted', terminal_reason: 'aborted_streaming' }]);
  });
});

describe('the reader', () => {
  const big = 'x'.repeat(400_000);

  it('may be slow: nothing is lost or torn', async () => {
    const server = await serve([{ content: [bash('echo 1')] }, say(big, { piece: 20_000 })]);
    const { shell } = product({}, server);
    const { code, stdout } = await shell(`pinion -p Go ${STREAM.join(' ')} --include-partial-messages ${FREE.join(' ')} | (sleep 0.7; cat)`);
    expect(code).toBe(0);
    expect(streamIn(stdout).result.result).toBe(big);
  });

  it('may leave: the run ends, and with it what it had started', async () => {
    const server = await serve([{ content: [bash('echo $$ > pid; sleep 60')] }, say('never')]);
    const place = product({}, server);
    const { code, stdout, stderr } = await place.shell(`pinion -p Go ${STREAM.join(' ')} --verbose ${FREE.join(' ')} 2>&1 | (head -n 1 | cut -c1-30); echo "\${PIPESTATUS[0]}"`);
    expect([code, stdout, stderr]).toEqual([0, '{"type":"system","subtype":"in\n0\n', '']);
    expect(server.requests.length).toBeLessThan(2);
    const pid = join(place.cwd, 'pid');
    if (existsSync(pid)) await until(() => !isAlive(Number(readFileSync(pid, 'utf8'))));
  });
});

describe('the session', () => {
  const ID = '5b1f3d2a-9c64-4f6b-8f0e-2f6a1c7d9e10';

  it('has the id that was wished for, once', async () => {
    const place = product({}, await serve([say('One.'), say('Two.')]));
    expect(streamIn((await place.run(['-p', 'Go', ...STREAM, '--session-id', ID])).stdout).result.session_id).toBe(ID);
    const again = await place.run(['-p', 'Go', ...STREAM, '--session-id', ID]);
    expect(again).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/^pinion: there is a session 5b1f[^\n]+-r 5b1f[^\n]+\n$/) as string });
    expect(streamIn((await place.run(['-p', 'Go', ...STREAM, '-r', ID])).stdout).result.session_id).toBe(ID);
  });

  it('may be a copy of an older one, which stays as it is', async () => {
    const server = await serve([say('One.'), say('Two.'), say('Three.')]);
    const place = product({}, server);
    await place.run(['-p', 'First', '--session-id', ID]);
    const before = readFileSync(only(place.logs()), 'utf8');
    const { result } = streamIn((await place.run(['-p', 'Second', ...STREAM, '-r', ID, '--fork-session'])).stdout);
    expect(result.session_id).not.toBe(ID);
    expect(wordsOf(last(server.requests))).toMatch(/First[^]*One\.[^]*Second/);
    expect(readFileSync(only(place.logs().filter((file) => file.includes(ID))), 'utf8')).toBe(before);
    const other = '6b1f3d2a-9c64-4f6b-8f0e-2f6a1c7d9e10';
    expect(streamIn((await place.run(['-p', 'Third', ...STREAM, '-c', '--fork-session', '--session-id', other])).stdout).result.session_id).toBe(other);
    expect(wordsOf(last(server.requests))).toContain('Two.');
    expectValid(server);
  });

  it('may leave no trace, also where it goes on with one that stays as it is', async () => {
    const server = await serve([say('One.'), { content: [bash('echo 1')] }, say('Two.')]);
    const place = product({}, server);
    await place.run(['-p', 'First']);
    const before = readFileSync(only(place.logs()), 'utf8');
    const { code, stdout } = await place.run(['-c', '-p', 'Second', ...STREAM, '--no-session-persistence', ...FREE], { env: { TMPDIR: place.cwd } });
    expect([code, streamIn(stdout).result.result]).toEqual([0, 'Two.']);
    expect(wordsOf(last(server.requests))).toMatch(/First[^]*One\.[^]*Second/);
    expect(readFileSync(only(place.logs()), 'utf8')).toBe(before);
    expect(await place.shell('ls -A | grep pinion-')).toMatchObject({ stdout: '' });
  });

  it('has the system prompt and the fall-back model that were wished for', async () => {
    const overloaded = failWith(529, 'overloaded_error', 'Overloaded', { 'retry-after': '0' });
    const server = await serve([overloaded, overloaded, overloaded, say('I help out.')]);
    const { stdout } = await product({}, server).run(['-p', 'Go', ...STREAM, '--fallback-model', 'haiku', '--system-prompt', 'You are a clock.', '--append-system-prompt', 'Tick.']);
    const { result, ofType } = streamIn(stdout);
    expect(last(server.requests).body).toMatchObject({ model: 'claude-haiku-5-5', system: [{ text: 'You are a clock.' }, { text: 'Tick.' }] });
    expect(Object.keys(result.modelUsage)).toEqual(['claude-haiku-5-5']);
    expect(ofType('system', 'informational').map((line) => line['content'])).toContainEqual(expect.stringContaining('haiku'));
  });
});

it('text says more where it is asked to, beside the answer', async () => {
  const server = await serve([{ content: [bash('echo 1')] }, say('Done.')]);
  const { stdout, stderr } = await product({}, server).run(['-p', 'Go', '--verbose', ...FREE]);
  expect(stdout).toBe('Done.\n');
  expect(stderr).toMatch(/pinion: told the model: environment[^]*pinion: claude-opus-5-5: \d+ tokens in, \d+ out\n[^]*echo 1/);
  expect(linesIn('')).toEqual([]);
});
