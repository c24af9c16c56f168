import type { Answer, Question } from '#domain/ports.ts';
import type { InputEvent } from './contract.ts';
import type { KeyAction, KeyTable } from './keys.ts';
import { scrollBy } from './scroll.ts';
import { typeInto } from './typing.ts';

export type ChoiceQuestion = Exclude<Question, { readonly kind: 'choices' }>;

/** A question with a few numbered answers, and something to read above them. */
export interface ChoiceDialog {
  readonly type: 'choice';
  readonly id: number;
  readonly question: ChoiceQuestion;
  readonly options: readonly Option[];
  /** The option that Enter takes. */
  readonly at: number;
  /** Lines of what is to be read that are above the window. */
  readonly scroll: number;
  /** The words that go with "no"; undefined while none are asked for. */
  readonly instead: string | undefined;
}

interface Option {
  readonly label: string;
  readonly answer: Answer;
  /** Asks for words before it is given. */
  readonly words?: boolean;
}

const YES: Answer = { kind: 'yes' };
const NO: Answer = { kind: 'no' };
/** What a stray Enter must not allow: its last answer, no, is the one that Enter takes. */
const NO_BY_DEFAULT: ReadonlySet<Question['kind']> = new Set(['trust', 'confirm']);

export function openChoice(id: number, question: ChoiceQuestion): ChoiceDialog {
  const options = optionsOf(question);
  return { type: 'choice', id, question, options, at: NO_BY_DEFAULT.has(question.kind) ? options.length - 1 : 0, scroll: 0, instead: undefined };
}

function optionsOf(question: ChoiceQuestion): readonly Option[] {
  switch (question.kind) {
    case 'trust': return [{ label: 'yes, I trust this folder', answer: YES }, { label: 'no, leave that off', answer: NO }];
    case 'goOn': return [{ label: 'yes, go on', answer: YES }, { label: 'no, stop here', answer: NO }];
    case 'confirm': return [{ label: 'yes', answer: YES }, { label: 'no', answer: NO }];
    case 'plan': return [
      { label: 'yes, and accept edits', answer: { kind: 'approved', mode: 'acceptEdits' } },
      { label: 'yes, and ask before each edit', answer: { kind: 'approved', mode: 'default' } },
      { label: 'yes, in auto mode', answer: { kind: 'approved', mode: 'auto' } },
      { label: 'no, keep planning', answer: NO, words: true },
    ];
    case 'permission': return [
      { label: 'yes', answer: YES },
      ...(question.rules.length === 0 ? [] : [{ label: `yes, and don't ask again for ${question.rules.join(', ')}${question.keep === 'session' ? ' in this session' : ' in this folder'}`, answer: { kind: 'always' } as const }]),
      { label: 'no, and tell it what to do instead', answer: NO, words: true },
    ];
  }
}

/** The dialog after a key, or the answer. `reach` is how far the text can be scrolled. */
export function pressChoice(dialog: ChoiceDialog, event: InputEvent, keys: KeyTable, reach: number): ChoiceDialog | Answer {
  const action = event.type === 'key' ? keys.action('dialog', event) : undefined;
  if (action === 'cancel') return NO;
  if (dialog.instead !== undefined) return pressInstead(dialog, dialog.instead, event, action);
  if (event.type !== 'key') return dialog;
  const number = event.ctrl || event.alt ? Number.NaN : { y: 1, n: dialog.options.length }[event.name] ?? Number(event.name);
  // A hand that is used to three answers means the last one by 3, which is always no: it must not be lost, and what follows taken for yes.
  const at = (dialog.options.length < 3 ? Math.min(number, dialog.options.length) : number) - 1;
  const direct = dialog.options[at];
  if (direct !== undefined) return take({ ...dialog, at }, direct);
  const chosen = dialog.options[dialog.at];
  switch (action) {
    case 'confirm': return chosen === undefined ? dialog : take(dialog, chosen);
    case 'up': case 'previous': return { ...dialog, at: dialog.at === 0 ? dialog.options.length - 1 : dialog.at - 1 };
    case 'down': case 'next': return { ...dialog, at: (dialog.at + 1) % dialog.options.length };
    default: return { ...dialog, scroll: Math.min(reach, Math.max(0, dialog.scroll + scrollBy(event, reach))) };
  }
}

function take(dialog: ChoiceDialog, option: Option): ChoiceDialog | Answer {
  return option.words === true ? { ...dialog, instead: '' } : option.answer;
}

function pressInstead(dialog: ChoiceDialog, words: string, event: InputEvent, action: KeyAction<'dialog'> | undefined): ChoiceDialog | Answer {
  if (action === 'confirm') return words.trim() === '' ? NO : { kind: 'no', instead: words.trim() };
  if (action === 'up' || action === 'previous') return { ...dialog, instead: undefined };
  return { ...dialog, instead: typeInto(words, event) ?? words };
}
