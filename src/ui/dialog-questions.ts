import type { Answer, ChoiceQuestion, Question } from '#domain/ports.ts';
import type { InputEvent, KeyEvent } from './contract.ts';
import type { KeyAction, KeyTable } from './keys.ts';
import { scrollBy } from './scroll.ts';
import { typeInto } from './typing.ts';

/** What was answered to one question: options by their index, and words of the person's own. */
export interface Given {
  readonly chosen: readonly number[];
  readonly words: string;
}

/** One to four questions of the model, one after the other; of several the answers are shown once more before they are sent. */
export interface QuestionsDialog {
  readonly type: 'questions';
  readonly id: number;
  readonly question: Extract<Question, { readonly kind: 'choices' }>;
  /** Which question is asked now; after the last one: all answers are shown. */
  readonly step: number;
  /** One for each question. */
  readonly given: readonly Given[];
  /** The option at the cursor; after the last one stands "something else". */
  readonly at: number;
  /** First line that is seen; undefined: wherever the cursor is seen. */
  readonly scroll: number | undefined;
  /** The person's own words while they are typed. */
  readonly words: string | undefined;
}

/** How the dialog is seen when a key is pressed: the first line in sight, and how far it can be scrolled. */
export interface Sight {
  readonly from: number;
  readonly reach: number;
}

const NO: Answer = { kind: 'no' };
const NOTHING: Given = { chosen: [], words: '' };

export function openQuestions(id: number, question: QuestionsDialog['question']): QuestionsDialog {
  return { type: 'questions', id, question, step: 0, given: question.questions.map(() => NOTHING), at: 0, scroll: undefined, words: undefined };
}

export function isAnswered({ chosen, words }: Given): boolean {
  return chosen.length > 0 || words !== '';
}

/** The labels that were chosen, then the person's own words. */
export function labelsOf({ options }: ChoiceQuestion, { chosen, words }: Given): readonly string[] {
  return [...options.flatMap(({ label }, index) => (chosen.includes(index) ? [label] : [])), ...(words === '' ? [] : [words])];
}

/** The dialog after a key, or the answer. */
export function pressQuestions(dialog: QuestionsDialog, event: InputEvent, keys: KeyTable, sight: Sight): QuestionsDialog | Answer {
  const action = event.type === 'key' ? keys.action('dialog', event) : undefined;
  const asked = dialog.question.questions[dialog.step];
  if (dialog.words !== undefined && asked !== undefined) return pressWords(dialog, asked, dialog.words, event, action);
  if (action === 'cancel') return NO;
  if (event.type !== 'key') return dialog;
  const side = sideways(event, action);
  if (side !== 0) return goTo(dialog, dialog.step + side);
  const scroll = scrollBy(event, sight.reach);
  if (scroll !== 0) return { ...dialog, scroll: Math.min(sight.reach, Math.max(0, sight.from + scroll)) };
  return asked === undefined ? pressSummary(dialog, event, action) : pressOptions(dialog, asked, event, action);
}

function sideways({ name, ctrl, alt, shift }: KeyEvent, action: KeyAction<'dialog'> | undefined): -1 | 0 | 1 {
  if (action === 'next') return 1;
  if (action === 'previous') return -1;
  if (ctrl || alt || shift) return 0;
  return name === 'left' ? -1 : name === 'right' ? 1 : 0;
}

/** Another question, or the answers; with one question there is nowhere to go. */
function goTo(dialog: QuestionsDialog, step: number): QuestionsDialog {
  const { length } = dialog.question.questions;
  if (length === 1 || step < 0 || step > length) return dialog;
  const { chosen, words } = dialog.given[step] ?? NOTHING;
  const at = chosen[0] ?? (words === '' ? 0 : dialog.question.questions[step]?.options.length ?? 0);
  return { ...dialog, step, at, scroll: undefined, words: undefined };
}

function numberOf({ name, ctrl, alt }: KeyEvent): number {
  return ctrl || alt ? Number.NaN : Number(name);
}

