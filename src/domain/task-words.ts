import { bytes as size } from '#lib/numbers.ts';
import { cutToLength } from '#lib/text.ts';
import type { TaskRecord, TaskView } from './tasks.ts';

/** How a task stands, in a few words: for the model and for the user. */
export function stateOf({ kind, state, exitCode }: TaskRecord): string {
  switch (state) {
    case 'running': return 'is running';
    case 'done': return exitCode === undefined ? 'is done' : `is done (exit code ${exitCode})`;
    case 'failed': return exitCode === undefined ? 'failed' : `failed (exit code ${exitCode})`;
    case 'stopped': return 'was stopped';
    case 'lost': return kind === 'shell' ? 'is gone: it ran when the program that had started it ended' : 'is gone: it was at work when the program ended';
  }
}

/** A task on one line. */
export function taskLine(task: TaskView): string {
  const { id, title, kind, bytes, readBytes } = task;
  const output = kind === 'agent' ? '' : bytes === 0 ? ', no output' : bytes > readBytes ? `, ${size(bytes - readBytes)} of output not read` : '';
  return `${id} ${stateOf(task)}${output}: ${onOneLine(title, 120)}`;
}

/** A command or what an agent was asked, on one line of at most `most` UTF-16 units. */
export function onOneLine(text: string, most: number): string {
  // Whoever wrote megabytes is not read to the end.
  const whole = text.trimStart();
  const head = whole.slice(0, 16 * most);
  const line = head.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').replaceAll(/\p{Bidi_Control}/gu, '').trim();
  return line.length <= most && head.length === whole.length ? line.toWellFormed() : `${cutToLength(line, most - 1)}…`;
}
