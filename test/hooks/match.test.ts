import { expect, it } from 'vitest';
import { matcherOf, namesOf, ourName } from '#hooks/match.ts';

const matches = (text: string, value: string, how: 'names' | 'narrow' | 'none' = 'names'): boolean => {
  const matcher = matcherOf(text, how);
  return 'matches' in matcher && matcher.matches(value);
};

it.each([
  ['', 'Bash', true], ['*', 'Bash', true], ['Bash', 'Bash', true], ['Bash', 'BashOutput', false], ['bash', 'Bash', false],
  ['Edit|Write', 'Write', true], ['Edit, Write', 'Write', true], [' Edit | Write ', 'Edit', true], ['code-reviewer', 'senior-code-reviewer', false],
  ['Edit.*', 'NotebookEdit', true], ['^Edit$', 'NotebookEdit', false], ['^Notebook', 'NotebookEdit', true],
  ['mcp__memory', 'mcp__memory__read', false], ['mcp__memory__.*', 'mcp__memory__read', true], ['mcp__.*__write.*', 'mcp__fs__write_file', true],
])('the matcher %j and %s: %s', (text, value, expected) => {
  expect(matches(text, value)).toBe(expected);
});

it('some events make a list of fewer characters, and some know no matcher', () => {
  expect(matches('.env|.envrc', '.env', 'narrow')).toBe(true);
  expect(matches('a b', 'a b', 'narrow')).toBe(true);
  expect(matches('nothing', 'Bash', 'none')).toBe(true);
});

it('an expression that is none matches nothing, and is said', () => {
  expect(matcherOf('(Edit', 'names')).toEqual({ problem: expect.stringContaining('(Edit') });
});

it('tools have the names of other shells too', () => {
  expect(namesOf('Task')).toEqual(['Task', 'Agent']);
  expect(ourName('Agent')).toBe('Task');
  expect(namesOf('Bash')).toEqual(['Bash']);
  expect(namesOf('constructor')).toEqual(['constructor']);
});
