import { describe, expect, test } from 'vitest';
import type { Json } from '#lib/brand.ts';
import type { CallId } from '#domain/tool.ts';
import { tools } from '#tools/kinds/list.ts';
import { definitionOf } from '#tools/toolbox.ts';
import { finish, openHouse, textOf } from '../tools/support.ts';

/** One good input for each tool; a tool without one fails here. */
const GOOD: Readonly<Record<string, Json>> = {
  Read: { file_path: 'a.txt' },
  Write: { file_path: 'new.txt', content: 'x\n' },
  Edit: { file_path: 'a.txt', old_string: 'x', new_string: 'y' },
  NotebookEdit: { notebook_path: 'a.ipynb', cell_number: 1, new_source: 'x' },
  Glob: { pattern: '*' },
  Grep: { pattern: 'x' },
  Bash: { command: 'true' },
  Task: { subagent_type: 'explore', description: 'look', prompt: 'Look.' },
  SendMessage: { to: 'bob', message: 'x' },
  TaskOutput: {},
  TaskStop: { id: 'shell-1' },
  Skill: { skill: 'x' },
  TodoWrite: { todos: [{ content: 'x', status: 'pending' }] },
  AskUserQuestion: { questions: [{ question: 'Which?', header: 'Way', options: [{ label: 'a' }, { label: 'b' }] }] },
  ExitPlanMode: { plan: 'x' },
  LSP: { operation: 'workspaceSymbols', query: 'x' },
  ToolSearch: { query: 'page' },
  WebSearch: { query: 'words' },
  WebFetch: { url: 'http://localhost:1/' },
};

const BAD: readonly Json[] = [null, 1, 'x', [], {}, { INVALID_JSON: '{"file_path": "a' }];

test('all definitions together are small, and the same bytes each time', () => {
  const bytes = JSON.stringify(openHouse().toolbox.definitions());
  expect(Buffer.byteLength(bytes)).toBeLessThan(9 * 1024);
  expect(JSON.stringify(openHouse().toolbox.definitions())).toBe(bytes);
  const names = openHouse().toolbox.definitions().map(({ name }) => name);
  expect(names).toEqual(names.toSorted());
});

describe.each(tools.map((tool) => ({ name: tool.id, tool })))('$name', ({ name, tool }) => {
  const call = (input: Json): { readonly id: CallId; readonly tool: string; readonly input: Json } => ({ id: 'toolu_1' as CallId, tool: name, input });

  test('has a name, a short description and a closed schema that the API takes', () => {
    const definition = definitionOf(tool);
    expect(definition.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(definition.description?.length).toBeGreaterThan(40);
    expect(definition.description?.length).toBeLessThan(700);
    const schema = definition.input_schema;
    expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
    for (const [property, of] of Object.entries(schema.properties ?? {})) {
      expect(property).toMatch(/^[a-zA-Z0-9_.-]{1,64}$/);
      expect(of).toHaveProperty('description');
    }
    expect(Object.keys(schema.properties ?? {})).toEqual(expect.arrayContaining([...schema.required ?? []]));
    expect(schema).not.toHaveProperty('$schema');
  });

  const needs = (definitionOf(tool).input_schema.required ?? []).length > 0;
  const bad = BAD.filter((input) => needs || JSON.stringify(input) !== '{}');

  test.each(bad.map((input) => ({ input, shown: JSON.stringify(input) })))('answers bad input $shown with a failed result of one line', async ({ input }) => {
    const outcome = await openHouse().call(name, input);
    expect(outcome.result.kind).toBe('failed');
    expect(textOf(outcome)).toContain(name);
    expect(textOf(outcome).split('\n')).toHaveLength(1);
    expect(outcome.result.card.tone).toBe('bad');
  });

  test('names the field that is wrong', async () => {
    const [field = ''] = definitionOf(tool).input_schema.required ?? [];
    const outcome = await openHouse().call(name, { ...(GOOD[name] as Record<string, Json>), [field]: { odd: 1 } });
    expect(outcome.result.kind).toBe('failed');
    expect(textOf(outcome)).toContain(field);
  });

  test('does nothing once it is interrupted', async () => {
    const outcome = await openHouse().call(name, GOOD[name] ?? null, AbortSignal.abort());
    expect(outcome.result.kind).toBe('interrupted');
    expect(outcome.entries ?? []).toEqual([]);
    expect(outcome.result.files ?? []).toEqual([]);
  });

  test('has a card before it runs and one after, whatever the input', async () => {
    const house = openHouse();
    for (const input of [...BAD, GOOD[name] ?? null]) {
      const card = await house.toolbox.preview(call(input), house.session);
      expect(card.title).not.toBe('');
      expect(card.title).not.toContain('\n');
    }
    const outcome = await finish(house.toolbox.run(call(GOOD[name] ?? null), house.session, new AbortController().signal));
    expect(outcome.result.card.title).not.toBe('');
    expect(outcome.result.card.title).not.toContain('\n');
  });

  test('takes null for a field that is left out', async () => {
    const fields = Object.keys(definitionOf(tool).input_schema.properties ?? {});
    const nulls = Object.fromEntries(fields.map((field) => [field, null]));
    const outcome = await openHouse().call(name, { ...nulls, ...(GOOD[name] as Record<string, Json>) });
    expect(textOf(outcome)).not.toContain('input that does not fit');
  });
});
