import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { tasksOf } from '#domain/folds.ts';
import { call, say, type ScriptedReply } from '../support/messages-server/reply.ts';
import type { MessagesServer, Recorded } from '../support/messages-server/server.ts';
import { expectValid, idle, last, only, product, resultIn, serve, until, wordsOf } from '../support/product.ts';

const AGENT = '---\nname: finder\ndescription: Finds things\ntools: Read, Bash\n---\nFind it.\n';
const FILES = { '.claude/agents/finder.md': AGENT, 'a.txt': 'here\n' };

const isSub = ({ body }: Recorded): boolean => JSON.stringify(body['system']).includes('You are a sub-agent');
const task = (more: object = {}) => call('Task', { subagent_type: 'finder', description: 'find it', prompt: 'Find it now.', ...more });
const all = (...content: ReturnType<typeof call>[]): ScriptedReply => ({ content });

function scripted(lead: (n: number, request: Recorded) => ScriptedReply, sub: (n: number, request: Recorded) => ScriptedReply): Promise<MessagesServer> {
  const counts = { lead: 0, sub: 0 };
  return serve((request) => (isSub(request) ? sub(counts.sub++, request) : lead(counts.lead++, request)));
}

const mainLog = (logs: readonly string[]): string => only(logs.filter((file) => !file.includes('subagents')));

describe('in print mode', () => {
  it('the run waits for agents beside it, and their ends are told before it is over', async () => {
    const server = await scripted((n) => (n === 0 ? all(task({ run_in_background: true }), task({ name: 'bob' })) : n === 1 ? say('Started.') : say('Both have found it.')), (n) => say(`found ${n}`, { delayMs: 300 * (n + 1) }));
    const place = product(FILES, server);
    const { code, stdout, stderr } = await place.run(['-p', 'find it', '--trust', '--output-format', 'json']);
    expect([code, stderr]).toEqual([0, '']);
    const result = resultIn(stdout);
    expect(result).toMatchObject({ subtype: 'success', result: 'Both have found it.' });
    expect(server.requests.filter((request) => !isSub(request))).toHaveLength(3);
    const words = wordsOf(last(server.requests));
    expect(words).toMatch(/agent-1 is done: find it[^]*> found [01][^]*agent-2 is done: find it/);
    expectValid(server);
    expect(tasksOf(place.entries(mainLog(place.logs()))).map(({ state }) => state)).toEqual(['done', 'done']);
    expect(place.logs()).toHaveLength(3);
    expect(result.total_cost_usd).toBeGreaterThan(0);
  });

  it('what must be asked is refused for a sub-agent as for the run, and the run goes on', async () => {
    const server = await scripted((n) => (n === 0 ? all(task()) : say('It could not.')), (n) => (n === 0 ? all(call('Bash', { command: 'touch x', description: 'x' })) : say('I was not allowed to.')));
    const { code, stdout } = await product(FILES, server).run(['-p', 'find it', '--trust']);
    expect([code, stdout]).toEqual([0, 'It could not.\n']);
    expect(wordsOf(last(server.requests.filter(isSub)))).toContain('nobody is there to answer');
  });

  it('a signal ends it with all that work for it; what was lost is said when the session goes on', async () => {
    const server = await scripted((n, request) => (n === 0 ? all(task({ run_in_background: true })) : wordsOf(request).includes('go on') ? say('I see.') : say('Started.')), () => say('late', { delayMs: 60_000 }));
    const place = product(FILES, server);
    const running = place.start(['-p', 'find it', '--trust']);
    await until(() => server.requests.filter(isSub).length === 1 && server.requests.length === 3);
    await sleep(200);
    running.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
    expect((await place.run(['-c', '-p', 'go on'])).stdout).toBe('I see.\n');
    expect(wordsOf(last(server.requests))).toContain('agent-1 is gone: it was at work when the program ended');
  });
});

it('the demo model has a sub-agent do what it is asked to let it do', async () => {
  const place = product({ 'src/a.ts': 'x\n', 'src/b.ts': 'x\n' });
  const { code, stdout, stderr } = await place.run(['-p', 'Let explore list the files in src']);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^explore answers:\n\nI find 2 files in src:\n\n- src\/a\.ts\n- src\/b\.ts\n/);
});

describe('on the screen', () => {
  it('one sees what sub-agents are at; Esc ends them, and the conversation goes on', async () => {
    const server = await scripted((n) => (n === 0 ? all(task({ description: 'first one' }), task({ description: 'second one' })) : say('Well then.')), (n) => (n < 2 ? all(call('Read', { file_path: 'a.txt' })) : say('late', { delayMs: 60_000 })));
    const place = product(FILES, server);
    const terminal = place.open({ args: ['--trust'] });
    await terminal.waitFor(idle);
    terminal.enter('find it');
    await terminal.waitFor((screen) => screen.filter((line) => /finder: (?:first|second) one/.test(line)).length === 2);
    await terminal.waitFor((screen) => screen.filter((line) => /1 step · \d\S* tokens · Read a\.txt/.test(line)).length === 2);
    terminal.enter('/agents');
    await terminal.waitFor(() => terminal.lines().some((line) => line.includes('2 at work')));
    terminal.type('\x1b');
    await terminal.waitFor(/interrupted/i);
    await terminal.waitFor(idle);
    terminal.enter('and now?');
    await terminal.waitFor('Well then.');
    expectValid(server);
    terminal.enter('/exit');
    await terminal.expectLeft();
  });

  it('the end of one beside the conversation begins a turn by itself', async () => {
    const server = await scripted((n) => (n === 0 ? all(task({ run_in_background: true })) : n === 1 ? say('It runs.') : say('It has found it.')), () => say('found', { delayMs: 1500 }));
    const terminal = product(FILES, server).open({ args: ['--trust'] });
    await terminal.waitFor(idle);
    terminal.enter('find it');
    await terminal.waitFor('It runs.');
    await terminal.waitFor('It has found it.');
    terminal.enter('/exit');
    await terminal.expectLeft();
  });
});
