import { tokens } from '#lib/numbers.ts';
import { count } from '#lib/text.ts';
import type { AgentEnd, Member } from '#domain/agents.ts';
import type { Entry } from '#domain/entry.ts';
import { tasksOf } from '#domain/folds.ts';
import type { TaskRecord } from '#domain/tasks.ts';
import type { Agent, Finished } from './agent.ts';
import { keyOf } from './types.ts';

export function failed(text: string): AgentEnd {
  return { kind: 'failed', text, steps: 0, spent: [] };
}

export function started(agent: Agent): AgentEnd {
  const { type, name } = agent.person;
  const reach = name === undefined ? '' : ` SendMessage reaches it as ${name}.`;
  return {
    kind: 'started', steps: 0, spent: [], detail: `${agent.who} works beside the conversation`,
    text: `Sub-agent ${agent.who} (${type.name}) works beside the conversation (task ${agent.id}). Its result is told when it has ended.${reach}`,
  };
}

/** An interrupt is answered at once; the agent winds up by itself. */
export function cutOff(agent: Agent): AgentEnd {
  const { steps } = agent.progress;
  return { kind: 'interrupted', steps, spent: agent.spent, text: `The user interrupted the sub-agent after ${count(steps, 'step')}; it gave no result. What it changed until then stays changed.` };
}

/** `words` are the marked ones. */
export function endOf(agent: Agent, { unfinished, text, steps }: Finished, words: string): AgentEnd {
  return {
    kind: unfinished === undefined ? 'done' : 'failed', text: words, steps, spent: agent.spent, shown: text,
    detail: [...(unfinished === undefined ? [] : [unfinished]), count(steps, 'step'), `${tokens(agent.progress.tokens)} tokens`].join(' · '),
  };
}

export function stateOf({ unfinished, outcome }: Finished): TaskRecord['state'] {
  return unfinished === undefined ? 'done' : outcome.kind === 'interrupted' ? 'stopped' : 'failed';
}

/** Named agents by their last task. One that was at work in a program that has ended is at work no more. */
export function membersOf(log: readonly Entry[], working: ReadonlySet<string>): readonly Member[] {
  const members = new Map<string, Member>();
  for (const { kind, name, agent = '', title, state, id } of tasksOf(log)) {
    if (kind !== 'agent' || name === undefined) continue;
    members.set(keyOf(name), { name, type: agent, title, state: state === 'running' && working.has(id) ? 'working' : state === 'done' ? 'idle' : 'ended' });
  }
  return [...members.values()];
}
