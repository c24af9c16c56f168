import { describe, expect, it } from 'vitest';
import { diffContent, hunksOf } from '#acp/diffs.ts';
import { blockMarkdown, cardMarkdown, fence, plain } from '#acp/markdown.ts';
import { commandsOffered, configOptions, modesOffered, modeState, serversJson } from '#acp/offers.ts';
import { stopReasonOf } from '#acp/outcome.ts';
import { planOfText, planOfTodos } from '#acp/plan.ts';
import { placeOf, promptOf } from '#acp/prompt.ts';
import { choiceForm, chosenIn, elicitationOf, formOf, pickForm } from '#acp/questions.ts';
import { announced, finished, kindOf, shown } from '#acp/tool-calls.ts';
import type { Entry } from '#domain/entry.ts';
import type { ModelFacts } from '#domain/model.ts';
import type { Question } from '#domain/ports.ts';
import type { Call, CallId } from '#domain/tool.ts';
import { changeCard } from '#tools/files/change.ts';
import { tools } from '#tools/kinds/list.ts';

const callOf = (tool: string, input: Call['input']): Call => ({ id: 'c1' as CallId, tool, input });

describe('cards', () => {
  it('become Markdown in which no text of theirs is markup', () => {
    expect(cardMarkdown({ title: 'Edit *a*', detail: '`x` | <b>', body: [{ type: 'list', items: ['[a](b)', 'c\u001b[31m'] }] })).toBe('**Edit \\*a\\*** — \\`x\\` \\| \\<b>\n\n- \\[a\\](b)\n- c␛\\[31m');
    expect(fence('a ``` b', 'ts')).toBe('````ts\na ``` b\n````');
    expect(fence(' \n')).toBe('');
    expect(plain('two\nlines')).toBe('two␊lines');
    expect(blockMarkdown({ type: 'table', head: ['a', 'n'], align: ['left', 'right'], rows: [['x|y', '1'], ['z']] })).toBe('| a | n |\n|---|---:|\n| x\\|y | 1 |\n| z |  |');
    expect(blockMarkdown({ type: 'text', text: 'one *line*\ntwo\n\nthree' })).toBe('one \\*line\\*  \ntwo\n\nthree');
    expect(blockMarkdown({ type: 'text', text: 'name   size\n  x    1' })).toBe('```\nname   size\n  x    1\n```');
  });
});

describe('diffs', () => {
  it('give each hunk its text before and after, and the line of its first change', () => {
    const before = Array.from({ length: 30 }, (_, i) => `line ${i + 1}`).join('\n');
    const after = before.replace('line 5\n', 'LINE 5\n').replace('line 25', 'line 25\nmore');
    const card = changeCard('Edit a', before, after);
    const patch = card.body[0]?.type === 'diff' ? card.body[0].patch : '';
    expect(hunksOf(patch).map(({ line }) => line)).toEqual([5, 26]);
    expect(diffContent('/a', patch)).toMatchObject([
      { path: '/a', oldText: expect.stringMatching(/^line 2\n[^]*line 5\n[^]*line 8$/) as string, newText: expect.stringContaining('LINE 5') as string }, { newText: expect.stringContaining('line 25\nmore\nline 26') as string },
    ]);
    expect(hunksOf('no header\n+x')).toEqual([]);
  });
});

describe('tool calls', () => {
  it('every tool of ours has a kind; a tool of others is other, and its words are no paths', () => {
    const named = new Set(['AskUserQuestion', 'SendMessage']);
    for (const { id } of tools) expect(kindOf(id) !== 'other' || named.has(id), id).toBe(true);
    expect(kindOf('mcp__x__read')).toBe('other');
    expect(kindOf('constructor')).toBe('other');
    expect(announced(callOf('mcp__x__read', { path: 'a' }), '/w')).not.toHaveProperty('locations');
  });

  it('have places: absolute, with the line that is read or changed', () => {
    expect(announced(callOf('Read', { file_path: 'src/a.ts', offset: 7 }), '/w')).toMatchObject({ title: 'Read src/a.ts', kind: 'read', status: 'pending', locations: [{ path: '/w/src/a.ts', line: 7 }] });
    expect(announced(callOf('Grep', { pattern: 'x', path: '/other' }), '/w').locations).toEqual([{ path: '/other' }]);
    expect(announced(callOf('Read', 'nonsense'), '/w')).toMatchObject({ title: 'Read' });
    const card = changeCard('Edit a.ts', 'a\nb\nc\n', 'a\nb\nC\n');
    expect(shown(callOf('Edit', { file_path: 'a.ts' }), card, 'in_progress', '/w')).toMatchObject({ title: 'Edit a.ts (+1 −1)', status: 'in_progress', locations: [{ path: '/w/a.ts', line: 3 }], content: [{ type: 'diff', path: '/w/a.ts', oldText: 'a\nb\nc', newText: 'a\nb\nC' }] });
  });

  it('a new file is shown whole, however short its card', () => {
    const content = 'x\n'.repeat(900);
    const update = shown(callOf('Write', { file_path: 'new.txt', content }), changeCard('Write new.txt', undefined, content), 'pending', '/w');
    expect(update.content).toEqual([{ type: 'diff', path: '/w/new.txt', oldText: null, newText: content }]);
  });

  it('that failed say why, where their card does not', () => {
    const failed = finished(callOf('Bash', { command: 'x' }), { kind: 'failed', content: [{ type: 'text', text: `it broke ${'!'.repeat(5000)}` }], card: { title: 'x', body: [] } }, '/w');
    expect(failed.status).toBe('failed');
    expect(JSON.stringify(failed.content)).toMatch(/it broke !{100}/);
    expect(JSON.stringify(failed.content).length).toBeLessThan(2200);
    const files = Array.from({ length: 3 }, (_, i) => ({ path: `/w/${i}`, hash: 'h' as never, how: 'read' as const, kept: false }));
    expect(finished(callOf('Glob', { pattern: '*' }), { kind: 'ok', content: [], files, card: { title: 'Glob', body: [] } }, '/w').locations).toHaveLength(3);
  });
});

