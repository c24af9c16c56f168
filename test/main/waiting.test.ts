import { describe, expect, it } from 'vitest';
import { chooseWaiting, waitingIn } from '#main/waiting.ts';
import type { QueueChoice, ScreenEvent, Waiting } from '#ui/contract.ts';
import { createLog } from '../ui/view/entries.ts';

describe('lines that wait', () => {
  it('stand in the order in which they were entered, words and commands alike', () => {
    const log = createLog();
    const entries = [log({ type: 'prompt', text: 'p' }), log({ type: 'queued', text: 'one' }), log({ type: 'notice', level: 'info', text: 'n' }), log({ type: 'queued', text: 'two' })];
    const held = [{ id: 'held-1', text: '!first', after: 1 }, { id: 'held-2', text: '!second', after: 2 }, { id: 'held-3', text: '/clear', after: 4 }];
    expect(waitingIn(entries, held).map(({ text }) => text)).toEqual(['!first', 'one', '!second', 'two', '/clear']);
  });

  it('are removed one after the other, until one is taken back or none is meant', async () => {
    let lines: readonly Waiting[] = ['a', 'b', 'c', 'd'].map((id) => ({ id, text: `line ${id}` }));
    const shown: ScreenEvent[] = [];
    const asked: number[] = [];
    const choices: (QueueChoice | undefined)[] = [{ id: 'b', how: 'remove' }, { id: 'gone', how: 'remove' }, { id: 'a', how: 'edit' }, undefined];
    const desk = {
      questions: { queue: (items: readonly Waiting[]) => { asked.push(items.length); return Promise.resolve(choices.shift()); } },
      show: (event: ScreenEvent) => { shown.push(event); },
      waiting: () => lines,
      takeBack(id: string) {
        const found = lines.find((line) => line.id === id);
        lines = lines.filter((line) => line !== found);
        return found?.text;
      },
    };
    await chooseWaiting(desk);
    expect(shown).toEqual([{ type: 'fault', where: 'queue', message: 'that line has been sent already.' }, { type: 'draft', text: 'line a' }]);
    expect(asked).toEqual([4, 3, 3]);
    await chooseWaiting(desk);
    expect([asked.at(-1), lines.map(({ id }) => id)]).toEqual([2, ['c', 'd']]);
  });
});
