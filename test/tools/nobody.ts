import { NO_USAGE } from '#domain/content.ts';
import { textEnvelope } from '#documents/envelope.ts';
import type { ToolContext } from '#tools/define.ts';

/** A house in which nobody answers and there are no skills, agents, tasks or tools to load. */
export const nobody: Pick<ToolContext, 'web' | 'search' | 'envelope' | 'loadable' | 'ask' | 'mode' | 'skills' | 'agents' | 'tasks' | 'keepPlan'> = {
  web: { fetch: () => Promise.resolve({ kind: 'problem', message: 'there is no network' }) },
  search: { offered: () => false, search: () => Promise.resolve({ problem: 'there is no search', spent: { model: 'm', usage: NO_USAGE, requests: 0 } }) },
  envelope: textEnvelope,
  loadable: () => [],
  ask: () => Promise.resolve(undefined),
  mode: () => 'default',
  skills: { list: () => Promise.resolve([]), load: () => Promise.resolve({ problem: 'there are no skills' }) },
  agents: {
    types: () => Promise.resolve([]), self: () => undefined, members: () => [], mail: () => Promise.resolve([]),
    send: () => Promise.resolve({ problem: 'there are no agents' }), live: () => [], stop: () => false, background: () => false,
    async *run() { return { kind: 'failed', text: 'there are no agents', steps: 0, spent: [] }; },
  },
  tasks: {
    list: () => Promise.resolve([]), startShell: () => Promise.resolve({ problem: 'there are no tasks' }),
    read: () => Promise.resolve({ problem: 'there are no tasks' }), stop: () => Promise.resolve({ problem: 'there are no tasks' }),
  },
  keepPlan: () => Promise.resolve('/plans/plan.md'),
};
