import type { Answer, Question } from '#domain/ports.ts';
import { sanitise, wrapLines } from '#lib/terminal.ts';
import { drawBody, drawTitle, isRepeated, TITLE_LINES, titleLines } from './card-lines.ts';
import type { InputEvent, KeyEvent } from './contract.ts';
import type { KeyAction, KeyTable } from './keys.ts';
import { clip, hang, wrapProse, wrapText } from './lines.ts';
import type { Pen } from './pen.ts';
import { typeInto } from './typing.ts';

/** A question with a few numbered answers, and something to read above them. */
export interface ChoiceDialog {
  readonly type: 'choice';
  readonly id: number;
  readonly question: Question;
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
const PAGE = 8;
const INSTEAD_LINES = 4;
const LABEL_MOST = 6;

export function openChoice(id: number, question: Question): ChoiceDialog {
  const options = optionsOf(question);
  // A folder of unknown origin is not trusted by a stray Enter.
  return { type: 'choice', id, question, options, at: question.kind === 'trust' ? options.length - 1 : 0, scroll: 0, instead: undefined };
}

function optionsOf(question: Question): readonly Option[] {
  switch (question.kind) {
    case 'trust': return [{ label: 'yes, I trust this folder', answer: YES }, { label: 'no, leave that off', answer: NO }];
    case 'goOn': return [{ label: 'yes, go on', answer: YES }, { label: 'no, stop here', answer: NO }];
    case 'confirm': return [{ label: 'yes', answer: YES }, { label: 'no', answer: NO }];
    case 'plan': return [
      { label: 'yes, and accept edits', answer: { kind: 'approved', mode: 'acceptEdits' } }, { label: 'yes, and ask before each edit', answer: { kind: 'approved', mode: 'default' } },
      { label: 'no, keep planning', answer: NO, words: true },
    ];
    case 'choices': return [...(question.questions[0]?.options ?? []).map(({ label }) => ({ label, answer: { kind: 'chosen', answers: [[label]] } as const })), { label: 'something else', answer: NO, words: true }];
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
  const at = Math.min(number, dialog.options.length) - 1;
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

function scrollBy({ name, shift }: KeyEvent, reach: number): number {
  switch (name) {
    case 'pageup': return -PAGE;
    case 'pagedown': return PAGE;
    case 'home': return -reach;
    case 'end': return reach;
    case 'up': return shift ? -1 : 0;
    case 'down': return shift ? 1 : 0;
    default: return 0;
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

interface Parts {
  readonly head: readonly string[];
  readonly body: readonly string[];
  readonly foot: readonly string[];
}

function partsOf(dialog: ChoiceDialog, pen: Pen): Parts {
  const { question } = dialog;
  const room = { ...pen, columns: pen.columns - 2 };
  switch (question.kind) {
    case 'permission': {
      // What is decided about must be there to read in full: what the head and the answers cut can be scrolled to.
      const title = titleLines(question.card, room.columns);
      const reason = wrapProse(sanitise(question.reason, { newlines: false }), room.columns);
      const cut = [...(title.length > TITLE_LINES && !isRepeated(question.card) ? title : []), ...(reason.length > 1 ? reason : []), ...(isCut(dialog, pen) ? wrapProse(sanitise(question.rules.join(', '), { newlines: false }), room.columns) : [])];
      return {
        head: [...drawTitle(question.card, pen, '?'), `  ${pen.theme('dim', clip(reason.join(' '), room.columns))}`],
        body: hang([...cut, ...drawBody(question.card.body, room)], '  '),
        foot: drawOptions(dialog, pen),
      };
    }
    case 'trust': return {
      head: [...wrapProse(pen.theme('strong', `Do you trust ${sanitise(question.folder, { newlines: false })}?`), pen.columns), ...wrapProse(pen.theme('dim', 'Its configuration wants to:'), pen.columns)],
      body: question.wants.flatMap((want) => hang(wrapText(sanitise(want, { newlines: false }), pen.columns - 4), '  • ')),
      foot: drawOptions(dialog, pen),
    };
    case 'confirm': return { head: [], body: [question.title, ...question.lines].flatMap((line) => wrapProse(sanitise(line, { newlines: false }), pen.columns)), foot: drawOptions(dialog, pen) };
    case 'plan': return { head: [], body: wrapProse(sanitise(question.plan, { tabs: 4 }), pen.columns), foot: drawOptions(dialog, pen) };
    case 'choices': return { head: [], body: question.questions.flatMap(({ question: text }) => wrapProse(sanitise(text, { tabs: 4 }), pen.columns)), foot: drawOptions(dialog, pen) };
    case 'goOn': return { head: [], body: wrapProse(sanitise(question.text, { tabs: 4 }), pen.columns), foot: drawOptions(dialog, pen) };
  }
}

function drawOptions({ options, at, instead }: ChoiceDialog, pen: Pen): readonly string[] {
  const { theme, columns } = pen;
  const lines = options.flatMap(({ label }, index) => {
    const chosen = index === at;
    const text = wrapProse(sanitise(label, { newlines: false }), columns - 4);
    const kept = text.length > LABEL_MOST ? [...text.slice(0, LABEL_MOST - 1), clip(`${text[LABEL_MOST - 1] ?? ''} …`, columns - 4)] : text;
    return hang(kept.map((line) => (chosen ? theme('selected', line) : line)), `${chosen ? theme('accent', '›') : ' '} ${index + 1} `, '    ');
  });
  if (instead === undefined) return lines;
  const words = wrapLines(`${sanitise(instead, { tabs: 4 })}▏`, columns - 4).slice(-INSTEAD_LINES);
  return [...lines, ...hang(words, `  ${theme('accent', '›')} `, '    ')];
}

function isCut({ options }: ChoiceDialog, pen: Pen): boolean {
  return options.some(({ label }) => wrapProse(sanitise(label, { newlines: false }), pen.columns - 4).length > LABEL_MOST);
}

/** How many of the text's lines cannot be seen at once in so many rows. */
export function reachOf(dialog: ChoiceDialog, rows: number, pen: Pen): number {
  const { head, body, foot } = partsOf(dialog, pen);
  const room = rows - head.length - foot.length - 2;
  return body.length <= room ? 0 : Math.max(0, body.length - Math.max(1, room - 1));
}

/** At most `rows` lines. The answers always have room; what is to be read gives way and scrolls. */
export function drawChoice(dialog: ChoiceDialog, rows: number, pen: Pen): readonly string[] {
  const { head, body, foot } = partsOf(dialog, pen);
  const { theme, columns } = pen;
  const rule = theme('accent', '─'.repeat(columns));
  const hint = clip(theme('dim', dialog.instead === undefined ? `Enter takes it · 1–${dialog.options.length} at once · Esc: no` : 'Enter sends it · Esc: no'), columns);
  const frame = [rule, ...head];
  const room = Math.max(0, rows - frame.length - foot.length - 1);
  return [...frame.slice(0, Math.max(1, rows - foot.length - 1)), ...windowOf(body, dialog.scroll, room, pen), ...foot, hint].slice(-rows);
}

function windowOf(body: readonly string[], scroll: number, room: number, { theme, columns }: Pen): readonly string[] {
  if (body.length <= room) return body;
  if (room <= 0) return [];
  const shown = room - 1;
  const from = Math.min(scroll, body.length - shown);
  const place = shown === 0 ? `${body.length} lines` : `lines ${from + 1}–${from + shown} of ${body.length}`;
  return [...body.slice(from, from + shown), clip(theme('dim', `  ${place} · PgUp/PgDn`), columns)];
}