function pressOptions(dialog: QuestionsDialog, asked: ChoiceQuestion, event: KeyEvent, action: KeyAction<'dialog'> | undefined): QuestionsDialog | Answer {
  const rows = asked.options.length + 1;
  const number = numberOf(event) - 1;
  const direct = number >= 0 && number < rows ? number : undefined;
  if (direct !== undefined) return asked.several ? toggle({ ...dialog, at: direct }, asked) : choose({ ...dialog, at: direct }, asked);
  if (event.name === 'space' && !event.ctrl && !event.alt) return asked.several ? toggle(dialog, asked) : choose(dialog, asked);
  switch (action) {
    case 'confirm': return asked.several ? goOn(dialog, asked) : choose(dialog, asked);
    case 'up': return { ...dialog, scroll: undefined, at: dialog.at === 0 ? rows - 1 : dialog.at - 1 };
    case 'down': return { ...dialog, scroll: undefined, at: (dialog.at + 1) % rows };
    default: return dialog;
  }
}

/** One answer: it is taken, and the next question asked. */
function choose(dialog: QuestionsDialog, asked: ChoiceQuestion): QuestionsDialog | Answer {
  if (dialog.at === asked.options.length) return write(dialog);
  return advance(give(dialog, { chosen: [dialog.at], words: '' }));
}

function toggle(dialog: QuestionsDialog, asked: ChoiceQuestion): QuestionsDialog {
  const now = dialog.given[dialog.step] ?? NOTHING;
  if (dialog.at === asked.options.length) return now.words === '' ? write(dialog) : give(dialog, { ...now, words: '' });
  const chosen = now.chosen.includes(dialog.at) ? now.chosen.filter((index) => index !== dialog.at) : [...now.chosen, dialog.at].sort((a, b) => a - b);
  return give(dialog, { ...now, chosen });
}

/** Several answers: those that are marked, or the one at the cursor when none is. */
function goOn(dialog: QuestionsDialog, asked: ChoiceQuestion): QuestionsDialog | Answer {
  const now = dialog.given[dialog.step] ?? NOTHING;
  const own = dialog.at === asked.options.length;
  if (own && now.words === '') return write(dialog);
  return advance(isAnswered(now) ? dialog : give(dialog, { ...now, chosen: [dialog.at] }));
}

function write(dialog: QuestionsDialog): QuestionsDialog {
  return { ...dialog, scroll: undefined, words: dialog.given[dialog.step]?.words ?? '' };
}

function give(dialog: QuestionsDialog, given: Given): QuestionsDialog {
  return { ...dialog, scroll: undefined, given: dialog.given.map((old, index) => (index === dialog.step ? given : old)) };
}

/** To the next question that has no answer yet, then to all answers; the only question's answer is sent at once. */
function advance(dialog: QuestionsDialog): QuestionsDialog | Answer {
  const { questions } = dialog.question;
  if (questions.length === 1) return answerOf(dialog);
  const next = dialog.given.findIndex((given, index) => index > dialog.step && !isAnswered(given));
  return goTo(dialog, next === -1 ? questions.length : next);
}

function answerOf({ question, given }: QuestionsDialog): Answer {
  return { kind: 'chosen', answers: question.questions.map((asked, index) => labelsOf(asked, given[index] ?? NOTHING)) };
}

function pressWords(dialog: QuestionsDialog, asked: ChoiceQuestion, words: string, event: InputEvent, action: KeyAction<'dialog'> | undefined): QuestionsDialog | Answer {
  const left: QuestionsDialog = { ...dialog, words: undefined };
  switch (action) {
    // The way out of the whole dialog stays Ctrl-C; Esc takes back the step that led here.
    case 'cancel': return event.type === 'key' && event.ctrl ? NO : left;
    case 'up': case 'previous': return left;
    case 'confirm': {
      const given = words.trim();
      const now = dialog.given[dialog.step] ?? NOTHING;
      if (given === '') return give(left, { ...now, words: '' });
      return asked.several ? give(left, { ...now, words: given }) : advance(give(left, { chosen: [], words: given }));
    }
    default: return { ...dialog, words: typeInto(words, event) ?? words };
  }
}

function pressSummary(dialog: QuestionsDialog, event: KeyEvent, action: KeyAction<'dialog'> | undefined): QuestionsDialog | Answer {
  const { questions } = dialog.question;
  const number = numberOf(event) - 1;
  if (number >= 0 && number < questions.length) return goTo(dialog, number);
  if (action === 'up') return goTo(dialog, dialog.step - 1);
  if (action !== 'confirm') return dialog;
  const open = dialog.given.findIndex((given) => !isAnswered(given));
  return open === -1 ? answerOf(dialog) : goTo(dialog, open);
}
