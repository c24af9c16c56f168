import { describe, expect, it } from 'vitest';
import type { Answer, ChoiceQuestion, Question } from '#domain/ports.ts';
import { type Asked, type LineQuestion, lineQuestion } from '#main/plain-questions.ts';
import type { Controller, QueueChoice } from '#ui/contract.ts';
import { callId, card } from '../ui/view/entries.ts';

type Told = Answer | { readonly chosen: QueueChoice | undefined } | { readonly picked: string | undefined };

/** Lines are entered one after the other; what was asked, and the answer if there is one. */
function enter(event: Asked, ...lines: readonly string[]): { readonly texts: readonly string[]; readonly told: readonly Told[]; readonly open: boolean } {
  const told: Told[] = [];
  const controller = {
    answer: (_, answer) => { told.push(answer); }, chosen: (_, chosen) => { told.push({ chosen }); }, pick: (_, picked) => { told.push({ picked }); },
  } as Partial<Controller> as Controller;
  let now: LineQuestion | undefined = lineQuestion(event);
  const texts = [now.text];
  for (const line of lines) {
    now = now?.take(line, controller);
    if (now !== undefined) texts.push(now.text);
  }
  return { texts, told, open: now !== undefined };
}

const ask = (question: Question): Asked => ({ type: 'ask', id: 7, question });
const answers = (question: Question, lines: readonly string[]): readonly Told[] => enter(ask(question), ...lines).told;
const options = (...labels: readonly string[]): ChoiceQuestion['options'] => labels.map((label) => ({ label, description: `about ${label}` }));

describe('questions answered by lines', () => {
  const plan: Question = { kind: 'plan', plan: '# Lamps\n\n- one\u001B[2J', file: '/p/plan.md' };
  it.each<[string, Answer]>([
    ['y', { kind: 'approved', mode: 'default' }], ['a', { kind: 'approved', mode: 'acceptEdits' }], ['auto', { kind: 'approved', mode: 'auto' }],
    ['n', { kind: 'no' }], ['', { kind: 'no' }], ['smaller steps', { kind: 'no', instead: 'smaller steps' }],
  ])('a plan: %j', (line, answer) => { expect(answers(plan, [line])).toEqual([answer]); });

  it('shows the plan, its file and nothing that moves the cursor', () => {
    const [text = ''] = enter(ask(plan)).texts;
    expect(text).toContain('/p/plan.md');
    expect(text).toContain('- one␛[2J');
  });

  it.each<[string, Answer]>([['y', { kind: 'yes' }], ['', { kind: 'no' }], ['n', { kind: 'no' }], ['what?', { kind: 'no' }]])('a confirmation: %j', (line, answer) => {
    expect(answers({ kind: 'confirm', title: 'Read them?', lines: ['/a', '/b'] }, [line])).toEqual([answer]);
  });

  const permission = (rules: readonly string[]): Question => ({ kind: 'permission', call: { id: callId('c'), tool: 'Bash', input: {} }, card: card('Bash make'), reason: 'runs', rules, keep: 'session', who: 'explore' });
  it('a permission says who wants it, and keeps a rule only where there is one', () => {
    expect(enter(ask(permission([]))).texts[0]).toMatch(/^explore asks:\nBash make/);
    expect(answers(permission(['Bash(make)']), ['a'])).toEqual([{ kind: 'always' }]);
    expect(answers(permission([]), ['a'])).toEqual([{ kind: 'no' }]);
    expect(answers(permission([]), ['use ninja'])).toEqual([{ kind: 'no', instead: 'use ninja' }]);
  });

  const three: Question = {
    kind: 'choices', who: 'plan', questions: [
      { header: 'Library', question: 'Which one?', options: options('ink', 'own'), several: false },
      { header: 'Parts', question: 'Which parts?', options: options('a', 'b', 'c'), several: true },
    ],
  };
  it('asks one question after the other', () => {
    const { texts, told } = enter(ask(three), '2', '1, 3');
    expect(texts[0]).toBe('plan asks:\nLibrary (1 of 2): Which one?\n  1 ink (about ink)\n  2 own (about own)\nNumber, your own words, or an empty line for no answer:');
    expect(texts[1]).toContain('Parts (2 of 2): Which parts?');
    expect(told).toEqual([{ kind: 'chosen', answers: [['own'], ['a', 'c']] }]);
  });

  it('takes own words, asks again for numbers that do not fit, and an empty line is no answer', () => {
    expect(answers(three, ['neither of the 2', '3 3 1'])).toEqual([{ kind: 'chosen', answers: [['neither of the 2'], ['a', 'c']] }]);
    const again = enter(ask(three), '1 2');
    expect([again.texts[1]?.split('\n')[0], again.open]).toEqual(['One of them only.', true]);
    expect(enter(ask(three), '0').texts[1]).toMatch(/^There are 2 answers\.\n/);
    expect(answers(three, ['1', ''])).toEqual([{ kind: 'no' }]);
  });

  it('takes back what waits by its number', () => {
    const queue: Asked = { type: 'queue', id: 3, items: [{ id: 'e1', text: 'first\nline' }, { id: 'held-1', text: '/clear' }] };
    expect(enter(queue).texts[0]).toContain('  2 /clear');
    expect(enter(queue, '2').told).toEqual([{ chosen: { id: 'held-1', how: 'edit' } }]);
    expect(enter(queue, '').told).toEqual([{ chosen: undefined }]);
  });
});
