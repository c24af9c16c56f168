import { expect, it } from 'vitest';
import { createQuestions } from '#main/questions.ts';
import type { ScreenEvent } from '#ui/contract.ts';

function asking() {
  const shown: ScreenEvent[] = [];
  return { shown, questions: createQuestions((event) => { shown.push(event); }) };
}

it('brings each answer to its own question and takes the question away', async () => {
  const { shown, questions } = asking();
  const first = questions.ask({ kind: 'goOn', text: 'a' }, new AbortController().signal);
  const second = questions.pick({ title: 't', items: [] });
  const third = questions.secret('key', 'hint');
  questions.entered(3, 'sk');
  questions.picked(2, 'x');
  questions.answer(1, { kind: 'yes' });
  questions.answer(1, { kind: 'no' });
  expect(await Promise.all([first, second, third])).toEqual([{ kind: 'yes' }, 'x', 'sk']);
  expect(shown.map((event) => `${event.type} ${'id' in event ? event.id : ''}`)).toEqual(['ask 1', 'pick 2', 'secret 3', 'settled 3', 'settled 2', 'settled 1']);
});

it('gives up a question whose turn is interrupted, before or after it was put', async () => {
  const { shown, questions } = asking();
  const stop = new AbortController();
  const open = questions.ask({ kind: 'goOn', text: 'a' }, stop.signal);
  stop.abort();
  expect(await open).toBeUndefined();
  expect(await questions.ask({ kind: 'goOn', text: 'b' }, stop.signal)).toBeUndefined();
  expect(shown.filter(({ type }) => type === 'settled')).toHaveLength(2);
});
