import type { AgentType } from '#domain/agents.ts';
import explore from './explore.md';
import general from './general.md';
import plan from './plan.md';

const LOOKS = ['Read', 'Glob', 'Grep'] as const;

/** Types of sub-agents that are always there, unless the user or the project has one of the same name. */
export const BUILT_IN: readonly AgentType[] = [
  {
    name: 'explore', scope: 'builtIn', prompt: explore, tools: LOOKS, disallowedTools: [], model: 'cheap',
    description: 'Searches and reads the project to answer a question; changes nothing. For broad searches whose details need not stay in view.',
  },
  {
    name: 'plan', scope: 'builtIn', prompt: plan, tools: [...LOOKS, 'WebFetch', 'WebSearch'], disallowedTools: [],
    description: 'Works out how to make a change, step by step; changes nothing.',
  },
  {
    name: 'general', scope: 'builtIn', prompt: general, disallowedTools: [],
    description: 'Carries out a task of several steps by itself, with all tools that a sub-agent may have.',
  },
];
