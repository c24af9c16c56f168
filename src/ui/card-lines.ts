import type { Card, CardBlock } from '#domain/card.ts';
import { never } from '#lib/brand.ts';
import { sanitise } from '#lib/terminal.ts';
import { drawDiff } from './diff-lines.ts';
import { clip, fold, hang, wrapProse, wrapText, wrapVerbatim } from './lines.ts';
import { drawMarkdown } from './markdown.ts';
import type { Pen } from './pen.ts';
import { drawTable } from './table-lines.ts';
import type { Role } from './theme.ts';

/** Lines of a body that are shown before it is folded. */
export const FOLDED_LINES = 10;

/** Of these, so many are kept from the end where a body ends in output: how it came out stands there. */
const ENDING_LINES = 6;

/** Lines of a title; of a longer one the rest is left out, with a mark. */
export const TITLE_LINES = 3;

const INDENT = '  ';
const TONES: Readonly<Record<NonNullable<Card['tone']>, Role>> = { normal: 'accent', good: 'good', bad: 'bad', muted: 'dim' };

/** Title with its mark, then the body, at most `most` lines of it (all without). */
export function drawCard(card: Card, pen: Pen, most?: number): readonly string[] {
  return [...drawTitle(card, pen), ...hang(drawBody(card.body, { ...pen, columns: pen.columns - INDENT.length }, most), INDENT)];
}

/** The title; the detail beside it if there is room, else under it. */
export function drawTitle(card: Card, pen: Pen, mark = '●'): readonly string[] {
  const { columns, theme } = pen;
  const room = columns - 2;
  const all = titleLines(card, room);
  const most = isRepeated(card) ? 1 : TITLE_LINES;
  const title = all.length > most ? [...all.slice(0, most - 1), clip(`${all[most - 1] ?? ''} …`, room)] : all;
  const head = hang(title.map((line) => (card.tone === 'muted' ? theme('dim', line) : theme('strong', line))), `${theme(TONES[card.tone ?? 'normal'], mark)} `, INDENT);
  if (card.detail === undefined || card.detail === '') return head;
  const detail = sanitise(card.detail, { newlines: false, tabs: 4 });
  const [only] = title;
  if (title.length === 1 && only !== undefined && only.length + detail.length + 2 <= room) return [`${head[0] ?? ''}  ${theme('dim', detail)}`];
  return [...head, ...hang(wrapProse(theme('dim', detail), room), INDENT)];
}

/** Whether the body begins with all that the title says, such as a long command: the title then need not be whole. */
export function isRepeated({ title, body: [first] }: Card): boolean {
  const words = title.replace(/^\S+ /, '').replace(/ …$/, '');
  return first?.type === 'code' && words !== '' && first.text.trimStart().startsWith(words);
}

/** The whole title, wrapped. */
export function titleLines(card: Card, columns: number): readonly string[] {
  return wrapProse(sanitise(card.title, { newlines: false, tabs: 4 }), columns);
}

/** The blocks of a body, at most `most` lines in all, of which one tells how many more there are. */
export function drawBody(body: readonly CardBlock[], pen: Pen, most?: number): readonly string[] {
  const lines: string[] = [];
  let unseen = 0;
  for (const [index, block] of body.entries()) {
    const { shown, more } = shorten(block, most);
    if (index > 0 && (block.type === 'table' || body[index - 1]?.type === 'table')) lines.push('');
    lines.push(...drawBlock(shown, pen));
    unseen += more;
  }
  return most === undefined ? lines : fold(lines, most, pen, isOutput(body.at(-1)) ? ENDING_LINES : 0, unseen);
}

/** What a program put out, rather than something to read from its beginning. */
function isOutput(block: CardBlock | undefined): boolean {
  return block?.type === 'text' || (block?.type === 'code' && block.language === undefined && block.firstLine === undefined);
}

/** Whether a body has more lines than a folded card shows, at any width. */
export function isLong(body: readonly CardBlock[], most: number): boolean {
  let lines = 0;
  for (const block of body) {
    lines += block.type === 'list' ? block.items.length : block.type === 'table' ? block.rows.length + 2
      : (block.type === 'diff' ? block.patch : block.text).split('\n', most + 2).length;
    if (lines > most) return true;
  }
  return false;
}

/** Of a long text only its two ends are worth laying out when what is between will be folded away. */
function shorten(block: CardBlock, most: number | undefined): { readonly shown: CardBlock; readonly more: number } {
  if (most === undefined || (block.type !== 'text' && block.type !== 'code')) return { shown: block, more: 0 };
  const lines = block.text.split('\n');
  if (lines.length <= most * 2) return { shown: block, more: 0 };
  return { shown: { ...block, text: [...lines.slice(0, most), ...lines.slice(-most)].join('\n') }, more: lines.length - most * 2 };
}

function drawBlock(block: CardBlock, pen: Pen): readonly string[] {
  const { columns, theme } = pen;
  switch (block.type) {
    case 'text': return wrapText(sanitise(block.text, { tabs: 4, dropColours: true }), columns);
    case 'markdown': return drawMarkdown(block.text, pen);
    case 'code': return drawNumbered(block.text, block.language, block.firstLine, pen);
    case 'diff': return drawDiff(block.patch, block.language, pen);
    case 'list': return block.items.flatMap((item) => hang(wrapText(sanitise(item, { tabs: 4 }), columns - 2), theme('accent', '• '), INDENT));
    case 'table': return drawTable({
      head: block.head.map(cell), rows: block.rows.map((row) => row.map(cell)), align: block.align ?? [],
    }, columns, theme);
    default: return never(block);
  }
}

function cell(text: string): string {
  return sanitise(text, { newlines: false, tabs: 4 });
}

function drawNumbered(text: string, language: string | undefined, firstLine: number | undefined, pen: Pen): readonly string[] {
  const code = pen.highlight(sanitise(text, { tabs: 4 }), language, pen.theme);
  if (firstLine === undefined) return wrapVerbatim(code, pen.columns);
  const lines = code.split('\n');
  const digits = String(firstLine + lines.length - 1).length;
  return lines.flatMap((line, index) => hang(
    wrapVerbatim(line, pen.columns - digits - 1), `${pen.theme('number', String(firstLine + index).padStart(digits))} `, ' '.repeat(digits + 1),
  ));
}

/** A card on one line, for where there is no room. */
export function cardLine(card: Card, columns: number): string {
  const detail = card.detail === undefined || card.detail === '' ? '' : ` (${card.detail})`;
  return clip(sanitise(card.title + detail, { newlines: false, tabs: 4 }), columns);
}