describe('a prompt', () => {
  const doors = { mention: (path: string) => (path.includes('"') ? undefined : `@${path.replace('/w/', '')}`), label: (path: string) => path.replace('/w/', ''), envelope: (name: string, mime: string, body: string) => `<${name} ${mime}>${body}</>` };
  const prompt = (...blocks: Parameters<typeof promptOf>[0]) => promptOf(blocks, doors);

  it('has its words, with blanks where an editor left none', () => {
    expect(prompt({ type: 'text', text: 'see' }, { type: 'resource_link', name: 'a', uri: 'file:///w/a%20b.ts#L3:9' }, { type: 'text', text: ', please' }).line).toBe('see @a b.ts#L3-9, please');
    expect(prompt({ type: 'resource_link', name: 'x]y', uri: 'https://e.com/?a=<b>' }).line).toBe('[x]y](https://e.com/?a=\\u{3C}b\\u{3E})');
    expect(prompt({ type: 'resource_link', name: 'odd', uri: 'file:///w/a%22.ts' }).line).toBe('/w/a\\".ts');
    expect(prompt({ type: 'text', text: '  ' })).toEqual({ line: '', context: '', pictures: [], notes: [] });
  });

  it('has texts and pictures beside them, within bounds; what cannot be taken is said', () => {
    const parts = prompt({ type: 'resource', resource: { uri: 'file:///w/a.ts', text: 'y'.repeat(300_000) } }, { type: 'image', mimeType: 'image/png', data: '' }, { type: 'audio', mimeType: 'audio/wav', data: 'AA==' }, { type: 'resource', resource: { uri: 'zed:///rules', blob: 'AAAA' } });
    expect(parts.line).toBe('[a.ts] [zed:///rules]');
    expect(parts.context).toMatch(/^<a\.ts text\/plain>y{200000}<\/>$/);
    expect(parts.pictures).toMatchObject([{ name: 'zed:///rules' }]);
    expect(parts.notes).toEqual(['a.ts was cut: 200000 of 300000 characters are given.', 'picture 1 is empty.', 'Sound cannot be heard by the model and was left out.']);
  });

  it('addresses of files are paths; no others are', () => {
    expect(placeOf('file:///a/b%20c?symbol=x#L10-12')).toEqual({ path: '/a/b c', from: 10, to: 12 });
    expect(placeOf('/a/b')).toEqual({ path: '/a/b' });
    expect(placeOf('https://a/b')).toBeUndefined();
    expect(placeOf('file:///%00')).toBeUndefined();
  });
});

describe('questions', () => {
  const form = (question: Exclude<Question, { kind: 'choices' }>) => formOf(question, { cwd: '/w', id: 'q', auto: false });
  const permission = { kind: 'permission', call: callOf('Bash', { command: 'ls' }), card: { title: 'Bash ls', body: [] }, reason: 'it runs', rules: ['Bash(ls)'], keep: 'session' } as const;

  it('offer what can be answered, and take nothing else for an answer', () => {
    const asked = form(permission);
    expect(asked).toMatchObject({ own: false, toolCall: { toolCallId: 'c1', title: 'Bash ls' }, options: [{ optionId: 'once' }, { optionId: 'always', name: 'Always allow Bash(ls)', kind: 'allow_always' }, { optionId: 'no', kind: 'reject_once' }] });
    expect([asked.answer('once'), asked.answer('always'), asked.answer('no'), asked.answer('else')]).toEqual([{ kind: 'yes' }, { kind: 'always' }, { kind: 'no' }, undefined]);
    expect(form({ ...permission, rules: [], who: 'bob (finder)' })).toMatchObject({ own: true, options: [{ optionId: 'once' }, { optionId: 'no' }] });
    const plan = form({ kind: 'plan', plan: '# P', file: '/p' });
    expect(plan.options.map(({ optionId }) => plan.answer(optionId))).toEqual([{ kind: 'approved', mode: 'default' }, { kind: 'approved', mode: 'acceptEdits' }, { kind: 'no' }]);
    expect(form({ kind: 'confirm', title: 'T', lines: ['*a*'] }).toolCall.content).toEqual([{ type: 'content', content: { type: 'text', text: '- \\*a\\*' } }]);
    expect(form({ kind: 'goOn', text: 'on?\u001b' }).toolCall.title).toBe('on?␛');
  });

  it('of several answers are forms, or one question with its labels', () => {
    const colour = { header: 'C', question: 'Which?', options: [{ label: 'red', description: '' }, { label: 'blue', description: 'cold' }], several: false };
    expect(elicitationOf([colour, { ...colour, several: true }]).properties).toMatchObject({ q1: { type: 'string', oneOf: [{ const: 'red', title: 'red' }, { description: 'cold' }] }, q1_own: {}, q2: { type: 'array', items: { anyOf: [{}, {}] } } });
    expect(chosenIn([colour, colour], { q1: 'red', q1_own: ' mine ', q2: ['blue', ''], q3: 'x' })).toEqual({ kind: 'chosen', answers: [['red', 'mine'], ['blue']] });
    expect(chosenIn([colour], {})).toEqual({ kind: 'chosen', answers: [[]] });
    const asked = choiceForm(colour, { id: 'q', who: undefined });
    expect([asked.answer('option-1'), asked.answer('no')]).toEqual([{ kind: 'chosen', answers: [['blue']] }, { kind: 'no' }]);
    const pick = pickForm('P', [{ id: 'a', label: 'A', detail: 'd' }], 'q');
    expect([pick.options[0]?.name, pick.chosen('item-0'), pick.chosen('no')]).toEqual(['A (d)', 'a', undefined]);
  });
});

