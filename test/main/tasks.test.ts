import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Entry } from '#domain/entry.ts';
import { tasksOf } from '#domain/folds.ts';
import type { TaskRecord } from '#domain/tasks.ts';
import { promptOf } from '#main/wire-reminders.ts';
import { LogSession } from '#session/session.ts';
import { household } from '../support/household.ts';
import { answer, prompt, reminder } from '../support/logs.ts';
import { call, say } from '../support/messages-server/reply.ts';
import type { Step } from '../support/messages-server/server.ts';
import { expectValid, isAlive, last, serve, wordsOf } from '../support/product.ts';

/** Answers with these steps, one after the other, then always with a word. */
const script = (...steps: readonly Step[]) => serve((_request, index) => steps[index] ?? say('Well.'));
const bash = (command: string): Step => ({ content: [call('Bash', { command, run_in_background: true })] });
const tool = (name: string, input: Readonly<Record<string, unknown>>): Step => ({ content: [call(name, input)] });

const reports = (log: readonly Entry[]): readonly string[] => log.flatMap((entry) => (
  entry.type === 'reminder' && entry.source === 'unified_tasks' ? [entry.parts.map((part) => (part.type === 'text' ? part.text : '')).join('').split('\n').slice(1).join('\n')] : []
));
const states = (log: readonly Entry[], id = 'shell-1'): readonly string[] => log.flatMap((entry) => (entry.type === 'task' && entry.task.id === id ? [entry.task.state] : []));
const untilEnded = (log: readonly Entry[], id = 'shell-1'): Promise<void> => expect.poll(() => states(log, id).at(-1), { timeout: 10_000, interval: 20 }).not.toBe('running');
const gone = (pid: number): Promise<void> => expect.poll(() => isAlive(pid), { timeout: 10_000, interval: 20 }).toBe(false);

async function pidIn(file: string): Promise<number> {
  await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8').trim() !== '', { timeout: 5000, interval: 20 }).toBe(true);
  return Number(readFileSync(file, 'utf8'));
}

