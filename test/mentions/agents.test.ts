import { describe, expect, test } from 'vitest';
import { mentionedAgents } from '#mentions/agents.ts';
import { completeAgent } from '#mentions/complete.ts';

describe('mentions of agents', () => {
  test.each([
    ['@agent-reviewer look', ['reviewer']], ['ask @agent-a.', ['a']], ['(@agent-code-reviewer), @AGENT-b_2!', ['code-reviewer', 'b_2']],
    ['@"code reviewer (agent)" no, @"plan (agent)" yes', ['plan']], ['@agent-x and @agent-x', ['x']], ['@agent-日本。', ['日本']], ['@agent-ns:one', ['ns:one']],
    ['mail me@agent-x', []], ['`@agent-x`', []], ['```\n@agent-x\n```', []], ['@agent-', []], ['@agent', []], ['@agents-x', []], ['@"agent-x"', []], ['\\@agent-x', []], [`@agent-${'a'.repeat(65)}`, []], ['@agent-</x>', []],
  ])('%j names %j', (text, names) => {
    expect(mentionedAgents(text)).toEqual(names);
  });
});

describe('completion', () => {
  const names = ['bob', 'explore', 'Explain', 'expert', 'a', 'ex1', 'ex2', 'ex3'];
  const labels = (typed: string): readonly string[] => completeAgent(names, typed).map(({ insert }) => insert);

  test('by the name, and by agent- and the name, in any case', () => {
    expect(labels('EXP')).toEqual(['@agent-explore', '@agent-Explain', '@agent-expert']);
    expect(labels('agent-b')).toEqual(['@agent-bob']);
    expect(labels('agent-')).toHaveLength(8);
  });

  test('never takes all the room from files, and says nothing before something is typed', () => {
    expect(labels('ex')).toHaveLength(5);
    expect(labels('')).toEqual([]);
    expect(labels('"ex')).toEqual([]);
    expect(labels('src/ex')).toEqual([]);
  });
});
