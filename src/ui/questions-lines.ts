import type { ChoiceQuestion } from '#domain/ports.ts';
import { sanitise, width } from '#lib/terminal.ts';
import { asker, drawWords } from './choice-lines.ts';
import { type Given, isAnswered, labelsOf, type QuestionsDialog, type Sight } from './dialog-questions.ts';
import { clip, hang, wrapProse, wrapText } from './lines.ts';
import type { Pen } from './pen.ts';
import { reachIn } from './scroll.ts';

interface Parts {
  readonly head: readonly string[];
  readonly body: readonly string[];
  /** Lines of the body that the cursor stands at. */
  readonly cursor: { readonly from: number; readonly to: number };
  /** Wordings of the keys, the longest first. */
  readonly hints: readonly string[];
}

const LEAST_BODY = 2;
const OWN = 'something else, in your own words';

function partsOf(dialog: QuestionsDialog, pen: Pen): Parts {
  const { question, step, given } = dialog;
  const asked = question.questions[step];
  const { theme, columns } = pen;
  const { length } = question.questions;
  if (asked === undefined) {
    const body = question.questions.flatMap((one, index) => drawGiven(one, given[index], index + 1, pen));
    const open = given.some((one) => !isAnswered(one));
    return {
      head: [...asker(question.who, pen), theme('strong', clip('Send these answers?', columns))], body, cursor: { from: 0, to: 0 },
      hints: [` · 1–${length} or ← changes one`, ''].map((more) => `${open ? 'Enter asks what is open' : 'Enter sends them'}${more} · Esc: no answer`),
    };
  }
  const place = length === 1 ? '' : theme('dim', ` · ${step + 1} of ${length}`);
  const words = wrapText(sanitise(asked.question, { tabs: 4 }), columns).map((line) => theme('strong', line));
  const rows = drawRows(dialog, asked, pen);
  const before = rows.slice(0, dialog.at).flat().length + words.length;
  return {
    head: [...asker(question.who, pen), clip(`${theme('accent', line(asked.header))}${place}`, columns)],
    body: [...words, ...rows.flat()],
    cursor: { from: before, to: before + (rows[dialog.at]?.length ?? 1) - 1 },
    hints: hintsOf(dialog, asked, length),
  };
}

function hintsOf({ words }: QuestionsDialog, { several, options }: ChoiceQuestion, length: number): readonly string[] {
  if (words !== undefined) return ['Enter takes it · Esc: back to the list'];
  const others = length === 1 ? '' : ' · ← →: other questions';
  if (several) return [`Space marks · Enter goes on · Esc: no answer${others}`, 'Space marks · Enter goes on · Esc: none'];
  return [`Enter takes it · 1–${options.length + 1} at once · Esc: no answer${others}`, `Enter takes it · Esc: no answer${length === 1 ? '' : ' · ← →'}`];
}

/** The lines of each option, "something else" at the end. */
function drawRows(dialog: QuestionsDialog, { options, several }: ChoiceQuestion, pen: Pen): readonly (readonly string[])[] {
  const { theme, columns } = pen;
  const now = dialog.given[dialog.step];
  const own = now?.words ?? '';
  const row = (label: string, description: string, marked: boolean, index: number): readonly string[] => {
    const here = index === dialog.at;
    const box = several ? `${marked ? theme('good', '☑') : '☐'} ` : '';
    const first = `${here ? theme('accent', '›') : ' '} ${index + 1} ${box}`;
    const rest = ' '.repeat(several ? 6 : 4);
    const room = columns - rest.length;
    const text = `${line(label)}${marked && !several ? ' ✓' : ''}`;
    return [
      ...hang(wrapProse(text, room).map((part) => (here ? theme('selected', part) : part)), first, rest),
      ...(description.trim() === '' ? [] : hang(wrapProse(line(description), room).map((part) => theme('dim', part)), rest, rest)),
    ];
  };
  const last = options.length;
  return [
    ...options.map(({ label, description }, index) => row(label, description, now?.chosen.includes(index) === true, index)),
    [...row(OWN, dialog.words === undefined ? own : '', own !== '', last), ...(dialog.words === undefined ? [] : drawWords(dialog.words, ' '.repeat(several ? 4 : 2), pen))],
  ];
}

function drawGiven(asked: ChoiceQuestion, given: Given | undefined, number: number, { theme, columns }: Pen): readonly string[] {
  const labels = given === undefined ? [] : labelsOf(asked, given);
  const text = labels.length === 0 ? theme('warning', 'not answered') : labels.map(line).join(', ');
  return hang([...wrapProse(theme('dim', line(asked.header)), columns - 4), ...wrapProse(text, columns - 4)], `  ${number} `, '    ');
}

/** What is seen of the body in so many rows: the cursor, unless it was scrolled elsewhere. */
function sightIn({ body, cursor }: Parts, scroll: number | undefined, rows: number): Sight {
  const reach = reachIn(body.length, rows);
  const seen = Math.max(1, rows - 1);
  const follow = Math.min(cursor.from, Math.max(0, cursor.to - seen + 1));
  return { reach, from: Math.min(reach, Math.max(0, scroll ?? follow)) };
}

/** Rows of the body: who asks and the header give way to it. */
function roomFor({ head }: Parts, rows: number): number {
  return Math.max(1, rows - 2 - headIn(head.length, rows));
}

function headIn(lines: number, rows: number): number {
  return Math.min(lines, Math.max(0, rows - 2 - LEAST_BODY));
}

export function sightOf(dialog: QuestionsDialog, rows: number, pen: Pen): Sight {
  const parts = partsOf(dialog, pen);
  return sightIn(parts, dialog.scroll, roomFor(parts, rows));
}

/** At most `rows` lines: a rule, who asks and what it is about, question and options as far as there is room, the keys. */
export function drawQuestions(dialog: QuestionsDialog, rows: number, pen: Pen): readonly string[] {
  const parts = partsOf(dialog, pen);
  const { theme, columns } = pen;
  const room = roomFor(parts, rows);
  const { from, reach } = sightIn(parts, dialog.scroll, room);
  const { body } = parts;
  const shown = Math.max(1, room - 1);
  const place = room === 1 ? [] : [clip(theme('dim', `  lines ${from + 1}–${from + shown} of ${body.length} · PgUp/PgDn`), columns)];
  const seen = reach === 0 ? body : [...body.slice(from, from + shown), ...place];
  const hint = parts.hints.find((words) => width(words) <= columns) ?? parts.hints.at(-1) ?? '';
  return [theme('accent', '─'.repeat(columns)), ...parts.head.slice(0, headIn(parts.head.length, rows)), ...seen, clip(theme('dim', hint), columns)].slice(-rows);
}

function line(text: string): string {
  return sanitise(text, { newlines: false, tabs: 4 });
}
