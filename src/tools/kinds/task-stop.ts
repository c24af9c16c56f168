import * as z from 'zod';
import { readUpTo } from '#domain/task-folds.ts';
import { onOneLine } from '#domain/task-words.ts';
import { defineTool } from '../define.ts';
import { someText } from '../fields.ts';
import { done, failed, interrupted } from '../result.ts';
import description from './task-stop.md';

const input = z.strictObject({
  id: someText.describe('Such as shell-1'),
});

export const taskStop = defineTool({
  id: 'TaskStop',
  description,
  deferred: 'End a background command or sub-agent',
  effect: 'executes',
  input,
  title: ({ id }) => `TaskStop ${id}`,
  async *run({ id }, { tasks, session, signal }) {
    const title = `TaskStop ${id}`;
    if (signal.aborted) return interrupted(title, 'Interrupted by the user before it began. Nothing was done.');
    const stopped = await tasks.stop(id, session);
    if ('problem' in stopped) return failed(title, `Nothing was done: ${stopped.problem}.`);
    const { task } = stopped;
    return done(`${task.id} (${onOneLine(task.title, 120)}) is ended.`, { title, detail: 'ended', body: [] }, {
      entries: [{ type: 'taskRead', task: task.id, upTo: readUpTo(session.log, task.id) ?? 0, ended: true }],
    });
  },
});
