import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Answer, Question } from '#domain/ports.ts';
import { width } from '#lib/terminal.ts';
import type { InputEvent } from '#ui/contract.ts';
import { type Dialog, drawDialog, openDialog, type Outcome } from '#ui/dialog.ts';
import { plainPen } from './pens.ts';
import { key, press, typed } from './presses.ts';

type Choices = Extract<Question, { kind: 'choices' }>;
const several: Choices = {
  kind: 'choices', who: 'explore', questions: [
    { header: 'Library', question: 'Which library draws the screen?', several: false, options: [{ label: 'ink', description: 'React for terminals; what the rest of the program stands on already.' }, { label: 'own', description: '' }] },
    { header: 'Parts', question: 'Which parts are to be moved?', several: true, options: ['composer', 'transcript', 'status bar', 'dialogs'].map((label) => ({ label, description: `The ${label} with its tests.` })) },
    { header: 'Name', question: 'What is it called?', several: false, options: [{ label: 'lamp', description: '' }, { label: 'keeper', description: '' }] },
  ],
};
const one: Choices = { kind: 'choices', questions: several.questions.slice(0, 1) };
const open = (question: Choices): Dialog => openDialog({ type: 'ask', id: 7, question });
const answered = (answer: Answer): Outcome => ({ type: 'answer', id: 7, answer });
const chosen = (...answers: readonly (readonly string[])[]): Outcome => answered({ kind: 'chosen', answers });
const frame = (dialog: Dialog | Outcome, rows: number, columns: number): string => drawDialog(dialog as Dialog, rows, plainPen(columns)).join('\n');
const ENTER = key('enter');

describe('one question', () => {
  it.each<[string, readonly InputEvent[], Outcome]>([
    ['Enter', [ENTER], chosen(['ink'])],
    ['2', [key('2')], chosen(['own'])],
    ['down, space', [key('down'), key('space')], chosen(['own'])],
    ['own words', [key('3'), ...typed('both of 12'), ENTER], chosen(['both of 12'])],
    ['own words, pasted', [key('up'), ENTER, { type: 'paste', text: 'a\nb' }, ENTER], chosen(['a b'])],
    ['words, Esc, Enter on the first', [key('3'), ...typed('x'), key('escape'), key('1')], chosen(['ink'])],
    ['Esc', [key('escape')], answered({ kind: 'no' })],
    ['Ctrl-C', [key('c', { ctrl: true })], answered({ kind: 'no' })],
    ['words, Ctrl-C', [key('3'), ...typed('x'), key('c', { ctrl: true })], answered({ kind: 'no' })],
  ])('%s', (_, events, outcome) => { expect(press(open(one), events)).toEqual(outcome); });

  it('takes nothing else for an answer, nor goes anywhere', () => {
    for (const event of [key('4'), key('0'), key('y'), key('1', { ctrl: true }), key('tab'), key('left'), { type: 'paste', text: '1' } as const]) expect(press(open(one), [event])).toMatchObject({ type: 'questions', step: 0, at: 0 });
    expect(press(open(one), [key('3'), ENTER])).toMatchObject({ type: 'questions', words: undefined });
  });
});

describe('several questions', () => {
  const toSummary = [key('1'), key('2'), key('4'), ENTER, key('2')];

  it('are asked one after the other; what was answered is shown and then sent', () => {
    const summary = press(open(several), toSummary);
    expect(frame(summary, 20, 60)).toContain('Send these answers?\n  1 Library\n    ink\n  2 Parts\n    transcript, dialogs\n  3 Name\n    keeper\n');
    expect(press(summary as Dialog, [ENTER])).toEqual(chosen(['ink'], ['transcript', 'dialogs'], ['keeper']));
    expect(press(summary as Dialog, [key('escape')])).toEqual(answered({ kind: 'no' }));
  });

  it('can be gone back to, each with what was answered', () => {
    const back = press(open(several), [key('2'), key('tab', { shift: true })]);
    expect(back).toMatchObject({ step: 0, at: 1 });
    expect(frame(back, 20, 60)).toContain('› 2 own ✓');
    const changed = press(open(several), [...toSummary, key('1'), key('1'), key('up'), key('left'), key('left'), key('2')]);
    expect(press(changed as Dialog, [ENTER])).toEqual(chosen(['own'], ['transcript', 'dialogs'], ['keeper']));
  });

  it('are not sent with one left out', () => {
    const skipped = press(open(several), [key('1'), key('right'), key('1')]);
    expect(frame(skipped, 20, 60)).toContain('not answered');
    expect(press(skipped as Dialog, [ENTER])).toMatchObject({ step: 1 });
    expect(press(skipped as Dialog, [ENTER, key('space'), ENTER, ENTER])).toEqual(chosen(['ink'], ['composer'], ['lamp']));
  });

  it('marks several answers and own words beside them; with nothing marked Enter takes the one at the cursor', () => {
    const two: Choices = { kind: 'choices', questions: several.questions.slice(1, 2) };
    expect(press(open(two), [key('down'), ENTER])).toEqual(chosen(['transcript']));
    expect(press(open(two), [key('space'), key('5'), ...typed('keys'), ENTER, key('3'), key('1'), ENTER])).toEqual(chosen(['status bar', 'keys']));
    expect(press(open(two), [key('5'), ...typed('keys'), ENTER, ENTER])).toEqual(chosen(['keys']));
    expect(press(open(two), [key('5'), ...typed('keys'), ENTER, key('space')])).toMatchObject({ given: [{ chosen: [], words: '' }] });
  });
});

