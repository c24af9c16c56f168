import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';
import { sanitise } from '#lib/terminal.ts';
import type { Card, CardBlock } from '#domain/card.ts';

/** A card as plain text, for pipes and files: no colours, nothing cut. */
export function cardText(card: Card): string {
  const head = card.detail === undefined ? card.title : `${card.title} (${card.detail})`;
  return [head, ...card.body.map(blockText)].map((text) => sanitise(text)).join('\n\n');
}

/** Broken between words where lines are longer than a terminal is wide; what goes on of a table's last column stays below it. Words that are longer (addresses, paths) stay whole. */
export function fitText(text: string, columns: number): string {
  return text.split('\n').flatMap((line) => {
    if (stringWidth(line) <= columns) return [line];
    const table = /^.*\S {2,}(?=\S)/.exec(line)?.[0] ?? '';
    const before = stringWidth(table) <= columns / 2 ? table : '';
    const indent = stringWidth(before);
    return wrapAnsi(line.slice(before.length), columns - indent).split('\n').map((piece, at) => (at === 0 ? before : ' '.repeat(indent)) + piece);
  }).join('\n');
}

function blockText(block: CardBlock): string {
  switch (block.type) {
    case 'text':
    case 'markdown':
    case 'code': return block.text.trimEnd();
    case 'diff': return block.patch.trimEnd();
    case 'list': return block.items.map((item) => `- ${item}`).join('\n');
    case 'table': return table(block);
  }
}

function table({ head, rows, align }: Extract<CardBlock, { type: 'table' }>): string {
  const all = head.some((cell) => cell !== '') ? [head, ...rows] : rows;
  const widths = head.map((_, column) => Math.max(...all.map((row) => stringWidth(row[column] ?? ''))));
  const pad = (cell: string, column: number): string => {
    const gap = ' '.repeat(Math.max(0, (widths[column] ?? 0) - stringWidth(cell)));
    return align?.[column] === 'right' ? gap + cell : cell + gap;
  };
  return all.map((row) => widths.map((_, column) => pad(row[column] ?? '', column)).join('  ').trimEnd()).join('\n');
}
