import type { Card, CardBlock } from '#domain/card.ts';
import { never } from '#lib/brand.ts';
import { sanitise, wrapLines } from '#lib/terminal.ts';
import { drawDiff } from './diff-lines.ts';
import { clip, fold, hang, wrapProse, wrapVerbatim } from './lines.ts';
import { drawMarkdown, type Pen } from './markdown.ts';
import { drawTable } from './table-lines.ts';
import type { Role } from './theme.ts';

/** Lines of a body that are shown before it is folded. */
export const FOLDED_LINES = 10;

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
  const title = all.length > TITLE_LINES ? [...all.slice(0, TITLE_LINES - 1), `${clip(all[TITLE_LINES - 1] ?? '', room - 2)} …`] : all;
  const head = hang(title.map((line) => (card.tone === 'muted' ? theme('dim', line) : theme('strong', line))), `${theme(TONES[card.tone ?? 'normal'], mark)} `, INDENT);
  if (card.detail === undefined || card.detail === '') return head;
  const detail = sanitise(card.detail, { newlines: false, tabs: 4 });
  const [only] = title;
  if (title.length === 1 && only !== undefined && only.length + detail.length + 2 <= room) return [`${head[0] ?? ''}  ${theme('dim', detail)}`];
  return [...head, ...hang(wrapProse(theme('dim', detail), room), INDENT)];
}

/** The whole title, wrapped. */
export function titleLines(card: Card, columns: number): readonly string[] {
  return wrapProse(sanitise(card.title, { newlines: false, tabs: 4 }), columns);
}

/** The blocks of a body, at most `most` lines in all; a last line tells how many more there are. */
export function drawBody(body: readonly CardBlock[], pen: Pen, most?: number): readonly string[] {
  const lines: string[] = [];
  let unseen = 0;
  for (const block of body) {
    const { head, more } = shorten(block, most);
    lines.push(...drawBlock(head, pen));
    unseen += more;
  }
  if (most === undefined) return lines;
  if (unseen === 0) return fold(lines, most, pen.theme);
  return fold([...lines, ...Array.from<string>({ length: unseen }).fill('')], most, pen.theme);
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

/** Of a long text only the beginning is worth laying out when most of it will be folded away. */
function shorten(block: CardBlock, most: number | undefined): { readonly head: CardBlock; readonly more: number } {
  if (most === undefined || (block.type !== 'text' && block.type !== 'code')) return { head: block, more: 0 };
  const lines = block.text.split('\n');
  if (lines.length <= most * 2) return { head: block, more: 0 };
  return { head: { ...block, text: lines.slice(0, most * 2).join('\n') }, more: lines.length - most * 2 };
}

function drawBlock(block: CardBlock, pen: Pen): readonly string[] {
  const { columns, theme } = pen;
  switch (block.type) {
    case 'text': return wrapLines(sanitise(block.text, { tabs: 4, dropColours: true }), columns);
    case 'markdown': return drawMarkdown(block.text, pen);
    case 'code': return drawNumbered(block.text, block.language, block.firstLine, pen);
    case 'diff': return drawDiff(block.patch, block.language, pen);
    case 'list': return block.items.flatMap((item) => hang(wrapLines(sanitise(item, { tabs: 4 }), columns - 2), theme('accent', '• '), INDENT));
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
