import { messageOf } from '#lib/errors.ts';

/** First and last page, counted from 1. */
export interface PageRange {
  readonly from: number;
  readonly to: number;
}

/** What is wanted of a PDF: how many pages it has, some pages as a PDF of their own, or the text on them. */
export type PdfWish =
  | { readonly kind: 'look' }
  | ({ readonly kind: 'cut' | 'text' } & PageRange);

/** `pages` counts those of the whole. `noReader`: a package that would be needed is not installed. */
export type PdfAnswer =
  | { readonly kind: 'pages'; readonly pages: number }
  | { readonly kind: 'cut'; readonly pages: number; readonly bytes: Uint8Array }
  | { readonly kind: 'text'; readonly pages: number; readonly texts: readonly string[] }
  | { readonly kind: 'failed'; readonly why: 'locked' | 'damaged' | 'empty' | 'beyond' | 'noReader' | 'slow'; readonly pages?: number };

/** Does it in this thread. Never rejects. Pages beyond the last are left out of the answer; `beyond`: there is none of those wanted. */
export async function readPdf(bytes: Uint8Array, wish: PdfWish): Promise<PdfAnswer> {
  const answer = wish.kind === 'text' ? await textsOf(bytes, wish) : await cutFrom(bytes, wish);
  // Two libraries see different damages: where one gives up on the whole file the other may still know its pages.
  if (answer.kind !== 'failed' || answer.why !== 'damaged' || wish.kind !== 'look') return answer;
  const second = await textsOf(bytes, { from: 1, to: 0 });
  return second.kind === 'text' ? { kind: 'pages', pages: second.pages } : second.kind === 'failed' && second.why !== 'noReader' ? second : answer;
}

async function cutFrom(bytes: Uint8Array, wish: Exclude<PdfWish, { readonly kind: 'text' }>): Promise<PdfAnswer> {
  const { EncryptedPDFError, PDFDocument } = await import('@cantoo/pdf-lib');
  try {
    const whole = await PDFDocument.load(bytes, { updateMetadata: false });
    const pages = whole.getPageCount();
    if (pages === 0) return { kind: 'failed', why: 'empty' };
    if (wish.kind === 'look') return { kind: 'pages', pages };
    if (wish.from > pages) return { kind: 'failed', why: 'beyond', pages };
    const wanted = numbersOf(wish, pages);
    await forgetLinks(wanted.map((page) => whole.getPage(page - 1)));
    const part = await PDFDocument.create();
    for (const page of await part.copyPages(whole, wanted.map((page) => page - 1))) part.addPage(page);
    return { kind: 'cut', pages, bytes: await part.save() };
  } catch (error) {
    return { kind: 'failed', why: error instanceof EncryptedPDFError ? 'locked' : 'damaged' };
  }
}

/** A link to another page would bring that page along, unseen, and those that it links to. */
async function forgetLinks(pages: readonly import('@cantoo/pdf-lib').PDFPage[]): Promise<void> {
  const { PDFArray, PDFDict, PDFName } = await import('@cantoo/pdf-lib');
  const link = PDFName.of('Link');
  for (const { node } of pages) {
    node.delete(PDFName.of('B'));
    const notes = node.lookup(PDFName.of('Annots'));
    if (!(notes instanceof PDFArray)) continue;
    for (let at = notes.size() - 1; at >= 0; at -= 1) {
      const note = notes.lookup(at);
      if (note instanceof PDFDict && note.lookup(PDFName.of('Subtype')) === link) notes.remove(at);
    }
  }
}

async function textsOf(bytes: Uint8Array, range: PageRange): Promise<PdfAnswer> {
  const reader = await import('unpdf').catch(() => undefined);
  if (reader === undefined) return { kind: 'failed', why: 'noReader' };
  try {
    // The library takes the bytes away from whoever gives them.
    const document = await reader.getDocumentProxy(Uint8Array.from(bytes), { verbosity: 0 });
    const { numPages: pages } = document;
    if (range.from > pages) return { kind: 'failed', why: 'beyond', pages };
    const texts: string[] = [];
    for (const number of numbersOf(range, pages)) {
      const page = await document.getPage(number);
      const { items } = await page.getTextContent();
      texts.push(items.map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : '')).join('').trim());
    }
    await document.destroy();
    return { kind: 'text', pages, texts };
  } catch (error) {
    return { kind: 'failed', why: /password/i.test(`${error instanceof Error ? error.name : ''} ${messageOf(error)}`) ? 'locked' : 'damaged' };
  }
}

function numbersOf({ from, to }: PageRange, pages: number): number[] {
  return Array.from({ length: Math.max(0, Math.min(to, pages) - from + 1) }, (_, at) => from + at);
}