describe('plans', () => {
  it('are the todo list, or the steps of a plan', () => {
    expect(planOfTodos([{ id: 1, text: 'a\nb', state: 'active', by: 'user' }])).toEqual({ entries: [{ content: 'a␊b', priority: 'medium', status: 'in_progress' }] });
    expect(planOfText('# Do it\n\n1. look\n   - not this\n2) [x] change\n* check').entries.map(({ content }) => content)).toEqual(['look', 'change', 'check']);
    expect(planOfText('# Do it\nnow').entries.map(({ content }) => content)).toEqual(['Do it']);
    expect(planOfText('').entries).toEqual([]);
  });
});

describe('what is offered', () => {
  it('modes and models stand in both ways, the one in effect always among them', () => {
    expect(modesOffered({ bypass: true, auto: false })).toEqual(['default', 'acceptEdits', 'plan', 'bypassPermissions']);
    const modes = modeState(modesOffered({ bypass: false, auto: true }), 'bypassPermissions');
    expect(modes.availableModes.at(-1)?.id).toBe('bypassPermissions');
    const facts = { id: 'own', label: 'Own' } as ModelFacts;
    expect(configOptions(modes, [], facts)).toMatchObject([{ id: 'mode', currentValue: 'bypassPermissions' }, { id: 'model', currentValue: 'own', options: [{ value: 'own', name: 'Own' }] }]);
  });

  it('commands and servers', () => {
    const run = () => ({ type: 'exit' as const });
    expect(commandsOffered([{ id: 'exit', summary: 'x', run }, { id: 'greet', summary: '', usage: '<name>', run }])).toEqual([{ name: 'greet', description: 'greet', input: { hint: '<name>' } }]);
    expect(serversJson([])).toBeUndefined();
    expect(Object.keys((JSON.parse(serversJson(['My server', 'My/server', '', 'ok-1'].map((name) => ({ name, command: '/x', args: [], env: [] }))) ?? '') as { mcpServers: object }).mcpServers)).toEqual(['My_server', 'My_server_2', 'server', 'ok-1']);
    expect(JSON.parse(serversJson([{ name: 'a', command: '/x', args: ['y'], env: [{ name: 'K', value: 'v' }] }, { type: 'http', name: 'b', url: 'https://b', headers: [{ name: 'H', value: 'w' }] }]) ?? '')).toEqual({ mcpServers: {
      a: { type: 'stdio', command: '/x', args: ['y'], env: { K: 'v' } }, b: { type: 'http', url: 'https://b', headers: { H: 'w' } },
    } });
  });
});

it('each end of a turn has a word of the protocol', () => {
  const answer = (stop: string): readonly Entry[] => [{ type: 'assistant', content: [], usage: {} as never, stop, model: 'm', id: 'e' as never, at: '' }];
  expect(stopReasonOf({ kind: 'answered' }, answer('end_turn'))).toBe('end_turn');
  expect(stopReasonOf({ kind: 'answered' }, answer('max_tokens'))).toBe('max_tokens');
  expect(stopReasonOf({ kind: 'stopped', message: '' }, answer('refusal'))).toBe('refusal');
  expect(stopReasonOf({ kind: 'stopped', message: '' }, [])).toBe('end_turn');
  expect(stopReasonOf({ kind: 'interrupted' }, [])).toBe('cancelled');
  expect(stopReasonOf({ kind: 'outOfSteps', steps: 1 }, [])).toBe('max_turn_requests');
  expect(stopReasonOf({ kind: 'outOfBudget', message: '' }, [])).toBe('end_turn');
});
