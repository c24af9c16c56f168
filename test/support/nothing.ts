import type { World } from '#domain/world.ts';

/** Ports of a world in which there are no tools, skills, agents, tasks, styles or kept notes, and nothing was spent. */
export const nothing: Pick<World, 'memory' | 'files' | 'tools' | 'skills' | 'agents' | 'tasks' | 'style' | 'usage' | 'outside'> = {
  memory: { files: () => Promise.resolve([]), nested: () => Promise.resolve([]), recall: () => Promise.resolve([]) },
  files: { load: () => Promise.resolve({ parts: [], files: [], notes: [] }) },
  tools: { has: () => false, deferred: () => [] },
  skills: () => Promise.resolve([]),
  agents: { types: () => Promise.resolve([]), self: () => undefined, members: () => [], mail: () => Promise.resolve([]) },
  tasks: () => Promise.resolve([]),
  style: () => Promise.resolve(undefined),
  outside: {
    mcp: { servers: () => [], mentioned: () => Promise.resolve([]) },
    editor: { name: () => undefined, selection: () => Promise.resolve(undefined), openFile: () => Promise.resolve(undefined), written: () => Promise.resolve({ diagnostics: [], answered: [] }) },
    languages: { written: () => Promise.resolve([]) },
  },
  usage: () => Promise.resolve({ used: 0, limit: 200_000, window: 200_000, autoCompact: true, output: 0, usd: 0, budgetUsd: undefined }),
};
