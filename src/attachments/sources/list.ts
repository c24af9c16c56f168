import { shelf } from '#lib/shelf.ts';
import atMentionedFiles from './at-mentioned-files.ts';
import changedFiles from './changed-files.ts';
import dateChange from './date-change.ts';
import deferredTools from './deferred-tools-delta.ts';
import environment from './environment.ts';
import memory from './memory.ts';
import pins from './pins.ts';
import planMode from './plan-mode.ts';
import queuedCommands from './queued-commands.ts';
import todoReminders from './todo-reminders.ts';
import todos from './todos.ts';

/**
 * Every source, in the order in which their reminders stand in a moment's block: first what holds all the time (place, date,
 * standing instructions), then what the user keeps in view, then what belongs to this prompt, then what just happened. What
 * bears on the very next step (mode, nudges, the user's queued words) stands last, nearest to the question.
 */
export const sources = shelf('sources', [
  environment,
  dateChange,
  deferredTools,
  memory,
  pins,
  todos,
  atMentionedFiles,
  changedFiles,
  todoReminders,
  planMode,
  queuedCommands,
]);
