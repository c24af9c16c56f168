import { expect, test } from 'vitest';
import { BUILT_IN } from '#agents/built-in.ts';
import type { AgentType } from '#domain/agents.ts';
import { desk } from './support.ts';

const types: readonly AgentType[] = [...BUILT_IN, { name: 'reviewer', description: 'Reviews code', scope: 'project', prompt: '# How\nBe strict.', tools: ['Read'], disallowedTools: ['Bash'], model: 'haiku', mode: 'plan', maxSteps: 5, effort: 'low', reminder: 'Stay calm.\nAlways.', file: '/w/.claude/agents/r.md' }];
const open = () => desk({}, {
  agents: () => Promise.resolve(types),
  team: () => ({
    working: [{ id: 'agent-3', type: 'general', title: 'mend it', background: false, startedAtMs: 0, steps: 2, tokens: 12_400, doing: 'Read a.ts', file: '/f' }, { id: 'agent-4', name: 'bob', type: 'explore', title: 'look\nround', background: true, startedAtMs: 0, steps: 0, tokens: 0, doing: 'begins', file: '/f' }],
    members: [{ name: 'bob', type: 'explore', title: 'look', state: 'working' }, { name: 'ann', type: 'plan', title: 'think', state: 'idle' }, { name: 'old', type: 'plan', title: 'x', state: 'ended' }],
    problems: ['~/.claude/agents/x.md: it has no description, so that nobody knows when to use it'],
  }),
});

test('lists who does what, who waits, which types there are, and what is wrong with files', async () => {
  const shown = await open().shown('agents');
  for (const words of ['2 at work, 4 types', 'agent-3 (general)', 'Read a.ts (2 steps, 12k tokens)', 'bob (explore)', 'begins (0 steps)', 'look\\u{A}round', 'ann (plan)', 'waits for messages', 'has ended', 'reviewer', 'Reviews code', 'built in', 'it has no description']) expect(shown).toContain(words);
  expect(shown.split('bob').length).toBe(2);
});

test('shows one type whole', async () => {
  const shown = await open().shown('agents Reviewer');
  for (const words of ['Reviews code', '/w/.claude/agents/r.md', 'haiku', 'plan, where', '5 at most', 'Stay calm.\\u{A}Always.', 'Be strict.']) expect(shown).toContain(words);
  expect(await open().shown('agents explore')).toContain('a small one');
});

test('refuses what is none, with what is near', async () => {
  expect(await open().refused('agents reviwer')).toBe('There is no type of sub-agent reviwer. Did you mean reviewer?');
  expect(await open().refused('agents zzzzzzzz')).toContain('There are explore, plan, general, reviewer.');
  expect(await open().complete('agents re')).toContain('reviewer');
});
