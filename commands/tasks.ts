import { ago } from '#lib/numbers.ts';
import { nearest } from '#lib/nearest.ts';
import { oneLine } from '#lib/names.ts';
import { count } from '#lib/text.ts';
import type { Card } from '#domain/card.ts';
import { defineCommand, type Effect } from '#domain/command.ts';
import { onOneLine, stateOf } from '#domain/task-words.ts';
import type { TaskView } from '#domain/tasks.ts';
import { bytes as size } from '#lib/numbers.ts';

/** What runs beside the conversation. The model has TaskOutput and TaskStop for the same. */
export default defineCommand({
  id: 'tasks',
  aliases: ['bashes'],
  group: 'At work',
  summary: 'Commands and sub-agents in the background; with an id: the end of its output',
  usage: '[<id> | stop <id>]',
  anytime: true,
  async complete(args, { tasks }) {
    const all = await tasks().catch(() => []);
    const ids = all.filter(({ state }) => state === 'running').map(({ id }) => id);
    if (/^\s*stop\s/.test(args)) return ids;
    return /^\s*\S*$/.test(args) ? [...all.map(({ id }) => id), ...(ids.length > 0 ? ['stop'] : [])] : [];
  },
  async run(args, { tasks }) {
    const [, word = '', rest = ''] = /^\s*(\S*)\s*([\s\S]*)$/.exec(args) ?? [];
    const all = await tasks();
    if (word === '') return { type: 'show', card: listCard(all) };
    if (word !== 'stop') return rest.trim() === '' ? withTask(word, all, (task) => ({ type: 'show', card: taskCard(task) })) : refuse('It is /tasks, /tasks <id> or /tasks stop <id>.');
    return withTask(rest.trim(), all, (task) => (task.state === 'running' ? { type: 'stopTask', id: task.id } : refuse(`${task.id} does not run: it ${stateOf(task)}.`)));
  },
});

function refuse(message: string): Effect {
  return { type: 'refuse', message };
}

/** By its id, its name, or its number where that tells it apart. */
function withTask(word: string, all: readonly TaskView[], then: (task: TaskView) => Effect): Effect {
  const numbered = all.filter(({ id }) => id.endsWith(`-${word}`));
  const task = all.find(({ id, name }) => id === word || name === word) ?? (numbered.length === 1 ? numbered[0] : undefined);
  if (task !== undefined) return then(task);
  if (all.length === 0) return refuse('Nothing was started in the background.');
  if (word === '') return refuse(`Say which one: ${all.filter(({ state }) => state === 'running').map(({ id }) => id).join(', ') || 'none runs'}.`);
  const near = nearest(word, all.map(({ id }) => id));
  return refuse(`There is no task ${oneLine(word, 40)}. ${near === undefined ? `There are ${all.slice(-20).map(({ id }) => id).join(', ')}.` : `Did you mean ${near}?`}`);
}

function listCard(all: readonly TaskView[]): Card {
  if (all.length === 0) return { title: 'Tasks', detail: 'nothing was started in the background', body: [] };
  const running = all.filter(({ state }) => state === 'running');
  const shown = [...running, ...all.filter(({ state }) => state !== 'running').slice(-20)];
  return {
    title: 'Tasks', detail: `${running.length} running, ${all.length - running.length} ended`,
    body: [{ type: 'list', items: shown.map((task) => `${task.id}${task.name === undefined ? '' : ` (${oneLine(task.name, 40)})`} ${stateOf(task)}${task.state === 'running' ? ` for ${lasting(task)}` : ''}: ${onOneLine(task.title, 80)}${last(task)}`) }],
  };
}

function last({ doing, state }: TaskView): string {
  return state === 'running' && doing !== undefined ? ` · ${onOneLine(doing, 80)}` : '';
}

function lasting({ startedAtMs }: TaskView): string {
  const seconds = Math.max(0, Math.round((Date.now() - startedAtMs) / 1000));
  if (seconds < 60) return `${seconds} s`;
  return seconds < 3600 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h ${Math.floor(seconds % 3600 / 60)} min`;
}

function taskCard(task: TaskView): Card {
  const { id, kind, title, state, tail, result, bytes, readBytes, file, startedAtMs, doing } = task;
  const begun = Number.isFinite(startedAtMs) ? `begun ${ago(Date.now() - startedAtMs)}` : '';
  const facts = [
    ...(kind === 'shell' ? [`${count(bytes, 'byte')} of output${bytes > readBytes ? `, ${size(bytes - readBytes)} of it not read by the model` : ''}`] : []),
    `${kind === 'shell' ? 'Output' : 'Log'}: ${file}`,
  ];
  const output = kind === 'shell' ? tail ?? '' : result ?? doing ?? '';
  return {
    title: `${id}: ${onOneLine(title, 200)}`, detail: [stateOf(task), begun].filter((text) => text !== '').join(', '),
    ...(state === 'failed' && { tone: 'bad' as const }),
    body: [...(output === '' ? [] : [{ type: kind === 'shell' ? 'code' as const : 'text' as const, text: output }]), { type: 'list', items: facts }],
  };
}
