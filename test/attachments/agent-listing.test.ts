import { expect, it } from 'vitest';
import agentListing from '#attachments/sources/agent-listing-delta.ts';
import type { Entry } from '#domain/entry.ts';
import type { World } from '#domain/world.ts';
import { memorySession } from '../support/logs.ts';
import { nothing } from '../support/nothing.ts';
import { ask, textOf } from './world.ts';

const withTypes = (types: Readonly<Record<string, string>>): Partial<World> => ({
  tools: { has: (name) => name === 'Task', deferred: () => [] },
  agents: { ...nothing.agents, types: () => Promise.resolve(Object.entries(types).map(([name, description]) => ({ name, description, scope: 'project' as const, prompt: 'p', disallowedTools: [] }))) },
});

it('types of sub-agents are told once; later only what came, went or is described otherwise', async () => {
  const session = memorySession();
  expect(textOf(await ask(agentListing, session, withTypes({ a: 'Does a', b: 'Does b' })))).toBe('Types of sub-agents (Task):\n- a: Does a\n- b: Does b');
  expect(await ask(agentListing, session, withTypes({ a: 'Does a', b: 'Does b' }))).toBeUndefined();
  expect(textOf(await ask(agentListing, session, withTypes({ a: 'Does a better', c: 'New' })))).toBe('Types of sub-agents (Task), changed:\n- a: Does a better\n- c: New\n- b: there is none any more');
  const resumed = memorySession(JSON.parse(JSON.stringify(session.log)) as Entry[]);
  expect(await ask(agentListing, resumed, withTypes({ a: 'Does a better', c: 'New' }))).toBeUndefined();
  expect(textOf(await ask(agentListing, resumed, withTypes({})))).toBe('There are no sub-agents any more.');
});

it('a session that cannot start sub-agents is told of none', async () => {
  expect(await ask(agentListing, memorySession(), { ...withTypes({ a: 'Does a' }), tools: nothing.tools })).toBeUndefined();
});
