import { describe, expect, it } from 'vitest';
import { todosOf } from '#domain/folds.ts';
import { nextTodoId, todoEntry } from '#domain/todos.ts';
import type { TodoItem } from '#domain/attachment.ts';
import { desk, drawn } from './support.ts';

const lines = (items: readonly TodoItem[]): readonly string[] => items.map(({ id, text, state, by }) => `${id} ${text} ${state} ${by}`);

describe('/todo', () => {
  it('adds, ticks off, reopens, edits, moves and removes', async () => {
    const { session, run } = desk();
    const list = (): readonly string[] => lines(todosOf(session.log));
    await run('todo add  read   the\ncode ');
    await run('todo add write a test');
    await run('todo add fix it');
    expect(list()).toEqual(['1 read the code open user', '2 write a test open user', '3 fix it open user']);
    await run('todo done 1, #3');
    expect(list()).toEqual(['1 read the code done user', '2 write a test open user', '3 fix it done user']);
    await run('todo undo 3');
    await run('todo edit 2 write two tests');
    await run('todo move 3 1');
    expect(list()).toEqual(['3 fix it open user', '1 read the code done user', '2 write two tests open user']);
    await run('todo rm 1');
    expect(list()).toEqual(['3 fix it open user', '2 write two tests open user']);
  });

  it('never uses a number again', async () => {
    const { session, run } = desk();
    await run('todo add a');
    await run('todo add b');
    await run('todo rm 2');
    await run('todo add c');
    expect(lines(todosOf(session.log))).toEqual(['1 a open user', '3 c open user']);
    await run('todo clear');
    await run('todo add d');
    expect(lines(todosOf(session.log))).toEqual(['4 d open user']);
    expect(nextTodoId(session.log)).toBe(5);
  });

  it('makes an item of the model the user\'s when the user rewrites it, not when they tick it off', async () => {
    const { session, run } = desk();
    session.append(todoEntry([{ id: 1, text: 'a', state: 'active', by: 'model' }, { id: 2, text: 'b', state: 'open', by: 'model' }], 'model'));
    await run('todo done 1');
    await run('todo edit 2 bb');
    expect(lines(todosOf(session.log))).toEqual(['1 a done model', '2 bb open user']);
  });

  it('clears the done ones, or all', async () => {
    const { session, run, shown } = desk();
    await run('todo add a');
    await run('todo add b');
    await run('todo done 1');
    expect(await shown('todo clear done')).toMatch(/^Cleared 1 item \(1 open, 0 done\)/);
    const before = session.log.length;
    expect(await shown('todo clear done')).toMatch(/^Nothing to clear/);
    expect(session.log).toHaveLength(before);
    await run('todo clear');
    expect(todosOf(session.log)).toEqual([]);
    expect(await shown('todo')).toBe('Todos (the list is empty)');
  });

  it('writes nothing when nothing changes', async () => {
    const { session, run, shown } = desk();
    await run('todo add a');
    await run('todo done 1');
    const before = session.log.length;
    expect(await shown('todo done 1')).toMatch(/^1: done already/);
    expect(session.log).toHaveLength(before);
  });

  it('refuses in one line what it cannot do', async () => {
    const { run, refused, session } = desk();
    expect(await refused('todo done 1')).toBe('The todo list is empty. Add to it with /todo add <text>.');
    await run('todo add a');
    await run('todo add b');
    const before = session.log.length;
    expect(await refused('todo add')).toBe('Say what is to be done: /todo add <text>.');
    expect(await refused('todo done')).toBe('Say which item: the list has 1, 2.');
    expect(await refused('todo done 1 7')).toBe('There is no item 7: the list has 1, 2.');
    expect(await refused('todo edit 1')).toBe('Say what item 1 shall be: /todo edit 1 <text>.');
    expect(await refused('todo move 1 3')).toBe('Say where to: /todo move 1 <place from 1 to 2>.');
    expect(await refused('todo move 1 1.5')).toMatch(/^Say where to/);
    expect(await refused('todo clear all')).toBe('It is /todo clear for the whole list, or /todo clear done.');
    expect(await refused('todo dnoe 1')).toBe('/todo has no "dnoe". Did you mean /todo done?');
    expect(await refused('todo buy milk')).toBe('/todo has no "buy". To put it on the list: /todo add buy milk');
    expect(await refused(`todo add ${'x'.repeat(501)}`)).toMatch(/at most 500 characters; this has 501/);
    expect(session.log).toHaveLength(before);
  });

  it('holds as many items as the model can send back', async () => {
    const { run, refused, session } = desk();
    session.append(todoEntry(Array.from({ length: 99 }, (_, i): TodoItem => ({ id: i + 1, text: 'x', state: 'done', by: 'user' })), 'user'));
    await run('todo add the hundredth');
    expect(await refused('todo add one more')).toMatch(/^The list is full/);
  });

  it('shows the list', async () => {
    const { session, run } = desk();
    session.append(todoEntry([{ id: 1, text: 'a', state: 'done', by: 'model' }, { id: 2, text: 'b that is rather long and wraps when there is little room', state: 'active', by: 'user' }, { id: 12, text: 'c', state: 'open', by: 'model' }], 'model'));
    const effect = await run('todo');
    if (effect.type !== 'show') throw new Error('no card');
    expect(drawn(effect.card, 40)).toEqual([
      '● Todos  2 open, 1 done', '  ☑ 1 a', '  ▶ 2 b that is rather long and wraps', '  when there is little room (yours)', '  ☐ 12 c',
    ]);
  });

  it('completes verbs, then numbers', async () => {
    const { run, complete } = desk();
    await run('todo add a');
    await run('todo add b');
    expect(await complete('todo d')).toContain('done');
    expect(await complete('todo done ')).toEqual(['1', '2']);
    expect(await complete('todo clear ')).toEqual(['done']);
    expect(await complete('todo add x')).toEqual([]);
  });
});
