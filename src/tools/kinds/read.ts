import * as z from 'zod';
import type { LoadOptions, PathLookup } from '#domain/documents.ts';
import type { ToolOutcome } from '#domain/ports.ts';
import { decode, type DecodedText } from '#lib/decode.ts';
import { oneLine } from '#lib/names.ts';
import { count, cutToLength, wellFormed } from '#lib/text.ts';
import { defineTool, type RunContext } from '../define.ts';
import { someText, wholeNumber } from '../fields.ts';
import { touchOf } from '../files/known.ts';
import { MOST_FILE_BYTES, type OpenFile, readRegular, UnreadableError } from '../files/open.ts';
import { lookUpTarget, shownPath, whatIsNear } from '../files/target.ts';
import { linesOf, numbered } from '../lines.ts';
import { done, failed } from '../result.ts';
import description from './read.md';

const MOST_LINES = 2000;
const LONGEST_LINE = 2000;
/** Most bytes of numbered text: about 25,000 tokens. */
const MOST_BYTES = 80_000;

const input = z.strictObject({
  file_path: someText.describe('Path of the file'),
  offset: wholeNumber(0, 1e9).optional().describe('First line, from 1'),
  limit: wholeNumber(1, 1e9).optional().describe('Most lines'),
  pages: z.string().optional().describe('Of a PDF, e.g. "1-5"'),
});

type Input = z.infer<typeof input>;

export const read = defineTool({
  id: 'Read',
  description,
  effect: 'reads',
  input,
  title: ({ file_path: path }) => `Read ${oneLine(path)}`,
  async *run(asked, context) {
    const lookup = await lookUpTarget(asked.file_path, context);
    const title = `Read ${lookup.label}`;
    const shown = shownPath(lookup.real, context.cwd(context.session));
    if (lookup.denied) return failed(title, `A rule of the user's settings denies reading ${shown}.`);
    if (lookup.kind === 'directory') return failed(title, `${shown} is a directory. List it with Glob (pattern "*", path "${shown}").`);
    try {
      const file = await readRegular(lookup.real, mostBytesOf);
      if (isPdf(file.bytes)) return await showPdf(asked, lookup, file, context);
      if (asked.pages !== undefined && asked.pages.trim() !== '') return failed(title, `${shown} is no PDF: it has no pages. Leave \`pages\` out; \`offset\` and \`limit\` show a part.`);
      if (/\.ipynb$/i.test(lookup.label)) return await showDocument(lookup, file, context, { lines: rangeOf(asked) });
      return isMedia(file.bytes) ? await showDocument(lookup, file, context, {}) : showText(asked, lookup, file, context);
    } catch (error) {
      if (error instanceof UnreadableError) return failed(title, await explain(error, asked, lookup, context));
      throw error;
    }
  },
});

async function explain({ why, message }: UnreadableError, { file_path: written }: Input, lookup: PathLookup, context: RunContext): Promise<string> {
  const shown = shownPath(lookup.real, context.cwd(context.session));
  if (why === 'missing') return `${shown} does not exist.${await whatIsNear(written, lookup, context)}`;
  return `${shown} ${message}.${why === 'tooLarge' ? ' Look for what you need with Grep, or print a part with Bash (sed -n \'1,200p\').' : ''}`;
}

/** By their first bytes, whatever the name. */
function isMedia(bytes: Buffer): boolean {
  return /^(?:\x89PNG\r\n\x1a\n|\xff\xd8\xff|GIF8[79]a|RIFF[^]{4}WEBP)/.test(bytes.toString('latin1', 0, 16));
}

function isPdf(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 5) === '%PDF-';
}

/** Of a PDF some pages may be wanted. */
const MOST_PDF_BYTES = 64 * 1024 * 1024;

function mostBytesOf(head: Buffer): number {
  return isPdf(head) ? MOST_PDF_BYTES : MOST_FILE_BYTES;
}

interface Part {
  readonly lines?: LoadOptions['lines'] | undefined;
  readonly pages?: LoadOptions['pages'];
}

