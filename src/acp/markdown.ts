import type { Card, CardBlock } from '#domain/card.ts';
import { sanitise } from '#lib/terminal.ts';

/** A card as Markdown: its title in bold, what stands beside it, then its blocks. */
export function cardMarkdown(card: Card): string {
  const head = `**${plain(card.title)}**${card.detail === undefined ? '' : ` — ${plain(card.detail)}`}`;
  return [head, ...card.body.map(blockMarkdown)].filter((text) => text !== '').join('\n\n');
}

/** One line: the title, and what stands beside it in brackets. */
export function cardTitle({ title, detail }: Card): string {
  return sanitise(detail === undefined || detail === '' ? title : `${title} (${detail})`, { newlines: false });
}

export function blockMarkdown(block: CardBlock): string {
  switch (block.type) {
    case 'text': return paragraph(block.text);
    case 'markdown': return sanitise(block.text).trimEnd();
    case 'code': return fence(block.text, block.language);
    case 'diff': return fence(block.patch, 'diff');
    case 'list': return block.items.map((item) => `- ${plain(item)}`).join('\n');
    case 'table': return table(block);
  }
}

/** Words keep their lines; what is laid out by blanks stands as it is. */
function paragraph(text: string): string {
  const shown = sanitise(text).trimEnd();
  if (/^[ \t]|\S(?: {2,}|\t)\S/m.test(shown)) return fence(text);
  return shown.split('\n').map((line) => (line === '' ? '' : plain(line))).join('  \n').replaceAll(/(?: {2}\n){2,}/g, '\n\n');
}

/** Text that nothing in it can leave, as it stands. Blank text is nothing. */
export function fence(text: string, language = ''): string {
  const shown = sanitise(text).trimEnd();
  if (shown === '') return '';
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const ticks = '`'.repeat(longest + 1);
  return `${ticks}${language}\n${shown}\n${ticks}`;
}

/** A line that is not Markdown, so that it is shown as it stands. */
export function plain(line: string): string {
  return sanitise(line, { newlines: false }).replaceAll(/[\\`*_[\]<|]/g, String.raw`\$&`);
}

function table({ head, rows, align }: Extract<CardBlock, { readonly type: 'table' }>): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]): string => `| ${head.map((_, column) => plain(cells[column] ?? '')).join(' | ')} |`;
  return [line(head), `|${head.map((_, column) => (align?.[column] === 'right' ? '---:' : '---')).join('|')}|`, ...rows.map(line)].join('\n');
}
