import type { ElicitationContentValue, ElicitationPropertySchema, ElicitationSchema, PermissionOption, ToolCallContent, ToolCallUpdate } from '@agentclientprotocol/sdk';
import { sanitise } from '#lib/terminal.ts';
import type { Answer, ChoiceQuestion, Question } from '#domain/ports.ts';
import { blockMarkdown, plain } from './markdown.ts';
import { shown } from './tool-calls.ts';

/** A question as the protocol's request for permission. */
export interface Form {
  readonly toolCall: ToolCallUpdate;
  readonly options: PermissionOption[];
  /** What an option means; undefined for one that was not offered. */
  answer(optionId: string): Answer | undefined;
  /** Whether the call that is shown exists only for the question: it is over with the answer. */
  readonly own: boolean;
}

type Choice = PermissionOption & { readonly means: Answer };

export interface FormOptions {
  readonly cwd: string;
  /** For a call that exists only for the question; unique in the session. */
  readonly id: string;
  /** Whether a plan may be approved with auto mode. */
  readonly auto: boolean;
}

/** Questions with several answers each are asked otherwise: see {@link choiceForm} and {@link elicitationOf}. */
export function formOf(question: Exclude<Question, { readonly kind: 'choices' }>, options: FormOptions): Form {
  switch (question.kind) {
    case 'permission': return permissionForm(question, options);
    case 'plan': return ownForm(options.id, 'Approve the plan?', [markdown(question.plan)], [
      choice('ask', 'Yes; ask before each change', 'allow_once', { kind: 'approved', mode: 'default' }),
      choice('edits', 'Yes; edits in the project need no question', 'allow_always', { kind: 'approved', mode: 'acceptEdits' }),
      ...(options.auto ? [choice('auto', 'Yes; decide everything by yourself', 'allow_always', { kind: 'approved', mode: 'auto' })] : []),
      choice('no', 'No; go on planning', 'reject_once', { kind: 'no' }),
    ], 'switch_mode');
    case 'confirm': return ownForm(options.id, question.title, [listed(question.lines)], YES_NO);
    case 'goOn': return ownForm(options.id, question.text, [], YES_NO);
    case 'trust': return ownForm(options.id, `Do you trust ${question.folder}?`, [
      markdown(`Files of this folder want the following. Until you trust it, nothing of it happens.`), listed(question.wants),
    ], [choice('trust', 'Trust this folder', 'allow_always', { kind: 'always' }), choice('no', 'Go on without it', 'reject_once', { kind: 'no' })]);
  }
}

function permissionForm({ call, card, reason, rules, who }: Extract<Question, { readonly kind: 'permission' }>, { cwd }: FormOptions): Form {
  const look = shown(call, card, 'pending', cwd);
  const why = markdown(`${who === undefined ? '' : `For ${plain(who)}: `}${plain(reason)}`);
  return {
    toolCall: { ...look, content: [...(look.content ?? []), why] },
    ...offered([
      choice('once', 'Allow', 'allow_once', { kind: 'yes' }),
      ...(rules.length === 0 ? [] : [choice('always', `Always allow ${rules.map((rule) => sanitise(rule, { newlines: false })).join(', ')}`, 'allow_always', { kind: 'always' })]),
      choice('no', 'Reject', 'reject_once', { kind: 'no' }),
    ]),
    // A sub-agent's call was not told, and neither will its result be.
    own: who !== undefined,
  };
}

const YES_NO: readonly Choice[] = [choice('yes', 'Yes', 'allow_once', { kind: 'yes' }), choice('no', 'No', 'reject_once', { kind: 'no' })];

/** One question of several answers, where the client knows no forms: one answer can be chosen. */
export function choiceForm(question: ChoiceQuestion, { id, who }: { readonly id: string; readonly who: string | undefined }): Form {
  const text = question.options.map(({ label, description }) => `- **${plain(label)}**${description === '' ? '' : ` — ${plain(description)}`}`).join('\n');
  return ownForm(id, question.question, [markdown(who === undefined ? text : `${plain(who)} asks.\n\n${text}`)], [
    ...question.options.map(({ label }, i) => choice(`option-${i}`, sanitise(label, { newlines: false }), 'allow_once', { kind: 'chosen', answers: [[label]] })),
    choice('no', 'None of these', 'reject_once', { kind: 'no' }),
  ]);
}

/** One of several things, whatever they are; undefined means that none was chosen. */
export function pickForm(title: string, items: readonly { readonly id: string; readonly label: string; readonly detail?: string }[], id: string): Form & { chosen(optionId: string): string | undefined } {
  const form = ownForm(id, title, [], [
    ...items.map(({ label, detail }, i) => choice(`item-${i}`, sanitise(detail === undefined ? label : `${label} (${detail})`, { newlines: false }), 'allow_once', { kind: 'yes' })), choice('no', 'None', 'reject_once', { kind: 'no' }),
  ]);
  return { ...form, chosen: (optionId) => items.find((_, i) => optionId === `item-${i}`)?.id };
}

function ownForm(toolCallId: string, title: string, content: readonly ToolCallContent[], choices: readonly Choice[], kind: ToolCallUpdate['kind'] = 'other'): Form {
  return { toolCall: { toolCallId, title: sanitise(title, { newlines: false }), kind: kind ?? 'other', status: 'pending', content: [...content] }, ...offered(choices), own: true };
}

function choice(optionId: string, name: string, kind: PermissionOption['kind'], means: Answer): Choice {
  return { optionId, name, kind, means };
}

function offered(choices: readonly Choice[]): Pick<Form, 'options' | 'answer'> {
  return { options: choices.map(({ optionId, name, kind }) => ({ optionId, name, kind })), answer: (id) => choices.find(({ optionId }) => optionId === id)?.means };
}

const markdown = (text: string): ToolCallContent => ({ type: 'content', content: { type: 'text', text: sanitise(text) } });

function listed(lines: readonly string[]): ToolCallContent {
  return markdown(blockMarkdown({ type: 'list', items: lines }));
}

/** Field of the user's own words for a question. */
const OWN = 'own';

/** The questions as one form: a field for each, and one for the user's own words. */
export function elicitationOf(questions: readonly ChoiceQuestion[]): ElicitationSchema {
  const fields = questions.flatMap((question, i): readonly (readonly [string, ElicitationPropertySchema])[] => [
    [`q${i + 1}`, property(question)],
    [`q${i + 1}_${OWN}`, { type: 'string', title: `${question.header}: in your own words`, description: 'Instead of the answers above, or beside them' }],
  ]);
  return { type: 'object', properties: Object.fromEntries(fields) };
}

function property({ header, question, options, several }: ChoiceQuestion): ElicitationPropertySchema {
  const offers = options.map(({ label, description }) => ({ const: label, title: label, ...(description !== '' && { description }) }));
  return several ? { type: 'array', title: header, description: question, items: { anyOf: offers } } : { type: 'string', title: header, description: question, oneOf: offers };
}

/** What was chosen in the form: labels and own words, question by question. */
export function chosenIn(questions: readonly ChoiceQuestion[], content: Readonly<Record<string, ElicitationContentValue>>): Answer {
  return {
    kind: 'chosen',
    answers: questions.map((_, i) => [...wordsIn(content[`q${i + 1}`]), ...wordsIn(content[`q${i + 1}_${OWN}`])]),
  };
}

function wordsIn(value: ElicitationContentValue | undefined): readonly string[] {
  const all = Array.isArray(value) ? value : [value];
  return all.flatMap((one) => (typeof one === 'string' && one.trim() !== '' ? [one.trim()] : []));
}
