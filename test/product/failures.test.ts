import { describe, expect, it } from 'vitest';
import { call, failWith, say, think } from '../support/messages-server/reply.ts';
import { startServer } from '../support/messages-server/server.ts';
import { last, only, product, resultIn, serve, until, wordsOf } from '../support/product.ts';

const JSON_OUT = ['--output-format', 'json'];
const ONE_LINE = /^pinion: [^\n]+\n$/;

describe('a server that refuses', () => {
  it('the key is one line and code 1, and is asked once', async () => {
    const server = await serve([say('never')], { apiKey: 'sk-ant-right' });
    const { run } = product({}, server);
    const { code, stdout, stderr } = await run(['-p', 'Hello']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(ONE_LINE);
    expect(stderr).toMatch(/key was refused by 127\.0\.0\.1.*401.*\/login/);
    expect(server.all).toHaveLength(1);
    const asJson = await run(['-p', 'Hello', ...JSON_OUT]);
    expect([asJson.code, asJson.stderr]).toEqual([1, '']);
    expect(resultIn(asJson.stdout)).toMatchObject({ subtype: 'error_during_execution', is_error: true, num_turns: 0, result: expect.stringContaining('key was refused') as string });
  });

  it('for a while is waited for, which is said, and asked again', async () => {
    const server = await serve([failWith(429, 'rate_limit_error', 'Slow down', { 'retry-after': '1' }), say('Here I am.')]);
    const { run } = product({}, server);
    const { code, stdout, stderr } = await run(['-p', 'Hello', ...JSON_OUT]);
    expect(code).toBe(0);
    expect(resultIn(stdout)).toMatchObject({ is_error: false, result: 'Here I am.' });
    expect(stderr).toMatch(/^pinion: rate limit \(429\); attempt \d in 1 s\n$/);
    expect(server.requests).toHaveLength(2);
  });

  it('bound thinking is asked once more without it, which is said', async () => {
    const server = await serve([
      { content: [think('Hm.'), { type: 'text', text: 'First.' }] },
      failWith(400, 'invalid_request_error', 'messages.1.content.0: Invalid `signature` in `thinking` block'),
      say('Second.'),
    ]);
    const { run } = product({}, server);
    await run(['-p', 'Hello']);
    const { code, stdout, stderr } = await run(['-c', '-p', 'Again']);
    expect([code, stdout]).toEqual([0, 'Second.\n']);
    expect(stderr).toMatch(ONE_LINE);
    expect(stderr).toContain('thinking no longer fits');
    expect(last(server.requests).raw).not.toContain('"thinking":"');
    expect(wordsOf(last(server.requests))).toContain('Again');
  });

  it('to be there at all is named while the program tries again, and the wait can be interrupted', async () => {
    const gone = await startServer();
    await gone.close();
    const { start } = product({}, gone);
    const running = start(['-p', 'Hello']);
    await until(() => running.stderr().includes('attempt 1 in'));
    running.kill('SIGINT');
    expect(await running.ended).toMatchObject({ code: 130, stdout: '', stderr: expect.stringMatching(/^(?:pinion: [^\n]*refused[^\n]*attempt \d in \d+ s\n)+$/i) as string });
  });
});

describe('a reply', () => {
  it('that ends in the middle of a call runs nothing', async () => {
    const server = await serve([
      { content: [{ type: 'text', text: 'I begin.' }, call('Bash', { command: 'touch made.txt' })], stop: 'max_tokens' },
      say('Then not.'),
    ]);
    const { run, entries } = product({}, server);
    const { code } = await run(['-p', 'Do it', '--permission-mode', 'bypassPermissions']);
    expect(code).toBe(0);
    expect(server.all.every(({ refusal }) => refusal === undefined)).toBe(true);
    expect(entries().filter((entry) => entry.type === 'toolResult' && entry.result.kind === 'ok')).toEqual([]);
  });

  it('that calls what does not exist, or with nonsense, is told so and the run goes on', async () => {
    const server = await serve([
      { content: [call('Fly', { to: 'the moon' }), call('Read', { file: 1 }), { type: 'tool_use', name: 'Read', input: {}, json: '{"file_path": "a' }] },
      say('I see.'),
    ]);
    const { run } = product({}, server);
    expect(await run(['-p', 'Try'])).toEqual({ code: 0, stdout: 'I see.\n', stderr: '' });
    expect(wordsOf(last(server.requests))).toMatch(/no tool named "Fly"[\s\S]*file_path[\s\S]*not valid JSON/);
  });

  it('that was refused by the model is an error that says so', async () => {
    const server = await serve([{ content: [], stop: 'refusal' }]);
    const { run } = product({}, server);
    const { code, stdout } = await run(['-p', 'Hello', ...JSON_OUT]);
    expect(code).toBe(1);
    expect(resultIn(stdout)).toMatchObject({ is_error: true, result: expect.stringMatching(/refus|declin/i) as string });
  });

  it('with control characters reaches no terminal as such', async () => {
    const server = await serve([say('before \u001b[2J\u001b]0;title\u0007 after')]);
    const { run } = product({}, server);
    const { stdout } = await run(['-p', 'Hello']);
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toContain('after');
    expect(only(server.requests).refusal).toBeUndefined();
  });
});
