import TurndownService from 'turndown';
import { entities } from './words.ts';

/** What a page is made of beside its words, and what a reader does not see. */
const LEFT_OUT = ['script', 'style', 'noscript', 'template', 'iframe', 'canvas', 'nav', 'button', 'select', 'input', 'object', 'link', 'meta', 'head', 'title'] as const;
const HIDDEN_STYLE = /display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])|opacity\s*:\s*0(?![.\d])/i;

/** What is needed of a page's element: the types of a browser are no part of the program. */
interface PageElement {
  readonly nodeName: string;
  readonly childNodes: ArrayLike<{ readonly nodeName: string }>;
  readonly previousSibling: unknown;
  readonly parentNode: { readonly previousSibling: unknown } | null;
  hasAttribute(name: string): boolean;
  getAttribute(name: string): string | null;
}

/** A page as Markdown, with links made whole by its address. Throws where a page is nested too deeply. */
export function markdownOf(html: string, base: string): string {
  const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-', hr: '---', emDelimiter: '*' });
  service.remove([...LEFT_OUT]);
  service.addRule('link', {
    filter: (node: PageElement) => node.nodeName === 'A',
    replacement: (content, node: PageElement) => linked(content, wholeAddress(node.getAttribute('href') ?? '', base)),
  });
  service.addRule('picture', {
    filter: 'img',
    replacement: (_content, node) => pictured(node, base),
  });
  service.addRule('cell', { filter: ['th', 'td'], replacement: (content) => ` ${content.trim().replace(/\s*\n\s*/g, ' ').replaceAll('|', String.raw`\|`)} |` });
  service.addRule('row', { filter: 'tr', replacement: (content, node) => rowOf(content, node) });
  service.addRule('table', { filter: 'table', replacement: (content) => `\n\n${content.trim()}\n\n` });
  // The last one is asked first.
  service.addRule('unseen', { filter: (node: PageElement) => node.nodeName.toLowerCase() === 'svg' || isHidden(node), replacement: () => '' });
  const markdown = service.turndown(mainOf(html)).replace(/[ \t]+$/gm, '').replace(/\n{3,}/g, '\n\n').trim();
  const title = titleOf(html);
  return title === '' || markdown.startsWith('# ') ? markdown : `# ${title}\n\n${markdown}`;
}

function isHidden(node: PageElement): boolean {
  return node.hasAttribute('hidden') || node.getAttribute('aria-hidden') === 'true' || HIDDEN_STYLE.test(node.getAttribute('style') ?? '');
}

function wholeAddress(written: string, base: string): string | undefined {
  const href = written.trim();
  if (href === '' || href.startsWith('#') || !URL.canParse(href, base)) return undefined;
  const url = new URL(href, base);
  return url.protocol === 'https:' || url.protocol === 'http:' || url.protocol === 'mailto:' ? url.href.replaceAll('(', '%28').replaceAll(')', '%29') : undefined;
}

function linked(content: string, address: string | undefined): string {
  const words = content.replace(/\s*\n\s*/g, ' ').trim();
  return address === undefined || words === '' ? words : `[${words}](${address})`;
}

function pictured(node: PageElement, base: string): string {
  const words = (node.getAttribute('alt') ?? '').replace(/\s+/g, ' ').trim();
  const address = wholeAddress(node.getAttribute('src') ?? '', base);
  return words === '' ? '' : `![${words}](${address ?? ''})`;
}

function rowOf(content: string, row: PageElement): string {
  const cells = Array.from(row.childNodes).filter(({ nodeName }) => nodeName === 'TH' || nodeName === 'TD').length;
  const first = row.previousSibling === null && (row.parentNode?.previousSibling ?? null) === null;
  return `| ${content.trim().replace(/^\|/, '')}\n${first ? `|${' --- |'.repeat(cells)}\n` : ''}`;
}

/** The part that a page itself calls its main one, where there is exactly one and it is no small part. */
function mainOf(html: string): string {
  const lower = html.toLowerCase();
  const from = lower.search(/<main[\s>]/);
  const to = lower.lastIndexOf('</main>');
  return from === -1 || to < from || to - from < html.length / 20 ? html : html.slice(from, to);
}

function titleOf(html: string): string {
  const from = html.search(/<title[\s>]/i);
  const start = from === -1 ? -1 : html.indexOf('>', from) + 1;
  const end = start <= 0 ? -1 : html.indexOf('<', start);
  return end === -1 ? '' : entities(html.slice(start, Math.min(end, start + 300)).replace(/\s+/g, ' ').trim());
}
