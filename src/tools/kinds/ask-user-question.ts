import * as z from 'zod';
import type { Answer, ChoiceQuestion, ToolOutcome } from '#domain/ports.ts';
import { count } from '#lib/text.ts';
import { defineTool } from '../define.ts';
import { done, failed, interrupted, refused } from '../result.ts';
import description from './ask-user-question.md';

/** Limits that the model need not read in every request. */
const words = (most: number, least = 1) => z.string().trim().refine((text) => text.length >= least && text.length <= most, { error: `it must have ${least} to ${most} characters` });

const option = z.strictObject({ label: words(80), description: words(300, 0).optional() });

const question = z.strictObject({
  question: words(500),
  header: words(24),
  options: z.array(option).min(2).max(4),
  multiSelect: z.boolean().optional(),
});

const input = z.strictObject({ questions: z.array(question).refine(({ length }) => length >= 1 && length <= 4, { error: 'one to four questions' }).describe('1 to 4') });
type Asked = z.output<typeof question>;

const TITLE = 'Question';

export const askUserQuestion = defineTool({
  id: 'AskUserQuestion',
  description,
  effect: 'reads',
  threads: 'main',
  input,
  title: ({ questions }) => (questions.length === 1 ? `${TITLE}: ${questions[0]?.question ?? ''}` : count(questions.length, 'question')),
  async *run({ questions }, { session, signal, mode, ask }) {
    const twice = repeated(questions);
    if (twice !== undefined) return failed(TITLE, twice);
    if (mode(session) === 'auto') {
      return done('Auto mode is on: the user is not asked. Decide what is most reasonable, go on, and say at the end what you decided.', { title: TITLE, detail: 'not asked in auto mode', tone: 'muted', body: [{ type: 'list', items: questions.map((one) => one.question) }] });
    }
    yield 'waits for your answer';
    const answer = await ask({ kind: 'choices', questions: questions.map(asChoice) }, session, signal);
    if (signal.aborted) return interrupted(TITLE, 'Interrupted: the user did not answer.');
    return settled(answer, questions);
  },
});

function asChoice({ header, question: text, options, multiSelect }: Asked): ChoiceQuestion {
  return { header, question: text, options: options.map(({ label, description: what = '' }) => ({ label, description: what })), several: multiSelect === true };
}

/** Answers go by the words of question and option. */
function repeated(questions: readonly Asked[]): string | undefined {
  const seen = new Set<string>();
  for (const { question: text, options } of questions) {
    if (seen.has(text)) return `"${text}" is asked twice; each question has words of its own.`;
    seen.add(text);
    if (new Set(options.map(({ label }) => label)).size < options.length) return `"${text}" has two options with the same label.`;
  }
  return undefined;
}

function settled(answer: Answer | undefined, questions: readonly Asked[]): ToolOutcome {
  switch (answer?.kind) {
    case undefined: return failed(TITLE, 'Nobody is there to answer. Take the most reasonable way and say what you assumed; where that cannot be done, end with the question.', { detail: 'nobody is there to answer' });
    case 'chosen': return answered(answer.answers, questions);
    case 'no': {
      const instead = answer.instead?.trim() ?? '';
      if (instead !== '') return done(`The user chose none of the answers and says: ${instead}`, { title: TITLE, detail: 'answered in own words', body: [{ type: 'text', text: instead }] });
      return { ...refused(TITLE, 'The user does not want to answer.', { detail: 'not answered' }), endTurn: 'You did not answer. Say how to go on.' };
    }
    case 'yes':
    case 'always':
    case 'approved': return done('The user leaves it to you.', { title: TITLE, detail: 'left to the model', body: [] });
  }
}

function answered(answers: readonly (readonly string[])[], questions: readonly Asked[]): ToolOutcome {
  const lines = questions.map(({ header, question: text, options }, i) => {
    const given = (answers[i] ?? []).map((one) => one.trim()).filter((one) => one !== '');
    const own = given.some((one) => !options.some(({ label }) => label === one));
    return { header, text, said: given.length === 0 ? '(no answer)' : given.join(', '), own };
  });
  return done(
    ['The user answered:', ...lines.map(({ text, said, own }) => `- ${text} → ${said}${own ? ' (in the user\'s own words)' : ''}`)].join('\n'),
    { title: TITLE, detail: 'answered', body: [{ type: 'list', items: lines.map(({ header, said }) => `${header}: ${said}`) }] },
  );
}
