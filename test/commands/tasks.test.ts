import { describe, expect, it } from 'vitest';
import type { TaskView } from '#domain/tasks.ts';
import { desk, drawn } from './support.ts';

const task = (id: string, more: Partial<TaskView> = {}): TaskView => ({
  id, kind: 'shell', title: `npm run ${id}`, state: 'running', file: `/state/tasks/s/${id}.log`, bytes: 0, readBytes: 0, startedAtMs: Date.now() - 125_000, ...more,
});
const TASKS = [
  task('shell-1', { doing: 'listening on 3000', tail: 'compiled\nlistening on 3000', bytes: 2048, readBytes: 1024 }),
  task('shell-2', { state: 'failed', exitCode: 2, tail: 'Error: boom', bytes: 11 }),
  task('agent-3', { kind: 'agent', title: 'look into it', name: 'scout', doing: 'Read a.ts' }),
  task('agent-4', { kind: 'agent', state: 'done', result: 'It is in b.ts.' }),
];
const at = (all: readonly TaskView[] = TASKS) => desk({}, { tasks: () => Promise.resolve(all) });

describe('/tasks', () => {
  it('lists what runs first, with how long and the last line', async () => {
    const effect = await at().run('tasks');
    expect(effect.type === 'show' && drawn(effect.card, 80)).toEqual([
      '● Tasks  2 running, 2 ended',
      '  • shell-1 is running for 2 min: npm run shell-1 · listening on 3000',
      '  • agent-3 (scout) is running for 2 min: look into it · Read a.ts',
      '  • shell-2 failed (exit code 2): npm run shell-2',
      '  • agent-4 is done: npm run agent-4',
    ]);
    expect(await at([]).shown('tasks')).toContain('nothing was started in the background');
  });

  it('shows the end of one, by its id, its number or its name', async () => {
    for (const word of ['shell-1', '1']) {
      const shown = await at().shown(`tasks ${word}`);
      for (const text of ['compiled\n', 'listening on 3000', '2048 bytes of output, 1 KiB of it not read by the model', '/state/tasks/s/shell-1.log', 'begun 2 min ago']) expect(shown).toContain(text);
    }
    expect(await at().shown('tasks scout')).toContain('Read a.ts');
    expect(await at().shown('tasks agent-4')).toContain('It is in b.ts.');
  });

  it('stops what runs, and says so of what does not', async () => {
    expect(await at().run('tasks stop shell-1')).toEqual({ type: 'stopTask', id: 'shell-1' });
    expect(await at().run('tasks stop scout')).toEqual({ type: 'stopTask', id: 'agent-3' });
    expect(await at().refused('tasks stop shell-2')).toBe('shell-2 does not run: it failed (exit code 2).');
    expect(await at().refused('tasks stop')).toBe('Say which one: shell-1, agent-3.');
    expect(await at().refused('tasks shel-1')).toBe('There is no task shel-1. Did you mean shell-1?');
    expect(await at([]).refused('tasks stop shell-1')).toBe('Nothing was started in the background.');
    expect(await at().refused('tasks shell-1 now')).toBe('It is /tasks, /tasks <id> or /tasks stop <id>.');
  });

  it('completes ids', async () => {
    expect(await at().complete('tasks ')).toEqual(['shell-1', 'shell-2', 'agent-3', 'agent-4', 'stop']);
    expect(await at().complete('tasks stop ')).toEqual(['shell-1', 'agent-3']);
  });
});

describe('/queue', () => {
  const waiting = [{ id: '000007', text: 'also do\nthis' }, { id: 'held-1', text: '/compact' }, { id: '000009', text: 'and that' }];
  const busy = (surface: 'screen' | 'print' = 'screen') => desk({}, { waiting: () => waiting, surface });

  it('lists what waits with numbers', async () => {
    const shown = await busy().shown('queue');
    for (const line of ['1 also do this', '2 /compact', '3 and that', '3 lines']) expect(shown).toContain(line);
    expect(await desk().shown('queue')).toContain('nothing waits');
  });

  it('takes back by number, one to edit, one or more to remove', async () => {
    expect(await busy().run('queue edit 2')).toEqual({ type: 'takeBack', ids: ['held-1'], how: 'edit' });
    expect(await busy().run('queue rm 1, #3')).toEqual({ type: 'takeBack', ids: ['000007', '000009'], how: 'remove' });
    expect(await busy().run('queue clear')).toEqual({ type: 'takeBack', ids: ['000007', 'held-1', '000009'], how: 'remove' });
    expect(await busy().run('queue edit')).toEqual({ type: 'takeBack', how: 'edit' });
    expect(await busy('print').refused('queue rm')).toBe('Say which one: /queue rm <n>.');
  });

  it.each([
    ['queue edit 4', 'There is no number 4: 3 lines wait.'], ['queue edit 0', 'There is no number 0: 3 lines wait.'], ['queue rm 1 x', 'There is no number x: 3 lines wait.'],
    ['queue edit 1 2', 'One at a time: /queue edit <n>.'], ['queue clear 2', 'It is /queue clear for all that waits, or /queue rm <n…>.'], ['queue up', '/queue has no "up". It has edit, rm, clear.'],
  ])('refuses %s', async (line, why) => {
    expect(await busy().refused(line)).toBe(why);
  });

  it('refuses where nothing waits, and completes what can follow', async () => {
    expect(await desk().refused('queue rm 1')).toBe('Nothing waits to be sent.');
    expect(await busy().complete('queue ')).toEqual(['edit', 'rm', 'clear']);
    expect(await busy().complete('queue rm ')).toEqual(['1', '2', '3']);
  });
});