describe('the dialog of questions', () => {
  it('looks as it should', async () => {
    const first = open(several);
    const second = press(first, [key('1'), key('2'), key('5'), ...typed('my own')]);
    const frames = [frame(first, 14, 79), frame(first, 14, 39), frame(second, 20, 79), frame(press(second as Dialog, [ENTER, ENTER]), 12, 39), frame(press(open(several), [key('1'), key('1'), ENTER, key('1')]), 12, 79)];
    await expect(`${frames.join('\n\n=====\n\n')}\n`).toMatchFileSnapshot('../../golden/frames/dialog-questions.txt');
  });

  it('keeps the cursor in sight however low the window is, and lets all be read', () => {
    const long: Choices = { kind: 'choices', questions: [{ header: 'H', question: Array.from({ length: 60 }, (_, i) => `word${i}`).join(' '), several: false, options: ['a', 'b', 'c', 'd'].map((label) => ({ label: `label ${label}`, description: `${label} `.repeat(60) })) }] };
    for (const rows of [4, 5, 6, 8, 10, 14]) {
      for (let at = 0; at < 4; at += 1) {
        const now = press(open(long), Array.from({ length: at }, () => key('down')), rows, 39);
        expect(frame(now, rows, 39).split('\n').length).toBeLessThanOrEqual(rows);
        expect(frame(now, rows, 39)).toContain(`› ${at + 1} label`);
      }
      let seen = '';
      let now = press(open(long), [key('home')], rows, 39);
      for (let i = 0; i < 60; i += 1) {
        seen += frame(now, rows, 39);
        now = press(now as Dialog, [key('down', { shift: true })], rows, 39);
      }
      for (const word of ['word0', 'word59', 'label a', 'label d']) expect(seen, `${word} at ${rows}`).toContain(word);
    }
  });

  it('never passes its room and lets nothing through, whatever is asked', () => {
    const words = fc.string({ unit: 'binary', maxLength: 120 });
    const question = fc.record({ header: words, question: words, several: fc.boolean(), options: fc.array(fc.record({ label: words, description: words }), { minLength: 2, maxLength: 4 }) });
    const steps = fc.array(fc.constantFrom(key('down'), key('space'), ENTER, key('tab'), key('left'), key('3'), key('x'), key('escape', { shift: true }), key('pagedown'), { type: 'paste', text: 'p\u001B[2J\nq' } as const), { maxLength: 12 });
    fc.assert(fc.property(fc.array(question, { minLength: 1, maxLength: 4 }), words, steps, fc.integer({ min: 1, max: 24 }), fc.integer({ min: 8, max: 90 }), (questions, who, events, rows, columns) => {
      const now = press(open({ kind: 'choices', questions, who }), events, rows, columns);
      if (now.type === 'answer') return;
      const lines = drawDialog(now as Dialog, rows, plainPen(columns));
      expect(lines.length).toBeLessThanOrEqual(rows);
      for (const line of lines) {
        expect(width(line)).toBeLessThanOrEqual(columns);
        expect(line).not.toMatch(/[\u0000-\u001F\u007F-\u009F]/);
      }
    }), { numRuns: 300 });
  });
});
