import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod';
import type { EntryBody } from '#domain/entry.ts';
import type { ToolOutcome } from '#domain/ports.ts';
import type { TaskView } from '#domain/tasks.ts';
import { stateOf, taskLine } from '#domain/task-words.ts';
import { defineTool, type RunContext } from '../define.ts';
import { someText, wholeNumber } from '../fields.ts';
import { done, failed, interrupted } from '../result.ts';
import description from './task-output.md';

const MOST_WAIT_MS = 600_000;
const LOOK_MS = 100;
const MOST_LISTED = 50;
/** Lines of output that the card shows. */
const CARD_LINES = 200;

const input = z.strictObject({
  id: someText.optional().describe('Such as shell-1'),
  wait: wholeNumber(0, MOST_WAIT_MS).optional().describe('Milliseconds, at most 600000'),
});

type Input = z.infer<typeof input>;

export const taskOutput = defineTool({
  id: 'TaskOutput',
  description,
  deferred: 'Read the output of a background command or sub-agent, or list them',
  effect: 'reads',
  input,
  title: titleOf,
  async *run(asked, context) {
    if (context.signal.aborted) return interrupted(titleOf(asked), 'Interrupted by the user before it began.');
    if (asked.id === undefined) return listed(asked, await context.tasks.list(context.session));
    yield* awaitEnd(asked.id, asked.wait ?? 0, context);
    return await readOne(asked, asked.id, context);
  },
});

function titleOf({ id }: Input): string {
  return id === undefined ? 'TaskOutput' : `TaskOutput ${id}`;
}

/** Says what the task is at while it runs; returns when it has ended, the time is over or the user interrupted. */
async function* awaitEnd(id: string, ms: number, { tasks, session, signal }: RunContext): AsyncGenerator<string, void> {
  const until = Date.now() + ms;
  let said = '';
  while (!signal.aborted) {
    const task = (await tasks.list(session)).find((one) => one.id === id);
    if (task?.state !== 'running' || Date.now() >= until) return;
    if (task.doing !== undefined && task.doing !== said) yield said = task.doing;
    await pause(Math.min(LOOK_MS, Math.max(1, until - Date.now())), undefined, { signal }).catch(() => undefined);
  }
}

async function readOne(asked: Input, id: string, { tasks, session, signal }: RunContext): Promise<ToolOutcome> {
  const title = titleOf(asked);
  const read = await tasks.read(id, session);
  if ('problem' in read) return failed(title, capitalised(read.problem));
  const { task, upTo } = read;
  const text = read.text.trimEnd();
  const detail = `${stateOf(task)}${text === '' ? ', no new output' : ''}`;
  const body = text === '' ? [] : [{ type: 'code' as const, text: text.split('\n').slice(-CARD_LINES).join('\n') }];
  const entries: EntryBody[] = [{ type: 'taskRead', task: task.id, upTo, ...(task.state !== 'running' && { ended: true as const }) }];
  const message = [`[${task.id} ${stateOf(task)}${task.readBytes > 0 ? '; output that was read before is left out' : ''}]`, text === '' ? '(no new output)' : text].join('\n');
  if (signal.aborted) return interrupted(title, message, { body, entries });
  return done(message, { title, detail, body }, { entries });
}

function listed(asked: Input, tasks: readonly TaskView[]): ToolOutcome {
  const shown = tasks.slice(-MOST_LISTED);
  const lines = shown.map((task) => taskLine(task));
  const more = tasks.length - shown.length;
  const text = lines.length === 0 ? 'No task was started in the background.' : [...(more > 0 ? [`[${more} earlier ones are left out]`] : []), ...lines].join('\n');
  return done(text, { title: titleOf(asked), detail: lines.length === 0 ? 'none' : `${tasks.length}`, body: lines.length === 0 ? [] : [{ type: 'list', items: lines }] });
}

function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
