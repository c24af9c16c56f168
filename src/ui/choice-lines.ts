import { sanitise, width, wrapLines } from '#lib/terminal.ts';
import { drawBody, drawTitle, isRepeated, TITLE_LINES, titleLines } from './card-lines.ts';
import type { ChoiceDialog, ChoiceQuestion } from './dialog-choice.ts';
import { graphemes } from './graphemes.ts';
import { clip, hang, wrapProse, wrapText } from './lines.ts';
import { drawMarkdown } from './markdown.ts';
import type { Pen } from './pen.ts';
import { reachIn, windowOf } from './scroll.ts';

const WORD_LINES = 4;
const LABEL_MOST = 6;
const LEAST_BODY = 3;

interface Parts {
  readonly head: readonly string[];
  /** Below the head, where there is room for it. */
  readonly spare?: readonly string[];
  readonly body: readonly string[];
  readonly foot: readonly string[];
}

type Asked<K extends ChoiceQuestion['kind']> = Extract<ChoiceQuestion, { readonly kind: K }>;

function partsOf(dialog: ChoiceDialog, pen: Pen): Parts {
  const { question } = dialog;
  const foot = drawOptions(dialog, pen);
  switch (question.kind) {
    case 'permission': return { ...permissionParts(question, isCut(dialog, pen), pen), foot };
    case 'trust': return {
      head: [...wrapProse(pen.theme('strong', `Do you trust ${line(question.folder)}?`), pen.columns), ...wrapProse(pen.theme('dim', 'What it brings along has no effect until you do. Its configuration:'), pen.columns)],
      body: question.wants.flatMap((want) => hang(wrapText(line(want), pen.columns - 4), '  • ')),
      foot,
    };
    case 'confirm': return {
      head: wrapProse(pen.theme('strong', line(question.title)), pen.columns),
      body: question.lines.flatMap((text) => hang(wrapText(line(text), pen.columns - 2), '  ')),
      foot,
    };
    case 'plan': return { ...planParts(question, pen), foot };
    case 'goOn': return { head: [], body: wrapProse(sanitise(question.text, { tabs: 4 }), pen.columns), foot };
  }
}

/** What is decided about must be there to read in full: what the head and the answers cut can be scrolled to. */
function permissionParts({ card, reason, rules, who }: Asked<'permission'>, cutRules: boolean, pen: Pen): Omit<Parts, 'foot'> {
  const room = { ...pen, columns: pen.columns - 2 };
  const title = titleLines(card, room.columns);
  const why = wrapProse(line(reason), room.columns);
  const cut = [...(title.length > TITLE_LINES && !isRepeated(card) ? title : []), ...(why.length > 1 ? why : []), ...(cutRules ? wrapProse(line(rules.join(', ')), room.columns) : [])];
  return {
    head: [...asker(who, pen), ...drawTitle(card, pen, '?'), `  ${pen.theme('dim', clip(why.join(' '), room.columns))}`],
    body: hang([...cut, ...drawBody(card.body, room)], '  '),
  };
}

/** The sub-agent that asks, on a line of its own. */
export function asker(who: string | undefined, { theme, columns }: Pen): readonly string[] {
  return who === undefined ? [] : [clip(theme('accent', `${line(who)} asks:`), columns)];
}

function planParts(question: Asked<'plan'>, pen: Pen): Omit<Parts, 'foot'> {
  const { theme, columns } = pen;
  const file = line(question.file);
  return {
    head: [theme('strong', clip('? The plan: go ahead with it?', columns))],
    spare: file === '' ? [] : [`  ${theme('dim', fromEnd(file, columns - 2))}`],
    body: laidOut(question, pen),
  };
}

/** A plan is laid out once for a width: each key draws the dialog anew. */
const plans = new WeakMap<ChoiceQuestion, { readonly columns: number; readonly lines: readonly string[] }>();

function laidOut(question: Asked<'plan'>, pen: Pen): readonly string[] {
  const columns = pen.columns - 2;
  const known = plans.get(question);
  if (known?.columns === columns) return known.lines;
  const lines = hang(drawMarkdown(question.plan, { ...pen, columns }), '  ');
  plans.set(question, { columns, lines });
  return lines;
}

/** Of a long path the end tells more. */
function fromEnd(path: string, columns: number): string {
  const characters = Array.from(graphemes(path));
  let from = 0;
  while (from < characters.length && width(characters.slice(from).join('')) > columns - (from === 0 ? 0 : 1)) from += 1;
  return from === 0 ? path : `…${characters.slice(from).join('')}`;
}

function drawOptions({ options, at, instead }: ChoiceDialog, pen: Pen): readonly string[] {
  const { theme, columns } = pen;
  const lines = options.flatMap(({ label }, index) => {
    const chosen = index === at;
    const text = wrapProse(line(label), columns - 4);
    const kept = text.length > LABEL_MOST ? [...text.slice(0, LABEL_MOST - 1), clip(`${text[LABEL_MOST - 1] ?? ''} …`, columns - 4)] : text;
    return hang(kept.map((part) => (chosen ? theme('selected', part) : part)), `${chosen ? theme('accent', '›') : ' '} ${index + 1} `, '    ');
  });
  return instead === undefined ? lines : [...lines, ...drawWords(instead, '  ', pen)];
}

/** Words as they are typed: the last lines of them. */
export function drawWords(words: string, indent: string, { theme, columns }: Pen): readonly string[] {
  const lines = wrapLines(`${sanitise(words, { tabs: 4 })}▏`, Math.max(1, columns - indent.length - 2)).slice(-WORD_LINES);
  return hang(lines, `${indent}${theme('accent', '›')} `, `${indent}  `);
}

function isCut({ options }: ChoiceDialog, pen: Pen): boolean {
  return options.some(({ label }) => wrapProse(line(label), pen.columns - 4).length > LABEL_MOST);
}

/** Head, and rows that are left for what is to be read. */
function layOut({ head, spare = [], body, foot }: Parts, rows: number): { readonly head: readonly string[]; readonly room: number } {
  const room = rows - 1 - head.length - foot.length - 1;
  const spared = room - spare.length >= Math.min(LEAST_BODY, body.length) ? spare : [];
  return { head: [...head, ...spared], room: room - spared.length };
}

/** How many of the text's lines cannot be seen at once in so many rows. */
export function reachOf(dialog: ChoiceDialog, rows: number, pen: Pen): number {
  const parts = partsOf(dialog, pen);
  return reachIn(parts.body.length, layOut(parts, rows).room);
}

/** At most `rows` lines. The answers always have room; what is to be read gives way and scrolls. */
export function drawChoice(dialog: ChoiceDialog, rows: number, pen: Pen): readonly string[] {
  const parts = partsOf(dialog, pen);
  const { body, foot } = parts;
  const { head, room } = layOut(parts, rows);
  const { theme, columns } = pen;
  const hint = clip(theme('dim', dialog.instead === undefined ? `Enter takes it · 1–${dialog.options.length} at once · Esc: no` : 'Enter sends it · Esc: no'), columns);
  const frame = [theme('accent', '─'.repeat(columns)), ...head];
  return [...frame.slice(0, Math.max(1, rows - foot.length - 1)), ...windowOf(body, dialog.scroll, Math.max(0, room), pen), ...foot, hint].slice(-rows);
}

function line(text: string): string {
  return sanitise(text, { newlines: false, tabs: 4 });
}
