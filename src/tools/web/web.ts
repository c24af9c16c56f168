import { DeadlineError, withDeadline } from '#lib/deadline.ts';
import { messageOf } from '#lib/errors.ts';
import type { Environment } from '#lib/proxies.ts';
import { count } from '#lib/text.ts';
import { type AddressRules, OPEN_RULES } from './address.ts';
import { createShelfLife } from './cache.ts';
import { toMarkdown } from './convert.ts';
import { textOfBody } from './decode.ts';
import { get, type Got } from './get.ts';

/** A page of the web, ready to be read. */
export interface Page {
  readonly kind: 'page';
  /** Where it was in the end. */
  readonly url: string;
  readonly status: number;
  /** The media type that the server named, without its parameters. */
  readonly type: string;
  /** That of `text`. */
  readonly mime: string;
  /** Bytes of the body, unpacked. */
  readonly bytes: number;
  readonly text: string;
  /** What was left out or changed, one line each. */
  readonly notes: readonly string[];
}

/** Something that is no text: a picture, a PDF, or what nobody reads. */
export interface Binary {
  readonly kind: 'binary';
  readonly url: string;
  readonly status: number;
  readonly type: string;
  readonly bytes: Buffer;
  /** It is larger than may be taken. */
  readonly cut: boolean;
}

export type Fetched = Page | Binary | Exclude<Got, { readonly kind: 'answer' }>;

export interface Web {
  /** `named`: the user has named this very host, which is a local one. Throws when the signal aborts. */
  fetch(url: URL, named: boolean, signal: AbortSignal): Promise<Fetched>;
}

export interface WebOptions {
  readonly env: () => Environment;
  /** Address of the built `page-worker.js`. */
  readonly worker: URL;
  readonly version: string;
  readonly now?: () => number;
  readonly rules?: AddressRules;
  readonly port?: (port: number) => number;
  readonly totalMs?: number;
  readonly mostBytes?: number;
}

const TOTAL_MS = 45_000;
const MOST_BYTES = 10 * 1024 * 1024;
/** More of a page is not parsed. */
const MOST_HTML = 2 * 1024 * 1024;
const MOST_TEXT = 5 * 1024 * 1024;
/** Characters that no reader sees and that may hold orders all the same. */
const UNSEEN = /[\u{E0000}-\u{E007F}\u202A-\u202E\u2066-\u2069\u200B\u2060\u00AD]/gu;

/** Fetches pages and remembers them for a while. */
export function createWeb(options: WebOptions): Web {
  const { env, version, rules = OPEN_RULES, port, totalMs = TOTAL_MS, mostBytes = MOST_BYTES } = options;
  const kept = createShelfLife<Fetched>(options.now ?? Date.now);
  return {
    async fetch(url, named, signal) {
      const key = `${named ? 'named ' : ''}${url.href}`;
      const known = kept.get(key);
      if (known !== undefined) return known;
      const settings = { env: env(), rules, mostBytes, userAgent: `pinion/${version}`, ...(port !== undefined && { port }) };
      try {
        const fetched = await withDeadline(totalMs, signal, async (inner) => readable(await get(url, named, settings, inner), options.worker, inner));
        if (fetched.kind === 'page' && fetched.status < 300) kept.put(key, fetched, fetched.text.length);
        return fetched;
      } catch (error) {
        signal.throwIfAborted();
        const late = error instanceof DeadlineError;
        return { kind: 'problem', message: late ? `${url.host} cannot be fetched: it is not done after ${Math.round(totalMs / 1000)} seconds.` : messageOf(error) };
      }
    },
  };
}

async function readable(got: Got, worker: URL, signal: AbortSignal): Promise<Fetched> {
  if (got.kind !== 'answer') return got;
  const { url, status, bytes, cut } = got;
  const type = (got.type.split(';', 1)[0] ?? '').trim().toLowerCase().slice(0, 100);
  const binary = /^(?:image\/(?!svg)|application\/pdf$)/.test(type) || bytes.subarray(0, 5).toString('latin1') === '%PDF-';
  const body = binary ? undefined : textOfBody(bytes, got.type, cut);
  if (body === undefined) return { kind: 'binary', url: url.href, status, type, bytes, cut };
  const page = isHtml(type, body.text) ? await ofHtml(body.text, url.href, worker, signal) : { ...cutText(body.text, MOST_TEXT), mime: mimeOf(type, url) };
  const unseen = page.text.match(UNSEEN)?.length ?? 0;
  return {
    kind: 'page', url: url.href, status, type, mime: page.mime, bytes: bytes.length,
    text: (unseen === 0 ? page.text : page.text.replace(UNSEEN, '')).replaceAll('\r\n', '\n'),
    notes: [
      ...(cut ? [`only the first ${count(bytes.length, 'byte')} were taken`] : []), ...page.notes,
      ...(unseen === 0 ? [] : [`${count(unseen, 'character')} that cannot be seen left out`]), ...(body.charset === 'utf-8' ? [] : [`read as ${body.charset}`]),
    ],
  };
}

function isHtml(type: string, text: string): boolean {
  if (type === 'text/html' || type === 'application/xhtml+xml') return true;
  return (type === '' || type === 'application/octet-stream' || type === 'text/plain') && /^\s*(?:<!doctype html|<html[\s>])/i.test(text.slice(0, 300));
}

async function ofHtml(html: string, base: string, worker: URL, signal: AbortSignal): Promise<{ readonly text: string; readonly mime: string; readonly notes: readonly string[] }> {
  const { text: taken, notes } = cutText(html, MOST_HTML);
  const { text, whole } = await toMarkdown(taken, base, worker, signal);
  return { text, mime: whole ? 'text/markdown' : 'text/plain', notes: [...notes, ...(whole ? [] : ['its structure could not be read; these are its bare words'])] };
}

function cutText(text: string, most: number): { readonly text: string; readonly notes: readonly string[] } {
  return text.length <= most ? { text, notes: [] } : { text: text.slice(0, most), notes: [`only the first ${most} of ${text.length} characters were read`] };
}

/** What is text is named as text, by its subtype. */
function mimeOf(type: string, url: URL): string {
  if (/\.(?:md|markdown)$/i.test(url.pathname)) return 'text/markdown';
  const subtype = /^(?:text|application)\/(?:x-|vnd\.[\w.-]+\+)?([a-z0-9-]+)$/.exec(type)?.[1];
  return subtype === undefined || subtype === 'octet-stream' ? 'text/plain' : `text/${subtype}`;
}
