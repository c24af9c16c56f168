import type { Loaded } from '#domain/world.ts';
import { never } from '#lib/brand.ts';
import { bytes as size } from '#lib/numbers.ts';
import { oneLine } from '#lib/names.ts';
import { count, cutToBytes, wellFormed } from '#lib/text.ts';
import { decide } from './decide.ts';
import { textEnvelope } from './envelope.ts';
import { left, type Loading, shownMedia, touch } from './loading.ts';
import type { PageRange, PdfAnswer } from './pdf.ts';

/** A PDF of so many pages is shown whole; of a longer one so many pages at a time. */
export const WHOLE_PAGES = 10;
export const MOST_PAGES = 20;
/** Bytes before base64: a request of 32 MB has to hold what else was shown as well. */
const MOST_BYTES = 12 * 1024 * 1024;
const MIME = 'application/pdf';

/** A PDF as it is, or the pages that were asked for; its text where the model takes no PDF. A range of lines means pages. */
export async function loadPdf(loading: Loading, bytes: Uint8Array): Promise<Loaded> {
  const { label, options, tools } = loading;
  const range = options.pages ?? options.lines;
  const most = range === undefined ? 0 : range.to - range.from + 1;
  if (most > MOST_PAGES) return left(label, `${count(most, 'page')} were asked for, ${MOST_PAGES} are the most at a time`);
  const { strategy, reason } = decide({ name: label, mime: MIME, inlineData: bytes }, tools.capabilities());
  if (strategy === 'drop') return await loadText(loading, bytes, range, reason);
  return range === undefined ? await loadAll(loading, bytes) : await loadPages(loading, bytes, range);
}

async function loadAll(loading: Loading, bytes: Uint8Array): Promise<Loaded> {
  const look = await loading.tools.pdf(bytes, { kind: 'look' }, loading.signal);
  if (look.kind !== 'pages') return failed(loading, look);
  if (look.pages > WHOLE_PAGES || bytes.length > MOST_BYTES) return left(loading.label, guide(look.pages, bytes.length));
  return shownMedia(loading, bytes, { mime: MIME, bytes, pages: look.pages, facts: ['PDF', count(look.pages, 'page')], how: 'mention' });
}

/** How a PDF that is not shown whole is read. */
function guide(pages: number, length: number): string {
  const why = pages > WHOLE_PAGES ? `more than the ${WHOLE_PAGES} that are shown whole` : `too large to be shown whole`;
  return `a PDF of ${count(pages, 'page')} (${size(length)}), ${why}; Read shows parts of it: pages="1-${Math.min(pages, WHOLE_PAGES)}", at most ${MOST_PAGES} at a time`;
}

async function loadPages(loading: Loading, raw: Uint8Array, range: PageRange): Promise<Loaded> {
  const cut = await loading.tools.pdf(raw, { kind: 'cut', ...range }, loading.signal);
  if (cut.kind !== 'cut') return failed(loading, cut, range);
  const to = Math.min(range.to, cut.pages);
  if (cut.bytes.length > MOST_BYTES) return left(loading.label, `${named(range.from, to)} take ${size(cut.bytes.length)}, and ${size(MOST_BYTES)} are the most at a time: ask for fewer`);
  return shownMedia(loading, raw, {
    mime: MIME, bytes: cut.bytes, pages: to - range.from + 1, name: `${loading.label} ${named(range.from, to)}`,
    facts: ['PDF', `${named(range.from, to)} of ${cut.pages}`], how: to - range.from + 1 === cut.pages ? 'mention' : 'partial',
  });
}

async function loadText(loading: Loading, raw: Uint8Array, asked: PageRange | undefined, reason: string): Promise<Loaded> {
  const { label, options } = loading;
  const range = asked ?? { from: 1, to: WHOLE_PAGES };
  const read = await loading.tools.pdf(raw, { kind: 'text', ...range }, loading.signal);
  if (read.kind === 'failed' && read.why === 'noReader') return left(label, `left out, ${reason}`);
  if (read.kind !== 'text') return failed(loading, read, range);
  if (asked === undefined && read.pages > WHOLE_PAGES) return left(label, guide(read.pages, raw.length));
  if (read.texts.every((text) => text === '')) return left(label, `left out, ${reason}, and no text can be read from it (scanned pages?)`);
  const text = wellFormed(read.texts.map((page, at) => `[page ${range.from + at}]\n${page}`).join('\n\n'));
  const shown = cutToBytes(text, options.limitBytes);
  const to = range.from + read.texts.length - 1;
  const note = shown.length < text.length ? [`the text was cut at ${size(options.limitBytes)}; ask for fewer pages to see the rest`] : [];
  const header = `File "${oneLine(label)}": text of a PDF (the model takes no PDF), ${named(range.from, to)} of ${read.pages}, ${count(raw.length, 'byte')}`;
  const whole = read.texts.length === read.pages && note.length === 0;
  return {
    parts: [{ type: 'text', text: [header, textEnvelope(label, 'text/plain', shown), ...note.map((line) => `[${line}]`)].join('\n') }],
    files: [touch(loading, raw, whole ? 'mention' : 'partial')], notes: note.map((line) => `${oneLine(label)}: ${line}`),
  };
}

function named(from: number, to: number): string {
  return from === to ? `page ${from}` : `pages ${from}-${to}`;
}

function failed({ label }: Loading, answer: PdfAnswer, range?: PageRange): Loaded {
  const why = answer.kind === 'failed' ? answer.why : 'damaged';
  switch (why) {
    case 'locked': return left(label, 'left out, the PDF is protected by a password');
    case 'empty': return left(label, 'left out, the PDF has no pages');
    case 'beyond': return left(label, `has only ${count(answer.kind === 'failed' ? answer.pages ?? 0 : 0, 'page')}, nothing to show from page ${range?.from ?? 1}`);
    case 'damaged': return left(label, 'left out, the PDF is damaged');
    case 'slow': return left(label, 'left out, the PDF could not be read in time');
    case 'noReader': return left(label, 'left out, there is no reader of PDF text here');
    default: return never(why);
  }
}
