import { describe, expect, test } from 'vitest';
import { TODO_LIST_ID, type TodoItem } from '#domain/attachment.ts';
import { todosOf } from '#domain/folds.ts';
import type { Json } from '#lib/brand.ts';
import { openHouse, textOf, type House } from './support.ts';

function give(house: House, items: readonly TodoItem[]): void {
  house.session.append({ type: 'attach', by: 'user', attachment: { kind: 'todo', id: TODO_LIST_ID, items } });
}

const item = (id: number, text: string, by: 'user' | 'model' = 'model', state: TodoItem['state'] = 'open'): TodoItem => ({ id, text, state, by });

async function send(house: House, todos: Json): Promise<{ readonly kind: string; readonly text: string; readonly items: readonly TodoItem[] }> {
  const outcome = await house.call('TodoWrite', { todos });
  return { kind: outcome.result.kind, text: textOf(outcome), items: todosOf(house.session.log) };
}

describe('TodoWrite', () => {
  test('makes a list; the next one keeps ids by the words', async () => {
    const house = openHouse();
    const first = await send(house, [{ content: 'one', status: 'in_progress' }, { content: 'two', status: 'pending' }]);
    expect(first.items).toEqual([item(1, 'one', 'model', 'active'), item(2, 'two')]);
    expect(first.text).toBe('1. [~] one\n2. [ ] two');
    const second = await send(house, [{ content: 'Two ', status: 'in_progress' }, { content: 'one', status: 'completed' }, { content: 'three', status: 'pending' }]);
    expect(second.items).toEqual([item(2, 'Two', 'model', 'active'), item(1, 'one', 'model', 'done'), item(3, 'three')]);
    expect(house.session.log.at(-1)).toMatchObject({ type: 'attach', by: 'model' });
  });

  test('an id lets the model reword its own item; ids are never used again', async () => {
    const house = openHouse();
    await send(house, [{ content: 'one', status: 'pending' }, { content: 'two', status: 'completed' }]);
    expect((await send(house, [{ id: 1, content: 'one and a half', status: 'pending' }])).items).toEqual([item(1, 'one and a half')]);
    expect((await send(house, [{ id: 1, content: 'one and a half', status: 'pending' }, { content: 'new', status: 'pending' }])).items.at(-1)?.id).toBe(3);
  });

  test('takes the shapes of other lists', async () => {
    const { items } = await send(openHouse(), [{ text: 'a', status: 'pending', priority: 'high', id: 'x1' }, { content: 'b', status: 'in_progress', activeForm: 'Doing b' }, { content: 'c', completed: true }]);
    expect(items.map(({ text, state }) => [text, state])).toEqual([['a', 'open'], ['b', 'active'], ['c', 'done']]);
  });

  test('what belongs to the user is neither dropped nor reworded nor cancelled, and that is said', async () => {
    const house = openHouse();
    give(house, [item(1, 'mine', 'user'), item(2, 'model\'s'), item(3, 'mine too', 'user'), item(4, 'third of mine', 'user')]);
    const { kind, text, items } = await send(house, [{ content: 'model\'s', status: 'completed' }, { id: 3, content: 'changed', status: 'completed' }, { content: 'third of mine', status: 'cancelled' }]);
    expect(kind).toBe('ok');
    expect(items).toEqual([item(1, 'mine', 'user'), item(2, 'model\'s', 'model', 'done'), item(3, 'mine too', 'user', 'done'), item(4, 'third of mine', 'user')]);
    expect(text).toContain('[kept 1 "mine": it is the user\'s and was missing]');
    expect(text).toContain('[kept the words of 3 "mine too": it is the user\'s]');
    expect(text).toContain('[kept 4 "third of mine": it is the user\'s, who alone can remove it]');
  });

  test('an id that means another item than the words goes by the words', async () => {
    const house = openHouse();
    give(house, [item(1, 'mine', 'user'), item(2, 'yours')]);
    expect((await send(house, [{ id: 1, content: 'yours', status: 'completed' }])).items).toEqual([item(1, 'mine', 'user'), item(2, 'yours', 'model', 'done')]);
  });

  test('T-08: a list that loses many open items is refused; cancelled ones may go', async () => {
    const house = openHouse();
    const all = ['a', 'b', 'c', 'd'].map((content) => ({ content, status: 'pending' }));
    await send(house, all);
    const refused = await send(house, [{ content: 'everything else', status: 'pending' }]);
    expect(refused.kind).toBe('failed');
    expect(refused.text).toContain('would drop 4 open items: 1 "a", 2 "b"');
    expect(refused.items).toHaveLength(4);
    expect((await send(house, all.map((todo) => ({ ...todo, status: 'cancelled' })))).items).toEqual([]);
  });

  test('finished items may go; an empty list empties it', async () => {
    const house = openHouse();
    await send(house, ['a', 'b', 'c', 'd'].map((content) => ({ content, status: 'completed' })));
    expect(await send(house, [])).toMatchObject({ kind: 'ok', text: 'The list is empty.', items: [] });
  });

  test('bad items are named', async () => {
    expect((await send(openHouse(), [{ content: 'a', status: 'pending' }, { content: '', status: 'pending' }])).text).toContain('todos[1].content');
    expect((await send(openHouse(), [{ content: 'a', status: 'maybe' }])).text).toContain('todos[0].status');
  });

  test('an item that stands twice is two items', async () => {
    expect((await send(openHouse(), [{ content: 'a', status: 'pending' }, { content: 'a', status: 'pending' }])).items.map(({ id }) => id)).toEqual([1, 2]);
  });
});