async function showPdf(asked: Input, lookup: PathLookup, file: OpenFile, context: RunContext): Promise<ToolOutcome> {
  const written = asked.pages?.trim() ?? '';
  if (written === '') return await showDocument(lookup, file, context, {});
  const [, first = '', last = first] = /^(\d{1,6})(?:\s*[-–]\s*(\d{1,6}))?$/.exec(written) ?? [];
  const pages = { from: Number(first), to: Number(last) };
  if (pages.from < 1 || pages.to < pages.from) return failed(`Read ${lookup.label}`, `pages="${oneLine(written, 40)}" is no range of pages: write "3" or "1-5".`);
  return await showDocument(lookup, file, context, { pages });
}

/** Undefined for the whole. */
function rangeOf({ offset, limit }: Input): Part['lines'] {
  if (offset === undefined && limit === undefined) return undefined;
  const from = Math.max(1, offset ?? 1);
  return { from, to: from + (limit ?? 1e9) - 1 };
}

/** What is shown is what was opened and checked: its bytes are handed on, the path is not followed again. */
async function showDocument(lookup: PathLookup, { bytes }: OpenFile, context: RunContext, { lines, pages }: Part): Promise<ToolOutcome> {
  const title = `Read ${lookup.label}`;
  const part = { ...(lines !== undefined && { lines }), ...(pages !== undefined && { pages }) };
  const { parts, files, notes } = await context.documents.load(lookup.real, lookup.label, { limitBytes: MOST_BYTES, bytes, ...part }, context.signal);
  if (parts.length === 0) return failed(title, notes.join('\n') || 'The file cannot be shown.');
  const [head] = parts;
  const said = head?.type === 'text' ? head.text : '';
  const more = notes.filter((note) => !said.includes(note.slice(note.indexOf(': ') + 2)));
  return done([...parts, ...more.map((text) => ({ type: 'text' as const, text }))], { title, ...(said === '' ? {} : { detail: said.split('\n', 1)[0] ?? '' }), body: [] },
    { files: files.map((touch) => (touch.how === 'mention' ? { ...touch, how: 'read' } : touch)) });
}

function showText(asked: Input, lookup: PathLookup, { bytes }: OpenFile, context: RunContext): ToolOutcome {
  const title = `Read ${lookup.label}`;
  const decoded = decode(bytes);
  if (decoded.kind === 'binary') return failed(title, `The file is binary (${count(bytes.length, 'byte')}); it is not shown.`);
  const lines = linesOf(wellFormed(decoded.text));
  const touch = (how: 'read' | 'partial'): { files: [ReturnType<typeof touchOf>] } => ({ files: [touchOf(lookup.real, bytes, how, context.blobs)] });
  if (lines.length === 0) return done('(the file is empty)', { title, detail: 'empty', body: [] }, touch('read'));
  const first = Math.max(1, asked.offset ?? 1);
  if (first > lines.length) return failed(title, `The file has only ${count(lines.length, 'line')}; there is nothing at offset ${first}.`);
  const { shown, cut } = fitting(lines.slice(first - 1, first - 1 + Math.min(asked.limit ?? MOST_LINES, MOST_LINES)), first);
  const last = first + shown.length - 1;
  const whole = first === 1 && last === lines.length && cut === 0;
  const range = `lines ${first} to ${last} of ${lines.length}`;
  const notes = [
    ...(last < lines.length ? [`${range}; read on with offset=${last + 1}`] : first > 1 ? [range] : []),
    ...(cut > 0 ? [`${count(cut, 'line')} cut at ${LONGEST_LINE} characters`] : []),
    ...encodingNote(decoded),
  ];
  const text = numbered(shown, first) + notes.map((note) => `\n[${note}]`).join('');
  return done(text, { title, detail: first === 1 && last === lines.length ? count(lines.length, 'line') : range, body: [] }, touch(whole ? 'read' : 'partial'));
}

/** As many lines as fit, each cut where it is too long; `cut` counts those. */
function fitting(lines: readonly string[], first: number): { readonly shown: readonly string[]; readonly cut: number } {
  const shown: string[] = [];
  let cut = 0;
  let room = MOST_BYTES;
  for (const line of lines) {
    const short = line.length > LONGEST_LINE ? `${cutToLength(line, LONGEST_LINE)}…` : line;
    room -= Buffer.byteLength(numbered([short], first)) + 1;
    if (room < 0) break;
    if (short !== line) cut += 1;
    shown.push(short);
  }
  return { shown, cut };
}

function encodingNote({ encoding, guessed }: DecodedText): string[] {
  if (encoding === 'utf-8') return [];
  return [guessed ? `encoding not known, read as ${encoding}` : `encoding ${encoding}`];
}
