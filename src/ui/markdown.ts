import { Lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import { sanitise, width } from '#lib/terminal.ts';
import { hang, wrapProse, wrapVerbatim } from './lines.ts';
import type { Pen } from './pen.ts';
import { drawTable } from './table-lines.ts';
import type { Theme } from './theme.ts';

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ' };

/** Markdown from outside as finished lines. HTML in it stands as it was written. */
export function drawMarkdown(text: string, pen: Pen): readonly string[] {
  return drawBlocks(Lexer.lex(sanitise(text, { tabs: 4 })), pen, false);
}

function drawBlocks(tokens: readonly Token[], pen: Pen, tight: boolean): readonly string[] {
  const blocks = tokens.map((token) => drawBlock(token as MarkedToken, pen)).filter((lines) => lines.length > 0);
  return blocks.flatMap((lines, index) => (index === 0 || tight ? lines : ['', ...lines]));
}

function drawBlock(token: MarkedToken, pen: Pen): readonly string[] {
  const { columns, theme } = pen;
  switch (token.type) {
    case 'space': case 'checkbox': return [];
    case 'heading': return hang(wrapProse(inline(token.tokens, theme), columns - token.depth - 1), `${'#'.repeat(token.depth)} `)
      .map((line) => theme('heading', line));
    case 'paragraph': return wrapProse(inline(token.tokens, theme), columns);
    case 'text': return wrapProse(token.tokens === undefined ? token.text : inline(token.tokens, theme), columns);
    case 'code': return drawCode(token.text, token.lang, pen);
    case 'blockquote': return hang(drawBlocks(token.tokens, { ...pen, columns: columns - 2 }, false), theme('border', '│ '), theme('border', '│ '));
    case 'list': return drawList(token, pen);
    case 'table': return drawTable({
      head: token.header.map((cell) => cellText(cell, theme)),
      rows: token.rows.map((row) => row.map((cell) => cellText(cell, theme))),
      align: token.align.map((align) => (align === 'right' ? 'right' : 'left')),
    }, columns, theme);
    case 'hr': return [theme('border', '─'.repeat(Math.min(columns, 40)))];
    default: return wrapVerbatim(token.raw.trimEnd(), columns);
  }
}

/** Code, indented by two cells, coloured if its language is known. */
export function drawCode(text: string, language: string | undefined, pen: Pen): readonly string[] {
  const name = language?.split(/[\s{:,]/, 1)[0];
  return hang(wrapVerbatim(pen.highlight(text, name, pen.theme), pen.columns - 2), '  ');
}

function drawList(list: Tokens.List, pen: Pen): readonly string[] {
  const { theme } = pen;
  const last = typeof list.start === 'number' ? list.start + list.items.length - 1 : 0;
  return list.items.flatMap((item, index) => {
    const mark = typeof list.start === 'number' ? `${String(list.start + index).padStart(String(last).length)}. ` : '• ';
    const box = item.task ? theme(item.checked === true ? 'good' : 'dim', item.checked === true ? '☑ ' : '☐ ') : '';
    const indent = width(mark) + (item.task ? 2 : 0);
    const lines = drawBlocks(item.tokens, { ...pen, columns: pen.columns - indent }, !item.loose);
    const drawn = hang(lines.length === 0 ? [''] : lines, theme('accent', mark) + box, ' '.repeat(indent));
    return list.loose && index > 0 ? ['', ...drawn] : drawn;
  });
}

function cellText(cell: Tokens.TableCell, theme: Theme): string {
  return inline(cell.tokens, theme).replaceAll('\n', ' ');
}

function inline(tokens: readonly Token[], theme: Theme): string {
  return tokens.map((token) => inlineToken(token as MarkedToken, theme)).join('');
}

function inlineToken(token: MarkedToken, theme: Theme): string {
  switch (token.type) {
    case 'text': return token.tokens === undefined ? prose(token.text) : inline(token.tokens, theme);
    case 'escape': return token.text;
    case 'strong': return theme('strong', inline(token.tokens, theme));
    case 'em': return theme('italic', inline(token.tokens, theme));
    case 'del': return theme('strike', inline(token.tokens, theme));
    case 'codespan': return theme('code', isPlain(theme) ? token.raw : token.text);
    case 'br': return '\n';
    case 'link': return link(inline(token.tokens, theme), token, theme);
    case 'image': return `[image: ${token.text}] ${theme('link', token.href)}`;
    case 'html': return /^<br\s*\/?>$/i.test(token.raw) ? '\n' : token.raw;
    default: return prose(token.raw);
  }
}

/** The address always stands there in full: a link that says one thing and leads elsewhere is seen. */
function link(label: string, { text, href }: Tokens.Link, theme: Theme): string {
  return text === href || `mailto:${text}` === href ? theme('link', text) : `${label} (${theme('link', href)})`;
}

function prose(text: string): string {
  return text.replaceAll('\n', ' ').replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (entity, name: string) => ENTITIES[name] ?? entity);
}

function isPlain(theme: Theme): boolean {
  return theme('code', 'x') === 'x';
}