describe('a background command in a conversation', () => {
  it('is told of when it has ended, with the next prompt, once, over a resume', async () => {
    const server = await script(bash('echo the tests pass'));
    const home = household({}, server);
    const first = await home.open();
    await first.turn('run the tests in the background');
    await untilEnded(first.log);
    await first.turn('and now?');
    expect(wordsOf(last(server.requests))).toContain('shell-1 is done (exit code 0): echo the tests pass\nIts output:\n| the tests pass');
    await first.turn('and then?');
    first.close();
    const second = await home.open({ resume: true });
    await second.turn('good morning');
    await second.conversation.compact('', new AbortController().signal).next();
    expect(reports(second.log)).toHaveLength(1);
    expect(states(second.log)).toEqual(['running', 'done']);
    expectValid(server);
  });

  it('is told of in the middle of a turn', async () => {
    const server = await script(bash('echo quick'), tool('Bash', { command: 'sleep 0.6' }));
    const one = await household({}, server).open();
    await one.turn('go');
    expect(reports(one.log)).toEqual(['shell-1 is done (exit code 0): echo quick\nIts output:\n| quick']);
    expectValid(server);
  });

  it('is read and stopped by the model, which then is not told again; no question is asked', async () => {
    const server = await script(bash('echo $$ > pid; echo up; sleep 60'), tool('TaskOutput', { id: 'shell-1', wait: 300 }), tool('TaskStop', { id: 'shell-1' }));
    const home = household({}, server);
    const one = await home.open({ args: { permissionMode: 'default', allowedTools: ['Bash'] } });
    await one.turn('serve');
    expect(one.asked).toEqual([]);
    expect(wordsOf(last(server.requests))).toMatch(/\[shell-1 is running\]\nup\n[\s\S]*shell-1 \(echo .*\) is ended\./);
    await gone(await pidIn(join(home.cwd, 'pid')));
    expect(states(one.log)).toEqual(['running', 'stopped']);
    await one.turn('and?');
    expect(reports(one.log)).toEqual([]);
    expectValid(server);
  });

  it('ends with the house; gone on with, it is lost, and told as such once', async () => {
    const server = await script(bash('echo $$ > pid; echo started; sleep 60'));
    const home = household({}, server);
    const first = await home.open();
    await first.turn('serve');
    const pid = await pidIn(join(home.cwd, 'pid'));
    first.close();
    await gone(pid);
    const second = await home.open({ resume: true });
    expect(states(second.log)).toEqual(['running', 'lost']);
    await second.turn('what of the server?');
    await second.turn('and now?');
    expect(reports(second.log)).toEqual([expect.stringMatching(/^shell-1 is gone: it ran when the program that had started it ended: echo/)]);
    expect(await second.command('/tasks shell-1')).toContain('started');
    second.close();
    const third = await home.open({ resume: true });
    expect(states(third.log)).toEqual(['running', 'lost']);
    expectValid(server);
  });

  it('goes along with /clear, and is told of there; /clear --all ends it', async () => {
    const server = await script(bash('echo $$ > pid; echo up; sleep 60'));
    const home = household({}, server);
    const one = await home.open();
    await one.turn('serve');
    const pid = await pidIn(join(home.cwd, 'pid'));
    await one.command('/clear');
    expect(isAlive(pid)).toBe(true);
    await one.turn('hello');
    expect(reports(one.log)).toEqual([expect.stringMatching(/^shell-1 is running \(started before this conversation\), 3 B of new output: echo/)]);
    await one.command('/clear --all');
    await gone(pid);
    expect(tasksOf(one.log)).toEqual([]);
    expectValid(server);
  });

  it('of a sub-agent ends with it, and is no task of the conversation', async () => {
    const task = { content: [call('Task', { description: 'serve', prompt: 'start the server', subagent_type: 'general' })] };
    const server = await script(task, bash('echo $$ > pid; sleep 60'), tool('Bash', { command: 'while [ ! -s pid ]; do sleep 0.05; done' }), say('It is started.'));
    const home = household({}, server);
    const one = await home.open();
    await one.turn('have it served');
    await gone(await pidIn(join(home.cwd, 'pid')));
    expect(tasksOf(one.log)).toEqual([]);
    expectValid(server);
  });

  it('nothing of a session that never had one stands on the disk', async () => {
    const home = household({}, await script());
    const one = await home.open();
    await one.turn('hello');
    expect(readdirSync(home.home)).not.toContain('tasks');
    expect(await one.command('/tasks')).toContain('nothing was started');
  });

  it('a command that the user sends to the background is a task of the session', async () => {
    const home = household({}, await script());
    const one = await home.open();
    const { tasks } = one.house;
    const running = tasks.shell(one.conversation.session, 'echo mine; sleep 60', new AbortController().signal, () => undefined);
    await pause(300);
    expect(tasks.background(one.conversation.session)).toBe(true);
    expect(await running).toMatchObject({ how: 'background', output: 'mine\n', task: { id: 'shell-1', state: 'running' } satisfies Partial<TaskRecord> });
    expect(states(one.log)).toEqual(['running']);
    await one.command('/tasks stop shell-1');
    expect(states(one.log)).toEqual(['running', 'stopped']);
    await one.turn('well?');
    expect(reports(one.log)).toEqual([expect.stringContaining('shell-1 was stopped: echo mine; sleep 60')]);
  });
});

describe('the prompt of a moment', () => {
  const task: TaskRecord = { id: 'shell-1', kind: 'shell', title: 'x', state: 'done', file: '/x' };

  it('is found behind what came beside the turn', () => {
    const session = new LogSession('s');
    const asked = session.append(prompt('look at @a'));
    session.append({ type: 'task', task });
    session.append({ type: 'notice', text: 'x', level: 'info' });
    session.append({ type: 'spent', what: 'x', model: 'm', usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 }, requests: 1 });
    session.append({ type: 'queued', text: 'and b' });
    expect(promptOf(session)).toBe(asked);
  });

  it('is none once it was answered, or its reminders were given', () => {
    for (const body of [answer('x'), reminder('prompt', 'x')]) {
      const session = new LogSession('s');
      session.append(prompt('look at @a'));
      session.append(body);
      session.append({ type: 'task', task });
      expect(promptOf(session)).toBeUndefined();
    }
  });
});
