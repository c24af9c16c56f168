import { oneLine } from '#lib/names.ts';
import { sanitise } from '#lib/terminal.ts';
import { cardText } from '#headless/card-text.ts';
import type { Answer, ChoiceQuestion, Question } from '#domain/ports.ts';
import type { Controller, ScreenEvent } from '#ui/contract.ts';

export type Asked = Extract<ScreenEvent, { readonly type: 'ask' | 'pick' | 'secret' | 'queue' }>;

/** A question that is answered by lines: what is written for it, and what becomes of a line. */
export interface LineQuestion {
  readonly id: number;
  readonly text: string;
  /** Answers, or gives what is to be asked next. */
  take(line: string, controller: Controller): LineQuestion | undefined;
}

/** Characters within which nothing is cut: what is not shown cannot be agreed to. */
const WHOLE = 100_000;

export function lineQuestion(event: Asked): LineQuestion {
  const { id } = event;
  switch (event.type) {
    case 'secret': return { id, text: sanitise(`${event.title}: ${event.hint}`), take(line, controller) { controller.secret(id, line === '' ? undefined : line); return undefined; } };
    case 'pick': return {
      id, text: sanitise([event.picker.title, ...event.picker.items.map(({ label, detail }, i) => `  ${i + 1} ${label}${detail === undefined ? '' : ` (${detail})`}`), 'Number, or an empty line for none:'].join('\n')),
      take(line, controller) { controller.pick(id, event.picker.items[Number(line) - 1]?.id); return undefined; },
    };
    // There is no line in hand to put words into: what is taken back is shown, and can be entered anew.
    case 'queue': return {
      id, text: sanitise(['Waiting to be sent:', ...event.items.map(({ text }, i) => `  ${i + 1} ${oneLine(text)}`), 'Number to take one back, or an empty line for none:'].join('\n')),
      take(line, controller) {
        const item = event.items[Number(line) - 1];
        controller.chosen(id, item === undefined ? undefined : { id: item.id, how: 'edit' });
        return undefined;
      },
    };
    default: return event.question.kind === 'choices' ? choices(id, event.question, []) : simple(id, event.question);
  }
}

type Choices = Extract<Question, { readonly kind: 'choices' }>;
type Simple = Exclude<Question, Choices>;

function simple(id: number, question: Simple): LineQuestion {
  return {
    id, text: simpleText(question),
    take(line, controller) { controller.answer(id, simpleAnswer(question, line)); return undefined; },
  };
}

function simpleText(question: Simple): string {
  switch (question.kind) {
    case 'goOn': return sanitise(`${question.text}\nGo on? y or n:`);
    case 'trust': return sanitise(`The configuration of ${question.folder}:\n${question.wants.map((want) => `- ${oneLine(want, WHOLE)}`).join('\n')}\nTrust it? y or n:`);
    case 'confirm': return sanitise(`${question.title}\n${question.lines.map((line) => `- ${oneLine(line, WHOLE)}`).join('\n')}\ny or n:`);
    case 'plan': return sanitise(`${question.plan.trimEnd()}\n\nThis is the plan (${question.file}). Go ahead? y (ask before each edit), a (accept edits), auto (auto mode), n, or what to change:`);
    case 'permission': {
      const always = question.rules.length === 0 ? '' : `, a (always: ${question.rules.join(', ')})`;
      const who = question.who === undefined ? '' : sanitise(`${oneLine(question.who)} asks:\n`);
      return `${who}${cardText(question.card)}\n${sanitise(question.reason)}\ny (yes)${sanitise(always)}, n (no), or what to do instead:`;
    }
  }
}

const YES = /^(?:y|yes)$/i;
const NO = /^(?:n|no|)$/i;

function simpleAnswer(question: Simple, line: string): Answer {
  const no: Answer = NO.test(line) ? { kind: 'no' } : { kind: 'no', instead: line };
  switch (question.kind) {
    case 'permission':
      if (YES.test(line) || line === '1') return { kind: 'yes' };
      if (question.rules.length > 0 && /^(?:a|always|2)$/i.test(line)) return { kind: 'always' };
      return /^(?:a|always|[23])$/i.test(line) ? { kind: 'no' } : no;
    case 'plan':
      if (YES.test(line)) return { kind: 'approved', mode: 'default' };
      if (/^(?:a|accept)$/i.test(line)) return { kind: 'approved', mode: 'acceptEdits' };
      return /^auto$/i.test(line) ? { kind: 'approved', mode: 'auto' } : no;
    default: return YES.test(line) || line === '1' ? { kind: 'yes' } : { kind: 'no' };
  }
}

/** One question after the other; `given` holds what was answered so far. */
function choices(id: number, question: Choices, given: readonly (readonly string[])[], problem?: string): LineQuestion {
  const asked = question.questions[given.length];
  const place = question.questions.length === 1 ? '' : ` (${given.length + 1} of ${question.questions.length})`;
  const text = asked === undefined ? '' : [
    ...(problem === undefined ? [] : [problem]),
    ...(question.who === undefined ? [] : [`${oneLine(question.who)} asks:`]),
    `${oneLine(asked.header)}${place}: ${asked.question}`,
    ...asked.options.map(({ label, description }, i) => `  ${i + 1} ${oneLine(label)}${description === '' ? '' : ` (${oneLine(description)})`}`),
    `${asked.several ? 'Numbers with blanks or commas between' : 'Number'}, your own words, or an empty line for no answer:`,
  ].join('\n');
  return {
    id, text: sanitise(text),
    take(line, controller) {
      const labels = asked === undefined || line === '' ? [] : labelsIn(line, asked);
      if (typeof labels === 'string') return choices(id, question, given, labels);
      if (labels.length > 0 && given.length + 1 < question.questions.length) return choices(id, question, [...given, labels]);
      controller.answer(id, labels.length === 0 ? { kind: 'no' } : { kind: 'chosen', answers: [...given, labels] });
      return undefined;
    },
  };
}

/** The labels that a line names by their numbers, or the line itself; a text: why it names none. */
function labelsIn(line: string, { options, several }: ChoiceQuestion): readonly string[] | string {
  if (!/^\d+(?:[\s,]+\d+)*,?$/.test(line)) return [line];
  const numbers = new Set(line.split(/[\s,]+/).filter((part) => part !== '').map(Number));
  if (!several && numbers.size > 1) return 'One of them only.';
  const labels = options.flatMap(({ label }, i) => (numbers.has(i + 1) ? [label] : []));
  return labels.length === numbers.size ? labels : `There are ${options.length} answers.`;
}
