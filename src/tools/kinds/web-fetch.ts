import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import type { Card } from '#domain/card.ts';
import type { ToolOutcome } from '#domain/ports.ts';
import { oneLine } from '#lib/names.ts';
import { count, cutToLength } from '#lib/text.ts';
import { defineTool, type RunContext } from '../define.ts';
import { someText, wholeNumber } from '../fields.ts';
import { done, failed } from '../result.ts';
import { webAddress } from '../web/address.ts';
import type { Binary, Fetched, Page } from '../web/web.ts';
import description from './web-fetch.md';

/** Characters of a page in one result. */
const SHOWN = 30_000;
const SHOWN_OF_ERROR = 2_000;
const SHOWN_IN_CARD = 1_000;
const MEDIA_BYTES = 30_000;

const input = z.strictObject({
  url: someText.describe('Whole address, http or https'),
  from: wholeNumber(1, 1e8).optional().describe('Number of the first character to show, to read on'),
});

export const webFetch = defineTool({
  id: 'WebFetch',
  description,
  effect: 'reads',
  deferred: 'Fetches a web page or another document by its address.',
  input,
  title: ({ url }) => titleOf(url),
  async *run({ url: written, from = 1 }, context) {
    const url = webAddress(written);
    if ('problem' in url) return failed(titleOf(written), url.problem);
    yield `asking ${url.host}`;
    const named = context.judged?.includes(url.hostname.toLowerCase().replace(/\.$/, '')) === true;
    return await outcomeOf(await context.web.fetch(url, named, context.signal), from, titleOf(written), context);
  },
});

function titleOf(url: string): string {
  return `WebFetch ${oneLine(url.replace(/^https:\/\//i, ''), 120)}`;
}

async function outcomeOf(fetched: Fetched, from: number, title: string, context: RunContext): Promise<ToolOutcome> {
  switch (fetched.kind) {
    case 'problem': return failed(title, fetched.message);
    case 'moved': {
      const to = oneLine(fetched.to.href, 2000);
      return done(`${fetched.url.host} redirects (${fetched.status}) to another host, which was not followed: ${to}\nTo read it, fetch that address.`, { title, detail: `redirects to ${oneLine(fetched.to.host, 80)}`, tone: 'muted', body: [] });
    }
    case 'binary': return await mediaOf(fetched, title, context);
    case 'page': return pageOf(fetched, from, title, context);
  }
}

function pageOf(page: Page, from: number, title: string, { envelope }: RunContext): ToolOutcome {
  const { text, status } = page;
  if (status >= 400) return failed(title, [`The server answered ${status}${MEANINGS[status] ?? ''}.`, ...(text === '' ? [] : [envelope(page.url, page.mime, cutToLength(text, SHOWN_OF_ERROR))])].join('\n'), { detail: `${status}${MEANINGS[status] ?? ''}` });
  if (text === '') return done(`${headOf(page)}: it has no text`, { title, detail: `${status}, no text`, body: [] });
  if (from > text.length) return failed(title, `The page has only ${count(text.length, 'character')}.`);
  const rest = text.slice(from - 1);
  const shown = piece(rest);
  const to = from - 1 + shown.length;
  const whole = from === 1 && to === text.length;
  const range = whole ? count(text.length, 'character') : `characters ${from}-${to} of ${text.length}`;
  const notes = [...page.notes, ...(to < text.length ? [`read on with from: ${to + 1}`] : [])].map((note) => `[${note}]`);
  return done([`${headOf(page)}, ${range}`, envelope(page.url, page.mime, shown), ...notes].join('\n'), cardOf(page, shown, range, title));
}

/** As much as is shown at once, to the end of a line where there is one near. */
function piece(text: string): string {
  const shown = cutToLength(text, SHOWN);
  const line = shown.lastIndexOf('\n');
  return shown.length === text.length || line < SHOWN / 2 ? shown : shown.slice(0, line + 1);
}

function headOf({ url, status, type }: Page): string {
  return `Page "${oneLine(url, 2000)}" (${[status, type === '' ? 'type not named' : oneLine(type, 100)].join(', ')})`;
}

function cardOf(page: Page, shown: string, range: string, title: string): Card {
  return { title, detail: [String(page.status), range, ...page.notes].join(', '), body: [{ type: 'text', text: cutToLength(shown, SHOWN_IN_CARD) }] };
}

const MEANINGS: Readonly<Record<number, string>> = { 401: ' (a login is wanted)', 403: ' (not allowed)', 404: ' (not found)', 410: ' (gone)', 429: ' (too many requests)', 500: ' (server error)', 503: ' (not available now)' };

/** Pictures and PDFs go the way of files: by way of one that is gone afterwards. */
async function mediaOf({ url, bytes, type, status, cut }: Binary, title: string, { documents, signal }: RunContext): Promise<ToolOutcome> {
  if (status >= 400) return failed(title, `The server answered ${status}${MEANINGS[status] ?? ''}.`);
  if (cut) return failed(title, `It is larger than ${count(bytes.length, 'byte')} (${type || 'no text'}); nothing of it is shown.`);
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'pinion-web-')));
  try {
    const path = join(folder, 'document');
    await writeFile(path, bytes, { mode: 0o600 });
    const { parts, notes } = await documents.load(path, url, { limitBytes: MEDIA_BYTES }, signal);
    if (parts.length === 0) return failed(title, `${type === '' ? '' : `It is ${oneLine(type, 100)}. `}${notes.join('; ')}`, { detail: 'no text' });
    return done([...parts, ...notes.map((note) => ({ type: 'text' as const, text: `[${note}]` }))], { title, detail: `${type || 'document'}, ${count(bytes.length, 'byte')}`, body: [] });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
