import { describe, expect, it } from 'vitest';
import type { McpPrompt } from '#domain/mcp.ts';
import { promptArguments } from '#mcp/arguments.ts';

const prompt: McpPrompt = { server: 's', name: 'p', description: '', args: [{ name: 'who', description: '', required: true }, { name: 'what', description: '', required: false }] };
const read = (typed: string, of = prompt) => promptArguments(of, typed);

describe('arguments of a prompt', () => {
  it.each([
    ['Ann', { who: 'Ann' }], ['Ann tea with milk', { who: 'Ann', what: 'tea with milk' }], ['"Ann Lee" tea', { who: 'Ann Lee', what: 'tea' }], ['what=tea Ann', { who: 'Ann', what: 'tea' }],
    ["who='Ann Lee' what=\"a \\\"cup\\\"\"", { who: 'Ann Lee', what: 'a "cup"' }], ['a=b', { who: 'a=b' }], ['it\'s', { who: 'it\'s' }], ['who=', { who: '' }],
  ])('%s', (typed, args) => { expect(read(typed)).toEqual({ args }); });
  it('that are missing or too many are told', () => {
    expect(read('')).toEqual({ problem: 'it wants who: <who> [what]' });
    expect(read('what=tea')).toEqual({ problem: 'it wants who: <who> [what]' });
    expect(read('who=Ann what=tea more')).toEqual({ problem: 'it takes <who> [what]; "more" is too much.' });
    expect(read('x', { ...prompt, args: [] })).toEqual({ problem: 'it takes no arguments; "x" is too much.' });
  });
});
